"""The system clock, in the zone of the configuration."""

from datetime import datetime
from zoneinfo import ZoneInfo


class SystemClock:
    """Implements `ports.Clock`."""

    def __init__(self, zone: str) -> None:
        self._zone = ZoneInfo(zone)

    def now(self) -> datetime:
        """Return the present moment."""
        return datetime.now(self._zone)  # noqa: TID251 - this is the clock itself
