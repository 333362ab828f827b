"""Who said last that it is them who speaks with a robot. It holds while the talk goes on, over several connections."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta

from server.ports import Clock

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class _Seat:
    person: str
    until: datetime


class Seats:
    """In memory only: after a restart, or a long silence, a robot belongs to its own person again."""

    def __init__(self, clock: Clock, minutes: float) -> None:
        self._clock = clock
        self._span = timedelta(minutes=minutes)
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    def take(self, device: str, person: str) -> None:
        """Note who speaks with a device now; an empty name stands for a guest."""
        self._seats.pop(device, None)
        self._seats[device] = _Seat(person, self._clock.now() + self._span)
        while len(self._seats) > _MOST:
            self._seats.popitem(last=False)

    def person_of(self, device: str) -> str | None:
        """Return who speaks with a device; None if nobody said so, or nothing was said for too long."""
        seat = self._seats.get(device)
        return seat.person if seat is not None and self._clock.now() < seat.until else None

    def free(self, device: str) -> None:
        """Give a device back to its own person."""
        self._seats.pop(device, None)

    def keep(self, device: str) -> None:
        """Note that a talk has ended just now, from when on the silence counts."""
        if (person := self.person_of(device)) is not None:
            self.take(device, person)
