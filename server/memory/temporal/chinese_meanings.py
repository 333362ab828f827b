"""What the parts of a Chinese expression mean, once a rule has found them."""

import re
from collections.abc import Mapping
from typing import Final

from server.memory.temporal import chinese_words as words
from server.memory.temporal import counting
from server.memory.temporal.clock_values import Clock, Daypart
from server.memory.temporal.counting import Unit
from server.memory.temporal.date_values import (
    Month,
    MonthShift,
    SeasonName,
    WeekShift,
    YearShift,
)
from server.memory.temporal.day_values import (
    Day,
    DayShift,
    DaysShift,
    Holiday,
    Offset,
    Weekday,
    Weekend,
)
from server.memory.temporal.frames import Pick
from server.memory.temporal.number_words import (
    to_number,
)
from server.memory.temporal.numeric import is_date
from server.memory.temporal.scanning import Made

PICKS: Final = {"下一个": Pick.NEXT, "上一个": Pick.LAST}

CLOCK_VERB: Final = re.compile("[见到]|左右|开|出发|起床|集合|之?前|吃|睡")
"""What is done at a clock time, and not to points."""

UNITS: Final[Mapping[str, Unit]] = {
    "分钟": Unit.MINUTE,
    "小时": Unit.HOUR,
    "钟头": Unit.HOUR,
    "天": Unit.DAY,
    "日": Unit.DAY,
    "周": Unit.WEEK,
    "星期": Unit.WEEK,
    "礼拜": Unit.WEEK,
    "月": Unit.MONTH,
    "年": Unit.YEAR,
}


def sign(match: re.Match[str]) -> int:
    """Return whether what is counted lies before or after."""
    return -1 if "前" in match["way"] else 1


def counted(match: re.Match[str]) -> Made | None:
    """Read 三天前, 两周后, 一年半前; behind 的 it is counted from what is named there."""
    count, unit = to_number(match["count"]) * sign(match), UNITS[match["unit"]]
    named_before = match.string[match.start() - 1 : match.start()] == "的"
    if named_before and unit in {Unit.DAY, Unit.WEEK}:
        return (Offset(count * (1 if unit is Unit.DAY else 7)),)
    if match["half"] or match["late"]:
        return counting.made(counting.and_a_half(count, unit))
    return (counting.from_now(count, unit),)


def half(match: re.Match[str]) -> Made | None:
    """Read 半年后, 半个月前."""
    return counting.made(counting.half(sign(match), UNITS[match["unit"]]))


def some(match: re.Match[str]) -> Made:
    """Read 几天前, 两三天后: between so and so many."""
    low, high = (
        (3, 6) if match["low"] == "几" else (to_number(match["low"]), to_number(match["high"]))
    )
    ends = sorted((low * sign(match), high * sign(match)))
    return (DaysShift(ends[0], ends[1]),)


def week(match: re.Match[str]) -> Made:
    """上周, 下下周三, 这周末."""
    shift = WeekShift(words.SHIFTS[match["shift"]])
    if not match["day"]:
        return (shift,)
    return (shift, Weekend() if match["day"] == "末" else Weekday(words.DAYS[match["day"]]))


def weekday(match: re.Match[str]) -> Made:
    """Read 周三, 星期天, 下一个周六, 周末."""
    pick = PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    return (Weekend(pick) if match["day"] == "末" else Weekday(words.DAYS[match["day"]], pick),)


def nth_weekday(match: re.Match[str]) -> Made:
    """Read 第二个周五, 最后一个周日."""
    ordinal = -1 if match["count"] == "最后一" else to_number(match["count"][1:])
    return (Weekday(words.DAYS[match["day"]], ordinal=ordinal),)


def month_day(match: re.Match[str]) -> Made | None:
    """Read 十月, 10月3号."""
    month = to_number(match["month"])
    if not 1 <= month <= 12:
        return None
    if not match["day"]:
        return (Month(month),)
    day = to_number(match["day"])
    return (Month(month), Day(day)) if is_date(month, day) else None


def month_word(match: re.Match[str]) -> Made | None:
    """Read 下个月, 上个月15号."""
    shift = MonthShift(words.SHIFTS[match["shift"]])
    if not match["day"]:
        return (shift,)
    day = to_number(match["day"])
    return (shift, Day(day)) if 1 <= day <= 31 else None


def bare_day(match: re.Match[str]) -> Made | None:
    """Read 3号."""
    day = to_number(match["day"])
    return (Day(day),) if 1 <= day <= 31 else None


def holiday(match: re.Match[str]) -> Made:
    """Read 国庆节, 圣诞节."""
    pick = PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    return (Holiday(words.HOLIDAYS[match["name"]], pick),)


def season(match: re.Match[str]) -> Made:
    """Read 夏天, 暑假; the bare character needs a year before it."""
    return (
        SeasonName(words.SEASONS[match["season"][0]], alone=match["season"] in {"暑假", "寒假"}),
    )


def this_season(match: re.Match[str]) -> Made:
    """Read 这个夏天."""
    return YearShift(0), SeasonName(words.SEASONS[match["season"]])


def slashed(match: re.Match[str]) -> Made | None:
    """Read 10/3."""
    month, day = int(match["month"]), int(match["day"])
    return (Month(month), Day(day)) if is_date(month, day) else None


def named_daypart(match: re.Match[str]) -> Made:
    """Read 今早, 昨晚."""
    days, part = words.NAMED_DAYPARTS[match["word"]]
    return DayShift(days), Daypart(part)


def clock(match: re.Match[str]) -> Made | None:
    """Read 三点半, 12点45分, 两点."""
    hour = to_number(match["hour"])
    said = match["past"] or ""
    quarters = {"半": 30, "一刻": 15, "1刻": 15, "三刻": 45, "3刻": 45}
    minute = quarters.get(said)
    if minute is None:
        minute = to_number(said.rstrip("分")) if said.strip("钟整分") else 0
    if hour > 24 or minute > 59:
        return None
    # 一点 is "a little" and 两点 "two points" unless something shows that a clock is meant.
    alone = (
        bool(said)
        or match["mark"] == "时"
        or CLOCK_VERB.match(match.string, match.end()) is not None
    )
    return (Clock(hour, minute, exact=match["hour"].startswith("0"), alone=alone),)
