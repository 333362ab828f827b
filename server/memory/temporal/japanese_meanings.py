"""What the parts of a Japanese expression mean, once a rule has found them."""

import re
from collections.abc import Mapping
from typing import Final

from server.memory.temporal import counting
from server.memory.temporal import japanese_words as words
from server.memory.temporal.calendar_rules import era_year
from server.memory.temporal.clock_values import Clock, Daypart
from server.memory.temporal.counting import Unit
from server.memory.temporal.date_values import (
    Month,
    MonthShift,
    SeasonName,
    WeekShift,
    Year,
    YearShift,
)
from server.memory.temporal.day_values import (
    Day,
    DayShift,
    DaysOff,
    DaysShift,
    Holiday,
    Offset,
    Weekday,
    Weekend,
)
from server.memory.temporal.frames import Pick
from server.memory.temporal.holidays import long_weekends, public_holidays
from server.memory.temporal.number_words import to_number
from server.memory.temporal.numeric import is_date
from server.memory.temporal.scanning import Made
from server.memory.temporal.spans import Granularity

DAYS: Final = "月火水木金土日"


UNITS: Final[Mapping[str, Unit]] = {
    "分": Unit.MINUTE,
    "時間": Unit.HOUR,
    "日": Unit.DAY,
    "週間": Unit.WEEK,
    "週": Unit.WEEK,
    "月": Unit.MONTH,
    "年": Unit.YEAR,
}


def sign(match: re.Match[str]) -> int:
    """Return whether what is counted lies before or after."""
    return -1 if match["way"] in {"前", "まえ"} else 1


def counted(match: re.Match[str]) -> Made | None:
    """Read 3日後, 二週間前; behind の it is counted from what is named there: クリスマスの2日前."""
    count = to_number(match["count"]) * sign(match)
    unit = UNITS["月" if match["unit"].endswith("月") else match["unit"]]
    named_before = match.string[match.start() - 1 : match.start()] == "の"
    if named_before and unit in {Unit.DAY, Unit.WEEK}:
        return (Offset(count * (1 if unit is Unit.DAY else 7)),)
    if match["half"]:
        return counting.made(counting.and_a_half(count, unit))
    return (counting.from_now(count, unit),)


def half(match: re.Match[str]) -> Made | None:
    """Read 半年前, 半日後."""
    return counting.made(counting.half(sign(match), UNITS[match["unit"]]))


def some(match: re.Match[str]) -> Made:
    """数日前, 2、3日前: between so and so many."""
    low, high = (
        (3, 6)
        if match["low"] == "数"
        else (to_number(match["low"]), to_number(match["high"] or "0"))
    )
    ends = sorted((low * sign(match), high * sign(match)))
    return (DaysShift(ends[0], ends[1]),)


def weekday(match: re.Match[str]) -> Made:
    """Read 土曜日, 今度の土曜."""
    pick = words.PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    return (Weekday(DAYS.index(match["day"]), pick),)


def weekend(match: re.Match[str]) -> Made:
    """Read 週末, この週末, 次の土日."""
    pick = words.PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    # "this weekend" is the weekend of this week, even on its Sunday.
    return (WeekShift(0), Weekend()) if pick is Pick.THIS else (Weekend(pick),)


def named_daypart(word: str) -> Made:
    """Read 今朝, 昨夜."""
    days, hours = words.NAMED_DAYPARTS[word]
    return DayShift(days), Daypart(hours)


def month_day(match: re.Match[str]) -> Made | None:
    """Read 10月, 十月三日, 次の5月."""
    month = to_number(match["month"])
    if not 1 <= month <= 12:
        return None
    pick = words.PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    if not match["day"]:
        return (Month(month, pick),)
    day = to_number(match["day"])
    return (Month(month, pick), Day(day)) if is_date(month, day) else None


def month_word(match: re.Match[str]) -> Made | None:
    """Read 来月, 来月3日."""
    shift = MonthShift(words.MONTH_WORDS[match["word"]])
    if not match["day"]:
        return (shift,)
    day = to_number(match["day"])
    return (shift, Day(day)) if 1 <= day <= 31 else None


def bare_day(match: re.Match[str]) -> Made | None:
    """Read 3日, which is a date only before certain particles."""
    day = to_number(match["day"])
    return (Day(day),) if 1 <= day <= 31 else None


def slashed(match: re.Match[str]) -> Made | None:
    """Read 10/3."""
    month, day = int(match["month"]), int(match["day"])
    return (Month(month), Day(day)) if is_date(month, day) else None


def era(match: re.Match[str]) -> Made | None:
    """Read 令和8年, R8.10.3."""
    number = 1 if match["number"] == "元" else to_number(match["number"])
    year = era_year(match["era"].lower(), number)
    if year is None:
        return None
    said = match.groupdict()
    made: Made = (Year(year, from_era=True, fiscal=bool(said.get("fiscal"))),)
    if not said.get("month"):
        return made
    month, day = int(match["month"]), int(match["day"])
    return (*made, Month(month), Day(day)) if is_date(month, day) else None


def clock(match: re.Match[str]) -> Made | None:
    """Read 午後3時半, 12時45分, 3時5分前."""
    hour = to_number(match["hour"])
    minute = 30 if match["half"] else to_number(match["minute"]) if match["minute"] else 0
    if hour > 29 or minute > 59:
        return None
    if match["to"] and 0 < minute < 30:
        # "5 to 3"; with more minutes than that, 前 means "before".
        hour, minute = hour - 1, 60 - minute
    half = {"午前": "am", "午後": "pm"}.get(match["noon"] or "", "")
    return (Clock(max(hour, 0), minute, half, exact=match["hour"].startswith("0")),)


def holiday(match: re.Match[str]) -> Made:
    """Read 敬老の日, 次の正月."""
    pick = words.PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    return (Holiday(words.HOLIDAYS[match["name"].lower()], pick),)


def days_off(match: re.Match[str]) -> Made:
    """Read 次の祝日, 今度の連休."""
    pick = words.PICKS[match["pick"]]
    if match["name"]:
        return (DaysOff(public_holidays, pick, Granularity.DAY),)
    return (DaysOff(long_weekends, pick, Granularity.DAYS),)


def season(match: re.Match[str]) -> Made:
    """Read この夏, 夏に."""
    pick = words.PICKS[match["pick"]] if match["pick"] else Pick.OPEN
    return (SeasonName(words.SEASONS[match["season"]], pick),)


def dependent_season(match: re.Match[str]) -> Made:
    """Read "last year's summer": a season that needs a year, for "my summer" is no date."""
    return (SeasonName(words.SEASONS[match["season"]], alone=False),)


def year_season(match: re.Match[str]) -> Made:
    """Read 昨夏, 今春."""
    return YearShift(-1 if match["year"] == "昨" else 0), SeasonName(words.SEASONS[match["season"]])
