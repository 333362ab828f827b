"""Which day a moment belongs to: for memory a day ends at an hour of the night, not at midnight in the middle of a talk."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_NOON = 12


def day_of(moment: datetime, hour: int) -> date:
    """Return the day of a moment, by the clocks of its own zone.

    Args:
        moment: Aware, in the person's zone.
        hour: At which one day ends and the next begins, 0 to 23. A day has the date of most of it: with 3, one o'clock at
            night belongs to the evening before; with 21, ten in the evening belongs to the next day.
    """
    return (moment.replace(tzinfo=None) - _begins(hour)).date()


def end_of(day: date, hour: int, zone: tzinfo | None) -> datetime:
    """Return the moment at which a day is over in a zone, in UTC."""
    following = datetime.combine(day + timedelta(days=1), time())
    return (following + _begins(hour)).replace(tzinfo=zone).astimezone(UTC)


def dates_of(day: date, hour: int) -> tuple[date, ...]:
    """Return the dates that a day has a part of."""
    begins = _begins(hour)
    if not begins:
        return (day,)
    return (
        (day, day + timedelta(days=1)) if begins > timedelta() else (day - timedelta(days=1), day)
    )


def _begins(hour: int) -> timedelta:
    """Return how long after the midnight before its date a day begins; negative for one that begins in the evening."""
    return timedelta(hours=hour if hour <= _NOON else hour - 24)
