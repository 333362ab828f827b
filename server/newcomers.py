"""Room in the registry: how many devices one caller may bring, and who makes room when it is full."""

from collections.abc import Container
from datetime import datetime, timedelta

from server.errors import AccessError
from server.registry import KnownDevice, Roll

ENTRIES = 2_000
"""Ten times as many as may be connected at once by default; a file of this size is written in some ten milliseconds."""
_HOUR = timedelta(hours=1)


class Quota:
    """So many new devices an hour for each household. Not safe to use from several threads at once."""

    def __init__(self, per_hour: int) -> None:
        self._per_hour = per_hour
        self._since: datetime | None = None
        self._counts: dict[str, int] = {}

    def take(self, household: str, now: datetime) -> None:
        """Count a new device.

        Raises:
            AccessError: `too-many-new-devices`.
        """
        if self._since is None or not timedelta() <= now - self._since < _HOUR:
            self._since, self._counts = now, {}
        count = self._counts.get(household, 0)
        if count >= self._per_hour:
            raise AccessError(
                "too-many-new-devices",
                f"More than {self._per_hour} devices that were never seen before came from one address within an hour. "
                "Try again later, or raise limits.new_devices_per_hour.",
            )
        self._counts[household] = count + 1


def make_room(roll: Roll, kept: Container[str]) -> None:
    """Strike out entries until there is room for one more, those first whose loss hurts least.

    Args:
        roll: What is changed.
        kept: Device-Ids that stay, whatever their entries say.

    Raises:
        AccessError: `registry-full`.
    """
    excess = len(roll.devices) + 1 - ENTRIES
    if excess <= 0:
        return
    losable = (device for device in roll.devices.values() if device.device not in kept)
    for device in sorted(losable, key=_worth)[:excess]:
        if device.id in roll.devices:  # a guest may have gone with its owner
            roll.strike(device)
    if len(roll.devices) >= ENTRIES:
        raise AccessError(
            "registry-full",
            f"This server knows {ENTRIES} devices that the configuration names; remove some there.",
        )


def _worth(device: KnownDevice) -> tuple[int, datetime]:
    marks = (not device.forgotten, device.established, device.accepted)
    return next((rank for rank, mark in enumerate(marks) if not mark), len(marks)), device.last_seen
