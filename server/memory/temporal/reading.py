"""Reads expressions of time in a text: finds them, asks which day they mean, places it on the speaker's clock."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from server.memory.temporal.clock_values import Clock, Daypart, MomentShift
from server.memory.temporal.day_values import Weekday
from server.memory.temporal.frames import (
    CLOCK_SLOTS,
    FIRST_YEAR,
    LAST_YEAR,
    Context,
    Frame,
    Period,
    Pick,
    Slot,
    Value,
    chosen,
    single,
)
from server.memory.temporal.scanning import Chain, Language, scan
from server.memory.temporal.spans import Granularity, Tense, TimeSpan, require_aware


@dataclass(frozen=True, slots=True)
class Reading:
    """A span, and what only writing a date beside it needs to know.

    Attributes:
        day: The day that the words name; a clock time after midnight lies on the next one.
        spelled: Whether the words name the date outright, with the year.
        timed: Whether the hour belongs beside the date: the words do not say it ("in three hours"), or it is of the night
            after the day that they name.
        ranged: Whether it has a beginning and an end ("from 3 to 5").
    """

    span: TimeSpan
    day: date
    spelled: bool
    timed: bool
    ranged: bool


def read_times(
    text: str, language: Language, said_at: datetime, week_start: int, tense: Tense | None
) -> list[Reading]:
    """Return what a text says of times, in order of place.

    Raises:
        ValueError: `said_at` has no zone, or `week_start` is no day of the week.
    """
    require_aware(said_at)
    if week_start not in range(7):
        message = f"a week starts on a day from 0 (Monday) to 6 (Sunday), not on {week_start}"
        raise ValueError(message)
    if not FIRST_YEAR <= said_at.year <= LAST_YEAR:
        return []
    folded = text.translate(language.variants)
    context = Context(said_at, week_start, tense)
    readings: list[Reading] = []
    before: Chain | None = None
    for found in scan(folded, language):
        chain = _in_line_with(before, found, folded)
        before = chain
        there = tense or language.tense_at(folded, chain.start, chain.end)
        readings += _read_or_parts(chain, text, replace(context, tense=there))
    return readings


_LINKED = re.compile(
    r"^[\s、，,]*(?:and|or|no|not|to|と|か|や|から|和|或者?|到)?[\s、，,]*(?:on\s)?$|(?:\b(?:moved|changed|shifted|postponed|rescheduled)\ to\ |改到了?|改成了?|推到了?|挪到了?|推迟到了?)$",
    re.IGNORECASE,
)
"""What stands between two days of one week: "next Tuesday and Thursday", 下周二来不了，改到周四."""


def _in_line_with(before: Chain | None, chain: Chain, text: str) -> Chain:
    """Return an expression with what it leaves to the one before it: the month of "May 4 … the 5th", the week of "next Tuesday and Thursday"."""
    if before is None or chain.last is not None or chain.anchor is not None:
        return chain
    [slot, *others] = chain.values
    if others or chain.recurs or chain.values[slot].deictic:
        return chain
    wider = {Slot.DAY: Slot.MONTH, Slot.WEEKDAY: Slot.WEEK}.get(slot)
    if wider is None or slot not in before.values:
        return chain
    if slot is Slot.WEEKDAY and _LINKED.search(text[before.end : chain.start]) is None:
        return chain
    if wider not in before.values:
        first, second = before.values[slot], chain.values[slot]
        follows = isinstance(first, Weekday) and first.pick is Pick.NEXT
        is_open = isinstance(second, Weekday) and second.pick is Pick.OPEN
        return replace(chain, anchor=before.values) if follows and is_open else chain
    return replace(chain, values={wider: before.values[wider], **chain.values})


def _read_or_parts(chain: Chain, text: str, context: Context) -> list[Reading]:
    """Return one reading; of words that make no sense together, that of every part."""
    reading = _read(chain, text, context)
    if reading is not None:
        return [reading]
    return [part for apart in _apart(chain) for part in _read_or_parts(apart, text, context)]


def _apart(chain: Chain) -> tuple[Chain, ...]:
    """Return the parts that mean something without the others: not "Tuesday" of "every Tuesday", nor a day of its year."""
    if chain.recurs:
        return ()
    dated = Slot.YEAR in chain.values and chain.last is None
    return chain.parts[:1] if dated else chain.parts


def _read(chain: Chain, text: str, context: Context) -> Reading | None:
    try:
        found = _frames(chain, context)
        if found is None:
            return None
        frame, day = found.frame, found.day
        since, until = _placed(frame.only, context.now.tzinfo)
    except (OverflowError, ValueError):
        # Beyond the ends of the calendar: "in 9000 years".
        return None
    phrase = text[chain.start : chain.end]
    span = TimeSpan(
        phrase,
        chain.start,
        chain.end,
        since,
        until,
        frame.granularity,
        frame.certain,
        found.day_certain,
    )
    timed = frame.granularity is Granularity.MOMENT and _needs_hour(chain, since.date() != day)
    return Reading(span, day, _spelled(chain.values), timed, chain.last is not None)


def _needs_hour(chain: Chain, another_day: bool) -> bool:
    """Return whether a date alone would leave open which moment is meant."""
    if chain.last is not None:
        return False
    clock = chain.values.get(Slot.CLOCK)
    placed = len(chain.values) == 1 and isinstance(clock, Clock) and not clock.settled
    return placed or another_day or isinstance(chain.values.get(Slot.DAY), MomentShift)


@dataclass(frozen=True, slots=True)
class _Meant:
    """The chosen period, the day that the words name, and whether that is sure (None: they name no one day)."""

    frame: Frame
    day: date
    day_certain: bool | None


def _frames(chain: Chain, context: Context) -> _Meant | None:
    """Return what an expression, a range among them, means."""
    if chain.anchor is not None:
        anchor = _resolved(chain.anchor, context)
        return _resolved(chain.values, _anchored(context, anchor.frame)) if anchor else None
    first = _resolved(chain.values, context)
    if first is None or chain.last is None:
        return first
    deictic = any(value.deictic for value in chain.last.values())
    last = _resolved(chain.last, context if deictic else _anchored(context, first.frame))
    spanning = _spanning(first.frame, last.frame) if last else None
    if last is None or spanning is None:
        return None
    one_day = first.day_certain if first.day == last.day else None
    return _Meant(spanning, first.day, one_day)


def _anchored(context: Context, frame: Frame) -> Context:
    """Return the context of a range's end: it is the first such day from the beginning on."""
    zone = context.now.tzinfo
    return replace(
        context, now=frame.only.since.replace(tzinfo=zone), tense=Tense.PRESENT, anchored=True
    )


