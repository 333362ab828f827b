"""The corpus of labelled utterances for the measurement of turn ends: spoken by the voices of the product, laid out by rule."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from server.audio import LISTENING_RATE, Audio, Samples, read_audio, write_wav
from server.commands import noises
from server.commands.noises import Wave
from server.commands.report import Tell
from server.commands.voice import speak
from server.errors import ConfigError
from server.ports import Tts
from server.simulator.microphone import last_voiced_sample

PAUSES_MS = (300, 600, 900)
SNRS_DB = (20, 10, 5)
NOISES = ("fan", "hum", "television", "babble")
LABELS = "labels.json"
_LEVEL = 10 ** (-20 / 20)
_ROOM = 10 ** (-72 / 20)
"""No room is as silent as a file of zeros."""
_SOFT_DB = 20.0
_SOFT_SHARE, _FALL_SHARE = 0.35, 0.15
_LEAD_SECONDS, _NOISE_LEAD_SECONDS, _TAIL_SECONDS = 0.8, 2.5, 4.0
_FADE = LISTENING_RATE // 200
_PAUSED = ("pause", "hesitation", "counting", "more")
_OPEN = ("counting",)
"""Kinds of which the end sounds as if more was to come."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one utterance of the corpus is made of."""

    id: str
    language: str
    part: str
    """``tuning`` or ``held_out``."""
    kind: str
    pieces: tuple[str, ...]
    pause_ms: int = 0
    noise: str = ""
    snr_db: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """What is true of one utterance. Positions are samples at 16 kHz."""

    file: str
    language: str
    part: str
    kind: str
    text: str
    pause_ms: int
    noise: str
    snr_db: int
    finished: bool
    """Whether its last words sound as if nothing was to follow."""
    first_voiced: int
    last_voiced: int
    pauses: tuple[tuple[int, int], ...]


def plan_corpus(languages: Sequence[str]) -> list[Plan]:
    """Return what the corpus holds, in order; the same every time.

    Raises:
        ConfigError: There are no sentences in a language.
    """
    for language in languages:
        if language not in _texts()["tuning"]:
            known = ", ".join(_texts()["tuning"])
            raise ConfigError(
                f"No utterances in {language!r}. Possible: {known}.", "language-unknown"
            )
    return [plan for language in languages for part in _texts() for plan in _part(language, part)]


def _part(language: str, part: str) -> Iterator[Plan]:
    kinds = _texts()[part][language]
    for kind, entries in kinds.items():
        if kind == "others":
            continue
        for number, entry in enumerate(entries):
            for pause_ms in PAUSES_MS if kind in _PAUSED else (0,):
                name = f"{language}-{part}-{kind}-{number}" + (f"-{pause_ms}" if pause_ms else "")
                yield Plan(name, language, part, kind, _cut(entry), pause_ms)
    for noise in NOISES:
        for snr_db in SNRS_DB:
            name = f"{language}-{part}-{noise}-{snr_db}"
            for kind, pause_ms, index in (("finished", 0, snr_db), ("pause", 600, snr_db)):
                pieces = _cut(kinds[kind][index % len(kinds[kind])])
                yield Plan(f"{name}-{kind}", language, part, kind, pieces, pause_ms, noise, snr_db)


def _cut(entry: str) -> tuple[str, ...]:
    return tuple(piece.strip() for piece in entry.split("|"))


