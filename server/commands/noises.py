"""Noises made by rule, and how they are laid under speech."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.audio import LISTENING_RATE, Audio, Samples

Wave: TypeAlias = NDArray[np.float64]
"""Sound as floats, 1 is full scale."""

_BELOW_ACTIVE_DB = 40.0
_STEP = LISTENING_RATE // 100


def to_wave(samples: Samples) -> Wave:
    """Return samples as floats."""
    return samples.astype(np.float64) / 32768


def to_samples(wave: NDArray[np.floating[Any]]) -> Samples:
    """Return floats as samples; what is too loud is clipped."""
    samples: Samples = np.clip(np.rint(wave * 32768), -32768, 32767).astype(np.int16)
    return samples


def fan(length: int, rng: np.random.Generator) -> Wave:
    """Return rushing air, most of it low, and the hum of blades."""
    air = np.convolve(rng.normal(0, 1, length), np.ones(6) / 6, "same")
    blades = hum(length, rng, 118.0)
    noise: Wave = air / air.std() + 0.5 * blades / blades.std()
    return noise


def hum(length: int, rng: np.random.Generator, hertz: float = 50.0) -> Wave:
    """Return a mains hum with its overtones."""
    times = np.arange(length) / LISTENING_RATE
    waves = [
        np.sin(2 * np.pi * hertz * number * times + rng.uniform(0, 6.28)) / number
        for number in range(1, 7)
    ]
    humming: Wave = np.sum(waves, axis=0)
    return humming


def television(length: int, rng: np.random.Generator, voices: Sequence[Samples]) -> Wave:
    """Return one voice after the other without an end, each a little higher or lower than it was spoken."""
    pieces: list[Wave] = []
    while sum(map(len, pieces)) < length:
        for index in rng.permutation(len(voices)):
            pitch = int(LISTENING_RATE * rng.uniform(0.85, 1.15))
            moved = Audio(voices[index], pitch).at(LISTENING_RATE).samples
            pieces += [at_active_level(to_wave(moved), 1.0), np.zeros(int(0.25 * LISTENING_RATE))]
    start = int(rng.integers(0, LISTENING_RATE))
    joined = np.concatenate([*pieces, *pieces[:2], np.zeros(start)])
    return joined[start : start + length]


def babble(length: int, rng: np.random.Generator, voices: Sequence[Samples]) -> Wave:
    """Return four such voices at once."""
    voices_at_once: Wave = np.sum([television(length, rng, voices) for _ in range(4)], axis=0)
    return voices_at_once


def active_level(wave: Wave) -> float:
    """Return the root mean square of a sound, its pauses left out."""
    steps = wave[: len(wave) // _STEP * _STEP].reshape(-1, _STEP)
    power = np.square(steps).mean(axis=1)
    spoken = power[power > power.max() * 10 ** (-_BELOW_ACTIVE_DB / 10)]
    return float(np.sqrt(spoken.mean()))


def at_active_level(wave: Wave, level: float) -> Wave:
    """Return a sound made as loud as asked, its pauses left out of the reckoning."""
    return wave * (level / active_level(wave))
