"""What holds for every expression, in every zone, also on the days on which clocks change, and for every text."""

import string
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.temporal import Granularity, TimeSpan, annotate, find_times, is_past, overlap
from tests.memory.test_temporal_chinese import ROWS as CHINESE
from tests.memory.test_temporal_english import ROWS as ENGLISH
from tests.memory.test_temporal_japanese import ROWS as JAPANESE

ZONES = [
    ZoneInfo(name)
    for name in (
        "Asia/Tokyo",
        "America/New_York",
        "Europe/London",
        "Pacific/Auckland",
        "America/Sao_Paulo",
        "UTC",
    )
]
# Clocks change in New York, London and Auckland; in São Paulo they did so at midnight, which did not exist then.
CHANGES = [
    datetime.fromisoformat("2026-03-08"),
    datetime.fromisoformat("2026-11-01"),
    datetime.fromisoformat("2026-03-29"),
    datetime.fromisoformat("2026-10-25"),
    datetime.fromisoformat("2026-04-05"),
    datetime.fromisoformat("2026-09-27"),
    datetime.fromisoformat("2018-11-04"),
    datetime.fromisoformat("2018-02-17"),
]
PHRASES = [
    *(("ja", text) for text, _ in JAPANESE),
    *(("en", text) for text, _ in ENGLISH),
    *(("zh", text) for text, _ in CHINESE),
]

zones = st.sampled_from(ZONES)
moments = st.builds(
    lambda wall, zone: wall.replace(tzinfo=zone),
    st.datetimes(datetime.fromisoformat("1990-01-01"), datetime.fromisoformat("2090-01-01"))
    | st.builds(
        lambda day, minutes: day + timedelta(minutes=minutes),
        st.sampled_from(CHANGES),
        st.integers(-2000, 2000),
    ),
    zones,
)
phrases = st.sampled_from(PHRASES)
languages = st.sampled_from(["ja", "en", "zh", "fr"])
pieces = st.sampled_from(
    [text for _, text in PHRASES]
    + list("0123456789年月日時分/-.:()（）曜土の、一二三十百前後 ")
    + ["\ud800", "\x00", "p.m."]
)
texts = (
    st.text(max_size=60)
    | st.text(st.characters(), max_size=60)
    | st.lists(pieces, max_size=12).map("".join)
)


def only(text: str, language: str, said_at: datetime) -> TimeSpan:
    found = find_times(text, language, said_at)
    assert len(found) == 1
    return found[0]


def elapsed(span: TimeSpan) -> timedelta:
    return span.until.astimezone(UTC) - span.since.astimezone(UTC)


@given(phrases, moments)
def test_a_span_is_never_empty_and_lies_in_the_zone_of_the_speaker(
    phrase: tuple[str, str], said_at: datetime
) -> None:
    language, text = phrase

    for span in find_times(text, language, said_at):
        assert span.since.tzinfo is said_at.tzinfo
        assert span.until.tzinfo is said_at.tzinfo
        assert elapsed(span) > timedelta(0)
        assert span.phrase == text[span.start : span.end]


@given(moments)
def test_a_day_goes_from_midnight_to_midnight_however_many_hours_it_has(said_at: datetime) -> None:
    today, tomorrow = only("今日", "ja", said_at), only("tomorrow", "en", said_at)

    assert today.since.date() == said_at.date()
    assert today.until == tomorrow.since
    assert timedelta(hours=22) < elapsed(today) < timedelta(hours=26)
    assert today.since.astimezone(UTC) <= said_at.astimezone(UTC) < today.until.astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("America/New_York", datetime.fromisoformat("2026-03-08T12:00"), 23),
        ("America/New_York", datetime.fromisoformat("2026-11-01T12:00"), 25),
        ("Europe/London", datetime.fromisoformat("2026-03-29T12:00"), 23),
        ("Europe/London", datetime.fromisoformat("2026-10-25T12:00"), 25),
        ("Pacific/Auckland", datetime.fromisoformat("2026-04-05T12:00"), 25),
        ("Pacific/Auckland", datetime.fromisoformat("2026-09-27T12:00"), 23),
        ("Asia/Tokyo", datetime.fromisoformat("2026-03-08T12:00"), 24),
    ],
)
def test_the_day_on_which_clocks_change_is_shorter_or_longer(
    zone: str, day: datetime, hours: int
) -> None:
    assert elapsed(only("today", "en", day.replace(tzinfo=ZoneInfo(zone)))) == timedelta(
        hours=hours
    )


