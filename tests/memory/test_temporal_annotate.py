"""The date is written beside the phrase, once, and says the same whenever it is read again."""

from datetime import datetime, timedelta

import pytest

from server.memory.temporal import Granularity, annotate, find_times
from tests.memory.test_temporal_chinese import ROWS as CHINESE
from tests.memory.test_temporal_english import ROWS as ENGLISH
from tests.memory.test_temporal_japanese import ROWS as JAPANESE
from tests.memory.times import SUNDAY

ROWS = [
    *(("ja", text) for text, _ in JAPANESE),
    *(("en", text) for text, _ in ENGLISH),
    *(("zh", text) for text, _ in CHINESE),
]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        *(
            ("ja", f"昨日の{word}だった", f"昨日（2026年9月26日）の{word}だった")
            for word in (
                "夕飯",
                "夕食",
                "朝食",
                "朝ごはん",
                "お昼ごはん",
                "昼休み",
                "昼寝",
                "晩ごはん",
                "晩酌",
                "夜食",
                "夜更かし",
                "夕焼け",
                "夕立ち",
                "朝市",
                "朝刊",
            )
        ),
        *(
            ("ja", f"昨日の{time}会った", f"昨日の{time}（2026年9月26日）会った")
            for time in ("夕方", "朝", "夜", "夜中", "夜明け")
        ),
        ("ja", "明日の朝一で行く", "明日の朝一（2026年9月28日）で行く"),
        ("ja", "昨日の夜食べたラーメン", "昨日の夜（2026年9月26日）食べたラーメン"),
        ("ja", "明日の夜空いてる", "明日の夜（2026年9月28日）空いてる"),
        ("ja", "明日の朝市役所に行く", "明日の朝（2026年9月28日）市役所に行く"),
        ("ja", "今日中に出す", "今日中（2026年9月27日）に出す"),
        ("ja", "来月号を買う", "来月号（2026年10月）を買う"),
        ("en", "Yesterday's dinner was curry", "Yesterday's (September 26, 2026) dinner was curry"),
        ("en", "Tomorrow morning’s class", "Tomorrow morning’s (September 28, 2026) class"),
        ("en", "next Sunday-school picnic", "next Sunday-school (October 4, 2026) picnic"),
        ("zh", "明天下午茶很好", "明天（2026年9月28日）下午茶很好"),
        ("zh", "昨天晚饭吃了咖喱", "昨天（2026年9月26日）晚饭吃了咖喱"),
        ("zh", "明天下午开会", "明天下午（2026年9月28日）开会"),
    ],
)
def test_no_date_is_written_into_a_word(language: str, text: str, expected: str) -> None:
    assert annotate(text, language, SUNDAY) == expected
    assert annotate(expected, language, SUNDAY) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "You plan to go to Hakone with friends next Saturday.",
            "You plan to go to Hakone with friends next Saturday (October 3, 2026).",
        ),
        ("ja", "来週の土曜に箱根に行く", "来週の土曜（2026年10月3日）に箱根に行く"),
        ("zh", "下周六去箱根", "下周六（2026年10月3日）去箱根"),
        ("ja", "週末は空いてる", "週末（2026年10月3日〜4日）は空いてる"),
        ("en", "Are you free this weekend?", "Are you free this weekend (September 26–27, 2026)?"),
        ("en", "next week", "next week (September 28 – October 4, 2026)"),
        ("zh", "下周很忙", "下周（2026年9月28日至10月4日）很忙"),
        ("ja", "年末年始", "年末年始（2026年12月29日〜2027年1月3日）"),
        ("ja", "5月に行った", "5月（2026年5月）に行った"),
        ("en", "last summer", "last summer (June 2026 – August 2026)"),
        ("ja", "去年買った", "去年（2025年）買った"),
        ("en", "last year", "last year (2025)"),
        ("ja", "昭和63年生まれ", "昭和63年（1988年）生まれ"),
        ("ja", "明日の午後3時に", "明日の午後3時（2026年9月28日）に"),
        ("en", "tonight at 8", "tonight at 8 (September 27, 2026)"),
        ("en", "in 3 hours", "in 3 hours (September 27, 2026, 17:00)"),
        ("ja", "昨夜1時に寝た", "昨夜1時（2026年9月27日01時00分）に寝た"),
    ],
)
def test_the_phrase_is_kept_and_its_date_follows(language: str, text: str, expected: str) -> None:
    assert annotate(text, language, SUNDAY) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "2026年10月3日に行く"),
        ("ja", "2026-10-03"),
        ("ja", "2026年10月"),
        ("en", "on October 3, 2026"),
        ("en", "in 2019"),
        ("zh", "2026年10月3日"),
        ("ja", "最近ギターを練習してる"),
        ("en", "recently"),
        ("ja", "毎週火曜"),
        ("ja", "何もない"),
        ("fr", "demain, 2026-10-03"),
    ],
)
def test_what_needs_no_date_gets_none(language: str, text: str) -> None:
    assert annotate(text, language, SUNDAY) == text


@pytest.mark.parametrize(("language", "text"), ROWS)
def test_writing_twice_changes_nothing(language: str, text: str) -> None:
    once = annotate(text, language, SUNDAY)

    assert annotate(once, language, SUNDAY) == once
    assert annotate(once, language, SUNDAY + timedelta(days=400)) == once


@pytest.mark.parametrize(("language", "text"), ROWS)
def test_a_written_date_means_the_same_days_when_it_is_read_later(language: str, text: str) -> None:
    def spans(said: str, at: datetime) -> list[tuple[datetime, datetime]]:
        found = find_times(said, language, at)
        return [
            (span.since, span.until) for span in found if span.granularity is not Granularity.RECENT
        ]

    written = annotate(text, language, SUNDAY)

    for later in (SUNDAY + timedelta(days=3), SUNDAY + timedelta(days=200)):
        assert spans(written, later) == spans(text, SUNDAY)


def test_a_bracket_that_holds_something_else_does_not_hide_the_date() -> None:
    assert annotate("土曜（たぶん）に", "ja", SUNDAY) == "土曜（2026年10月3日）（たぶん）に"
    assert annotate("Saturday (maybe)", "en", SUNDAY) == "Saturday (October 3, 2026) (maybe)"


def test_only_a_date_with_its_year_settles_what_stands_before_it() -> None:
    def days(text: str) -> list[str]:
        return [f"{span.since:%Y-%m-%d}" for span in find_times(text, "ja", SUNDAY)]

    assert days("土曜（2026年10月10日）") == ["2026-10-10"]
    assert days("土曜（10月10日）") == ["2026-10-03", "2026-10-10"]
