"""The microphone of a robot: frames of what is said near it, of its own echo, and of silence."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from server.audio import LISTENING_RATE, Audio, Samples, level_dbfs

_STEP = LISTENING_RATE // 100  # levels are measured over 10 ms
_BELOW_LOUDEST_DB = 30.0
_ABOVE_NOISE_DB = 10.0
_ABOVE_NOISE_AT_MOST_DB = (
    15.0  # below the loudest: a sound without a pause has no background to be measured
)
_SILENCE_DBFS = -60.0


@dataclass(slots=True)
class Sounding:
    """A sound that is being made near the microphone."""

    samples: Samples
    """16 kHz, the last frame filled up with silence."""
    voiced_seconds: float
    """From its beginning to its last voiced sample."""
    started_at: float | None = None
    """When its first sample was made; None as long as it waits for others to end."""
    ended: bool = False

    @property
    def silent_seconds(self) -> float:
        """From its beginning to its first voiced sample: where it reaches a twentieth of its peak."""
        loud = np.flatnonzero(np.abs(self.samples) > np.abs(self.samples).max() / 20)
        return int(loud[0]) / LISTENING_RATE if len(loud) else 0.0

    @property
    def voiced_until(self) -> float | None:
        """When its last voiced sample was made, or will be."""
        return None if self.started_at is None else self.started_at + self.voiced_seconds


class Microphone:
    """Cuts what is said into frames. Sounds follow each other; between them it is quiet.

    Args:
        frame_ms: Length of a frame.
    """

    def __init__(self, frame_ms: int) -> None:
        self.frame_samples = LISTENING_RATE * frame_ms // 1000
        self._sounds: deque[Sounding] = deque()
        self._position = 0
        self._around: list[Samples] = []

    def surround(self, audio: Audio, level_db: float = 0.0) -> None:
        """Let something else sound at the same time from the next frame on: a television, somebody in the next room.

        Args:
            audio: The sound.
            level_db: How much louder or softer than it is.
        """
        silence = np.zeros(len(samples := audio.at(LISTENING_RATE).samples), np.int16)
        self._around.append(mix(silence, samples, level_db))

    def hear(self, audio: Audio) -> Sounding:
        """Let a sound be made from the next frame on, or after those that are still being made."""
        samples = audio.at(LISTENING_RATE).samples
        sound = Sounding(
            np.pad(samples, (0, -len(samples) % self.frame_samples)),
            last_voiced_sample(samples) / LISTENING_RATE,
        )
        self._sounds.append(sound)
        return sound

    def next_frame(self, starts_at: float) -> Samples:
        """Return the next frame. Its first sample is made at `starts_at`."""
        frame = self._next_said(starts_at)
        for sound in self._around:
            piece = np.zeros(self.frame_samples, np.int16)
            piece[: len(sound)] = sound[: self.frame_samples]
            frame = mix(frame, piece, 0.0)
        left = (sound[self.frame_samples :] for sound in self._around)
        self._around = [sound for sound in left if len(sound)]
        return frame

    def _next_said(self, starts_at: float) -> Samples:
        if not self._sounds:
            return np.zeros(self.frame_samples, np.int16)
        sound = self._sounds[0]
        if sound.started_at is None:
            sound.started_at = starts_at
        frame = sound.samples[self._position : self._position + self.frame_samples]
        self._position += self.frame_samples
        if self._position >= len(sound.samples):
            sound.ended = True
            self._sounds.popleft()
            self._position = 0
        return frame


def cut_frames(audio: Audio, frame_samples: int) -> list[Samples]:
    """Cut a sound into whole frames at 16 kHz; the last one is filled up with silence."""
    samples = audio.at(LISTENING_RATE).samples
    padded = np.pad(samples, (0, -len(samples) % frame_samples))
    return [padded[start : start + frame_samples] for start in range(0, len(padded), frame_samples)]


def mix(first: Samples, second: Samples, second_db: float) -> Samples:
    """Add the second sound, made louder or softer by `second_db`, to the first; equally long."""
    gain = 10 ** (second_db / 20)
    mixed = first.astype(np.float64) + second.astype(np.float64) * gain
    return np.clip(np.rint(mixed), -32768, 32767).astype(np.int16)


def last_voiced_sample(samples: Samples) -> int:
    """Return how many samples there are up to and including the last one that belongs to a voice; 0 without any.

    Judged by level over 10 ms, at 16 kHz: voiced is what lies within 30 dB of the loudest moment, stands out of the
    background by 10 dB, and is no click, that is, lasts 30 ms or longer. Deliberately simpler than any detector of a
    server that may be measured with it.
    """
    levels = np.array(
        [level_dbfs(samples[start : start + _STEP]) for start in range(0, len(samples), _STEP)]
    )
    if len(levels) == 0 or levels.max() < _SILENCE_DBFS:
        return 0
    loudest, background = float(levels.max()), float(np.percentile(levels, 10))
    above_noise = min(background + _ABOVE_NOISE_DB, loudest - _ABOVE_NOISE_AT_MOST_DB)
    threshold = max(loudest - _BELOW_LOUDEST_DB, above_noise, _SILENCE_DBFS)
    voiced = levels >= threshold
    lasting = voiced[2:] & voiced[1:-1] & voiced[:-2]
    if not lasting.any():
        return 0
    return min(len(samples), (int(np.flatnonzero(lasting)[-1]) + 3) * _STEP)
