"""What other memories and date libraries are known to get wrong, and where it stands in the public reports."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from server.memory.temporal import annotate, find_times, is_past
from tests.memory.times import SUNDAY, TOKYO, read

NOON = datetime(2026, 9, 27, 12, tzinfo=TOKYO)


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        # dateparser: no answer, or a wrong one without a word.
        ("来週の土曜", "ja", "来週の土曜 = 2026-10-03"),
        ("今度の土曜日", "ja", "今度の土曜日 = 2026-10-03"),
        ("週末", "ja", "週末 = 2026-10-03..2026-10-04"),
        ("先週の金曜日", "ja", "先週の金曜日 = 2026-09-18"),
        ("令和8年10月3日", "ja", "令和8年10月3日 = 2026-10-03"),
        ("来月3日", "ja", "来月3日 = 2026-10-03"),
        ("10月3日", "ja", "10月3日 = 2026-10-03"),
        ("the weekend", "en", "the weekend = 2026-10-03..2026-10-04"),
        ("Saturday after next", "en", "Saturday after next = 2026-10-10"),
        ("tonight at 8", "en", "tonight at 8 = 2026-09-27T20:00"),
        ("下周六", "zh", "下周六 = 2026-10-03"),
        # ja-timex
        ("おととい", "ja", "おととい = 2026-09-25"),
        # timefhuman
        ("the day after tomorrow", "en", "the day after tomorrow = 2026-09-29"),
        # parsedatetime
        ("this Saturday", "en", "this Saturday = 2026-10-03"),
        # ctparse
        ("next Saturday", "en", "next Saturday = 2026-10-03"),
        ("last Friday", "en", "last Friday = 2026-09-25"),
        # jionlp: only the Sunday of it
        ("这周末", "zh", "这周末 = 2026-09-26..2026-09-27"),
    ],
)
def test_what_date_libraries_get_wrong_is_right(text: str, language: str, expected: str) -> None:
    assert read(text, language, NOON) == [expected]


@pytest.mark.parametrize(
    ("text", "language"),
    [("三日坊主", "ja"), ("you may go", "en"), ("the sat", "en"), ("每周二", "zh")],
)
def test_what_date_libraries_take_for_a_date_is_none(text: str, language: str) -> None:
    assert read(text, language, NOON) == []


def test_case_34_a_relative_date_counts_from_the_turn_not_from_now() -> None:
    three_weeks_ago = SUNDAY - timedelta(weeks=3)

    assert read("明日歯医者に行く", "ja", three_weeks_ago) == ["明日 = 2026-09-07"]
    assert annotate("明日歯医者に行く", "ja", three_weeks_ago) == "明日（2026年9月7日）歯医者に行く"


def test_case_36_a_text_without_a_date_is_given_none() -> None:
    for text, language in [("猫が好き", "ja"), ("I like cats", "en"), ("我喜欢猫", "zh")]:
        assert find_times(text, language, SUNDAY) == []
        assert annotate(text, language, SUNDAY) == text


def test_case_39_the_day_is_that_of_the_speakers_zone() -> None:
    after_midnight = datetime(2026, 9, 27, 0, 30, tzinfo=timezone(timedelta(hours=9)))

    assert read("今日は眠い", "ja", after_midnight) == ["今日 = 2026-09-27"]
    assert read("今日は眠い", "ja", after_midnight.astimezone(UTC)) == ["今日 = 2026-09-26"]
    assert read("today", "en", after_midnight.astimezone(ZoneInfo("America/Los_Angeles"))) == [
        "today = 2026-09-26"
    ]


def test_case_42_a_clock_time_stays_what_was_said() -> None:
    said = "さっき12時45分に食べた"

    assert read(said, "ja", SUNDAY) == ["さっき12時45分 = 2026-09-27T12:45"]
    assert annotate(said, "ja", SUNDAY) == "さっき12時45分（2026年9月27日）に食べた"
    assert "12:45" in annotate("I ate just now, at 12:45", "en", SUNDAY)


@pytest.fixture(params=["Asia/Tokyo", "America/New_York", "UTC", "Pacific/Auckland"])
def host_zone(request: pytest.FixtureRequest) -> Iterator[str]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("host_zone")
def test_case_43_the_zone_of_the_host_changes_nothing() -> None:
    """Row 43: what held was right on hosts in UTC alone."""
    assert read("来週の土曜", "ja") == ["来週の土曜 = 2026-10-03"]
    assert read("tonight at 8", "en") == ["tonight at 8 = 2026-09-27T20:00"]
    assert read("3時間後", "ja") == ["3時間後 = 2026-09-27T17:00"]
    assert annotate("昨夜1時に寝た", "ja", SUNDAY) == "昨夜1時（2026年9月27日01時00分）に寝た"


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("昭和22年3月生まれだ", "ja", ["昭和22年3月 = 1947-03-01..1947-03-31"]),
        ("1980年生まれです", "ja", ["1980年 = 1980-01-01..1980-12-31"]),
        ("3月生まれだ", "ja", []),
        ("I was born on 3 May 1980", "en", ["3 May 1980 = 1980-05-03"]),
        ("我1947年三月出生", "zh", ["1947年三月 = 1947-03-01..1947-03-31"]),
    ],
)
def test_a_birth_is_dated_by_its_year(text: str, language: str, expected: list[str]) -> None:
    assert read(text, language, NOON) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("9999年12月31日に死ぬ", "ja"),
        ("西暦1年1月1日に生まれた", "ja"),
        ("I will die on 31 December 9999.", "en"),
        ("I was born on December 31, 9999.", "en"),
        ("9999年12月31日", "zh"),
    ],
)
def test_a_year_that_is_not_read_leaves_no_day_of_this_year(text: str, language: str) -> None:
    assert read(text, language, NOON) == []


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("now", ["0001-01-01T00:00", "9999-12-31T23:59"])
def test_the_ends_of_the_calendar_can_be_compared_with(zone: str, now: str) -> None:
    [span] = find_times("明日", "ja", NOON)
    moment = datetime.fromisoformat(now).replace(tzinfo=ZoneInfo(zone))

    assert is_past(span, moment) is (moment > NOON)
    assert find_times("明日", "ja", moment) == []


@pytest.mark.parametrize(
    ("text", "language", "days"),
    [
        ("He can't come next Tuesday, it's moved to Thursday", "en", [6, 8]),
        ("next Tuesday and Thursday", "en", [6, 8]),
        ("I see the doctor next Tuesday, the nurse comes on Thursday", "en", [6, 1]),
        ("来週の火曜と木曜", "ja", [6, 8]),
        ("下周二来不了，改到周四了", "zh", [6, 8]),
        ("10月6日です。違う、8日だ", "ja", [6, 8]),
        ("十月六号。不对，是八号", "zh", [6, 8]),
        ("On October 6 I go to Rome and on the 8th to Paris", "en", [6, 8]),
    ],
)
def test_a_day_beside_another_is_of_the_same_week_or_month(
    text: str, language: str, days: list[int]
) -> None:
    said_at = datetime(2026, 9, 29, 12, 0, tzinfo=TOKYO)
    spans = find_times(text, language, said_at)
    assert [(span.first_day.month, span.first_day.day) for span in spans] == [
        (10, day) for day in days
    ]