class Studio:
    """Speaks and mixes the utterances of a plan. Says no sentence twice."""

    def __init__(self, tts: Tts, seed: int) -> None:
        """Open with a voice.

        Args:
            tts: Speaks every language of the plan.
            seed: Of the noises.
        """
        self._tts = tts
        self._seed = seed
        self._spoken: dict[tuple[str, str], Samples] = {}

    async def make(self, plan: Plan) -> tuple[Samples, Label]:
        """Return the sound of an utterance, and what is true of it.

        Raises:
            OmoideError: A voice is not installed, or failed.
        """
        rng = np.random.default_rng([self._seed, zlib.crc32(plan.id.encode())])
        words = [await self._speak(text, plan.language) for text in plan.pieces]
        said, pauses = _with_pauses(words, plan.pause_ms)
        speech = noises.at_active_level(noises.to_wave(said), _LEVEL)
        if plan.kind == "soft_end":
            speech = _falling(speech)
        lead = int((_NOISE_LEAD_SECONDS if plan.noise else _LEAD_SECONDS) * LISTENING_RATE)
        tail = np.zeros(int(_TAIL_SECONDS * LISTENING_RATE))
        sound = np.concatenate([np.zeros(lead), speech, tail])
        sound = sound + rng.normal(0, _ROOM, len(sound))
        if plan.noise:
            noise = await self._noise(plan, len(sound), rng)
            level = _LEVEL * 10 ** (-plan.snr_db / 20)
            sound = sound + noises.at_active_level(noise, level)
        label = Label(
            f"{plan.id}.wav",
            plan.language,
            plan.part,
            plan.kind,
            " ".join(plan.pieces),
            plan.pause_ms,
            plan.noise,
            plan.snr_db,
            plan.kind not in _OPEN,
            lead,
            lead + len(speech),
            tuple((lead + start, lead + end) for start, end in pauses),
        )
        return noises.to_samples(sound), label

    async def _speak(self, text: str, language: str) -> Samples:
        """Return a text as sound, without the silence before and after it."""
        if (text, language) not in self._spoken:
            samples = (await speak(text, language, self._tts)).at(LISTENING_RATE).samples
            end = last_voiced_sample(samples)
            start = len(samples) - last_voiced_sample(samples[::-1])
            self._spoken[text, language] = samples[start:end]
        return self._spoken[text, language]

    async def _noise(self, plan: Plan, length: int, rng: np.random.Generator) -> Wave:
        if plan.noise == "fan":
            return noises.fan(length, rng)
        if plan.noise == "hum":
            return noises.hum(length, rng)
        others = _texts()["tuning"][plan.language]["others"]
        voices = [await self._speak(text, plan.language) for text in others]
        make = noises.television if plan.noise == "television" else noises.babble
        return make(length, rng, voices)


def _with_pauses(pieces: Sequence[Samples], pause_ms: int) -> tuple[Samples, list[tuple[int, int]]]:
    """Join pieces with exact pauses; return where those are, too."""
    silence = np.zeros(pause_ms * LISTENING_RATE // 1000, np.int16)
    joined, pauses = _faded(pieces[0]), []
    for piece in pieces[1:]:
        pauses.append((len(joined), len(joined) + len(silence)))
        joined = np.concatenate([joined, silence, _faded(piece)])
    return joined, pauses


def _faded(piece: Samples) -> Samples:
    shape = np.ones(len(piece))
    shape[:_FADE] = np.linspace(0, 1, _FADE)
    shape[-_FADE:] = np.linspace(1, 0, _FADE)
    faded: Samples = (piece * shape).astype(np.int16)
    return faded


def _falling(speech: Wave) -> Wave:
    """Let the end of a sentence fall by 20 dB."""
    soft, fall = int(len(speech) * _SOFT_SHARE), int(len(speech) * _FALL_SHARE)
    decibels = np.zeros(len(speech))
    decibels[-soft:] = -_SOFT_DB
    decibels[-soft - fall : -soft] = np.linspace(0, -_SOFT_DB, fall)
    return speech * 10 ** (decibels / 20)


async def write_corpus(
    folder: Path, tts: Tts, languages: Sequence[str], seed: int, tell: Tell
) -> list[Label]:
    """Render the corpus into a folder: a WAV file for each utterance, and `LABELS`.

    Args:
        folder: Made if it is not there.
        tts: The voices.
        languages: Two-letter codes.
        seed: Of the noises.
        tell: Told how far it is.

    Raises:
        OmoideError: A voice is not installed, or failed.
    """
    studio, labels = Studio(tts, seed), []
    plans = plan_corpus(languages)
    for plan in plans:
        samples, label = await studio.make(plan)
        write_wav(folder / label.file, Audio(samples, LISTENING_RATE))
        labels.append(label)
    content = {"rate": LISTENING_RATE, "seed": seed, "utterances": [asdict(one) for one in labels]}
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    (folder / LABELS).write_text(text, encoding="utf-8")
    tell(f"{len(labels)} utterances in {folder}")
    return labels


def read_corpus(folder: Path) -> list[Label]:
    """Return the labels of a corpus.

    Raises:
        ConfigError: There is none, or it can't be read.
    """
    try:
        content = json.loads((folder / LABELS).read_text(encoding="utf-8"))
        return [_read_label(one) for one in content["utterances"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{folder} holds no corpus that can be read ({error}). Make one with scripts/make_utterances.py {folder}.",
            "corpus-missing",
        ) from error


def _read_label(found: Mapping[str, Any]) -> Label:
    pauses = tuple((int(start), int(end)) for start, end in found["pauses"])
    return Label(**{**found, "pauses": pauses})


def read_sound(folder: Path, label: Label) -> Samples:
    """Return the sound of an utterance.

    Raises:
        AudioError: The file is missing or damaged.
    """
    return read_audio(folder / label.file).at(LISTENING_RATE).samples


@cache
def _texts() -> Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]:
    content: Any = yaml.safe_load(
        (files(__package__) / "utterances.yaml").read_text(encoding="utf-8")
    )
    return content  # type: ignore[no-any-return]
