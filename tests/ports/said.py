"""Utterances for the tests of recognisers."""

from collections.abc import AsyncIterator

from server.audio import Samples
from server.ports import SpeechChunk
from server.turn import Transcript

FRAME = 512


class Said:
    """An utterance that is there already, with the silence at its end measured as the endpointer does."""

    def __init__(self, samples: Samples, trailing_silence: int = 0) -> None:
        self.samples = samples
        self.trailing_silence = trailing_silence
        self.texts_expected = 0
        self.hints: list[tuple[float, int]] = []
        self.texts: list[tuple[str | None, int]] = []

    async def chunks(self) -> AsyncIterator[SpeechChunk]:
        for start in range(0, len(self.samples), FRAME):
            piece = self.samples[start : start + FRAME]
            left = len(self.samples) - start - len(piece)
            yield SpeechChunk(piece, max(0, self.trailing_silence - left))

    def expect_text(self) -> None:
        self.texts_expected += 1

    def read_text(self, text: Transcript | None, samples: int) -> None:
        self.texts.append((text.text if text else None, samples))

    def take_hint(self, probability: float, samples: int) -> None:
        self.hints.append((probability, samples))
