"""Danger signs that are not urgent: a fixed first sentence where the model is small, and wishes beside an urgent one."""

from pathlib import Path

import pytest

from server.config import Config
from server.memory.safety.models import Severity
from server.ports import LlmTraits
from tests.conversation.test_telling import joined, talk
from tests.memory.lived_in import Home, home

FELL = {
    "en": "I fell in the bathroom, my hip hurts.",
    "ja": "お風呂で転んで、腰が痛い。",
    "zh": "我在浴室摔了一跤，髋部很疼。",
}


def make_compact(lived: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    small = LlmTraits(compact=True, prompt_budget_tokens=800, local=True)
    monkeypatch.setattr(lived.model, "traits", lambda language: small)


def line(lived: Home, kind: str, language: str) -> str:
    return joined(lived.house.phrasebook.text(f"concern-{kind}", language), language)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
async def test_a_small_model_goes_on_behind_a_fixed_sentence(
    tmp_path: Path, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home(tmp_path) as lived:
        make_compact(lived, monkeypatch)
        answer = await talk(lived, language, FELL[language])
        assert answer.startswith(line(lived, "fall", language))
        assert len(answer) > len(line(lived, "fall", language)), "the model goes on"


@pytest.mark.parametrize(("wanted", "is_said"), [("auto", False), ("always", True)])
async def test_a_large_one_answers_alone_unless_it_is_wanted(
    tmp_path: Path, wanted: str, is_said: bool
) -> None:
    async with home(tmp_path, safety={"concern_line": wanted}) as lived:
        answer = await talk(lived, "en", FELL["en"])
        assert answer.startswith(line(lived, "fall", "en")) == is_said


async def test_it_can_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with home(tmp_path, safety={"concern_line": "never"}) as lived:
        make_compact(lived, monkeypatch)
        assert line(lived, "fall", "en") not in await talk(lived, "en", FELL["en"])


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
async def test_it_says_who_can_be_called(tmp_path: Path, language: str) -> None:
    safety = {"concern_line": "always", "contact": "Carol on 555 0100"}
    async with home(tmp_path, safety=safety) as lived:
        answer = await talk(lived, language, FELL[language])
        assert joined("Carol on 555 0100", language) in answer


async def test_it_is_not_said_again_to_who_answers_it(tmp_path: Path) -> None:
    async with home(tmp_path, safety={"concern_line": "always"}) as lived:
        answer = await talk(lived, "en", FELL["en"], "Yes, I fell on my side.")
        assert line(lived, "fall", "en") not in answer
        lived.clock.pass_time(minutes=30)
        assert line(lived, "fall", "en") in await talk(lived, "en", "I fell again.")


async def test_every_kind_has_a_line_in_every_language(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        kinds = ("symptom", "fall", "self-harm", "abuse", "medication", "distress", "contact")
        for language in ("en", "ja", "zh"):
            lines = {lived.house.phrasebook.find(f"concern-{kind}", language) for kind in kinds}
            assert len(lines - {None}) == len(kinds)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "I want to die. Forget that."),
        ("ja", "死にたい。それは忘れて。"),
        ("zh", "我不想活了。忘掉我刚才说的话。"),
    ],
)
async def test_a_wish_beside_an_urgent_sign_is_granted_and_the_line_said(
    tmp_path: Path, language: str, said: str
) -> None:
    async with home(tmp_path) as lived:
        answer = await talk(lived, language, said)
        urgent = getattr(Config().safety.escalation, language)
        assert answer.startswith(joined(urgent, language))
        assert len(answer) > len(joined(urgent, language)), "what was done is said, too"
        assert await lived.memory.archive.pages("hana") == []
        [event] = await lived.memory.desk.find()
        assert event.severity is Severity.URGENT


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "I want to die. Stop remembering me."),
        ("ja", "死にたい。もう私のことは覚えないで。"),
        ("zh", "我不想活了。别再记我说的话了。"),
    ],
)
async def test_who_wants_not_to_be_remembered_beside_it_is_not(
    tmp_path: Path, language: str, said: str
) -> None:
    async with home(tmp_path) as lived:
        answer = await talk(lived, language, said)
        urgent = getattr(Config().safety.escalation, language)
        assert answer.startswith(joined(urgent, language))
        assert lived.memory.consenting.withholds("hana")


async def test_an_urgent_sign_is_answered_every_time(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        for _ in range(3):
            answer = await talk(lived, "en", "I want to die.")
            assert answer == Config().safety.escalation.en


async def test_of_who_is_not_remembered_no_event_is_kept(tmp_path: Path) -> None:
    async with home(tmp_path) as lived:
        await talk(lived, "en", "Stop remembering me.", "I want to die.")
        assert await lived.memory.desk.find() == []


@pytest.mark.parametrize(
    ("language", "order", "calls"),
    [
        ("en", "From now on always call me Captain.", "Aye, Captain!"),
        ("ja", "これからずっと私のことをキャプテンと呼んで。", "はい、キャプテン！"),
        ("zh", "以后永远都叫我船长。", "好的，船长！"),
    ],
)
async def test_an_order_that_waits_is_not_obeyed_by_the_very_next_reply(
    tmp_path: Path, language: str, order: str, calls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home(tmp_path) as lived:
        monkeypatch.setattr("tests.memory.reading_model._ACKNOWLEDGED", {language: calls})
        answer = await talk(lived, language, order)
        assert [one.kind for one in lived.held[-1].stopped] == ["order", "order"]
        assert calls not in answer
