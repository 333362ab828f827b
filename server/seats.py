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
    given: int


class Seats:
    """In memory only: after a restart, or a long silence, a robot belongs to its own person again."""

    def __init__(self, clock: Clock, minutes: float) -> None:
        self._clock = clock
        self._span = timedelta(minutes=minutes)
        self._seats: OrderedDict[str, _Seat] = OrderedDict()

    def take(self, device: str, person: str, given: int = 0) -> None:
        """Note who speaks with a device now; an empty name stands for a guest.

        Args:
            device: Which one.
            person: Who.
            given: How often the device was given to somebody so far: once more, and nobody sits there.
        """
        self._seats.pop(device, None)
        self._seats[device] = _Seat(person, self._clock.now() + self._span, given)
        while len(self._seats) > _MOST:
            self._seats.popitem(last=False)

    def person_of(self, device: str, given: int = 0) -> str | None:
        """Return who speaks with a device; None if nobody said so since it was given to somebody, or for too long."""
        seat = self._seats.get(device)
        if seat is None or seat.given != given or self._clock.now() >= seat.until:
            return None
        return seat.person

    def keep(self, device: str) -> None:
        """Note that a talk has ended just now, from when on the silence counts."""
        seat = self._seats.get(device)
        if seat is not None and self.person_of(device, seat.given) is not None:
            self.take(device, seat.person, seat.given)
