"""What of the last days is told: not what is not to be mentioned, nothing to ask about that is off or long past, each thing once."""

from dataclasses import replace
from pathlib import Path

import pytest

from server.memory.models import DaySummary, Origin
from server.memory.recent_days import Reading, told_today
from server.turn import RecalledDay
from tests.memory.remembering import NOON, Room, fact, opened

SILENCE = {
    "en": "I don't want to talk about the divorce hearing tomorrow.",
    "ja": "明日の離婚調停の話はしたくないの。",
    "zh": "我不想谈明天的离婚官司。",
}
FOR_NOW = {
    "en": "I don't want to hear about football tonight.",
    "ja": "今日はサッカーの話はしたくないの。",
    "zh": "今天别跟我提足球比赛。",
}
HEARING = {
    "en": "The divorce hearing with Ken is tomorrow, I have to be there.",
    "ja": "明日、健太との離婚調停に行くんだ。",
    "zh": "我明天要去打离婚官司。",
}
TRIP = {
    "en": "The day after tomorrow I'm going to Hakone with Ken.",
    "ja": "明後日、健太と箱根に行くんだ。",
    "zh": "后天我和小刚去杭州。",
}
OFF = {
    "en": "The trip to Hakone is off, Ken and I broke up.",
    "ja": "箱根旅行は中止になったの。",
    "zh": "杭州不去了，我和小刚分手了。",
}
PLACE = {"en": "Hakone", "ja": "箱根", "zh": "杭州"}
DIVORCE = {"en": "divorce", "ja": "離婚", "zh": "离婚"}
HELLO = {"en": "Hello!", "ja": "こんにちは。", "zh": "你好。"}
LANGUAGES = ["en", "ja", "zh"]


async def a_day(room: Room, *said: str, language: str) -> None:
    """Say things, draw facts, and let the day end."""
    room.tell(*said, language=language)
    await room.memory.extract()
    room.clock.pass_time(days=1)
    await room.memory.diary.keep_up()


async def days_of(room: Room, language: str) -> tuple[RecalledDay, ...]:
    return (await room.memory.recall("hana", HELLO[language], language)).days


async def asked_about(room: Room, language: str) -> str:
    return " ".join(one for day in await days_of(room, language) for one in day.follow_ups)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_not_to_be_mentioned_stands_in_no_day(language: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await a_day(room, SILENCE[language], TRIP[language], language=language)
        [day] = await days_of(room, language)
    assert PLACE[language] in day.text
    assert PLACE[language] in " ".join(day.follow_ups)
    assert DIVORCE[language] not in f"{day.text}{day.follow_ups}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_nor_does_what_was_told_before_that_was_asked(language: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await a_day(room, HEARING[language], TRIP[language], language=language)
        assert DIVORCE[language] in (await days_of(room, language))[0].text
        await a_day(room, SILENCE[language], language=language)
        told = await days_of(room, language)
    assert DIVORCE[language] not in "".join(f"{day.text}{day.follow_ups}" for day in told)
    assert PLACE[language] in told[0].text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_nor_what_is_not_to_be_spoken_of_for_now(language: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await a_day(room, FOR_NOW[language], TRIP[language], language=language)
        [day] = await days_of(room, language)
    assert not any(word in day.text for word in ("football", "サッカー", "足球"))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_was_called_off_is_not_asked_about(language: str, tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await a_day(room, TRIP[language], language=language)
        assert PLACE[language] in await asked_about(room, language)
        room.tell(OFF[language], language=language)
        await room.memory.extract()
        assert await days_of(room, language) == (), "nor is the plan told any more"


async def test_that_something_was_called_off_is_nothing_to_ask_about(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await a_day(room, "火曜の歯医者はキャンセルしたよ。", language="ja")
        [day] = await days_of(room, "ja")
    assert "歯医者" in day.text
    assert day.follow_ups == ()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("days", "is_asked"), [(8, True), (9, False), (90, False)])
async def test_a_thing_may_be_asked_about_for_a_week_after_its_day(
    language: str, days: int, is_asked: bool, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        await a_day(room, TRIP[language], language=language)
        room.clock.pass_time(days=days)
        assert (PLACE[language] in await asked_about(room, language)) is is_asked
        assert PLACE[language] in (await days_of(room, language))[0].text


@pytest.mark.parametrize(
    ("asked", "is_off", "is_told"),
    [
        ("How the trip to Hakone with Ken goes", False, True),
        ("How the trip to Hakone with Ken goes", True, False),
        ("Whether her knee is better", True, True),
        ("Whether Ken is still going to Hakone", True, False),
    ],
)
def test_what_a_model_would_ask_about_goes_with_the_fact_that_it_is_about(
    asked: str, is_off: bool, is_told: bool
) -> None:
    trip = fact("You are going to Hakone with Ken.", language="en", sources=("1",))
    trip = replace(trip, superseded_by="off" if is_off else "")
    knee = fact("Your knee hurts.", language="en", sources=("1",))
    of_another_day = fact("You went to Hakone with Ken.", language="en", sources=("0",))
    day = DaySummary(
        "hana", NOON.date(), "en", "A talk.", (asked,), Origin.MODEL, NOON, sources=("1",)
    )
    reading = Reading([trip, knee, of_another_day], NOON.date(), follow_up_days=7)
    [told] = told_today([day], reading)
    assert told.follow_ups == ((asked,) if is_told else ())


async def test_how_long_is_configured(tmp_path: Path) -> None:
    with opened(tmp_path, summaries={"follow_up_days": 30}) as room:
        await a_day(room, TRIP["en"], language="en")
        room.clock.pass_time(days=20)
        assert "Hakone" in await asked_about(room, "en")


async def test_what_several_days_say_is_told_of_the_newest(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await a_day(room, "Tired again, my back hurts.", "I saw a heron.", language="en")
        await a_day(room, "Tired again, my back hurts.", language="en")
        older, newer = await days_of(room, "en")
    assert "back" not in older.text
    assert "heron" in older.text
    assert "back" in newer.text
