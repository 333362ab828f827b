"""A value leaves the profile with the last fact that tells of it, unless what came instead says the same."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.memory.models import Fact, ProfileField
from server.memory.outlived import still_held
from tests.memory.remembering import NOON, fact, opened
from tests.memory.tiers import entry

PEANUTS = {"ja": "ピーナッツアレルギー", "en": "allergic to peanuts", "zh": "对花生过敏"}
TOLD = {
    "ja": "ピーナッツアレルギーがあります。",
    "en": "I am allergic to peanuts.",
    "zh": "我对花生过敏。",
}
TAKEN_BACK = {
    "ja": ["ピーナッツアレルギーはありません。", "ピーナッツアレルギーはもう治りました。"],
    "en": ["I am not allergic to peanuts.", "I used to be allergic to peanuts."],
    "zh": ["我对花生不过敏。", "我以前对花生过敏。"],
}
SAID_AGAIN = {
    "ja": ["今もピーナッツアレルギーがあります。", "ピーナッツアレルギーがひどいです。"],
    "en": ["I am very allergic to peanuts now."],
    "zh": ["我现在对花生过敏很严重。"],
}


def each(texts: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, text) for language, all_of in texts.items() for text in all_of]


def replaced(old: str, new: str, language: str) -> list[Fact]:
    """Return a fact from page "1" that another one has replaced, from page "2"."""
    first = replace(fact(old, language=language, sources=("1",)), superseded_by=new)
    return [first, fact(new, NOON + timedelta(days=300), language=language, sources=("2",))]


def holds(field: ProfileField, value: str, facts: list[Fact]) -> bool:
    return bool(still_held([entry(field, value, NOON, "1")], facts))


@pytest.mark.parametrize(("language", "now"), each(TAKEN_BACK))
def test_what_was_taken_back_holds_no_longer(language: str, now: str) -> None:
    known = replaced(TOLD[language], now, language)
    assert not holds(ProfileField.HEALTH, PEANUTS[language], known)


@pytest.mark.parametrize(("language", "now"), each(SAID_AGAIN))
def test_what_was_said_again_in_other_words_holds(language: str, now: str) -> None:
    known = replaced(TOLD[language], now, language)
    assert holds(ProfileField.HEALTH, PEANUTS[language], known)


def test_a_home_is_outlived_though_the_new_one_is_told_beside_it() -> None:
    moved = replaced("京都に住んでいます。", "京都から大阪に引っ越しました。", "ja")
    assert not holds(ProfileField.HOME, "京都", moved)


def test_what_another_fact_tells_still_holds() -> None:
    known = replaced(TOLD["ja"], TAKEN_BACK["ja"][0], "ja")
    told = fact("あなたはピーナッツにアレルギーがある。", sources=("1",))
    assert holds(ProfileField.HEALTH, PEANUTS["ja"], [*known, told])


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([], id="no fact was drawn"),
        pytest.param(
            replaced("猫を飼っています。", "猫を飼っていません。", "ja"), id="of something else"
        ),
        pytest.param(
            [
                replace(fact(TOLD["ja"], sources=("other",)), superseded_by="x"),
                fact("x", sources=("2",)),
            ],
            id="from another page",
        ),
        pytest.param(
            [replace(one, about="Omo") for one in replaced(TOLD["ja"], "x", "ja")],
            id="of the robot",
        ),
    ],
)
def test_what_nothing_speaks_against_holds(facts: list[Fact]) -> None:
    assert holds(ProfileField.HEALTH, PEANUTS["ja"], facts)


def test_what_replaced_each_other_twice_is_what_came_last() -> None:
    again, ended = SAID_AGAIN["ja"][0], TAKEN_BACK["ja"][0]
    first, second = replaced(TOLD["ja"], again, "ja")
    second, third = replace(second, superseded_by=ended), fact(ended, sources=("3",))
    assert not holds(ProfileField.HEALTH, PEANUTS["ja"], [first, second, third])
    circle = [first, replace(second, superseded_by=first.id)]
    assert not holds(ProfileField.HEALTH, PEANUTS["ja"], circle)


async def test_the_portrait_does_not_contradict_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(TOLD["ja"])
        await room.memory.extract()
        found = await room.memory.recall("hana", "おやつは?", "ja")
        assert any(PEANUTS["ja"] in line for line in found.portrait)
        room.clock.pass_time(days=300)
        room.tell(TAKEN_BACK["ja"][0])
        [new] = await room.memory.extract()
        [old] = [one for one in await room.memory.archive.facts("hana") if one.id != new.id]
        assert old.superseded_by == new.id
        found = await room.memory.recall("hana", "おやつは?", "ja")
        assert not [line for line in found.portrait if PEANUTS["ja"] in line]
        known = [line for line in found.knowledge if PEANUTS["ja"] in line.text]
        assert [line.text for line in known] == ["ピーナッツアレルギーはありません"]
        await room.memory.archive.forget([new.id])
        found = await room.memory.recall("hana", "おやつは?", "ja")
        assert "体のこと: ピーナッツアレルギー (2026-09-27)" in found.portrait
