"""The system clock, in the zone of the configuration, and which moments can be reckoned with."""

from datetime import datetime
from zoneinfo import ZoneInfo

_YEARS = range(1000, 9000)


class SystemClock:
    """Implements `ports.Clock`."""

    def __init__(self, zone: str) -> None:
        self._zone = ZoneInfo(zone)

    def now(self) -> datetime:
        """Return the present moment."""
        return datetime.now(self._zone)  # noqa: TID251 - this is the clock itself


def within_reach(moment: datetime) -> datetime:
    """Return a moment of which every zone, and whatever is counted from it, has a date.

    Raises:
        ValueError: It is too near to the first or the last day that there is.
    """
    if moment.year not in _YEARS:
        raise ValueError(f"a year from {_YEARS[0]} to {_YEARS[-1]} is needed")
    return moment
