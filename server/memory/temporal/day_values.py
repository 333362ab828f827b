"""What words say of days: their numbers, weekdays, weekends, holidays, and days counted from another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import ClassVar, Final

from server.memory.temporal import calendar_rules as rules
from server.memory.temporal.frames import Context, Frame, Kind, Period, Pick, Slot, single
from server.memory.temporal.spans import Granularity

_COARSER: Final = frozenset({Slot.VAGUE, Slot.YEAR, Slot.SEASON, Slot.MONTH, Slot.WEEK, Slot.PART})
_WEEKS_AROUND: Final = 5


@dataclass(frozen=True, slots=True)
class Day:
    """A day of a month by its number.

    Attributes:
        alone: Whether it is a date without a month ("the 5th"); a bare number is one only inside a range.
    """

    number: int
    alone: bool = True

    slot: ClassVar[Slot] = Slot.DAY
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.SEASON, Slot.WEEK, Slot.PART})
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = True

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is None and not (self.alone or context.anchored):
            return None
        months = frame if frame is not None else _months_around(context)
        if months.granularity is not Granularity.MONTH:
            return None
        found = months.mapped(lambda month: rules.day_of_month(month, self.number), Granularity.DAY)
        unsure = frame is None and not context.anchored
        return replace(found, certain=False) if found and unsure else found


@dataclass(frozen=True, slots=True)
class DayShift:
    """A day counted from now: "tomorrow", "three days ago"."""

    days: int
    certain: bool = True

    slot: ClassVar[Slot] = Slot.DAY
    clashes: ClassVar[frozenset[Slot]] = _COARSER
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        day = Period.of_days(context.today + timedelta(days=self.days))
        return replace(single(day, Granularity.DAY, certain=self.certain), from_now=True)


@dataclass(frozen=True, slots=True)
class DaysShift:
    """A day counted roughly from now: "two or three days ago", 数日前; one of several, which one is not said."""

    first: int
    last: int

    slot: ClassVar[Slot] = Slot.DAY
    clashes: ClassVar[frozenset[Slot]] = _COARSER
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        begin = context.today + timedelta(days=self.first)
        period = Period.of_days(begin, self.last - self.first + 1)
        return single(period, Granularity.DAYS, certain=False)


@dataclass(frozen=True, slots=True)
class Offset:
    """Days ("two days before") counted from the day that is named beside it."""

    days: int

    slot: ClassVar[Slot] = Slot.OFFSET
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.VAGUE})
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is None or frame.granularity not in {Granularity.DAY, Granularity.DAYS}:
            return None
        return frame.mapped(self._moved, Granularity.DAY)

    def _moved(self, period: Period) -> Period:
        """Count from the near edge: the day after a holiday season comes after its last day."""
        edge = period.first if self.days < 0 else period.end - timedelta(days=1)
        return Period.of_days(edge + timedelta(days=self.days))


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day of the week, 0 is Monday.

    Attributes:
        ordinal: Which one of a month, -1 for the last; 0 if that is not said.
        alone: Whether it is a day by itself: "Saturday" is one, 土 is not.
    """

    number: int
    pick: Pick = Pick.OPEN
    ordinal: int = 0
    alone: bool = True

    slot: ClassVar[Slot] = Slot.WEEKDAY
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.VAGUE, Slot.SEASON, Slot.PART})
    deictic: ClassVar[bool] = False

    @property
    def spelled(self) -> bool:
        """See `Value`."""
        return self.ordinal == 0

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is None:
            return self._around(context) if self.alone or context.anchored else None
        match frame.granularity:
            case Granularity.WEEK:
                return self._in_week(frame, context)
            case Granularity.MONTH if self.ordinal:
                return frame.mapped(
                    lambda month: rules.nth_weekday(month, self.number, self.ordinal),
                    Granularity.DAY,
                )
            case Granularity.DAY:
                return self._confirm(frame)
            case _:
                return frame

    def _around(self, context: Context) -> Frame | None:
        if self.ordinal:
            months = _months_around(context)
            return self.narrow(months, context)
        return _in_weeks_around(
            context,
            lambda week: rules.weekday_of(week, self.number),
            Frame((), Granularity.DAY, pick=self.pick, kind=Kind.WEEKDAY),
        )

    def _in_week(self, frame: Frame, context: Context) -> Frame | None:
        found = frame.mapped(lambda week: rules.weekday_of(week, self.number), Granularity.DAY)
        return replace(found, counted=False) if found else None

    def _confirm(self, frame: Frame) -> Frame | None:
        """Keep the candidates that fall on this day: "October 3 (Sat)" settles the year.

        Today, which is no Saturday, does not belong to "today, Saturday's plans were made".
        """
        fitting = tuple(option for option in frame.options if option.first.weekday() == self.number)
        if not fitting:
            return None if frame.from_now else replace(frame, certain=False)
        return replace(frame, options=fitting)


