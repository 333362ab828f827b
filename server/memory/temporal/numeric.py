"""Dates and times in figures: read alike in every language, as far as figures say it."""

import re
from typing import Final

from server.memory.temporal.clock_values import Clock
from server.memory.temporal.date_values import Month, Year
from server.memory.temporal.day_values import Day
from server.memory.temporal.scanning import Made, Rule

_YEAR: Final = r"(?P<year>[12][0-9]{3})"
_BEFORE: Final = r"(?<![0-9A-Za-z/.:+-])"
_AFTER: Final = r"(?![0-9]|[/.-][0-9])"


def is_date(month: int, day: int) -> bool:
    """Return whether some year has this day."""
    return 1 <= month <= 12 and 1 <= day <= (
        29 if month == 2 else 30 if month in {4, 6, 9, 11} else 31
    )


def year_month_day(match: re.Match[str]) -> Made | None:
    """Return a full date; of a day that no calendar has, nothing."""
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    return (Year(year), Month(month), Day(day)) if is_date(month, day) else None


def _day_month_year(match: re.Match[str]) -> Made | None:
    """Read 31.12.2026 and 31/12/2026; where both numbers may be months, slashes tell nothing, dots do."""
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    unsure = match["mark"] == "/" and month <= 12 and day <= 12 and month != day
    if unsure or not is_date(month, day):
        return None
    return Year(year), Month(month), Day(day)


def clock_time(match: re.Match[str]) -> Made | None:
    """Return a time such as 15:30; a leading zero says that hours are counted to 24."""
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 29 or minute > 59:
        return None
    return (Clock(hour, minute, exact=match["hour"].startswith("0")),)


ISO_DATE: Final = Rule(
    re.compile(
        rf"{_BEFORE}{_YEAR}(?P<mark>[-/.])(?P<month>[01]?[0-9])(?P=mark)(?P<day>[0-3]?[0-9]){_AFTER}"
    ),
    year_month_day,
)

DAY_FIRST: Final = Rule(
    re.compile(
        rf"{_BEFORE}(?P<day>[0-3]?[0-9])(?P<mark>[/.])(?P<month>[01]?[0-9])(?P=mark){_YEAR}{_AFTER}"
    ),
    _day_month_year,
)

CLOCK: Final = Rule(
    re.compile(
        r"(?<![0-9.:+])(?P<hour>[0-2]?[0-9]):(?P<minute>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:])"
    ),
    clock_time,
)

# A guard: what follows is a version, a ratio or a score, not the date that a part of it looks like.
NOT_A_DATE: Final = Rule(re.compile(r"(?<![0-9.])[0-9]+(?:\.[0-9]+){3,}"), lambda match: ())

RULES: Final = (ISO_DATE, DAY_FIRST, NOT_A_DATE)
