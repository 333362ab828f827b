"""What is said again on another day is one fact, which is known by that day, too: in the prompt, in search and in an export."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.config import FadingSection
from server.memory.fading import fades_at, has_faded
from server.memory.models import Importance
from server.ports import LlmTraits
from server.prompting import PromptFiles, compose
from server.web.described import describe_fact
from tests.fakes import PROMPTS
from tests.memory.remembering import NOON, Room, fact, opened

PILL = {"ja": "薬を飲み忘れちゃった。", "en": "I forgot to take my pills.", "zh": "我忘了吃药。"}
ASKED = {
    "ja": "最後に薬を飲み忘れたのはいつ？",
    "en": "When did I last forget to take my pills?",
    "zh": "我上次忘了吃药是什么时候？",
}
DAYS = [(NOON + timedelta(days=days)).date() for days in range(6)]


async def each_day(room: Room, said: str, language: str, days: int = 6) -> None:
    for _ in range(days):
        room.tell(said, language=language)
        await room.memory.extract()
        room.clock.pass_time(days=1)


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
async def test_a_prompt_tells_the_last_days_and_the_first(language: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await each_day(room, PILL[language], language)
        now = room.clock.now()
        recalled = await room.memory.recall("hana", ASKED[language], language)
        traits = LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)
        prompt = compose(
            PromptFiles(PROMPTS),
            question=ASKED[language],
            recalled=recalled,
            history=(),
            now=now,
            language=language,
            traits=traits,
        )
    told = prompt.messages[-1].content
    assert f"{DAYS[5]}, {DAYS[4]}, {DAYS[3]} … {DAYS[0]}" in told


async def test_search_and_export_know_every_day(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await each_day(room, PILL["en"], "en", 3)
        [stored] = await room.memory.archive.facts("hana")
        [found] = await room.memory.search("hana", ASKED["en"], "en")
        asked_at = room.clock.now() - timedelta(days=1, hours=12)
        [then] = await room.memory.search("hana", ASKED["en"], "en", asked_at)
    assert stored.said_at.date() == DAYS[0]
    assert [moment.date() for moment in stored.repeated_at] == DAYS[1:3]
    assert found.fact.last_said_at.date() == DAYS[2]
    assert then.fact.last_said_at.date() == DAYS[1], "as it was known at that moment"
    described = describe_fact(stored, FadingSection())
    assert [moment[:10] for moment in described["repeated_at"]] == [str(day) for day in DAYS[1:3]]


async def test_a_day_counts_once_and_goes_with_its_exchange(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(PILL["en"], PILL["en"], language="en")
        await room.memory.extract()
        [stored] = await room.memory.archive.facts("hana")
        assert stored.repeated_at == ()


def test_what_is_said_again_fades_from_then_on() -> None:
    section = FadingSection(fleeting_days=21.0)

    once = replace(fact("テレビで番組を見た。"), importance=Importance.FLEETING)
    again = replace(once, repeated_at=(NOON + timedelta(days=30),))
    later = NOON + timedelta(days=40)
    assert has_faded(once, later, section)
    assert not has_faded(again, later, section)
    first, last = fades_at(once, section), fades_at(again, section)
    assert first is not None
    assert last == first + timedelta(days=30)
