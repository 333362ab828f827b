"""Times counted off from now: three days ago, in half an hour, one and a half years ago."""

from enum import StrEnum

from server.memory.temporal.clock_values import MomentShift
from server.memory.temporal.date_values import MonthShift, WeekShift, YearShift
from server.memory.temporal.day_values import DayShift
from server.memory.temporal.frames import Value


class Unit(StrEnum):
    """What is counted."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


def from_now(count: int, unit: Unit) -> Value:
    """Return what lies so many units from now, before it if `count` is negative."""
    match unit:
        case Unit.MINUTE:
            return MomentShift(count)
        case Unit.HOUR:
            return MomentShift(count * 60)
        case Unit.DAY:
            return DayShift(count)
        case Unit.WEEK:
            return WeekShift(count, counted=True)
        case Unit.MONTH:
            return MonthShift(count)
        case Unit.YEAR:
            return YearShift(count)


def and_a_half(count: int, unit: Unit) -> Value | None:
    """Return what lies half a unit farther than `count` from now; None for units that are not halved."""
    way = 1 if count > 0 else -1
    match unit:
        case Unit.HOUR:
            return MomentShift(count * 60 + way * 30)
        case Unit.WEEK:
            return DayShift(count * 7 + way * 3, certain=False)
        case Unit.MONTH:
            return WeekShift(count * 4 + way * 2, counted=True)
        case Unit.YEAR:
            return MonthShift(count * 12 + way * 6)
        case _:
            return None


def half(way: int, unit: Unit) -> Value | None:
    """Return what lies half a unit from now, after it for 1 and before it for -1."""
    match unit:
        case Unit.HOUR:
            return MomentShift(30 * way)
        case Unit.DAY:
            return MomentShift(12 * 60 * way)
        case Unit.MONTH:
            return DayShift(15 * way, certain=False)
        case Unit.YEAR:
            return MonthShift(6 * way)
        case _:
            return None


def made(value: Value | None) -> tuple[Value, ...] | None:
    """Return a rule's result."""
    return (value,) if value is not None else None
