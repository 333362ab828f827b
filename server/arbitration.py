"""Several robots in one household hear the same wake word: one answers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio

from server.claims import tidy_device_id
from server.config import HouseholdSection

_LOUDER_DB = 3.0
"""From what difference on a robot is closer to the person than another."""
_FOLLOW_SECONDS = 1.0
"""How long after the first robot a call still counts as the same one."""


@dataclass(slots=True, eq=False)
class _Call:
    """A robot that has heard its wake word."""

    device: str
    level_db: float | None
    is_gone: bool = False


@dataclass(slots=True)
class _Home:
    """The robots of a household, and the call that is being decided."""

    window_seconds: float
    calls: list[_Call] = field(default_factory=list)
    decided: anyio.Event | None = None
    """Set when the robots that called know who answers; None when nobody is waiting."""
    began_at: float = -math.inf
    chosen: str = ""
    """The robot that answered last."""


class Arbiter:
    """Decides who answers, by level and by arrival, within a short window. For use inside the event loop only.

    The robot that hears the person clearly louder is the closest. Where none is, or levels are not known (not every
    firmware sends the sound of its wake word), the one that was talked to last goes on, else the first one answers.
    """

    def __init__(self, households: Mapping[str, HouseholdSection]) -> None:
        self._homes = {
            tidy_device_id(device): home
            for section in households.values()
            if len(section.devices) > 1 and section.wake_window_ms
            for home in [_Home(section.wake_window_ms / 1000)]
            for device in section.devices
        }

    async def chooses(self, device: str, level_db: float | None) -> bool:
        """Say whether a robot that has heard its wake word is to answer. Waits until the others can have called, too.

        Args:
            device: Its identity.
            level_db: How loud it heard the wake word; None if it did not send the sound.
        """
        home = self._homes.get(device)
        if home is None:
            return True
        if anyio.current_time() - home.began_at > _FOLLOW_SECONDS:
            home.began_at, home.decided = anyio.current_time(), None
        elif home.decided is None:  # late: the others know already
            return home.chosen == device
        call = _Call(device, level_db)
        home.calls.append(call)
        try:
            await self._wait(home, call)
        finally:
            call.is_gone = True
        return home.chosen == device

    async def _wait(self, home: _Home, call: _Call) -> None:
        if home.decided is not None:
            await home.decided.wait()
            return
        home.decided = decided = anyio.Event()
        call.is_gone = True  # unless it stays until the end
        try:
            await anyio.sleep(home.window_seconds)
            call.is_gone = False
        finally:  # whoever hung up meanwhile, the others get their answer
            home.chosen = _choose(home) or home.chosen
            if all(one.is_gone for one in home.calls):
                home.began_at = -math.inf  # nobody answers it: whoever calls next is no latecomer
            home.calls, home.decided = [], None
            decided.set()


def _choose(home: _Home) -> str:
    calls = [call for call in home.calls if not call.is_gone]
    known = [call.level_db for call in calls if call.level_db is not None]
    loudest = max(known, default=0.0)
    close = [
        call.device
        for call in calls
        if call.level_db is None or call.level_db > loudest - _LOUDER_DB
    ]
    return home.chosen if home.chosen in close else next(iter(close), "")
