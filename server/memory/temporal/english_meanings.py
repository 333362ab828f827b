"""What the parts of an English expression mean, once a rule has found them."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from server.memory.temporal import counting
from server.memory.temporal import english_words as words
from server.memory.temporal.clock_values import Clock, Daypart
from server.memory.temporal.counting import Unit
from server.memory.temporal.date_values import (
    Month,
    MonthShift,
    Part,
    SeasonName,
    WeekShift,
    Year,
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
    from_english,
)
from server.memory.temporal.numeric import is_date, year_month_day
from server.memory.temporal.scanning import Made
from server.memory.temporal.spans import Tense
from server.memory.temporal.tenses import english_tense

UNITS: Final[Mapping[str, Unit]] = {
    **{unit.value: unit for unit in Unit},
    "night": Unit.DAY,
}
PERIODS: Final[dict[str, Callable[[int], Made]]] = {
    "week": lambda shift: (WeekShift(shift),),
    "month": lambda shift: (MonthShift(shift),),
    "year": lambda shift: (YearShift(shift),),
}


def pick(match: re.Match[str]) -> Pick:
    """Return which of several days "next", "this", "last", "after next" and "before last" ask for."""
    said = match.groupdict()
    after = said.get("after")
    if after:
        return words.AFTERWARDS.get(after.lower(), Pick.AFTER_NEXT)
    return words.PICKS[said["pick"].lower()] if said.get("pick") else Pick.OPEN


def ago(match: re.Match[str]) -> Made | None:
    """Read "three days ago"."""
    return counted(match, -1)


def ahead(match: re.Match[str]) -> Made | None:
    """Read "in two days"; of what is past, that is how long it took."""
    if english_tense(match.string, *match.span()) is Tense.PAST:
        return ()
    return counted(match, 1)


def later(match: re.Match[str]) -> Made | None:
    """Read "two weeks from now"."""
    return counted(match, 1)


def counted(match: re.Match[str], way: int) -> Made | None:
    """Return what lies so many units from now."""
    said, unit = match["count"].lower(), UNITS[match["unit"].lower()]
    count = from_english(said) * way
    if match.groupdict().get("half"):
        return counting.made(counting.and_a_half(count, unit))
    if "couple" in said and unit is Unit.DAY:
        return (DayShift(count, certain=False),)
    return (counting.from_now(count, unit),)


def half_ago(match: re.Match[str]) -> Made | None:
    """Read "half an hour ago"."""
    return counting.made(counting.half(-1, UNITS[match["unit"].lower()]))


def half_ahead(match: re.Match[str]) -> Made | None:
    """Read "in half an hour"."""
    return counting.made(counting.half(1, UNITS[match["unit"].lower()]))


def some(match: re.Match[str]) -> Made:
    """Read "a few days ago", "two or three days ago"."""
    said = match.groupdict()
    low, high = (3, 6)
    if said.get("low"):
        low, high = sorted((from_english(match["low"]), from_english(match["high"])))
    if said.get("ago"):
        return (DaysShift(-high, -low),)
    return (DaysShift(low, high),)


def offset(match: re.Match[str]) -> Made:
    """Read "two days after" Christmas, "a week from" Saturday, "the day before" it."""
    count = match["count"].lower()
    days = (1 if count == "the" else from_english(count)) * (
        7 if match["unit"].lower() == "week" else 1
    )
    return (Offset(-days if match["way"].lower() in {"before", "prior to"} else days),)


def weekday(match: re.Match[str]) -> Made:
    """Read "Saturday", "next Saturday", "Saturday after next"."""
    return (Weekday(words.WEEKDAYS[match["day"].lower()], pick(match)),)


def short_weekday(match: re.Match[str]) -> Made:
    """Read "next Sat"."""
    return (Weekday(words.SHORT_WEEKDAYS[match["day"].lower()], pick(match)),)


def week_on(match: re.Match[str]) -> Made:
    """Read "Saturday week", "a week on Saturday": the one after the coming one."""
    day = match["day"] or match["other"]
    return Offset(7), Weekday(words.WEEKDAYS[day.lower()])


def nth_weekday(match: re.Match[str]) -> Made:
    """Read "the second Friday" of a month."""
    said = match["count"].lower()
    ordinal = -1 if said == "last" else from_english(said)
    return (Weekday(words.WEEKDAYS[match["day"].lower()], ordinal=ordinal),)


def weekend(match: re.Match[str]) -> Made:
    """Read "last weekend"; "next weekend" is next week's, because "this weekend" is this week's."""
    said = (match["pick"] or "").lower()
    if said in {"next", "this"} and not match["after"]:
        return WeekShift(words.SHIFTS[said]), Weekend()
    return (Weekend(pick(match)),)


def period(match: re.Match[str]) -> Made:
    """Read "next week", "last year"."""
    return PERIODS[match["unit"].lower()](words.SHIFTS[match["shift"].lower()])


def far_period(match: re.Match[str]) -> Made:
    """Read "the week after next"."""
    return PERIODS[match["unit"].lower()](2 if match["after"].lower() == "after next" else -2)


def section_of_now(match: re.Match[str]) -> Made:
    """Read "the end of the month": this month's."""
    section = Part(words.SECTIONS[match["part"].lower()])
    return section, *PERIODS[match["unit"].lower()](0)


