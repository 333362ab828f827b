"""The language-free middle of reading a time: candidate periods, and which of them is meant."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import Enum, IntEnum, auto
from typing import ClassVar, Final, Protocol

from server.memory.temporal.spans import Granularity, Tense

YEARS_AROUND: Final = 8
"""Years before and after today in which an undated month or holiday is looked for; a 29 February is within 8."""

NEARER: Final = 3
"""Without a tense the coming period is meant, unless the last one is this many times nearer."""

FIRST_YEAR: Final = 20
LAST_YEAR: Final = 9980
"""Calendars end at the years 1 and 9999; what lies closer to their ends than any rule reaches is not read."""


class Pick(Enum):
    """Which of several candidates the words ask for."""

    OPEN = auto()
    """They do not say; tense decides."""
    NEXT = auto()
    THIS = auto()
    LAST = auto()
    AFTER_NEXT = auto()
    BEFORE_LAST = auto()


class Kind(Enum):
    """What the candidates are: it decides whether today's counts as the coming one."""

    WEEKDAY = auto()
    WEEKEND = auto()
    PERIOD = auto()


class Slot(IntEnum):
    """The places in one expression, from coarse to fine; each may be filled once."""

    RECURRING = auto()
    VAGUE = auto()
    YEAR = auto()
    SEASON = auto()
    MONTH = auto()
    WEEK = auto()
    PART = auto()
    DAY = auto()
    WEEKDAY = auto()
    OFFSET = auto()
    DAYPART = auto()
    CLOCK = auto()


CLOCK_SLOTS: Final = frozenset({Slot.DAYPART, Slot.CLOCK})