@dataclass(frozen=True, slots=True)
class Weekend:
    """Saturday and Sunday."""

    pick: Pick = Pick.OPEN

    slot: ClassVar[Slot] = Slot.WEEKDAY
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.VAGUE, Slot.SEASON, Slot.DAY, Slot.PART})
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is None:
            kind = Frame((), Granularity.WEEKEND, pick=self.pick, kind=Kind.WEEKEND)
            return _in_weeks_around(context, rules.weekend_of, kind)
        if frame.granularity is not Granularity.WEEK:
            return frame
        found = frame.mapped(rules.weekend_of, Granularity.WEEKEND)
        return replace(found, counted=False) if found else None


@dataclass(frozen=True, slots=True)
class Holiday:
    """A day or a few days with a name of their own.

    Attributes:
        of_year: Returns its first day and the day after its last one, None in a year without it.
    """

    of_year: Callable[[int], tuple[date, date] | None]
    pick: Pick = Pick.OPEN

    slot: ClassVar[Slot] = Slot.DAY
    clashes: ClassVar[frozenset[Slot]] = _COARSER - {Slot.YEAR}
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        years = [frame.only.first.year] if frame is not None else _years_around(context)
        found = [days for days in map(self.of_year, years) if days is not None]
        if not found:
            return None
        one_day = all((end - first).days == 1 for first, end in found)
        options = tuple(Period.between(first, end) for first, end in found)
        return Frame(options, Granularity.DAY if one_day else Granularity.DAYS, pick=self.pick)


@dataclass(frozen=True, slots=True)
class DaysOff:
    """One of several in a year, as the word before it says: "the next holiday".

    Attributes:
        of_year: Returns the first day of each and the day after its last one.
    """

    of_year: Callable[[int], Sequence[tuple[date, date]]]
    pick: Pick
    granularity: Granularity

    slot: ClassVar[Slot] = Slot.DAY
    clashes: ClassVar[frozenset[Slot]] = _COARSER
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        found = (days for year in _years_around(context) for days in self.of_year(year))
        options = tuple(Period.between(first, end) for first, end in found)
        return Frame(options, self.granularity, pick=self.pick) if options else None


def _years_around(context: Context) -> range:
    """Two years each way are enough for "the Christmas before last"."""
    return range(context.today.year - 2, context.today.year + 3)


def _months_around(context: Context) -> Frame:
    today = context.today
    months = range(today.month - 12, today.month + 13)
    options = tuple(rules.month_period(today.year, month) for month in months)
    return Frame(options, Granularity.MONTH)


def _in_weeks_around(context: Context, narrow: Callable[[Period], Period], like: Frame) -> Frame:
    shifts = range(-_WEEKS_AROUND, _WEEKS_AROUND + 1)
    weeks = [rules.week_period(context.today, shift, context.week_start) for shift in shifts]
    return replace(like, options=tuple(map(narrow, weeks)))
