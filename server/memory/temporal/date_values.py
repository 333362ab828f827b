"""What words say of years, seasons, months and weeks."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar

from server.memory.temporal import calendar_rules as rules
from server.memory.temporal.calendar_rules import Season, Section
from server.memory.temporal.frames import (
    CLOCK_SLOTS,
    Context,
    Frame,
    Kind,
    Period,
    Pick,
    Slot,
    single,
)
from server.memory.temporal.spans import Granularity

_NOTHING: frozenset[Slot] = frozenset()


@dataclass(frozen=True, slots=True)
class Recurring:
    """A habit ("every Tuesday"): the whole expression names no date."""

    slot: ClassVar[Slot] = Slot.RECURRING
    clashes: ClassVar[frozenset[Slot]] = _NOTHING
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        return None


@dataclass(frozen=True, slots=True)
class Recent:
    """A while before now whose beginning nobody could name: "lately", "just now"."""

    since_hours: int
    until_hours: int = 0

    slot: ClassVar[Slot] = Slot.VAGUE
    clashes: ClassVar[frozenset[Slot]] = frozenset(Slot) - {Slot.CLOCK, Slot.RECURRING}
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        now = context.now.replace(tzinfo=None)
        since = now - timedelta(hours=self.since_hours)
        # Subtracting nothing would forget which of two equal hours in autumn it is.
        until = now - timedelta(hours=self.until_hours) if self.until_hours else now
        return single(Period(since, until), Granularity.RECENT, certain=False)


@dataclass(frozen=True, slots=True)
class Year:
    """A year by its number."""

    number: int
    from_era: bool = False
    fiscal: bool = False

    slot: ClassVar[Slot] = Slot.YEAR
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.WEEK})
    deictic: ClassVar[bool] = False

    @property
    def spelled(self) -> bool:
        """See `Value`."""
        return not self.from_era

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        of = rules.fiscal_period if self.fiscal else rules.year_period
        return single(of(self.number), Granularity.YEAR)


@dataclass(frozen=True, slots=True)
class YearShift:
    """A year counted from now: "last year", "three years ago"."""

    years: int
    fiscal: bool = False

    slot: ClassVar[Slot] = Slot.YEAR
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.WEEK})
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        today = context.today
        before_april = self.fiscal and today.month < 4
        year = today.year + self.years - int(before_april)
        of = rules.fiscal_period if self.fiscal else rules.year_period
        return single(of(year), Granularity.YEAR)


@dataclass(frozen=True, slots=True)
class SeasonName:
    """A season; always a guess, for nobody agrees on when summer begins."""

    season: Season
    pick: Pick = Pick.OPEN
    alone: bool = True

    slot: ClassVar[Slot] = Slot.SEASON
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.MONTH, Slot.WEEK})
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = True

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is not None:
            period = rules.season_period(frame.only.first.year, self.season)
            return single(period, Granularity.SEASON, certain=False)
        if not self.alone:
            return None
        options = tuple(rules.season_period(year, self.season) for year in context.years)
        return Frame(options, Granularity.SEASON, certain=False, pick=self.pick)


@dataclass(frozen=True, slots=True)
class Month:
    """A month by its number."""

    number: int
    pick: Pick = Pick.OPEN

    slot: ClassVar[Slot] = Slot.MONTH
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.SEASON, Slot.WEEK})
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = True

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is not None:
            first = frame.only.first
            # Of a fiscal year, January to March are the last months.
            year = first.year + int(self.number < first.month)
            return single(rules.month_period(year, self.number), Granularity.MONTH)
        options = tuple(rules.month_period(year, self.number) for year in context.years)
        return Frame(options, Granularity.MONTH, pick=self.pick)


@dataclass(frozen=True, slots=True)
class MonthShift:
    """A month counted from now: "next month", "three months ago"."""

    months: int

    slot: ClassVar[Slot] = Slot.MONTH
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.YEAR, Slot.SEASON, Slot.WEEK})
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        today = context.today
        period = rules.month_period(today.year, today.month + self.months)
        return single(period, Granularity.MONTH)


@dataclass(frozen=True, slots=True)
class WeekShift:
    """A week counted from now: "next week"; counted: "in two weeks", which is a day unless a weekday follows."""

    weeks: int
    counted: bool = False

    slot: ClassVar[Slot] = Slot.WEEK
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.YEAR, Slot.SEASON, Slot.MONTH})
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        period = rules.week_period(context.today, self.weeks, context.week_start)
        return replace(single(period, Granularity.WEEK), counted=self.counted)


@dataclass(frozen=True, slots=True)
class Part:
    """Part ("the end of", 上旬) of what is named beside it.

    Attributes:
        of: What it is a part of if nothing is named: 月末 is the end of a month, "early" alone means nothing.
    """

    section: Section
    of: Granularity | None = None

    slot: ClassVar[Slot] = Slot.PART
    clashes: ClassVar[frozenset[Slot]] = CLOCK_SLOTS
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = True

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        whole = frame or self._wholes(context)
        if whole is None or (self.of is not None and whole.granularity is not self.of):
            return None
        granularity = _PART_GRANULARITY.get(whole.granularity)
        if granularity is None:
            return None
        narrowed = whole.mapped(
            lambda option: rules.section_of(option, whole.granularity, self.section), granularity
        )
        # Where a week or a year has its "early" part is a matter of taste; of a month it is settled.
        fuzzy = whole.granularity is not Granularity.MONTH
        return replace(narrowed, certain=False, counted=False) if narrowed and fuzzy else narrowed

    def _wholes(self, context: Context) -> Frame | None:
        today = context.today
        if self.of is Granularity.MONTH:
            months = range(today.month - 12, today.month + 13)
            options = tuple(rules.month_period(today.year, month) for month in months)
            return Frame(options, Granularity.MONTH)
        if self.of is Granularity.YEAR:
            return Frame(tuple(map(rules.year_period, context.years)), Granularity.YEAR)
        if self.of is Granularity.WEEK:
            weeks = [rules.week_period(today, shift, context.week_start) for shift in range(-2, 3)]
            return Frame(tuple(weeks), Granularity.WEEK, kind=Kind.WEEKEND)
        return None


_PART_GRANULARITY = {
    Granularity.MONTH: Granularity.MONTH_PART,
    Granularity.WEEK: Granularity.DAYS,
    Granularity.YEAR: Granularity.YEAR_PART,
    Granularity.SEASON: Granularity.MONTH,
}
