"""One utterance: what is known of it while it is spoken, and the sound of it for a recogniser."""

from collections.abc import AsyncIterator
from enum import StrEnum

import anyio
import numpy as np

from server import audio
from server.audio import LISTENING_RATE, Samples
from server.endpointing import Endpoint
from server.ports import SpeechChunk
from server.trace import mark
from server.turn import Happening, Transcript


class Ending(StrEnum):
    """Why an utterance ended."""

    SILENCE = "silence"
    BUTTON = "button"
    LENGTH = "length"
    STALL = "stall"
    DISCARDED = "discarded"
    """It was none: the wake word, or the robot's own voice."""


class Utterance:
    """One utterance, readable while it grows. Implements `ports.Speech`. Written by `Ear` alone."""

    def __init__(self, endpoint: Endpoint | None = None) -> None:
        """Begin to listen.

        Args:
            endpoint: Decides when it is over; None if a button does.
        """
        self._endpoint = endpoint
        self._last_voiced = 0
        self._surplus = 0
        self.started_at = anyio.current_time()
        self.ended_at = self.started_at
        self.ending: Ending | None = None
        self.samples = 0
        self.voiced_samples = 0
        self.silence_samples = 0
        self._chunks: list[SpeechChunk] = []
        self._patience: tuple[anyio.CancelScope, float] | None = None
        self._news = anyio.Event()

    @property
    def is_none(self) -> bool:
        """Whether nobody spoke to the robot, as far as is known by now."""
        return self.ending is Ending.DISCARDED or self.voiced_samples == 0

    @property
    def voice_ended_at(self) -> float:
        """When the last voiced sample arrived, on the clock of `anyio.current_time`."""
        return self.ended_at - self.silence_samples / LISTENING_RATE

    @property
    def endpoint_samples(self) -> int:
        """How much of it had been heard where it ended: later than this, nothing was waited for but its text."""
        return self.samples - self._surplus

    async def has_voice(self) -> bool:
        """Wait for the first voiced sample; return False if the utterance ends without one."""
        while self.voiced_samples == 0 and self.ending is None:
            await self._news.wait()
        return self.voiced_samples > 0

    async def lasts(self, seconds: float) -> bool:
        """Wait until so much of it is voice; return False if it ends before."""
        while self.voiced_samples < seconds * LISTENING_RATE and self.ending is None:
            await self._news.wait()
        return self.voiced_samples >= seconds * LISTENING_RATE

    async def finished(self) -> None:
        """Wait until the utterance has ended."""
        while self.ending is None:
            await self._news.wait()

    def sound(self) -> audio.Audio:
        """Return all that was heard so far."""
        pieces = [chunk.samples for chunk in self._chunks] or [np.zeros(0, np.int16)]
        return audio.Audio(np.concatenate(pieces), LISTENING_RATE)

    async def chunks(self) -> AsyncIterator[SpeechChunk]:
        """Iterate over the sound from the pre-roll to the endpoint."""
        index = 0
        while True:
            while index < len(self._chunks):
                yield self._chunks[index]
                index += 1
            if self.ending is not None:
                return
            await self._news.wait()

    def grow(self, samples: Samples, *, voiced: bool, silent: bool) -> None:
        """Append a frame. In the band between the two thresholds it is neither, and changes no count."""
        self.samples += len(samples)
        if voiced:
            if self._endpoint is not None and self.silence_samples:
                self._endpoint.voice_is_back(self.silence_samples)
            self.voiced_samples += len(samples)
            self.silence_samples = 0
            self._last_voiced = self.samples
        elif silent:
            self.silence_samples += len(samples)
        self._chunks.append(SpeechChunk(samples, self.silence_samples))
        self._tell()
        self._end_if_over()

    def expect_text(self) -> None:
        """Take note that all that was heard so far is being recognised; see `ports.Speech`."""
        if self._endpoint is not None and self.ending is None:
            self._endpoint.expect_text()

    def read_text(self, text: Transcript | None, samples: int) -> None:
        """Take the text of the first `samples` of it; see `ports.Speech`."""
        if self._endpoint is None or self.ending is not None or samples < self._last_voiced:
            return
        if text is not None:
            mark(Happening.PROVISIONAL_TEXT)
        self._endpoint.read_text(text)
        self._end_if_over()

    def take_hint(self, probability: float, samples: int) -> None:
        """Take a hint that was drawn from the first `samples` of it; see `ports.Speech`."""
        if self._endpoint is None or self.ending is not None or samples < self._last_voiced:
            return
        self._endpoint.take_hint(probability)
        self._end_if_over()

    def _end_if_over(self) -> None:
        if self._endpoint is None or not self.silence_samples:
            return
        surplus = self.silence_samples - self._endpoint.needed()
        if surplus >= 0:
            self._surplus = surplus
            self.end(Ending.SILENCE)

    def end(self, ending: Ending) -> None:
        """Say that nothing follows. Ending twice keeps the first reason."""
        if self.ending is None:
            self.ending = ending
            self.ended_at = anyio.current_time()
            self._tell()
            if self._patience is not None:
                self.expire(*self._patience)

    def expire(self, scope: anyio.CancelScope, seconds: float) -> None:
        """Let `scope` be cancelled so many seconds after the end of the utterance, whenever that comes.

        At once if it turns out to be none.
        """
        self._patience = (scope, seconds)
        if self.ending is Ending.DISCARDED:
            scope.cancel()
        elif self.ending is not None:
            scope.deadline = self.ended_at + seconds

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
