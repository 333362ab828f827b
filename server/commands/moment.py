"""The moment at which a command takes place, where that is not now."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from server.clock import SystemClock, within_reach
from server.errors import ConfigError


class StartedClock:
    """Shows `start` at first, and goes on from there. Implements `ports.Clock`."""

    def __init__(self, start: datetime, zone: str) -> None:
        self._system = SystemClock(zone)
        self._zone = ZoneInfo(zone)
        # By UTC: within one zone, subtraction would count what clocks were changed by, too.
        self._ahead = start.astimezone(UTC) - self._system.now().astimezone(UTC)

    def now(self) -> datetime:
        """Return the moment that it shows."""
        return (self._system.now().astimezone(UTC) + self._ahead).astimezone(self._zone)


def parse_moment(text: str, zone: str) -> datetime:
    """Return a moment that was written by somebody; without a zone of its own it is one in `zone`.

    Raises:
        ConfigError: ``time-invalid``.
    """
    try:
        return in_zone(within_reach(datetime.fromisoformat(text.strip())), zone)
    except ValueError as error:
        raise ConfigError(
            f"{text!r} is no moment. Write e.g. 2026-09-27T18:00, or 2026-09-27T18:00+09:00.",
            "time-invalid",
        ) from error


def in_zone(moment: datetime, zone: str) -> datetime:
    """Return a moment in a zone, which it is taken to be in if it names none."""
    named = ZoneInfo(zone)
    return moment.astimezone(named) if moment.tzinfo else moment.replace(tzinfo=named)
