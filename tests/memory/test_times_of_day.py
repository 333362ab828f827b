"""A time of day that names no day gets none: what comes every day is told of no day."""

from datetime import timedelta
from pathlib import Path

import pytest

from server.memory.extract import RulesExtractor
from tests.memory.remembering import opened, page


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("I take my pills at 8 in the evening.", "en"),
        ("I go for a walk at seven in the morning.", "en"),
        ("My appointment is at half past eleven.", "en"),
        ("夜十時には寝るようにしてる。", "ja"),
        ("朝は七時に起きます。", "ja"),
        ("予約は十時です。", "ja"),
        ("我晚上十点睡觉。", "zh"),
    ],
)
async def test_a_time_of_day_alone_is_of_no_day(said: str, language: str) -> None:
    [fact] = (await RulesExtractor().extract([page(said, language=language)], 0)).facts
    assert "2026" not in fact.text
    assert fact.event_to is None


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("I'm seeing the dentist at 3 pm today.", "en"),
        ("今夜十時に電話が来ます。", "ja"),
        ("午後三時に歯医者です。", "ja"),
        ("我今天下午三点看牙医。", "zh"),
    ],
)
async def test_one_of_today_keeps_its_day(said: str, language: str) -> None:
    [fact] = (await RulesExtractor().extract([page(said, language=language)], 0)).facts
    assert "2026" in fact.text
    assert fact.event_to is not None


@pytest.mark.parametrize(
    ("said", "language"),
    [("夜十時には寝るようにしてる。", "ja"), ("I try to be in bed by ten.", "en")],
)
async def test_a_bedtime_stands_on_the_days_that_follow(
    said: str, language: str, tmp_path: Path
) -> None:
    with opened(tmp_path) as room:
        room.tell(said, language=language)
        await room.memory.extract()
        room.clock.moment += timedelta(days=3)
        found = await room.memory.recall("hana", "Hello?", language)
    assert len(found.standing) == 1
