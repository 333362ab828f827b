"""The way from a robot's loudspeaker to its microphone: later, softer, and by way of a small room."""

import numpy as np
from numpy.typing import NDArray

from server.audio import LISTENING_RATE, Samples

_ROOM_SECONDS = 0.25
_ROOM_DB = 60.0
_FIRST_WALL_SECONDS = 0.004
_SEED = 7


class EchoPath:
    """A stream of what was played, as the microphone hears it. At `LISTENING_RATE`.

    Args:
        gain_db: How loud the echo is against what is played.
        delay_ms: How late it comes.
        room: How much of it comes by way of the walls, against what comes straight.
    """

    def __init__(self, gain_db: float, delay_ms: float = 0.0, room: float = 0.0) -> None:
        length = int(_ROOM_SECONDS * LISTENING_RATE) if room else 1
        fading = 10 ** (-_ROOM_DB / 20 * np.arange(length) / length)
        walls = np.random.default_rng(_SEED).normal(0, 1, length) * fading
        walls[: int(_FIRST_WALL_SECONDS * LISTENING_RATE)] = 0
        response = room * walls / max(1e-9, float(np.sqrt(np.sum(walls**2))))
        response[0] += 1.0
        self._response: NDArray[np.float64] = response * 10 ** (gain_db / 20)
        self._before: NDArray[np.float64] = np.zeros(length - 1)
        self._late: NDArray[np.float64] = np.zeros(round(delay_ms * LISTENING_RATE / 1000))

    def push(self, played: Samples) -> Samples:
        """Return as many samples as were played, of what was played before."""
        known = np.concatenate((self._before, played.astype(np.float64)))
        self._before = known[len(known) - len(self._before) :]
        heard = _convolve(known, self._response)
        waiting = np.concatenate((self._late, heard))
        self._late = waiting[len(played) :]
        return np.clip(np.rint(waiting[: len(played)]), -32768, 32767).astype(np.int16)


def _convolve(known: NDArray[np.float64], response: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a room makes of the samples that have all of its past before them."""
    size = len(known)
    heard: NDArray[np.float64] = np.fft.irfft(
        np.fft.rfft(known) * np.fft.rfft(response, size), size
    )
    return heard[len(response) - 1 :]
