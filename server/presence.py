"""Which devices are connected right now, so that a returning robot finds its place free."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

HangUp: TypeAlias = Callable[[int, str], None]
"""Ends a connection with a WebSocket close code and a reason. Returns at once."""

REPLACED = 4000
DISMISSED = 4001


@dataclass(frozen=True, slots=True)
class _Line:
    device: str
    hang_up: HangUp


class Presence:
    """One connection per device. For use inside the event loop only.

    Connections are kept by the id of their entry in the registry, since that is what gets accepted and forgotten. An
    accepted guest and the owner are two entries and yet one device.
    """

    def __init__(self) -> None:
        self._connections: dict[str, _Line] = {}

    def __contains__(self, entry: str) -> bool:
        return entry in self._connections

    def has_device(self, device: str) -> bool:
        """Whether a device is connected, by whatever entry it came in."""
        return any(line.device == device for line in self._connections.values())

    def devices(self) -> set[str]:
        """Return the devices that are connected. Safe to call from any thread."""
        return {line.device for line in tuple(self._connections.values())}

    def enter(self, entry: str, device: str, hang_up: HangUp) -> None:
        """Note a connection. An older one of the same device is ended: its robot has gone without saying so."""
        older = {
            name: line
            for name, line in self._connections.items()
            if name == entry or line.device == device
        }
        for name in older:
            del self._connections[name]
        self._connections[entry] = _Line(device, hang_up)
        for line in older.values():
            line.hang_up(REPLACED, "replaced by a newer connection")

    def leave(self, entry: str, hang_up: HangUp) -> None:
        """Note the end of a connection. Does nothing if a newer one has taken its place."""
        line = self._connections.get(entry)
        if line is not None and line.hang_up == hang_up:
            del self._connections[entry]

    def dismiss(self, entry: str, reason: str) -> None:
        """End the connection of an entry about which something else was decided meanwhile, if there is one."""
        line = self._connections.get(entry)
        if line is not None:
            line.hang_up(DISMISSED, reason)