def test_hours_that_pass_are_counted_by_the_sun_and_days_by_the_calendar() -> None:
    evening = datetime(2026, 10, 31, 22, 30, tzinfo=ZoneInfo("America/New_York"))

    assert f"{only('in 6 hours', 'en', evening).since:%d %H:%M}" == "01 03:30"
    assert f"{only('tomorrow at 10:30 p.m.', 'en', evening).since:%d %H:%M}" == "01 22:30"


def test_an_hour_that_clocks_skip_becomes_the_one_that_they_show() -> None:
    saturday = datetime(2026, 3, 7, 12, tzinfo=ZoneInfo("America/New_York"))

    found = only("tomorrow at 2:30 a.m.", "en", saturday)

    assert f"{found.since:%d %H:%M}" == "08 03:30"
    assert elapsed(found) == timedelta(minutes=1)


def test_the_second_of_two_equal_hours_in_autumn_is_kept() -> None:
    zone = ZoneInfo("America/New_York")
    first = datetime(2026, 11, 1, 1, 20, tzinfo=zone)

    found = only("in 60 minutes", "en", first)

    assert found.since.fold == 1
    assert found.since.astimezone(UTC) - first.astimezone(UTC) == timedelta(hours=1)
    assert elapsed(found) == timedelta(minutes=1)


@given(moments)
def test_the_next_week_follows_on_this_one(said_at: datetime) -> None:
    this, following = only("今週", "ja", said_at), only("来週", "ja", said_at)

    assert this.since.weekday() == 0
    assert this.until == following.since
    assert this.since.astimezone(UTC) <= said_at.astimezone(UTC) < this.until.astimezone(UTC)


@given(moments, st.integers(0, 6))
def test_weeks_begin_on_the_day_that_is_configured(said_at: datetime, week_start: int) -> None:
    (this,) = find_times("this week", "en", said_at, week_start=week_start)
    (saturday,) = find_times("来週の土曜", "ja", said_at, week_start=week_start)

    assert this.since.weekday() == week_start
    assert saturday.since.weekday() == 5
    assert 7 <= (saturday.since.date() - this.since.date()).days < 14


@given(moments, st.integers(0, 6))
def test_the_next_such_day_is_the_first_after_today(said_at: datetime, weekday: int) -> None:
    japanese = only(f"今度の{'月火水木金土日'[weekday]}曜", "ja", said_at)
    name = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[weekday]
    english, last = only(f"next {name}", "en", said_at), only(f"last {name}", "en", said_at)

    assert japanese.since == english.since
    assert english.since.weekday() == last.since.weekday() == weekday
    assert 1 <= (english.since.date() - said_at.date()).days <= 7
    assert 1 <= (said_at.date() - last.since.date()).days <= 7


@given(moments)
def test_a_bare_weekend_never_began_before_today(said_at: datetime) -> None:
    bare, this = only("週末の予定", "ja", said_at), only("this weekend", "en", said_at)

    assert bare.since.weekday() == this.since.weekday() == 5
    assert bare.since.date() >= said_at.date()
    assert (bare.since == this.since) == (said_at.weekday() < 6)


@given(moments, st.integers(1, 400))
def test_days_are_counted_both_ways_alike(said_at: datetime, days: int) -> None:
    ahead, back = only(f"{days}日後", "ja", said_at), only(f"{days} days ago", "en", said_at)

    assert ahead.since.date() - said_at.date() == timedelta(days=days)
    assert said_at.date() - back.since.date() == timedelta(days=days)
    assert ahead.since == only(f"{days}天后", "zh", said_at).since


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)), moments)
def test_a_full_date_is_that_date_whenever_it_is_said(day: date, said_at: datetime) -> None:
    written = {
        "ja": f"{day:%Y}年{day:%m}月{day:%d}日",
        "en": f"{day:%B} {day:%d}, {day:%Y}",
        "zh": f"{day:%Y}年{day:%m}月{day:%d}号",
        "fr": f"{day:%d}.{day:%m}.{day:%Y}",
    }
    for language, text in written.items():
        found = only(text, language, said_at)
        assert found.since.date() == day
        assert found.phrase == text
        assert found.certain
        assert annotate(text, language, said_at) == text


@given(texts, languages, moments)
def test_no_text_breaks_anything(text: str, language: str, said_at: datetime) -> None:
    found = find_times(text, language, said_at)

    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    once = annotate(text, language, said_at)
    assert len(once) >= len(text)
    assert annotate(once, language, said_at) == once


