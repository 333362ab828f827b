"""Phrases that can be heard even when the voice engine fails: spoken once while it works, kept for when it does not."""

from contextlib import aclosing

from server.audio import Audio, join
from server.errors import OmoideError, TtsError
from server.ports import Tts, Voice
from server.prompting import Phrases
from server.speaking import Part, part_of

PREPARED = ("apology", "rest-missing", "filler")


class Phrasebook:
    """The phrases of `prompts/`, as sound."""

    def __init__(self, phrases: Phrases, tts: Tts, language: str) -> None:
        """Remember where the words come from.

        Args:
            phrases: The words.
            tts: The voice.
            language: The persona's language, for when there is no voice in the person's.
        """
        self._phrases = phrases
        self._tts = tts
        self._language = language
        self._sounds: dict[tuple[str, str], Audio] = {}

    async def prepare(self, languages: tuple[str, ...]) -> None:
        """Speak the most needed phrases in advance, each in its own language.

        Raises:
            TtsError: The voice engine does not work.
        """
        for language in dict.fromkeys((*languages, self._language)):
            for key in PREPARED:
                await self._speak(self._phrases.get(key, language), language)

    def text(self, key: str, language: str) -> str:
        """Return the words of a phrase."""
        return self._phrases.get(key, language)

    def ready(self, key: str, language: str, rate: int) -> Part | None:
        """Return the phrase if there is such a one and it was spoken before; None if not."""
        text = self._phrases.find(key, language)
        sound = None if text is None else self._sounds.get((language, text))
        return part_of(sound, text, rate, filler=True) if sound and text else None

    async def part(self, key: str, language: str, rate: int) -> Part:
        """Return the phrase, spoken now if need be; if that fails, the general apology from stock.

        Raises:
            OmoideError: Nothing can be said at all.
        """
        text = self._phrases.get(key, language)
        try:
            sound = await self._speak(text, language)
        except OmoideError:
            for spoken in (language, self._language):
                if (apology := self.ready("apology", spoken, rate)) is not None:
                    return apology
            raise
        return part_of(sound, text, rate, filler=True)

    async def _speak(self, text: str, language: str) -> Audio:
        if (language, text) in self._sounds:
            return self._sounds[language, text]
        async with aclosing(self._tts.synthesize(text, Voice(language))) as pieces:
            parts = [piece async for piece in pieces]
        if not parts:
            raise TtsError("tts-silent", "The voice gave no sound for a phrase.", retryable=True)
        sound = self._sounds[language, text] = join(parts, parts[0].rate)
        return sound
