"""What words say of hours: parts of a day, clock times, and moments counted from now."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import ClassVar, Final

from server.memory.temporal.frames import Context, Frame, Period, Slot, single
from server.memory.temporal.spans import Granularity, Tense

_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Hours:
    """A part of a day, in hours since midnight; past 24 it reaches into the next day.

    Attributes:
        earliest: First hour that a clock time in it may have: "8 in the evening", but also "5 in the evening".
        latest: Hour at which such clock times end.
    """

    since: int
    until: int
    earliest: int
    latest: int


DAWN: Final = Hours(0, 5, 0, 7)
EARLY_MORNING: Final = Hours(4, 8, 3, 9)
MORNING: Final = Hours(5, 12, 3, 13)
MIDDAY: Final = Hours(11, 14, 10, 16)
AFTERNOON: Final = Hours(12, 18, 12, 20)
DUSK: Final = Hours(16, 19, 15, 20)
EVENING: Final = Hours(17, 23, 16, 25)
NIGHT: Final = Hours(18, 24, 17, 29)
LATE_NIGHT: Final = Hours(22, 28, 21, 30)


@dataclass(frozen=True, slots=True)
class Daypart:
    """A part of the day.

    Attributes:
        alone: Whether it means today's where no day is named; "the morning" by itself is mostly a habit.
    """

    hours: Hours
    alone: bool = False

    slot: ClassVar[Slot] = Slot.DAYPART
    clashes: ClassVar[frozenset[Slot]] = frozenset({Slot.VAGUE})
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = True

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is None:
            if not (self.alone or context.anchored):
                return None
            today = single(Period.of_days(context.today), Granularity.DAY, certain=False)
            return self.narrow(today, context)
        if frame.granularity is not Granularity.DAY:
            return frame
        midnight = frame.only.since
        period = Period(
            midnight + timedelta(hours=self.hours.since),
            midnight + timedelta(hours=self.hours.until),
        )
        return single(period, Granularity.DAYPART, certain=frame.certain)


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock time.

    Attributes:
        hour: As said, 0 to 29: Japanese counts on after midnight.
        half: "am", "pm", or nothing if the hour may be of either half of the day.
        exact: Whether the hour is meant as written: "07:30", 正午.
        alone: Whether it stands by itself; "8" needs a day or a part of one beside it.
    """

    hour: int
    minute: int = 0
    half: str = ""
    exact: bool = False
    alone: bool = True

    slot: ClassVar[Slot] = Slot.CLOCK
    clashes: ClassVar[frozenset[Slot]] = frozenset()
    deictic: ClassVar[bool] = False
    spelled: ClassVar[bool] = True

    @property
    def settled(self) -> bool:
        """Whether there is but one reading of the hour."""
        return bool(self.half) or self.exact or not 1 <= self.hour <= 12

    def hours(self) -> tuple[int, ...]:
        """Return the hour's readings, the likelier one first: nobody says "at 3" of the night."""
        if self.half == "am":
            return (self.hour % 12 if self.hour <= 12 else self.hour,)
        if self.half == "pm":
            return (self.hour % 12 + 12 if self.hour <= 12 else self.hour,)
        if self.settled:
            return (self.hour,)
        other = self.hour % 12 if self.hour == 12 else self.hour + 12
        return (other, self.hour) if self.hour < 6 else (self.hour, other)

    def within(self, hours: Hours) -> "Clock":
        """Return the clock time with its hour settled by a part of the day; as it is if it does not fit there."""
        if self.half:
            return self
        for hour in (self.hour, self.hour + 12, self.hour + 24):
            if hours.earliest <= hour < hours.latest:
                return replace(self, hour=hour, exact=True)
        return self

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        if frame is None:
            return self._around(context, context.tense) if self.alone or context.anchored else None
        if frame.granularity is Granularity.RECENT:
            return self._around(context, Tense.PAST)
        if frame.granularity is Granularity.DAY:
            return self.on(
                frame.only.since, self.hours()[0], certain=frame.certain and self.settled
            )
        return frame

    def on(self, midnight: datetime, hour: int, *, certain: bool) -> Frame:
        """Return the minute it names on a day."""
        since = midnight + timedelta(hours=hour, minutes=self.minute)
        return single(Period(since, since + _MINUTE), Granularity.MOMENT, certain=certain)

    def _around(self, context: Context, tense: Tense | None) -> Frame:
        """Place it by tense: the last time before now, the first one after it, else today's."""
        now = context.now.replace(tzinfo=None)
        midnight = datetime.combine(context.today, time())
        if context.anchored:
            return self._first_after(now, midnight)
        likely, *others = self.hours()
        if tense is None:
            return self.on(midnight, likely, certain=False)
        past = tense is Tense.PAST
        for hour in (likely, *others):
            found = self.on(midnight, hour, certain=self.settled)
            if found.only.since <= now if past else found.only.until > now:
                return found
        another_day = midnight + timedelta(days=-1 if past else 1)
        return self.on(another_day, likely, certain=False)

    def _first_after(self, now: datetime, midnight: datetime) -> Frame:
        """Place the end of a range: "from 10 to 12" in the evening ends at midnight."""
        hours = sorted(hour + days * 24 for hour in self.hours() for days in (0, 1))
        found = [self.on(midnight, hour, certain=self.settled) for hour in hours]
        return next((frame for frame in found if frame.only.since > now), found[-1])


@dataclass(frozen=True, slots=True)
class MomentShift:
    """A moment counted from now, "in three hours", "20 minutes ago": time that passes, whatever clocks do meanwhile."""

    minutes: int

    slot: ClassVar[Slot] = Slot.DAY
    clashes: ClassVar[frozenset[Slot]] = frozenset(Slot) - {Slot.RECURRING}
    deictic: ClassVar[bool] = True
    spelled: ClassVar[bool] = False

    def narrow(self, frame: Frame | None, context: Context) -> Frame | None:
        """See `Value`."""
        zone = context.now.tzinfo
        moment = (context.now.astimezone(UTC) + timedelta(minutes=self.minutes)).astimezone(zone)
        since = moment.replace(second=0, microsecond=0, tzinfo=None)
        return single(Period(since, since + _MINUTE), Granularity.MOMENT)
