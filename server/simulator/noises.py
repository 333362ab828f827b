"""Sounds that nobody speaks, made by rule: what a microphone in a room hears all day. The same every time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.audio import LISTENING_RATE, Samples

Wave: TypeAlias = NDArray[np.float64]
"""Between -1 and 1."""
Random: TypeAlias = np.random.Generator
Recipe: TypeAlias = Callable[[Random, int], Wave]
"""Makes a sound of so many samples."""

SECONDS = (0.4, 1.0, 2.5, 5.0)
"""How long the sounds are; one after the other."""
LEVELS_DB = (-50.0, -40.0, -30.0, -20.0, -12.0)
"""How loud they are at their loudest moment; one after the other."""
_SEED = 20


@dataclass(frozen=True, slots=True)
class Clip:
    """One sound."""

    kind: str
    level_db: float
    samples: Samples
    """At `LISTENING_RATE`."""


def make_noises(count: int = 200) -> Iterator[Clip]:
    """Make sounds of all kinds in turn, in changing lengths and levels."""
    kinds = tuple(RECIPES)
    for number in range(count):
        kind, turn = kinds[number % len(kinds)], number // len(kinds)
        level_db = LEVELS_DB[(number + turn) % len(LEVELS_DB)]
        length = round(SECONDS[turn % len(SECONDS)] * LISTENING_RATE)
        wave = RECIPES[kind](np.random.default_rng((_SEED, number)), length)
        peak = float(np.abs(wave).max()) or 1.0
        samples = np.rint(wave / peak * 32767 * 10 ** (level_db / 20)).astype(np.int16)
        yield Clip(kind, level_db, samples)


def _times(length: int) -> Wave:
    return np.arange(length, dtype=np.float64) / LISTENING_RATE


def _white(random: Random, length: int) -> Wave:
    return random.normal(0, 1, length)


def _coloured(random: Random, length: int, low: float, high: float) -> Wave:
    """Return noise between two frequencies."""
    spectrum = np.fft.rfft(random.normal(0, 1, length))
    hertz = np.fft.rfftfreq(length, 1 / LISTENING_RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    wave: Wave = np.fft.irfft(spectrum, length)
    return wave


def _tones(length: int, *partials: tuple[float, float]) -> Wave:
    """Return tones of some hertz and loudness."""
    times = _times(length)
    wave: Wave = np.zeros(length)
    for hertz, loud in partials:
        wave += loud * np.sin(2 * np.pi * hertz * times)
    return wave


def _hits(random: Random, length: int, apart: float, hit: Callable[[Random], Wave]) -> Wave:
    """Return short sounds, so many seconds apart on average."""
    wave = np.zeros(length)
    place = int(random.uniform(0, 0.2) * length)
    while place < length:
        sound = hit(random)[: length - place]
        wave[place : place + len(sound)] += sound * random.uniform(0.5, 1.0)
        place += max(400, int(random.uniform(0.5, 1.5) * apart * LISTENING_RATE))
    return wave


def _burst(random: Random, seconds: float, low: float, high: float) -> Wave:
    length = int(seconds * LISTENING_RATE)
    return _coloured(random, length, low, high) * np.exp(-np.arange(length) / (length / 6))


def _silence(random: Random, length: int) -> Wave:
    return random.normal(0, 1e-6, length)


def _hum(random: Random, length: int) -> Wave:
    mains = float(random.choice([50.0, 60.0]))
    return _tones(length, *((mains * n, 1 / n) for n in range(1, 8))) + _white(random, length) / 50


def _fan(random: Random, length: int) -> Wave:
    air = _coloured(random, length, 40, 900)
    air = air * (1 + 0.3 * _tones(length, (random.uniform(4, 12), 1.0)))
    motor = _tones(length, (random.uniform(90, 180), float(np.std(air))))
    return air + 0.3 * motor


def _breath(random: Random, length: int) -> Wave:
    swell: Wave = np.abs(_tones(length, (0.5 / random.uniform(0.9, 1.8), 1.0)))
    return _coloured(random, length, 300, 3500) * swell**2


def _blow(random: Random, length: int) -> Wave:
    return _coloured(random, length, 20, 300) * (0.3 + random.uniform(0, 1, 1) * np.hanning(length))


def _keys(random: Random, length: int) -> Wave:
    return _hits(random, length, 0.18, lambda r: _burst(r, 0.03, 1500, 7500))


def _click(random: Random, length: int) -> Wave:
    return _hits(random, length, 1.5, lambda r: _burst(r, 0.01, 500, 7900))


def _door(random: Random, length: int) -> Wave:
    return _hits(random, length, 1.2, lambda r: _burst(r, 0.35, 40, 400))


def _knock(random: Random, length: int) -> Wave:
    return _hits(random, length, 0.3, lambda r: _burst(r, 0.09, 120, 1200))


def _dishes(random: Random, length: int) -> Wave:
    def plate(r: Random) -> Wave:
        size = int(0.25 * LISTENING_RATE)
        ring = _tones(size, *((r.uniform(1500, 6500), 1.0) for _ in range(4)))
        return ring * np.exp(-np.arange(size) / 700)

    return _hits(random, length, 0.5, plate)


def _rustle(random: Random, length: int) -> Wave:
    loud = np.repeat(random.uniform(0, 1, length // 400 + 1) ** 3, 400)[:length]
    return _coloured(random, length, 2000, 7900) * loud


def _cough(random: Random, length: int) -> Wave:
    return _hits(random, length, 0.6, lambda r: _burst(r, 0.22, 250, 4500))


def _whistle(random: Random, length: int) -> Wave:
    sweep = random.uniform(900, 1800) * (1 + 0.2 * np.sin(2 * np.pi * 0.8 * _times(length)))
    return np.sin(2 * np.pi * np.cumsum(sweep) / LISTENING_RATE)


def _servo(random: Random, length: int) -> Wave:
    speed = random.uniform(180, 420) * (1 + 0.3 * np.sin(2 * np.pi * 1.3 * _times(length)))
    turns = np.cumsum(speed) / LISTENING_RATE
    return np.sign(np.sin(2 * np.pi * turns)) * 0.6 + _white(random, length) / 8


def _notes(random: Random, length: int, beat: float, partials: int, seventh: bool) -> Wave:
    wave, size = np.zeros(length), int(beat * LISTENING_RATE)
    scale = (0, 2, 4, 7, 9, 12, 14)
    for place in range(0, length, size):
        root = 220 * 2 ** (float(random.choice(scale)) / 12)
        chord = (1.0, 5 / 4, 3 / 2, 7 / 4) if seventh else (1.0,)
        tones = [(root * step * n, 1 / n**1.5) for step in chord for n in range(1, partials)]
        note = _tones(size, *tones) * np.exp(-np.arange(size) / (size / 2))
        wave[place : place + size] += note[: length - place]
    return wave


def _melody(random: Random, length: int) -> Wave:
    return _notes(random, length, 0.25, 6, seventh=False)


def _chords(random: Random, length: int) -> Wave:
    return _notes(random, length, 0.6, 5, seventh=True)


def _band(random: Random, length: int) -> Wave:
    drums = _hits(random, length, 0.25, lambda r: _burst(r, 0.08, 60, 6000))
    return _chords(random, length) / 3 + drums


def _chime(random: Random, length: int) -> Wave:
    wave = np.zeros(length)
    for number, hertz in enumerate((880.0, 1318.5)):
        place = min(length, int(number * 0.18 * LISTENING_RATE))
        rest = length - place
        wave[place:] += _tones(rest, (hertz, 1.0), (2 * hertz, 0.3)) * np.exp(
            -np.arange(rest) / 3000
        )
    return wave


def _rain(random: Random, length: int) -> Wave:
    drops = _hits(random, length, 0.02, lambda r: _burst(r, 0.006, 1500, 7900))
    return drops + _white(random, length) / 6


RECIPES: dict[str, Recipe] = {
    "silence": _silence,
    "hiss": _white,
    "hum": _hum,
    "fan": _fan,
    "breath": _breath,
    "blow": _blow,
    "keys": _keys,
    "click": _click,
    "door": _door,
    "knock": _knock,
    "dishes": _dishes,
    "rustle": _rustle,
    "cough": _cough,
    "whistle": _whistle,
    "servo": _servo,
    "melody": _melody,
    "chords": _chords,
    "band": _band,
    "chime": _chime,
    "rain": _rain,
}
"""How each kind is made."""
