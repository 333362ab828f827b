"""Ends connections that have lost the right to be open, whoever took it: a command, the API, or a file that was changed."""

from collections.abc import Mapping
from dataclasses import dataclass

import anyio
import anyio.to_thread

from server.access import Access
from server.grants import Right
from server.presence import DISMISSED, HangUp

_LOOK_SECONDS = 2.0
"""Another process tells nobody what it has changed; a look at two files that have not costs nothing."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a connection came in with."""

    entry: str
    """Id of its entry in the registry."""
    token: str
    """What it brought."""
    right: Right
    """What that was good for."""


class Rights:
    """The open connections. For use inside the event loop only."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._open: dict[HangUp, Held] = {}

    def enter(self, held: Held, hang_up: HangUp) -> None:
        """Note a connection."""
        self._open[hang_up] = held

    def leave(self, hang_up: HangUp) -> None:
        """Note the end of a connection."""
        self._open.pop(hang_up, None)

    async def keep_checked(self) -> None:
        """Hang up on those whose right is another one than when they came; until cancelled."""
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            now = await anyio.to_thread.run_sync(self._look, dict(self._open))
            for hang_up, reason in now.items():
                hang_up(DISMISSED, reason)

    def _look(self, held: Mapping[HangUp, Held]) -> Mapping[HangUp, str]:
        """Return who has to go, and why. A device that only made room in the registry stays."""
        gone = {}
        for hang_up, one in held.items():
            right = self._access.right_of(one.entry, one.token)
            if right is not None and right != one.right:
                gone[hang_up] = _explain(one.right, right)
        return gone


def _explain(was: Right, now: Right) -> str:
    if was.grant != now.grant:
        return "its key was revoked or changed"
    if was.token_generation != now.token_generation:
        return "this device was removed, or its token was revoked"
    return "it was given to somebody: come back as theirs"
