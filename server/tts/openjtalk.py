"""Japanese speech by Open JTalk with the voice "Mei", in this process: 48 kHz, a twentieth of real time."""

from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import numpy as np
from anyio import fail_after
from numpy.typing import NDArray

from server.audio import Audio, Samples
from server.errors import EngineMissing, TtsError
from server.ports import Voice
from server.threads import Lazy, OneAtATime
from server.trace import add_stage
from server.turn import Stage

_CEILING = 32000.0
_WILD = 4 * 32768.0
"""Louder than this the filter of the voice has run away."""
_STEPS_PER_SECOND = 100

_SLOWEST, _FASTEST = 0.25, 4.0

Wave = NDArray[np.float64]


class OpenJTalk:
    """The Japanese voice. Sentences of several devices wait for each other."""

    name = "open-jtalk mei"

    def __init__(self, first_audio_seconds: float) -> None:
        """Remember how long a sentence may take, waiting and loading included."""
        self._seconds = first_audio_seconds
        self._speaker = Lazy(_load)
        self._engine = OneAtATime()

    async def synthesize(self, text: str, voice: Voice) -> AsyncGenerator[Audio, None]:
        """Speak one sentence, in one piece; see `ports.Tts`. Latin words are read where a dictionary has them, else spelt."""
        try:
            with fail_after(self._seconds):
                audio = await self._speak(text, voice.speed)
        except TimeoutError as error:
            raise TtsError(
                "tts-timeout",
                f"Open JTalk took more than {self._seconds:g} s for a sentence (tts.first_audio_seconds).",
            ) from error
        yield audio

    async def warm_up(self) -> None:
        """Load the dictionaries and the voice. The second one is needed for kanji with many readings only."""
        await self._speak("風が強い日です。", 1.0)

    async def aclose(self) -> None:
        """Do nothing: the dictionaries belong to the package, which can't unload them."""

    async def _speak(self, text: str, speed: float) -> Audio:
        speaker = await self._speaker.get(Stage.TTS_LOAD)
        work = partial(_synthesize, speaker, text, min(max(speed, _SLOWEST), _FASTEST))
        computed = await self._engine.run(work)
        add_stage(Stage.TTS_QUEUE, computed.waited_seconds)
        return computed.value


def tame(wave: Wave, rate: int) -> Samples:
    """Turn a wave into samples, and make what is too loud as loud as can be.

    On some sounds the voice overshoots by a factor of three, and on stretched vowels its filter runs away to 1e70. The
    gain follows the peaks of steps of 10 ms: the first become as loud as can be. The second are clipped before the gain
    that their peak asks for, so that they fall silent.
    """
    wave = np.nan_to_num(wave, nan=0.0, posinf=np.finfo(np.float64).max)
    if len(wave) == 0 or np.abs(wave).max() <= _CEILING:
        return wave.astype(np.int16)
    step = rate // _STEPS_PER_SECOND
    padded = np.pad(wave, (0, -len(wave) % step)).reshape(-1, step)
    gains = _CEILING / np.maximum(np.abs(padded).max(axis=1), _CEILING)
    # Each step takes the least gain around it, so that the curve between two middles never rises above what either bears.
    around = np.pad(gains, 1, mode="edge")
    gains = np.minimum(np.minimum(around[:-2], around[1:-1]), around[2:])
    middles = (np.arange(len(gains)) + 0.5) * step
    curve = np.interp(np.arange(len(wave)), middles, gains)
    tamed: Samples = (np.clip(wave, -_WILD, _WILD) * curve).astype(np.int16)
    return tamed


def _load() -> Any:
    try:
        import pyopenjtalk  # noqa: PLC0415 - an optional package, and half a second of work
    except ImportError as error:
        raise EngineMissing(
            "The Japanese voice needs the package pyopenjtalk-plus. Install it with: pip install pyopenjtalk-plus"
        ) from error
    return pyopenjtalk


def _synthesize(speaker: Any, text: str, speed: float) -> Audio:
    try:
        wave, rate = speaker.tts(text, speed=speed)
    except Exception as error:  # native code and three dictionaries: it may be anything
        raise TtsError(
            "tts-failed", f"Open JTalk can't speak a sentence ({type(error).__name__})."
        ) from error
    if len(wave) == 0:
        raise TtsError("tts-empty", "Open JTalk finds nothing to say in a sentence.")
    return Audio(tame(wave, rate), rate)
