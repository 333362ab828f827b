"""What a person wrote takes the place of a fact: in its form, and without waiting for a model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from server.memory.correcting import correct
from server.memory.extract import RulesExtractor
from server.memory.facts import correction_of
from server.memory.harvest import Harvest
from server.memory.models import Fact, Page
from server.memory.wording import framed
from tests.memory.remembering import NOON, Room, fact, opened
from tests.patience import SECONDS

CAT = "猫を飼い始めたんだ。"


async def corrected(room: Room, old: str, text: str) -> Fact | None:
    """Put a sentence in the place of the fact that holds a word."""
    [found] = [one for one in await room.memory.archive.facts("hana") if old in one.text]
    return await correct(room.memory, found.id, text, room.clock.now(), 0)


class Hanging(RulesExtractor):
    """Draws facts once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_go_on = anyio.Event(), anyio.Event()

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        self.begun.set()
        await self.may_go_on.wait()
        return await super().extract(pages, attempt)


async def test_a_correction_does_not_wait_for_a_model_that_draws_facts(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(CAT)
        await room.memory.extract()
        room.memory.consolidator.extractor = hanging = Hanging()
        room.tell("大阪に住んでいるよ。", person="taro")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await hanging.begun.wait()
            with anyio.move_on_after(SECONDS):
                await corrected(room, "猫", "犬を飼い始めたんだ。")
            known = await room.known()
            hanging.may_go_on.set()
        assert ["犬" in text for text in known] == [True]
        assert any("大阪" in text for text in await room.known("taro"))


TOLD = {"ja": "神戸に住んでるよ。", "en": "I live in Kobe.", "zh": "我住在神户。"}
DRAWN = {"ja": "あなたは神戸に住んでいる。", "en": "You live in Kobe.", "zh": "你住在神户。"}
FORMS = [
    ("ja", "大阪に住んでるよ。", "あなたは「大阪に住んでるよ。」と話した。"),
    ("ja", "あなたは大阪に住んでいる。", "あなたは大阪に住んでいる。"),
    ("en", "I live in Osaka.", 'You said: "I live in Osaka."'),
    ("en", "You live in Osaka.", "You live in Osaka."),
    ("en", "Your home is in Osaka.", "Your home is in Osaka."),
    ("en", "Taro is your brother.", "Taro is your brother."),
    ("en", "I told you that I moved to Osaka.", 'You said: "I told you that I moved to Osaka."'),
    ("en", "Young people bore me.", 'You said: "Young people bore me."'),
    ("zh", "我住在大阪。", "你说过：“我住在大阪。”。"),
    ("zh", "你住在大阪。", "你住在大阪。"),
]


@pytest.mark.parametrize("by_model", [True, False])
@pytest.mark.parametrize(("language", "text", "kept"), FORMS)
def test_what_is_written_as_the_person_says_it_is_quoted_and_what_calls_them_you_is_not(
    language: str, text: str, kept: str, by_model: bool
) -> None:
    """Whatever stood there: "my name" is the robot's in a line of a prompt that quotes nobody."""
    old = DRAWN[language] if by_model else framed(TOLD[language], language)
    new = correction_of(fact(old, language=language), text, NOON)
    assert new is not None
    assert new.text == kept
    assert new.quote == ""


def test_what_is_told_of_the_robot_is_told_of_it_still() -> None:
    old = replace(fact("Omo likes jazz.", language="en"), about="Omo")
    new = correction_of(old, "Omo likes blues.", NOON)
    assert new is not None
    assert (new.text, new.about) == ("Omo likes blues.", "Omo")


@pytest.mark.parametrize("text", ["?", "…", "🎉", " - ", "？！", "\u202e", "。"])
def test_a_correction_has_to_say_something(text: str) -> None:
    assert correction_of(fact(DRAWN["en"], language="en"), text, NOON) is None