def month_number(name: str) -> int:
    """Return the number of a month by its name, whole or cut short."""
    return words.MONTHS[name.lower().rstrip(".")]


def dated(match: re.Match[str]) -> Made | None:
    """Return month and day, with the year if there is one; "October 32" is not even October."""
    month, day = month_number(match["month"]), from_english(match["day"])
    if not is_date(month, day):
        return ()
    date: Made = (Month(month), Day(day))
    return (Year(int(match["year"])), *date) if match["year"] else date


def month(match: re.Match[str]) -> Made:
    """Read "October", "last May", "May 1988"."""
    said = match.groupdict()
    if said.get("year"):
        return Year(int(match["year"])), Month(month_number(match["month"]))
    return (Month(month_number(match["month"]), pick(match)),)


def bare_day(match: re.Match[str]) -> Made | None:
    """Read "the 5th"."""
    day = from_english(match["day"])
    return (Day(day),) if 1 <= day <= 31 else None


def range_end(match: re.Match[str]) -> Made | None:
    """Read the end of "October 3–4, 2026": a bare number that is a day only because a date stands before it."""
    day = Day(from_english(match["day"]), alone=False)
    return (Year(int(match["year"])), day) if match["year"] else (day,)


def slashed(match: re.Match[str]) -> Made | None:
    """Read 10/3 as the third of October."""
    month, day = int(match["month"]), int(match["day"])
    return (Month(month), Day(day)) if is_date(month, day) else None


def american(match: re.Match[str]) -> Made | None:
    """Read 10/3/2026 the American way, and the other one where that is no date."""
    if is_date(int(match["month"]), int(match["day"])):
        return year_month_day(match)
    month, day = int(match["day"]), int(match["month"])
    return (Year(int(match["year"])), Month(month), Day(day)) if is_date(month, day) else None


def season(match: re.Match[str]) -> Made:
    """Read "last summer", "summer 2025", "in the summer"."""
    season = words.SEASONS[match["season"].lower()]
    if match.groupdict().get("year"):
        return Year(int(match["year"])), SeasonName(season)
    if "at" in match.groupdict() and english_tense(match.string, *match.span("at")) is None:
        # "hot in the summer" is about every summer.
        return ()
    return (SeasonName(season, pick(match)),)


def holiday(match: re.Match[str]) -> Made:
    """Read "Christmas", "last Christmas", "Christmas 2025"."""
    holiday = Holiday(words.HOLIDAYS[match["name"].lower()], pick(match))
    return (Year(int(match["year"])), holiday) if match["year"] else (holiday,)


def named_daypart(match: re.Match[str]) -> Made:
    """Read "tonight", "last night", "this morning"."""
    days, hours = words.NAMED_DAYPARTS[match["word"].lower()]
    return DayShift(days), Daypart(hours)


def clock(match: re.Match[str]) -> Made | None:
    """Read "8 p.m.", "8 o'clock", "at 8"."""
    said = match.groupdict()
    hour, minute = from_english(match["hour"]), int(said.get("minute") or 0)
    if not 0 <= hour <= 24:
        return None
    half = {"a": "am", "p": "pm"}.get((said.get("half") or "")[:1].lower(), "")
    # "look at one" is about no clock, "meet at one tomorrow" is.
    alone = match["hour"].isdigit() or "at" not in said
    return (Clock(hour, minute, half, alone=alone),)


def clock_range_start(match: re.Match[str]) -> Made | None:
    """Read the 3 of "from 3 to 5 p.m.": of the same half of the day, unless it would come after the end."""
    hour, then = from_english(match["hour"]), from_english(match["then"])
    if not 1 <= hour <= 12:
        return None
    half = {"a": "am", "p": "pm"}[match["half"].lower()]
    if hour % 12 > then % 12:
        half = "am" if half == "pm" else "pm"
    return (Clock(hour, int(match["minute"] or 0), half),)


def spoken_clock(match: re.Match[str]) -> Made | None:
    """Read "half past eight", "a quarter to nine"."""
    hour = from_english(match["hour"])
    if not 1 <= hour <= 12:
        return None
    before = match["way"].lower() == "to"
    minute = 30 if match["part"].lower() == "half" else 15
    if not before:
        return (Clock(hour, minute),)
    return (Clock(hour - 1 or 12, 60 - minute),)
