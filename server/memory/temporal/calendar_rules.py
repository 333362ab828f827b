"""Calendar arithmetic without words: months, weeks, the parts of a period, seasons, eras."""

import calendar
from collections.abc import Mapping
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

from server.memory.temporal.frames import Period
from server.memory.temporal.spans import Granularity

DAYS_OF_WEEK: Final = 7
SATURDAY: Final = 5


class Section(StrEnum):
    """A part of a month, a week or a year."""

    START = "start"
    EARLY = "early"
    MIDDLE = "middle"
    LATE = "late"
    END = "end"
    FIRST_HALF = "first-half"
    SECOND_HALF = "second-half"
    FIRST_WEEK = "first-week"
    SECOND_WEEK = "second-week"
    THIRD_WEEK = "third-week"
    FOURTH_WEEK = "fourth-week"


class Season(StrEnum):
    """A season of the northern half of the world; winter belongs to the year in which it begins."""

    SPRING = "spring"
    SUMMER = "summer"
    AUTUMN = "autumn"
    WINTER = "winter"


_SEASON_BEGINS: Final[Mapping[Season, int]] = {
    Season.SPRING: 3,
    Season.SUMMER: 6,
    Season.AUTUMN: 9,
    Season.WINTER: 12,
}

# First and last day of the month; None is the last one there is.
_OF_MONTH: Final[Mapping[Section, tuple[int, int | None]]] = {
    Section.START: (1, 5),
    Section.EARLY: (1, 10),
    Section.MIDDLE: (11, 20),
    Section.LATE: (21, None),
    Section.END: (25, None),
    Section.FIRST_HALF: (1, 15),
    Section.SECOND_HALF: (16, None),
    Section.FIRST_WEEK: (1, 7),
    Section.SECOND_WEEK: (8, 14),
    Section.THIRD_WEEK: (15, 21),
    Section.FOURTH_WEEK: (22, 28),
}

# First day and number of days, counted from the first day of the week.
_OF_WEEK: Final[Mapping[Section, tuple[int, int]]] = {
    Section.START: (0, 1),
    Section.EARLY: (0, 3),
    Section.MIDDLE: (2, 2),
    Section.LATE: (3, 4),
    Section.END: (4, 3),
    Section.FIRST_HALF: (0, 4),
    Section.SECOND_HALF: (3, 4),
}

# First and last day of the year, as (month, day).
_OF_YEAR: Final[Mapping[Section, tuple[tuple[int, int], tuple[int, int]]]] = {
    Section.START: ((1, 1), (1, 10)),
    Section.EARLY: ((1, 1), (3, 31)),
    Section.MIDDLE: ((6, 1), (7, 31)),
    Section.LATE: ((10, 1), (12, 31)),
    Section.END: ((12, 21), (12, 31)),
    Section.FIRST_HALF: ((1, 1), (6, 30)),
    Section.SECOND_HALF: ((7, 1), (12, 31)),
}

ERAS: Final[Mapping[str, tuple[int, int]]] = {
    "令和": (2018, 99),
    "平成": (1988, 31),
    "昭和": (1925, 64),
    "大正": (1911, 15),
    "明治": (1867, 45),
    "r": (2018, 99),
    "h": (1988, 31),
    "s": (1925, 64),
}
"""The year before an era's first one, and its last year."""


def era_year(era: str, number: int) -> int | None:
    """Return the year of the common era, None if the era had no such year."""
    before, last = ERAS[era]
    return before + number if 1 <= number <= last else None


def year_period(year: int) -> Period:
    """Return 1 January to 31 December."""
    return Period.between(date(year, 1, 1), date(year + 1, 1, 1))


def fiscal_period(year: int) -> Period:
    """Return Japan's fiscal year, April to March."""
    return Period.between(date(year, 4, 1), date(year + 1, 4, 1))


def month_period(year: int, month: int) -> Period:
    """Return a month; `month` may lie outside 1 to 12 and then counts into other years."""
    first = _month_first(year, month)
    return Period.between(first, _month_first(first.year, first.month + 1))


def season_period(year: int, season: Season) -> Period:
    """Return three whole months."""
    month = _SEASON_BEGINS[season]
    return Period.between(_month_first(year, month), _month_first(year, month + 3))


def week_period(day: date, shift: int, week_start: int) -> Period:
    """Return the week that lies `shift` weeks after the week of `day`."""
    first = day - timedelta(days=(day.weekday() - week_start) % DAYS_OF_WEEK)
    return Period.of_days(first + timedelta(weeks=shift), DAYS_OF_WEEK)


def weekend_of(week: Period) -> Period:
    """Return the weekend of a week: its Saturday and the day after, also where weeks begin on Sunday."""
    return Period.of_days(weekday_of(week, SATURDAY).first, 2)


def weekday_of(week: Period, weekday: int) -> Period:
    """Return the one day of a week that has this name."""
    ahead = (weekday - week.first.weekday()) % DAYS_OF_WEEK
    return Period.of_days(week.first + timedelta(days=ahead))


def nth_weekday(month: Period, weekday: int, ordinal: int) -> Period | None:
    """Return the first, second … such day of a month, -1 being the last; None if it has not so many."""
    if ordinal < 0:
        last = month.end - timedelta(days=1)
        return Period.of_days(last - timedelta(days=(last.weekday() - weekday) % DAYS_OF_WEEK))
    day = weekday_of(month, weekday).first + timedelta(weeks=ordinal - 1)
    return Period.of_days(day) if day < month.end else None


def day_of_month(month: Period, day: int) -> Period | None:
    """Return a day of a month, None if the month has no such day."""
    year, number = month.first.year, month.first.month
    if not 1 <= day <= calendar.monthrange(year, number)[1]:
        return None
    return Period.of_days(date(year, number, day))


def section_of(whole: Period, granularity: Granularity, section: Section) -> Period | None:
    """Return a part of a year, season, month or week; None for anything else."""
    match granularity:
        case Granularity.MONTH:
            return _section_of_month(whole, section)
        case Granularity.WEEK if section in _OF_WEEK:
            ahead, days = _OF_WEEK[section]
            return Period.of_days(whole.first + timedelta(days=ahead), days)
        case Granularity.YEAR if section in _OF_YEAR:
            return _section_of_year(whole, section)
        case Granularity.SEASON:
            return _section_of_season(whole, section)
        case _:
            return None


def _section_of_month(month: Period, section: Section) -> Period:
    first, last = _OF_MONTH[section]
    begin = month.first.replace(day=first)
    return Period.between(begin, month.end if last is None else month.first.replace(day=last + 1))


def _section_of_year(year: Period, section: Section) -> Period:
    (month, day), (last_month, last_day) = _OF_YEAR[section]
    number = year.first.year
    end = date(number, last_month, last_day) + timedelta(days=1)
    return Period.between(date(number, month, day), end)


def _section_of_season(season: Period, section: Section) -> Period:
    """Return its first, middle or last month."""
    place = {Section.MIDDLE: 1, Section.LATE: 2, Section.END: 2, Section.SECOND_HALF: 2}
    return month_period(season.first.year, season.first.month + place.get(section, 0))


def _month_first(year: int, month: int) -> date:
    years, index = divmod(month - 1, 12)
    return date(year + years, index + 1, 1)
