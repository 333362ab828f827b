"""Mono PCM audio: the record, resampling, and reading and writing of sound files."""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from server.errors import AudioError

Samples: TypeAlias = NDArray[np.int16]
"""Mono samples, shape (n,), int16."""

LISTENING_RATE = 16_000
"""Hertz of everything the server listens to: VAD and ASR models are made for it."""


@dataclass(frozen=True, slots=True)
class Audio:
    """A piece of mono sound."""

    samples: Samples
    rate: int
    """Hertz."""

    @property
    def seconds(self) -> float:
        """Duration."""
        return len(self.samples) / self.rate

    def at(self, rate: int) -> "Audio":
        """Return the same sound at another rate. For a whole piece; a stream needs `Resampler`."""
        if rate == self.rate or len(self.samples) == 0:
            return Audio(self.samples, rate)
        return Audio(soxr.resample(self.samples, self.rate, rate), rate)


class Resampler:
    """Change the rate of a stream piece by piece, without clicks at the seams.

    Feed pieces in order with `push`; call `flush` once at the end to get the tail out of the filter.
    """

    def __init__(self, rate_in: int, rate_out: int) -> None:
        self._stream: Any = (
            None
            if rate_in == rate_out
            else soxr.ResampleStream(rate_in, rate_out, 1, dtype="int16")
        )

    def push(self, samples: Samples) -> Samples:
        """Return what is ready so far; may be empty, the filter has some milliseconds of delay."""
        return samples if self._stream is None else self._resample(samples, last=False)

    def flush(self) -> Samples:
        """Return the rest. Nothing may be pushed afterwards."""
        empty = np.zeros(0, np.int16)
        return empty if self._stream is None else self._resample(empty, last=True)

    def _resample(self, samples: Samples, *, last: bool) -> Samples:
        resampled: Samples = self._stream.resample_chunk(samples, last=last)
        return resampled


def samples_in(milliseconds: float) -> int:
    """Return how many whole samples of what is listened to last so long."""
    return int(milliseconds * LISTENING_RATE / 1000)


def from_pcm(pcm: bytes) -> Samples:
    """Read s16le bytes. An odd last byte is dropped."""
    return np.frombuffer(pcm[: len(pcm) & ~1], dtype="<i2").astype(np.int16, copy=False)


def to_pcm(samples: Samples) -> bytes:
    """Write s16le bytes."""
    return samples.astype("<i2", copy=False).tobytes()


def join(pieces: Iterable[Audio], rate: int) -> Audio:
    """Join pieces into one, at `rate`."""
    parts = [piece.at(rate).samples for piece in pieces]
    return Audio(np.concatenate(parts) if parts else np.zeros(0, np.int16), rate)


def level_dbfs(samples: Samples) -> float:
    """Return the RMS level in dB relative to full scale; -120 for silence."""
    if len(samples) == 0:
        return -120.0
    rms = float(np.sqrt(np.mean(np.square(samples.astype(np.float64))))) / 32768
    return max(-120.0, 20 * float(np.log10(max(rms, 1e-9))))


def read_audio(source: Path | bytes) -> Audio:
    """Read a sound file of any rate and channel count, mixed down to mono, at its own rate.

    Raises:
        AudioError: The file is missing, empty or not audio; the message names it.
    """
    name = "the audio" if isinstance(source, bytes) else str(source)
    if isinstance(source, Path) and not source.is_file():
        raise AudioError(f"There is no file {name}.", code="audio-missing")
    try:
        data, rate = soundfile.read(
            io.BytesIO(source) if isinstance(source, bytes) else str(source),
            dtype="float32",
            always_2d=True,
        )
    except (OSError, RuntimeError) as error:
        raise AudioError(
            f"{name} can't be read as audio ({error}). Give a WAV, FLAC or OGG file."
        ) from error
    if len(data) == 0:
        raise AudioError(f"{name} holds no sound.", code="audio-empty")
    mono = np.clip(data.mean(axis=1), -1.0, 1.0)
    return Audio((mono * 32767).astype(np.int16), int(rate))


def write_wav(path: Path, audio: Audio) -> None:
    """Write a 16-bit mono WAV file, making its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(str(path), audio.samples, audio.rate, subtype="PCM_16", format="WAV")
