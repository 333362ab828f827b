"""What must never be acted against counts from the moment on that it is told, before facts are drawn from it and if none ever are."""

from datetime import timedelta
from pathlib import Path

import pytest

from server.quoting import standing_block
from tests.memory.remembering import Room, opened

ALLERGY = {
    "ja": "ピーナッツアレルギーなんだ。",
    "en": "I'm allergic to peanuts.",
    "zh": "我对花生过敏。",
}
SMALL_TALK = {
    "ja": ["今日は寒いね。", "家にいようかな。", "本でも読もうかな。", "映画もいいな。"],
    "en": ["It's cold today.", "I think I'll stay in.", "Maybe I'll read.", "Or watch a film."],
    "zh": ["今天真冷。", "我就待在家里吧。", "也许看看书。", "或者看电影。"],
}
SNACK = {"ja": "おやつは何がいいかな？", "en": "What snack should I have?", "zh": "吃什么零食好？"}


async def standing(room: Room, language: str) -> list[str]:
    await room.memory._writer.settle()
    recalled = await room.memory.recall("hana", SNACK[language], language)
    return [line.text for line in recalled.standing]


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
async def test_an_allergy_stands_at_once_and_once_when_it_is_drawn(
    language: str, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        room.tell(ALLERGY[language], *SMALL_TALK[language], language=language)
        for _ in range(2):
            assert len(await standing(room, language)) == 1
            assert not await room.memory.archive.facts("hana")
        assert await room.memory.extract()
        assert len(await standing(room, language)) == 1


async def test_what_was_taken_back_or_forgotten_does_not_come_back_with_what_waits(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.tell(ALLERGY["en"], language="en")
        [fact] = await room.memory.extract()
        room.tell("I'm not allergic to peanuts any more.", language="en")
        await room.memory.extract()
        assert await standing(room, "en") == []
        room.tell("I'm allergic to penicillin.", language="en")
        assert len(await standing(room, "en")) == 1
        await room.memory.archive.forget_person("hana")
        assert await standing(room, "en") == []
        assert fact


async def test_what_another_person_told_stands_for_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(ALLERGY["en"], person="tom", language="en")
        assert await standing(room, "en") == []


async def test_what_a_model_fails_to_draw_facts_from_stands_for_hours_and_after_a_restart(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.tell(
            ALLERGY["en"], *(f"It is {number} o'clock." for number in range(1, 40)), language="en"
        )
    with opened(tmp_path) as room:
        room.clock.moment += timedelta(hours=5)
        assert len(await standing(room, "en")) == 1


async def test_what_is_told_before_it_is_drawn_rests_on_its_exchange(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("I'm allergic to peanuts. I take warfarin every day.", language="en")
        await room.memory._writer.settle()
        [said] = await room.memory.archive.pages("hana")
        recalled = await room.memory.recall("hana", SNACK["en"], "en")
        assert len({line.id for line in recalled.standing}) == 2
        assert frozenset({said.id}) in recalled.rests_on
        told = standing_block(recalled.standing)
        assert "peanuts" in told.text
        assert "warfarin" in told.text


async def test_the_gravest_comes_first_whenever_it_was_told(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(ALLERGY["en"], language="en")
        assert await room.memory.extract()
        room.tell("I want to be in bed by ten.", ALLERGY["en"], language="en")
        held = await standing(room, "en")
        assert "peanuts" in held[0]
        assert len(held) == 2
