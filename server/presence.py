"""Which devices are connected right now, so that a returning robot finds its place free."""

from collections.abc import Callable
from typing import TypeAlias

HangUp: TypeAlias = Callable[[int, str], None]
"""Ends a connection with a WebSocket close code and a reason. Returns at once."""

REPLACED = 4000
DISMISSED = 4001


class Presence:
    """One connection per device. For use inside the event loop only."""

    def __init__(self) -> None:
        self._connections: dict[str, HangUp] = {}

    def __contains__(self, device: str) -> bool:
        return device in self._connections

    def enter(self, device: str, hang_up: HangUp) -> None:
        """Note a connection. An older one of the same device is ended: its robot has gone without saying so."""
        older = self._connections.get(device)
        self._connections[device] = hang_up
        if older is not None:
            older(REPLACED, "replaced by a newer connection")

    def leave(self, device: str, hang_up: HangUp) -> None:
        """Note the end of a connection. Does nothing if a newer one has taken its place."""
        if self._connections.get(device) == hang_up:
            del self._connections[device]

    def dismiss(self, device: str, reason: str) -> None:
        """End the connection of a device about which something else was decided meanwhile, if there is one."""
        hang_up = self._connections.get(device)
        if hang_up is not None:
            hang_up(DISMISSED, reason)
