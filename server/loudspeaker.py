"""What a robot was given to play, and when it will sound: energies for the echo guard, and the sentences."""

import math
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.audio import Samples

Energies: TypeAlias = NDArray[np.float64]
"""Mean energies in `BANDS` bands, shape (n, BANDS), in units of int16 squared."""

SLOTS_PER_SECOND = 100
"""Energies of what was played are kept every 10 ms."""
FLOOR = 1.0
"""Energy of a band that counts as silent."""

_EDGES_HERTZ = (100, 250, 400, 600, 850, 1150, 1500, 1900, 2400, 3000, 3800, 4800, 6000, 7900)
BANDS = len(_EDGES_HERTZ) - 1
_BIN_HERTZ = 50
"""20 ms at any rate make bins of 50 Hz, so the bands of different rates can be compared."""
_KEPT_SLOTS = 1024
_KEPT_FRAMES = 170
_KEPT_SENTENCES = 32


def band_energies(frames: Samples) -> Energies:
    """Return the energy in each band of frames of 20 ms, of whatever rate; shape (n, samples) to (n, bands)."""
    window = _window(frames.shape[1])
    spectrum = np.fft.rfft(frames * window, axis=1)
    power = spectrum.real**2 + spectrum.imag**2
    summed = np.zeros((len(frames), power.shape[1] + 1))
    np.cumsum(power, axis=1, out=summed[:, 1:])
    edges = np.minimum(np.array(_EDGES_HERTZ) // _BIN_HERTZ, power.shape[1])
    energies: Energies = summed[:, edges[1:]] - summed[:, edges[:-1]]
    return energies


@lru_cache(maxsize=8)
def _window(length: int) -> NDArray[np.float64]:
    """Return a window by which the energies of all bands add up to the mean square of the samples."""
    shape = np.hanning(length + 2)[1:-1]
    window: NDArray[np.float64] = shape * math.sqrt(2.0 / (length * float(np.sum(shape**2))))
    return window


@dataclass(slots=True)
class _Sentence:
    text: str
    starts_at: float
    ends_at: float


class Loudspeaker:
    """The loudspeaker of one robot. Told what leaves for it; asked what may be sounding.

    All moments are on the clock of `anyio.current_time`, as if the line took no time. A frame sounds at once, or behind
    those that are there already.
    """

    def __init__(self, rate: int) -> None:
        """Start silent.

        Args:
            rate: Hertz of the frames.
        """
        self._rate = rate
        self._slot = rate // SLOTS_PER_SECOND
        self._energies: Energies = np.zeros((_KEPT_SLOTS, BANDS))
        self._end = 0
        """The slot behind the last one that is known."""
        self._tail: Samples = np.zeros(self._slot, np.int16)
        self._unread: deque[tuple[Samples, int]] = deque(maxlen=_KEPT_FRAMES)
        """Frames and their first slots. They are only looked at when somebody listens meanwhile."""
        self._sentences: deque[_Sentence] = deque(maxlen=_KEPT_SENTENCES)
        self.sounds_until = -math.inf
        """When the last frame will have been played, as far as is known."""

    def note_sentence(self, text: str, now: float) -> None:
        """Note that the frames that follow are those of a sentence."""
        begins = max(now, self.sounds_until)
        self._sentences.append(_Sentence(text, begins, begins))

    def note_frame(self, frame: Samples, now: float) -> None:
        """Note a frame that leaves now."""
        at = max(now, self.sounds_until)
        self.sounds_until = at + len(frame) / self._rate
        if self._sentences:
            self._sentences[-1].ends_at = self.sounds_until
        self._unread.append((frame, round(at * SLOTS_PER_SECOND)))

    def note_empty(self, now: float) -> None:
        """Note that nothing is left to play: the robot says that it listens."""
        self.sounds_until = min(self.sounds_until, now)

    def energies(self, first: int, end: int) -> Energies:
        """Return those of the slots from `first` to before `end`, counted from moment 0; silence where nothing is known."""
        while self._unread:
            self._read(*self._unread.popleft())
        slots = np.arange(first, end)
        energies: Energies = self._energies[slots % _KEPT_SLOTS]
        energies[(slots >= self._end) | (slots < self._end - _KEPT_SLOTS)] = 0.0
        return energies

    def said_between(self, start: float, end: float) -> list[str]:
        """Return the sentences of which something was to sound between two moments, in order."""
        return [
            sentence.text
            for sentence in self._sentences
            if sentence.starts_at <= end and sentence.ends_at >= start
        ]

    def _read(self, frame: Samples, first: int) -> None:
        if first != self._end:
            self._begin_at(first)
        known = np.concatenate((self._tail, frame))
        count = len(known) // self._slot - 1
        if count < 1:
            return
        self._tail = known[count * self._slot : (count + 1) * self._slot]
        pieces = np.arange(count)[:, None] * self._slot + np.arange(2 * self._slot)
        self._energies[(first + np.arange(count)) % _KEPT_SLOTS] = band_energies(known[pieces])
        self._end = first + count

    def _begin_at(self, slot: int) -> None:
        """Leave silence between the last frame and the next."""
        self._tail = np.zeros(self._slot, np.int16)
        if slot > self._end:
            gap = np.arange(max(self._end, slot - _KEPT_SLOTS), slot)
            self._energies[gap % _KEPT_SLOTS] = 0.0
        self._end = slot