@given(phrases, phrases, moments)
def test_overlap_is_mutual_and_a_span_overlaps_itself(
    one: tuple[str, str], other: tuple[str, str], said_at: datetime
) -> None:
    for a in find_times(one[1], one[0], said_at):
        assert overlap(a, a)
        for b in find_times(other[1], other[0], said_at):
            assert overlap(a, b) == overlap(b, a)


def test_spans_that_only_touch_do_not_overlap() -> None:
    said_at = datetime(2026, 9, 27, 14, tzinfo=ZONES[0])
    today, tomorrow = only("今日", "ja", said_at), only("明日", "ja", said_at)

    assert not overlap(today, tomorrow)
    assert overlap(tomorrow, only("明日の夜", "ja", said_at))
    assert overlap(only("来週の土曜", "ja", said_at), only("週末の予定", "ja", said_at))


def test_a_plan_is_done_when_its_day_has_passed() -> None:
    said_at = datetime(2026, 9, 27, 14, tzinfo=ZONES[0])
    saturday = only("来週の土曜に箱根に行く", "ja", said_at)

    assert not is_past(saturday, datetime(2026, 10, 3, 23, 59, tzinfo=ZONES[0]))
    assert is_past(saturday, datetime(2026, 10, 4, 0, 0, tzinfo=ZONES[0]))
    assert is_past(saturday, datetime(2026, 10, 3, 15, 0, tzinfo=UTC))
    assert not is_past(saturday, datetime(2026, 10, 3, 14, 59, tzinfo=UTC))


def test_a_moment_without_a_zone_is_refused() -> None:
    aware, naive = datetime(2026, 9, 27, 14, tzinfo=UTC), datetime.fromisoformat("2026-09-27T14:00")

    with pytest.raises(ValueError, match="zone"):
        find_times("today", "en", naive)
    with pytest.raises(ValueError, match="zone"):
        annotate("today", "en", naive)
    with pytest.raises(ValueError, match="zone"):
        is_past(only("today", "en", aware), naive)
    with pytest.raises(ValueError, match="week"):
        find_times("today", "en", aware, week_start=7)


@pytest.mark.parametrize("year", [1, 20, 9979, 9999])
@pytest.mark.parametrize(
    ("language", "text"),
    [("ja", "正月と来年と9999日後と5月3日"), ("en", "Easter and in 9999 years")],
)
def test_the_ends_of_the_calendar_are_no_cliff(year: int, language: str, text: str) -> None:
    find_times(text, language, datetime(year, 12, 31, 23, 59, tzinfo=UTC))
    find_times(text, language, datetime(year, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("language", ["ja", "en", "zh", "fr"])
@pytest.mark.parametrize(
    "piece",
    [
        "一",
        "1",
        " ",
        "1/",
        "(",
        "\x00",
        "\ud800",
        "土曜の",
        "10月",
        "next ",
        "the end of ",
        "每",
        "3日から",
        string.printable,
    ],
)
def test_fifty_thousand_characters_are_read(language: str, piece: str) -> None:
    text = (piece * 50_000)[:50_000]

    for span in find_times(text, language, datetime(2026, 9, 27, 14, tzinfo=UTC)):
        assert text[span.start : span.end] == span.phrase


def test_a_time_between_hostile_characters_is_found() -> None:
    said_at = datetime(2026, 9, 27, 14, tzinfo=ZONES[0])

    (found,) = find_times("\ud83d\x00来週の土曜\u202e\ud800", "ja", said_at)

    assert (found.phrase, found.since.day, found.granularity) == ("来週の土曜", 3, Granularity.DAY)


@pytest.mark.parametrize("language", ["ja-JP", "JA", "ja_JP"])
def test_a_region_is_no_other_language(language: str) -> None:
    assert find_times("明日", language, datetime(2026, 9, 27, tzinfo=UTC))


def test_other_languages_give_dates_in_figures_only() -> None:
    said_at = datetime(2026, 9, 27, 14, tzinfo=UTC)

    assert find_times("mañana, samedi, 明日, tomorrow", "es", said_at) == []
    assert [
        span.phrase
        for span in find_times("31/12/2026, 3.10.2026, 2026-10-03, 3/10/2026", "es", said_at)
    ] == [
        "31/12/2026",
        "3.10.2026",
        "2026-10-03",
    ]
