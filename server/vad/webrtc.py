"""Voice activity by webrtcvad: cheap, always there, but takes steady noise and tones for speech."""

from collections import deque
from typing import Any

import numpy as np
import webrtcvad

from server.audio import LISTENING_RATE, Samples, to_pcm

FRAME_SAMPLES = 512

_STEP_SAMPLES = LISTENING_RATE // 100
"""webrtcvad judges 10 ms at a time."""
_SMOOTHED_STEPS = 6


class VoicedSteps:
    """Tells for each 10 ms of a stream whether webrtcvad hears a voice. Not for two streams at once."""

    def __init__(self, aggressiveness: int, gain: int = 1) -> None:
        """Start on a stream.

        Args:
            aggressiveness: 0 to 3; how sure webrtcvad has to be.
            gain: Factor by which the sound is made louder first (and clipped): webrtcvad is deaf to whispers.
        """
        self._aggressiveness = aggressiveness
        self._gain = gain
        self._vad: Any = webrtcvad.Vad(aggressiveness)
        self._rest: Samples = np.zeros(0, np.int16)

    def push(self, samples: Samples) -> list[bool]:
        """Return the verdicts on all steps that are complete now."""
        loud = samples
        if self._gain != 1:
            loud = np.clip(samples.astype(np.int32) * self._gain, -32768, 32767).astype(np.int16)
        pending = np.concatenate((self._rest, loud))
        ends = range(_STEP_SAMPLES, len(pending) + 1, _STEP_SAMPLES)
        self._rest = pending[len(ends) * _STEP_SAMPLES :]
        return [
            self._vad.is_speech(to_pcm(pending[end - _STEP_SAMPLES : end]), LISTENING_RATE)
            for end in ends
        ]

    def reset(self) -> None:
        """Forget the sound so far."""
        self._vad = webrtcvad.Vad(self._aggressiveness)
        self._rest = np.zeros(0, np.int16)


class WebrtcVadSession:
    """One microphone, heard by webrtcvad alone. The probability is the voiced part of the last 60 ms."""

    def __init__(self, aggressiveness: int) -> None:
        self._steps = VoicedSteps(aggressiveness)
        self._last: deque[bool] = deque(maxlen=_SMOOTHED_STEPS)

    def speech_probability(self, frame: Samples) -> float:
        """Return the probability that there is speech around the end of `frame`."""
        self._last.extend(self._steps.push(frame))
        return sum(self._last) / _SMOOTHED_STEPS

    def reset(self) -> None:
        """Forget the sound so far."""
        self._steps.reset()
        self._last.clear()


class WebrtcVad:
    """webrtcvad as the only engine."""

    name = "webrtcvad"
    frame_samples = FRAME_SAMPLES

    def __init__(self, aggressiveness: int) -> None:
        self._aggressiveness = aggressiveness

    def session(self) -> WebrtcVadSession:
        """Start on a new microphone."""
        return WebrtcVadSession(self._aggressiveness)

    async def warm_up(self) -> None:
        """Do nothing: there is no model to load."""

    async def aclose(self) -> None:
        """Do nothing: nothing is held."""