def _spanning(first: Frame, last: Frame) -> Frame | None:
    """Return all from the beginning of one to the end of the other; "to 5 o'clock" ends when it strikes."""
    at_a_moment = last.granularity is Granularity.MOMENT
    until = last.only.since if at_a_moment else last.only.until
    if until <= first.only.since:
        return None
    of_hours = {first.granularity, last.granularity} & {Granularity.MOMENT, Granularity.DAYPART}
    granularity = Granularity.DAYPART if of_hours else Granularity.DAYS
    period = Period(first.only.since, until)
    return single(period, granularity, certain=first.certain and last.certain)


def _resolved(values: Mapping[Slot, Value], context: Context) -> _Meant | None:
    """Narrow from coarse to fine: candidates down to the day, then the one that is meant, then hours."""
    settled = _settle_hours(values)
    dated, timed = settled.keys() - CLOCK_SLOTS, settled.keys() & CLOCK_SLOTS
    on = _narrowed(None, [settled[slot] for slot in sorted(dated)], context) if dated else None
    on = chosen(_uncounted(on, context), context) if on else None
    if dated and on is None:
        return None
    frame = _narrowed(on, [settled[slot] for slot in sorted(timed)], context)
    if frame is None:
        return None
    if on is None:
        return _Meant(frame, _day_of(frame, settled.get(Slot.CLOCK)), day_certain=None)
    of_day = on.granularity is Granularity.DAY
    return _Meant(frame, on.only.first, day_certain=on.certain if of_day else None)


def _narrowed(frame: Frame | None, values: Sequence[Value], context: Context) -> Frame | None:
    for value in values:
        if value.slot is Slot.OFFSET and frame is not None:
            # "a week from Saturday": first which Saturday, then the week.
            frame = chosen(frame, context)
        frame = value.narrow(frame, context)
        if frame is None:
            return None
    return frame


def _day_of(frame: Frame, clock: Value | None) -> date:
    """Return the day of a time that names none; 25 o'clock belongs to the day before."""
    after_midnight = isinstance(clock, Clock) and clock.hour >= 24
    return frame.only.first - timedelta(days=int(after_midnight))


def _settle_hours(values: Mapping[Slot, Value]) -> Mapping[Slot, Value]:
    """Let "in the evening" say which 8 o'clock is meant; it has no further meaning then."""
    daypart, clock = values.get(Slot.DAYPART), values.get(Slot.CLOCK)
    if not isinstance(daypart, Daypart) or not isinstance(clock, Clock):
        return values
    settled = dict(values)
    del settled[Slot.DAYPART]
    settled[Slot.CLOCK] = replace(clock.within(daypart.hours), alone=True)
    return settled


def _uncounted(frame: Frame, context: Context) -> Frame:
    """Return the day for "in two weeks" without a weekday: not the whole week, and no sure thing, for weeks are counted roughly."""
    if not frame.counted:
        return frame
    weeks = (frame.only.first - _week_of(context)).days
    period = Period.of_days(context.today + timedelta(days=weeks))
    return single(period, Granularity.DAY, certain=False)


def _week_of(context: Context) -> date:
    from_start = (context.today.weekday() - context.week_start) % 7
    return context.today - timedelta(days=from_start)


def _placed(period: Period, zone: tzinfo | None) -> tuple[datetime, datetime]:
    """Return a stretch of the wall clock as moments of a zone.

    A time that the clocks skip in spring becomes the one they show instead; a stretch that is skipped whole is kept one
    minute long.
    """
    since, until = _moment(period.since, zone), _moment(period.until, zone)
    if until.astimezone(UTC) <= since.astimezone(UTC):
        until = (since.astimezone(UTC) + timedelta(minutes=1)).astimezone(zone)
    return since, until


def _moment(wall: datetime, zone: tzinfo | None) -> datetime:
    return wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)


def _spelled(values: Mapping[Slot, Value]) -> bool:
    year = values.get(Slot.YEAR)
    return year is not None and all(value.spelled for value in values.values())
