"""What a bare weekday stands for, and what calls off the day that it names."""

from datetime import date, timedelta

import pytest

from server.memory import temporal
from server.memory.called_off import calls_off
from server.memory.extract import RulesExtractor
from server.memory.facts import event_days
from server.memory.weekly import Weekday, meaning_of
from tests.memory.remembering import NOON, page

MONDAY = NOON + timedelta(days=1)
TUESDAY_AHEAD = date(2026, 9, 29)

ONE_DAY = [
    ("I have a dentist appointment on Tuesday.", "en", "2026-09-29"),
    ("My exam is on Wednesday.", "en", "2026-09-30"),
    ("I'm going to the cinema with Ken on Friday.", "en", "2026-10-02"),
    ("I saw Ben on Saturday.", "en", "2026-09-26"),
    ("The dentist appointment on Tuesday is cancelled.", "en", "2026-09-29"),
    ("I cancelled the dentist on Tuesday.", "en", "2026-09-29"),
    ("火曜に歯医者の予約があるの。", "ja", "2026-09-29"),
    ("水曜に健太と映画に行くんだ。", "ja", "2026-09-30"),
    ("会議は金曜だよ。", "ja", "2026-10-02"),
    ("火曜の歯医者はキャンセルしたよ。", "ja", "2026-09-29"),
    ("火曜の会議は中止になった。", "ja", "2026-09-29"),
    ("土曜に健太に会った。", "ja", "2026-09-26"),
    ("星期二我要去看牙医。", "zh", "2026-09-29"),
    ("会议在星期五。", "zh", "2026-10-02"),
    ("星期二的牙医我取消了。", "zh", "2026-09-29"),
    ("周六我见了小刚。", "zh", "2026-09-26"),
]
EVERY_WEEK = [
    ("木曜はチェロの練習。", "ja"),
    ("木曜はチェロの練習をしてる。", "ja"),
    ("火曜は病院でリハビリをしてる。", "ja"),
    ("I play the cello on Thursday.", "en"),
    ("I usually see the doctor on Tuesday.", "en"),
    ("I have dialysis at the clinic on Monday and Friday mornings.", "en"),
    ("I see the doctor on the first Monday of the month.", "en"),
    ("I work shifts at the hospital, Monday through Thursday.", "en"),
    ("月曜と木曜に病院へ行くんだ。", "ja"),
    ("水曜の夜七時から塾で数学を習ってる。", "ja"),
    ("周一和周三我要去医院。", "zh"),
    ("周四我练大提琴。", "zh"),
    ("周三我上钢琴课。", "zh"),
]


@pytest.mark.parametrize(("text", "language", "day"), ONE_DAY)
def test_the_weekday_of_one_event_is_its_day(text: str, language: str, day: str) -> None:
    assert tuple(map(str, event_days(text, language, NOON))) == (day, day)


@pytest.mark.parametrize(("text", "language"), EVERY_WEEK)
async def test_a_weekday_that_comes_round_has_no_date(text: str, language: str) -> None:
    [drawn] = (await RulesExtractor().extract([page(text, language=language)], 0)).facts
    assert (drawn.event_from, drawn.event_to) == (None, None)
    assert "2026" not in drawn.text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The bins go out on Friday.", "en"),
        ("I have yoga on Tuesday.", "en"),
        ("My exam is on Saturday the twenty-eighth.", "en"),
        ("日曜は教会に行く。", "ja"),
        ("水曜は休みなんだ。", "ja"),
    ],
)
def test_what_the_words_leave_open_is_neither(text: str, language: str) -> None:
    [span] = temporal.find_times(text, language, NOON)
    assert meaning_of(span, text, language) is Weekday.OPEN


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The dentist appointment on Tuesday was cancelled.", "en"),
        ("火曜の歯医者はキャンセルしたよ。", "ja"),
        ("星期二的牙医取消了。", "zh"),
    ],
)
def test_what_is_called_off_lay_ahead(text: str, language: str) -> None:
    for said_at in (NOON, MONDAY):
        [span] = temporal.find_times(text, language, said_at)
        assert span.first_day == TUESDAY_AHEAD


@pytest.mark.parametrize(
    ("text", "language", "does"),
    [
        ("The trip to Hakone is off, Ken and I broke up.", "en", True),
        ("We're not going to Hakone after all.", "en", True),
        ("I had to cancel the trip.", "en", True),
        ("The trip isn't cancelled.", "en", False),
        ("I'm off to Hakone tomorrow.", "en", False),
        ("The alarm is off-key.", "en", False),
        ("箱根旅行は中止になったの。", "ja", True),
        ("健太とは別れたから映画には行かない。", "ja", True),
        ("明後日、健太と箱根に行くんだ。", "ja", False),
        ("旅行は中止にならなかった。", "ja", False),
        ("私は貝はいっさい口にしない。", "ja", False),
        ("杭州不去了，我和小刚分手了。", "zh", True),
        ("星期二的牙医我取消了。", "zh", True),
        ("旅行没取消。", "zh", False),
        ("后天我和小刚去杭州。", "zh", False),
    ],
)
def test_what_calls_something_off_is_told_from_what_does_not(
    text: str, language: str, does: bool
) -> None:
    assert calls_off(text, language) is does
