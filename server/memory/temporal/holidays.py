"""Holidays by name: Japan's by its law (jpholiday), others by rule or fixed date.

Feasts of the lunar calendar (春节, 中秋) are not known: no rule of a few lines places them.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache, partial
from typing import Final, TypeAlias

import jpholiday

from server.memory.temporal.calendar_rules import SATURDAY, month_period, nth_weekday

Days: TypeAlias = tuple[date, date]
OfYear: TypeAlias = Callable[[int], Days | None]

_FIRST_JAPANESE_YEAR: Final = 1948
_LAST_JAPANESE_YEAR: Final = 2150
"""Until then the formula for the equinoxes holds."""

MONDAY, THURSDAY, SUNDAY = 0, 3, 6


def fixed(month: int, day: int, days: int = 1) -> OfYear:
    """Return a holiday that is on the same date every year."""
    return partial(_fixed, month, day, days)


def nth(month: int, weekday: int, ordinal: int, later: int = 0) -> OfYear:
    """Return a holiday on the n-th such weekday of a month, or some days later."""
    return partial(_nth, month, weekday, ordinal, later)


def japanese(month: int, *names: str) -> OfYear:
    """Return a national holiday of Japan, by its month and the names it has had in the law."""
    return partial(_japanese, month, names)


def around_easter(shift: int) -> OfYear:
    """Return a day counted from Easter Sunday of the western churches."""
    return partial(_around_easter, shift)


def golden_week(year: int) -> Days | None:
    """Return the days from Shōwa Day to Children's Day, with the days off that adjoin them."""
    first, last = date(year, 4, 29), date(year, 5, 5)
    while _day_off(first - timedelta(days=1)):
        first -= timedelta(days=1)
    while _day_off(last + timedelta(days=1)):
        last += timedelta(days=1)
    return first, last + timedelta(days=1)


def silver_week(year: int) -> Days | None:
    """Return the days off around Respect for the Aged Day; None where the equinox lies too far from it."""
    aged, equinox = _japanese(9, ("敬老の日",), year), _japanese(9, ("秋分の日",), year)
    if aged is None or equinox is None or (equinox[0] - aged[0]).days > 2:
        return None
    first, last = aged[0] - timedelta(days=2), equinox[0]
    while _day_off(last + timedelta(days=1)):
        last += timedelta(days=1)
    return first, last + timedelta(days=1)


def public_holidays(year: int) -> list[Days]:
    """Return the national holidays of Japan."""
    days = (day for month in range(1, 13) for day in _japanese_holidays(year, month).values())
    return [(day, day + timedelta(days=1)) for day in sorted(days)]


def long_weekends(year: int) -> list[Days]:
    """Return the runs of three and more days off in Japan that begin in a year."""
    runs: list[Days] = []
    day = date(year, 1, 1)
    while day.year == year:
        first = day
        while _day_off(day):
            day += timedelta(days=1)
        if (day - first).days >= 3 and not _day_off(first - timedelta(days=1)):
            runs.append((first, day))
        day += timedelta(days=1)
    return runs


def setsubun(year: int) -> Days | None:
    """Return the day before the beginning of spring, right from 1985 to 2057."""
    # It is the 3rd, but the 2nd in the year after every leap year since the drift of the calendar reached it.
    early = (year - 2021) % 4 == 0 and year >= 2021
    return _fixed(2, 2 if early else 3, 1, year)


def qingming(year: int) -> Days | None:
    """Return the day of the solar term 清明, by the usual formula for the 21st century."""
    past = year % 100
    return _fixed(4, int(past * 0.2422 + 4.81) - past // 4, 1, year)


def new_year_holidays(year: int) -> Days | None:
    """Return the days in which Japan rests: from 29 December to 3 January of the next year."""
    return date(year, 12, 29), date(year + 1, 1, 4)


def _fixed(month: int, day: int, days: int, year: int) -> Days | None:
    first = date(year, month, day)
    return first, first + timedelta(days=days)


def _nth(month: int, weekday: int, ordinal: int, later: int, year: int) -> Days | None:
    found = nth_weekday(month_period(year, month), weekday, ordinal)
    if found is None:
        return None
    first = found.first + timedelta(days=later)
    return first, first + timedelta(days=1)


def _japanese(month: int, names: tuple[str, ...], year: int) -> Days | None:
    holidays = _japanese_holidays(year, month)
    first = next((holidays[name] for name in names if name in holidays), None)
    return (first, first + timedelta(days=1)) if first else None


@lru_cache(maxsize=256)
def _japanese_holidays(year: int, month: int) -> Mapping[str, date]:
    if not _FIRST_JAPANESE_YEAR <= year <= _LAST_JAPANESE_YEAR:
        return {}
    return {name: day for day, name in jpholiday.month_holidays(year, month)}


def _day_off(day: date) -> bool:
    return day.weekday() >= SATURDAY or day in _japanese_holidays(day.year, day.month).values()


def _around_easter(shift: int, year: int) -> Days | None:
    first = _easter(year) + timedelta(days=shift)
    return first, first + timedelta(days=1)


def _easter(year: int) -> date:
    """Return Easter Sunday: the Sunday after the first full moon of the church from 21 March on."""
    golden, century = year % 19, year // 100
    # Days from 21 March to that full moon: the moon's year is 11 days short of the sun's; centuries correct both.
    correction = century - century // 4 - (8 * century + 13) // 25
    moon = (19 * golden + correction + 15) % 30
    moon -= int(moon == 29 or (moon == 28 and golden > 10))
    full_moon = date(year, 3, 21) + timedelta(days=moon)
    return full_moon + timedelta(days=(SUNDAY - full_moon.weekday() - 1) % 7 + 1)


MOTHERS_DAY: Final = nth(5, SUNDAY, 2)
FATHERS_DAY: Final = nth(6, SUNDAY, 3)
THANKSGIVING: Final = nth(11, THURSDAY, 4)
