"""What is found in a text: a stretch of time with the words that named it, and the two questions asked of it."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum


class Granularity(StrEnum):
    """How finely a phrase names a time."""

    MOMENT = "moment"
    """A clock time; the span is one minute long."""
    DAYPART = "daypart"
    DAY = "day"
    DAYS = "days"
    """Several days that are no week: a holiday season, "from the 3rd to the 5th"."""
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH_PART = "month-part"
    MONTH = "month"
    SEASON = "season"
    YEAR_PART = "year-part"
    YEAR = "year"
    RECENT = "recent"
    """A while that ends now and has no exact beginning ("lately"); never written out as dates."""


class Tense(StrEnum):
    """Which way the words around a phrase look."""

    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time that a text names.

    Attributes:
        phrase: The words as said, ``text[start:end]``.
        since: First moment, aware, in the zone of the moment at which the text was said.
        until: First moment that no longer belongs to it, in the same zone.
        certain: False where a reading was guessed: a weekday placed by tense, an hour without morning or evening, a
            season, "a few days ago".
        day_certain: Whether the one day that the words name is sure, even where the hour is not ("tomorrow at ten"); None
            where they name no one day ("at ten", "next week").
    """

    phrase: str
    start: int
    end: int
    since: datetime
    until: datetime
    granularity: Granularity
    certain: bool
    day_certain: bool | None = None

    @property
    def first_day(self) -> date:
        """The day on which it begins, by the calendar of its zone."""
        return self.since.date()

    @property
    def last_day(self) -> date:
        """The last day of which any moment belongs to it."""
        return (self.until.replace(tzinfo=None) - timedelta(microseconds=1)).date()


def overlap(a: TimeSpan, b: TimeSpan) -> bool:
    """Return whether two spans have a moment in common; spans that only touch have none."""
    return _utc(a.since) < _utc(b.until) and _utc(b.since) < _utc(a.until)


def is_past(span: TimeSpan, now: datetime) -> bool:
    """Return whether a span is over at `now`: a plan for it counts as done.

    Raises:
        ValueError: `now` has no zone.
    """
    require_aware(now)
    return _utc(span.until) <= _utc(now)


def require_aware(moment: datetime) -> None:
    """Raise ValueError for a moment without a zone: nobody could say which day it lies in."""
    if moment.utcoffset() is None:
        message = (
            "a moment without a time zone can't be placed on a calendar: give an aware datetime"
        )
        raise ValueError(message)


_FIRST = datetime.fromisoformat("0001-01-01")


def _utc(moment: datetime) -> timedelta:
    """Return the time in UTC since the calendar's first day, which may lie before it.

    Two moments of one zone are compared by their clocks, which strike one hour twice in autumn; UTC has no such hour.
    """
    return moment.replace(tzinfo=None) - _FIRST - (moment.utcoffset() or timedelta())
