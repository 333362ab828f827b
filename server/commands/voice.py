"""Speaking a text into a sound and hearing it again, for tools that need somebody to talk to a server."""

from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from server.audio import LISTENING_RATE, Audio, Samples, join
from server.config import Config
from server.ports import Asr, SpeechChunk, Tts, Voice
from server.turn import Transcript

_CHUNK = LISTENING_RATE // 10


async def speak(text: str, language: str, tts: Tts) -> Audio:
    """Return the text as a sound.

    Raises:
        OmoideError: The voice is not installed or failed.
    """
    async with aclosing(tts.synthesize(text, Voice(language))) as pieces:
        spoken = [piece async for piece in pieces]
    return join(spoken, spoken[0].rate)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sound that is over, as an utterance. Implements `ports.Speech`."""

    samples: Samples
    """At `LISTENING_RATE`."""

    async def chunks(self) -> AsyncIterator[SpeechChunk]:
        """Iterate over the sound; no part of it counts as a pause."""
        for start in range(0, len(self.samples), _CHUNK):
            yield SpeechChunk(self.samples[start : start + _CHUNK], 0)

    def expect_text(self) -> None:
        """Do nothing: it is over already."""

    def read_text(self, text: Transcript | None, samples: int) -> None:
        """Do nothing: it is over already."""

    def take_hint(self, probability: float, samples: int) -> None:
        """Do nothing: it is over already."""


async def hear(audio: Audio, asr: Asr, language: str | None) -> str:
    """Return what a recogniser makes of a sound.

    Raises:
        OmoideError: The recogniser is not installed or failed.
    """
    samples = audio.at(LISTENING_RATE).samples
    return (await asr.transcribe(Spoken(samples), language)).text


async def rehear(
    texts: Iterable[tuple[str, str]], tts: Tts, asr: Asr, language: str | None
) -> dict[str, str]:
    """Speak texts and return what a recogniser makes of each, by text.

    Args:
        texts: With the two-letter code of the language of each.
        tts: Speaks.
        asr: Hears.
        language: What it is told of the language; None lets it find out.

    Raises:
        OmoideError: An engine is missing or failed, or there is no voice for a language.
    """
    heard: dict[str, str] = {}
    for text, spoken_in in texts:
        if text not in heard:
            heard[text] = await hear(await speak(text, spoken_in, tts), asr, language)
    return heard


async def rehear_with(
    config: Config, data: Path, texts: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Do as `rehear` with the engines of a configuration, which live no longer than that."""
    from server import asr, tts  # noqa: PLC0415 - most that speak have a server with engines at hand

    voice, ear = tts.build(config, data), asr.build(config, data)
    language = None if config.asr.language == "auto" else config.asr.language
    try:
        await ear.warm_up()
        return await rehear(texts, voice, ear, language)
    finally:
        await voice.aclose()
        await ear.aclose()
