"""Phrases that can be heard even when the voice engine fails: spoken once while it works, kept for when it does not."""

from contextlib import aclosing

from server.audio import Audio, join
from server.errors import TtsError
from server.ports import Tts, Voice
from server.prompting import Phrases
from server.speaking import Part, part_of

PREPARED = ("apology", "rest-missing", "filler")


class Phrasebook:
    """The phrases of `prompts/`, as sound."""

    def __init__(self, phrases: Phrases, tts: Tts) -> None:
        self._phrases = phrases
        self._tts = tts
        self._sounds: dict[tuple[str, str], Audio] = {}

    async def prepare(self, languages: tuple[str, ...]) -> None:
        """Speak the most needed phrases in advance, each in its own language.

        Raises:
            TtsError: The voice engine does not work.
        """
        for language in languages:
            for key in PREPARED:
                await self._speak(self._phrases.get(key, language), language)

    def text(self, key: str, language: str) -> str:
        """Return the words of a phrase."""
        return self._phrases.get(key, language)

    def ready(self, key: str, language: str, rate: int) -> Part | None:
        """Return the phrase if it was spoken before; None if it would have to be spoken now."""
        text = self._phrases.get(key, language)
        sound = self._sounds.get((language, text))
        return None if sound is None else part_of(sound, text, rate, filler=True)

    async def part(self, key: str, language: str, rate: int) -> Part:
        """Return the phrase, spoken now if need be; if that fails, the general apology from stock.

        Raises:
            TtsError: Nothing can be said at all.
        """
        try:
            await self._speak(self._phrases.get(key, language), language)
        except TtsError:
            apology = self.ready("apology", language, rate)
            if apology is None:
                raise
            return apology
        part = self.ready(key, language, rate)
        assert part is not None
        return part

    async def _speak(self, text: str, language: str) -> None:
        if (language, text) in self._sounds:
            return
        async with aclosing(self._tts.synthesize(text, Voice(language))) as pieces:
            parts = [piece async for piece in pieces]
        if not parts:
            raise TtsError("tts-silent", "The voice gave no sound for a phrase.", retryable=True)
        self._sounds[language, text] = join(parts, parts[0].rate)