@dataclass(frozen=True, slots=True)
class Context:
    """From where a text looks at the calendar.

    Attributes:
        now: Aware; when the text was said.
        week_start: First day of the week, 0 is Monday.
        anchored: Whether `now` is the beginning of a range whose end is being read.
    """

    now: datetime
    week_start: int = 0
    tense: Tense | None = None
    anchored: bool = False

    @property
    def today(self) -> date:
        """The day in the speaker's zone."""
        return self.now.date()

    @property
    def years(self) -> range:
        """The years in which an undated period is looked for."""
        return range(self.today.year - YEARS_AROUND, self.today.year + YEARS_AROUND + 1)


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of the wall clock: naive, so a day stays a day when clocks change."""

    since: datetime
    until: datetime

    @classmethod
    def of_days(cls, first: date, days: int = 1) -> "Period":
        """Return the stretch of whole days that begins with `first`."""
        return cls.between(first, first + timedelta(days=days))

    @classmethod
    def between(cls, first: date, end: date) -> "Period":
        """Return the days from `first` up to `end`, which is not part of it."""
        return cls(datetime.combine(first, time()), datetime.combine(end, time()))

    @property
    def first(self) -> date:
        """Its first day."""
        return self.since.date()

    @property
    def end(self) -> date:
        """The day after its last one, for periods of whole days."""
        return self.until.date()


@dataclass(frozen=True, slots=True)
class Frame:
    """What the words read so far leave possible: candidates in order of time."""

    options: tuple[Period, ...]
    granularity: Granularity
    certain: bool = True
    pick: Pick = Pick.OPEN
    kind: Kind = Kind.PERIOD
    counted: bool = False
    """Whether the week is one that was counted off from today ("in two weeks"), not a named one."""
    from_now: bool = False
    """Whether it is a day that was named by its distance from today."""

    @property
    def only(self) -> Period:
        """The period, once it has been chosen."""
        return self.options[0]

    def mapped(
        self, narrow: Callable[[Period], Period | None], granularity: Granularity
    ) -> "Frame | None":
        """Return the frame with every candidate narrowed; candidates without such a part fall out."""
        options = tuple(part for part in map(narrow, self.options) if part is not None)
        return replace(self, options=options, granularity=granularity) if options else None


class Value(Protocol):
    """One piece of meaning: "October", "the 3rd", "in the evening"."""

    slot: ClassVar[Slot]
    clashes: ClassVar[frozenset[Slot]]
    """Slots that cannot belong to the same expression."""
    deictic: ClassVar[bool]
    """Whether it is counted from the moment of speaking."""

    @property
    def spelled(self) -> bool:
        """Whether it names its part of the date outright, so that writing the date beside it adds nothing."""
        ...

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """Return what is left of `frame` (None: nothing coarser was said); None if it makes no sense there."""
        ...


def single(period: Period, granularity: Granularity, *, certain: bool = True) -> Frame:
    """Return a frame that leaves no choice."""
    return Frame((period,), granularity, certain)


def chosen(frame: Frame, context: Context) -> Frame | None:
    """Return the frame with the one candidate that is meant; None if none fits."""
    if len(frame.options) == 1 and frame.pick is Pick.OPEN:
        return frame
    if frame.pick is Pick.OPEN:
        return _by_tense(frame, context)
    found = _by_pick(frame, context)
    return replace(frame, options=(found,), pick=Pick.OPEN) if found else None


def _by_pick(frame: Frame, context: Context) -> Period | None:
    today = context.today
    if frame.pick is Pick.THIS:
        return _this(frame, context)
    if frame.pick in {Pick.NEXT, Pick.AFTER_NEXT}:
        later = [option for option in frame.options if option.first > today]
        place = 0 if frame.pick is Pick.NEXT else 1
        return later[place] if len(later) > place else None
    earlier = [option for option in frame.options if option.end <= today]
    place = 1 if frame.pick is Pick.LAST else 2
    return earlier[-place] if len(earlier) >= place else None


def _this(frame: Frame, context: Context) -> Period | None:
    if frame.kind is Kind.PERIOD:
        same_year = [option for option in frame.options if option.first.year == context.today.year]
        return same_year[0] if same_year else None
    if context.tense is Tense.PAST:
        begun = [option for option in frame.options if option.first <= context.today]
        return begun[-1] if begun else None
    return next((option for option in frame.options if option.end > context.today), None)


def _by_tense(frame: Frame, context: Context) -> Frame | None:
    last, coming = _last(frame, context.today), _coming(frame, context)
    found = coming
    if context.tense is Tense.PAST or (
        context.tense is None and _passed(frame, last, coming, context)
    ):
        found = last
    if found is None:
        return None
    if frame.kind is Kind.PERIOD:
        sure = context.tense is not None or _far_apart(last, coming, context)
    else:
        sure = context.anchored
    sure = sure or (frame.kind is not Kind.WEEKDAY and _surrounds(found, context))
    return replace(frame, options=(found,), certain=frame.certain and sure)


def _surrounds(period: Period, context: Context) -> bool:
    return period.first <= context.today < period.end


def _last(frame: Frame, today: date) -> Period | None:
    """Return the last candidate that has begun; a weekday or weekend that begins today would be called "today"."""
    latest = today if frame.kind is Kind.PERIOD else today - timedelta(days=1)
    return next((option for option in reversed(frame.options) if option.first <= latest), None)


def _coming(frame: Frame, context: Context) -> Period | None:
    today, kind = context.today, frame.kind
    if kind is Kind.WEEKDAY and context.tense is not Tense.PRESENT:
        return next((option for option in frame.options if option.first > today), None)
    if kind is Kind.WEEKEND:
        return next((option for option in frame.options if option.first >= today), None)
    return next((option for option in frame.options if option.end > today), None)


def _passed(frame: Frame, last: Period | None, coming: Period | None, context: Context) -> bool:
    """Return whether the last period is meant although no verb says so."""
    if frame.kind is not Kind.PERIOD or last is None or coming is None:
        return coming is None
    ago, ahead = _distances(last, coming, context)
    return ago * NEARER < ahead


def _far_apart(last: Period | None, coming: Period | None, context: Context) -> bool:
    if last is None or coming is None:
        return True
    ago, ahead = _distances(last, coming, context)
    return ago * NEARER < ahead or ahead * NEARER < ago


def _distances(last: Period, coming: Period, context: Context) -> tuple[int, int]:
    """Return how many days ago the last period ended and in how many days the coming one begins."""
    today = context.today
    return max((today - last.end).days + 1, 0), max((coming.first - today).days, 0)
