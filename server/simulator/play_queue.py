"""The loudspeaker of a robot: a short queue of packets, drained in real time, and what went wrong with it.

As in the firmware: a packet that finds the queue full is dropped without a word; the start of a reply empties the queue;
the loudspeaker is silent while the queue is empty, and that is heard as a stutter if more of the reply follows.
All moments are handed in, in seconds of one clock; the model itself knows no time.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from server.audio import Audio, Samples

_ECHO_SECONDS = 2.0
"""How much of what was played is kept for `heard_between`."""
_INAUDIBLE_SECONDS = 1e-6  # rounding, not a gap


@dataclass(frozen=True, slots=True)
class Played:
    """What was played since the last time somebody asked, and how well."""

    audio: Audio
    underruns: int
    overflows: int
    early_stop_ms: float
    gaps_ms: tuple[float, ...]
    arrivals_ms: tuple[float, ...]


@dataclass(slots=True)
class _Record:
    pieces: list[Samples] = field(default_factory=list)
    overflows: int = 0
    early_stop_ms: float = 0.0
    gaps_ms: list[float] = field(default_factory=list)
    arrivals_ms: list[float] = field(default_factory=list)


class PlayQueue:
    """The queue and the loudspeaker behind it.

    Call `start`, then `receive` for each packet, then `stop`, with times that never go back.

    Args:
        rate: Hertz of the packets.
        capacity: Packets that can wait; the one that is being played no longer counts.
    """

    def __init__(self, rate: int, capacity: int = 40) -> None:
        self._rate = rate
        self._capacity = capacity
        self._waiting: deque[Samples] = deque()
        self._busy_until = 0.0
        self._began_at: float | None = None
        self._last_arrival: float | None = None
        self._recent: deque[tuple[float, Samples]] = deque()
        self._record = _Record()

    @property
    def drained_at(self) -> float:
        """The moment when all that is here now will have been played; in the past if nothing is."""
        return self._busy_until + sum(map(len, self._waiting)) / self._rate

    def played_ms(self, now: float) -> float:
        """Return how long ago the first packet of this reply began to sound; 0 if none has."""
        return 0.0 if self._began_at is None else (now - self._began_at) * 1000

    def start(self, now: float) -> None:
        """Begin a reply: what still waits is thrown away, as the decoder is reset."""
        self.advance(now)
        self._waiting.clear()
        self._began_at = None
        self._last_arrival = None

    def receive(self, packet: Samples, now: float) -> None:
        """Take a packet that arrives now."""
        self.advance(now)
        if self._last_arrival is not None:
            self._record.arrivals_ms.append(round((now - self._last_arrival) * 1000, 1))
        self._last_arrival = now
        if now < self._busy_until:
            self._enqueue(packet)
        else:
            self._note_gap(now)
            self._begin_packet(packet, now)

    def stop(self, now: float, *, interrupted: bool = False) -> None:
        """Note that the server declares the reply finished. What waits is played, unless the reply was interrupted."""
        self.advance(now)
        if interrupted:
            self._waiting.clear()
        else:
            self._record.early_stop_ms = max(0.0, round((self.drained_at - now) * 1000, 1))

    def advance(self, now: float) -> None:
        """Let the loudspeaker play until `now`."""
        while self._waiting and self._busy_until <= now:
            self._begin_packet(self._waiting.popleft(), self._busy_until)

    def heard_between(self, start: float, end: float) -> Samples:
        """Return what sounded between two moments, at the rate of the packets: silence where nothing did.

        Only the last seconds are known.
        """
        self.advance(end)
        heard = np.zeros(round((end - start) * self._rate), np.int16)
        for began, samples in self._recent:
            offset = round((began - start) * self._rate)
            first, last = max(0, offset), min(len(heard), offset + len(samples))
            if first < last:
                heard[first:last] = samples[first - offset : last - offset]
        return heard

    def take(self) -> Played:
        """Return the record since the last call, and begin a new one."""
        record, self._record = self._record, _Record()
        pieces = record.pieces or [np.zeros(0, np.int16)]
        return Played(
            Audio(np.concatenate(pieces), self._rate),
            len(record.gaps_ms),
            record.overflows,
            record.early_stop_ms,
            tuple(record.gaps_ms),
            tuple(record.arrivals_ms),
        )

    def _enqueue(self, packet: Samples) -> None:
        if len(self._waiting) >= self._capacity:
            self._record.overflows += 1
        else:
            self._waiting.append(packet)

    def _note_gap(self, now: float) -> None:
        gap_seconds = now - self._busy_until
        if self._began_at is not None and gap_seconds > _INAUDIBLE_SECONDS:
            self._record.gaps_ms.append(round(gap_seconds * 1000, 1))
            self._record.pieces.append(np.zeros(round(gap_seconds * self._rate), np.int16))

    def _begin_packet(self, packet: Samples, at: float) -> None:
        if self._began_at is None:
            self._began_at = at
        self._busy_until = at + len(packet) / self._rate
        self._record.pieces.append(packet)
        self._recent.append((at, packet))
        while self._recent[0][0] < at - _ECHO_SECONDS:
            self._recent.popleft()
