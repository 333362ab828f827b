"""What comes round: the weekdays that a sentence names, and the days on which they fall."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.habits import Habit, read_habit, weekdays

MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = range(7)
OCTOBER_2026 = [date(2026, 10, 1) + timedelta(days=shift) for shift in range(31)]
"""It begins on a Thursday and ends on a Saturday, the fifth."""
SOME_WEEKDAYS = st.frozensets(st.integers(0, 6), min_size=1)


def days_in_october(habit: Habit) -> list[int]:
    return [day.day for day in OCTOBER_2026 if habit.falls_on(day)]


def month_of(day: date) -> Iterator[date]:
    day = day.replace(day=1)
    month = day.month
    while day.month == month:
        yield day
        day += timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("あなたは月曜にヨガに通っている。", {MONDAY}),
        ("あなたは毎週火曜日と木曜日に走る。", {TUESDAY, THURSDAY}),
        ("ゴミの日は水曜、資源ごみは日曜だ。", {WEDNESDAY, SUNDAY}),
        ("You swim on Tuesdays and Saturdays.", {TUESDAY, SATURDAY}),
        ("Your choir meets every FRIDAY.", {FRIDAY}),
        ("你每周三和星期五上课。", {WEDNESDAY, FRIDAY}),
        ("你礼拜天休息。", {SUNDAY}),
        ("你每周日去教堂。", {SUNDAY}),
    ],
)
def test_weekdays_are_read_in_three_languages(text: str, expected: set[int]) -> None:
    assert weekdays(text) == expected
    assert read_habit(text) == Habit(frozenset(expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("月曜から水曜まで", {MONDAY, TUESDAY, WEDNESDAY}),
        ("木曜日〜土曜日", {THURSDAY, FRIDAY, SATURDAY}),
        ("You work Monday to Friday.", {MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY}),
        ("Saturday through Tuesday", {SATURDAY, SUNDAY, MONDAY, TUESDAY}),
        ("周五到周一", {FRIDAY, SATURDAY, SUNDAY, MONDAY}),
        ("Monday to Tuesday, and Saturday", {MONDAY, TUESDAY, SATURDAY}),
    ],
)
def test_a_run_of_weekdays_has_those_between_its_ends(text: str, expected: set[int]) -> None:
    assert weekdays(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("あなたは月水金にジムに通う。", {MONDAY, WEDNESDAY, FRIDAY}),
        ("ゴミは火木だ。", {TUESDAY, THURSDAY}),
        ("燃えるゴミは月木です。", {MONDAY, THURSDAY}),
        ("あなたは月・水・金に泳ぐ。", {MONDAY, WEDNESDAY, FRIDAY}),
        ("あなたは月水金土と働く。", {MONDAY, WEDNESDAY, FRIDAY, SATURDAY}),
        ("火水木休みだ。", {TUESDAY, WEDNESDAY, THURSDAY}),
        ("あなたは毎週月水に塾に行く。", {MONDAY, WEDNESDAY}),
        ("週3(月水金)で働いている。", {MONDAY, WEDNESDAY, FRIDAY}),
        ("水木は休みだ。", {WEDNESDAY, THURSDAY}),
        ("定休日は日月だ。", {SUNDAY, MONDAY}),
        ("土日月は店に立つ。", {SATURDAY, SUNDAY, MONDAY}),
        ("金土日と旅館で働く。", {FRIDAY, SATURDAY, SUNDAY}),
        ("あなたは火木曜日に走る。", {TUESDAY, THURSDAY}),
        ("火曜と金土は夜勤だ。", {TUESDAY, FRIDAY, SATURDAY}),
        ("你每周一三五去健身房。", {MONDAY, WEDNESDAY, FRIDAY}),
        ("你星期二、四、六上课。", {TUESDAY, THURSDAY, SATURDAY}),
    ],
)
def test_weekdays_may_be_told_by_their_letters_alone(text: str, expected: set[int]) -> None:
    assert read_habit(text) == Habit(frozenset(expected))


@pytest.mark.parametrize(
    "text",
    [
        "火山に登った。",
        "水木しげるが好きだ。",
        "水木さんは優しい。",
        "金土地の売買をした。",
        "日本に行く。",
        "月日が流れるのは早い。",
        "木金属でできている。",
        "土木の仕事をしている。",
        "今月水道代を払った。",
        "その日水を飲んだ。",
        "二日木を切った。",
        "毎日水をやる。",
        "お金土産に使う。",
        "木火土金水は五行だ。",
        "金木犀が咲く。",
        "你水土不服。",
    ],
)
def test_letters_of_weekdays_within_other_words_name_none(text: str) -> None:
    assert read_habit(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三月土曜に行く。", {SATURDAY}),
        ("你每周三四次去游泳。", {WEDNESDAY}),
        ("你周三四点开会。", {WEDNESDAY}),
    ],
)
def test_a_count_beside_a_weekday_is_no_weekday(text: str, expected: set[int]) -> None:
    assert weekdays(text) == expected


@pytest.mark.parametrize(
    "text", ["週末は寝ている。", "土日は休みだ。", "You rest at weekends.", "周末"]
)
def test_a_weekend_is_two_days(text: str) -> None:
    assert weekdays(text) == {SATURDAY, SUNDAY}


@pytest.mark.parametrize("text", ["平日は忙しい。", "on weekdays", "on school nights", "工作日"])
def test_working_days_are_five(text: str) -> None:
    assert weekdays(text) == {MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "月がきれいだった。",
        "あなたは金魚に水をやる。",
        "土を買った日だ。",
        "You ate a sundae.",
        "Your friend Friedman is thirsty.",
        "你有一二三个朋友。",
        "你喜欢日本。",
    ],
)
def test_what_names_no_weekday_is_no_habit(text: str) -> None:
    assert weekdays(text) == frozenset()
    assert read_habit(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("あなたは毎月第2火曜に通院する。", [13]),
        ("あなたは第一・第三土曜日に書道を習う。", [3, 17]),
        ("第2と第4水曜は早く帰る。", [14, 28]),
        ("最終金曜は飲み会だ。", [30]),
        ("毎月最後の土曜に掃除する。", [31]),
        ("Your book club is on the first Monday of the month.", [5]),
        ("the second and fourth Thursdays of each month", [8, 22]),
        ("the fifth Thursday of every month", [29]),
        ("The Last Sunday Of The Month", [25]),
        ("最終週の金曜は飲み会だ。", [30]),
        ("毎月第二週の火曜は休みだ。", [13]),
        ("毎月第2週と第4週の水曜は早く帰る。", [14, 28]),
        ("毎月最後の金曜に集まる。", [30]),
        ("毎月最初の月曜に通院する。", [5]),
        ("第1・3・5土曜に集まる。", [3, 17, 31]),
        ("あなたは第2・第4火・木曜に習う。", [8, 13, 22, 27]),
        ("You meet the last Friday of every month.", [30]),
        ("You meet on the last Friday every month.", [30]),
        ("Every month you meet on the first and the third Monday.", [5, 19]),
        ("You meet monthly, on the 2nd Tuesday.", [13]),
        ("first, second and last Mondays of each month", [5, 12, 26]),
        ("你每月第一个星期天去教堂。", [4]),
        ("你每月最后一个周五聚会。", [30]),
        ("你每个月的第二个和第四个星期六上课。", [10, 24]),
        ("每月第二、四个周三开会。", [14, 28]),
        ("你每月第一周的周三值班。", [7]),
        ("あなたは火曜に通院する。", [6, 13, 20, 27]),
        ("It was your last Friday at school.", [2, 9, 16, 23, 30]),
        ("最後に月曜に行った。", [5, 12, 19, 26]),
    ],
)
def test_some_weeks_of_a_month_are_kept_apart(text: str, expected: list[int]) -> None:
    habit = read_habit(text)
    assert habit is not None
    assert days_in_october(habit) == expected


@given(st.dates(max_value=date(2200, 1, 1)), SOME_WEEKDAYS)
def test_a_weekly_habit_falls_on_its_weekdays_and_no_others(
    day: date, names: frozenset[int]
) -> None:
    assert Habit(names).falls_on(day) == (day.weekday() in names)


@given(st.dates(max_value=date(2200, 1, 1)), SOME_WEEKDAYS)
def test_the_five_weeks_of_a_month_together_are_every_week(
    day: date, names: frozenset[int]
) -> None:
    assert Habit(names, frozenset(range(1, 6))).falls_on(day) == Habit(names).falls_on(day)


@given(st.dates(max_value=date(2200, 1, 1)), st.integers(0, 6), st.sampled_from([1, 2, 3, 4, -1]))
def test_a_monthly_habit_comes_once_in_every_month(day: date, weekday: int, nth: int) -> None:
    habit = Habit(frozenset({weekday}), frozenset({nth}))
    every_week = [each for each in month_of(day) if each.weekday() == weekday]
    assert [each for each in month_of(day) if habit.falls_on(each)] == [
        every_week[nth if nth < 0 else nth - 1]
    ]


@pytest.mark.parametrize("text", ["你每周一次去游泳。", "你一周三次去健身房。", "你每周三天打工。"])
def test_so_many_times_a_week_is_no_weekday(text: str) -> None:
    assert read_habit(text) is None


@pytest.mark.parametrize(
    "text", ["Your lesson moved from Monday to Thursday.", "練習が月曜から木曜に変わった。"]
)
def test_what_moved_does_not_come_round_on_the_days_between(text: str) -> None:
    assert not weekdays(text) & {TUESDAY, WEDNESDAY}


@pytest.mark.parametrize(
    "text",
    [
        "You changed jobs and now work Monday to Friday.",
        "You switched to working Monday to Friday.",
        "勤務が月曜から金曜になった。",
    ],
)
def test_a_new_run_of_days_is_a_run(text: str) -> None:
    habit = read_habit(text)
    assert habit is not None
    assert habit.weekdays == frozenset(range(5))


def test_what_was_moved_in_chinese_is_on_the_new_day() -> None:
    habit = read_habit("课从周一改到周四。")
    assert habit is not None
    assert habit.weekdays == {3}
