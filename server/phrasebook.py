"""Phrases that can be heard even when the voice engine fails: spoken once while it works, kept for when it does not."""

from collections.abc import Iterable
from contextlib import aclosing
from typing import Final

import structlog

from server.audio import Audio, join
from server.config import TtsSection
from server.errors import ConfigError, OmoideError, TtsError
from server.ports import Tts, Voice
from server.prompting import Phrases
from server.speaking import Part, part_of, pronounce

log = structlog.get_logger(__name__)

PREPARED = ("apology", "rest-missing", "filler")

_LAST_WORDS: Final = {
    "ja": "ごめんなさい、何と言えばいいのか書いてあるファイルが読めません。",
    "zh": "对不起，写着我该说什么的文件读不出来。",
    "en": "Sorry, I can't read the file that tells me what to say.",
}
"""What is said where the file of phrases itself is missing or broken."""


class Phrasebook:
    """The phrases of `prompts/`, as sound, in the voices of the replies."""

    def __init__(self, phrases: Phrases, tts: Tts, language: str, section: TtsSection) -> None:
        """Remember where the words come from.

        Args:
            phrases: The words.
            tts: The voice.
            language: The persona's language, for when there is no voice in the person's.
            section: Speed and patience.
        """
        self._phrases = phrases
        self._tts = tts
        self._language = language
        self._section = section
        self._sounds: dict[tuple[Voice, str], Audio] = {}

    async def prepare(self, languages: Iterable[str], names: Iterable[str] = ()) -> None:
        """Speak the most needed phrases in advance, each in its own language, in the usual voice and in named ones.

        A named voice that can't speak a language is logged; the usual one speaks for it.

        Raises:
            TtsError: The voice engine does not work.
            ConfigError: The file of phrases is missing or broken; what is said in its place has been spoken.
        """
        fault: ConfigError | None = None
        for language in dict.fromkeys((*languages, self._language)):
            usual = self._voice(language)
            for key in PREPARED:
                await self._speak(self.text(key, language), usual)
            await self._prepare_named(language, names)
            try:
                self._phrases.get("apology", language)
            except ConfigError as error:
                fault = fault or error
        if fault is not None:
            raise fault

    def text(self, key: str, language: str) -> str:
        """Return the words of a phrase, of the built-in one if the file can't be read."""
        try:
            return self._phrases.get(key, language)
        except ConfigError:
            return _LAST_WORDS.get(language, _LAST_WORDS["en"])

    def find(self, key: str, language: str) -> str | None:
        """Return the words of a phrase; None if the file has none, or can't be read."""
        try:
            return self._phrases.find(key, language)
        except ConfigError:
            return None

    def ready(self, key: str, language: str, rate: int, *, name: str = "") -> Part | None:
        """Return the phrase if there is such a one and it was spoken before; None if not.

        Args:
            key: Which phrase.
            language: Two-letter code.
            rate: The device's, in hertz.
            name: The voice that is wanted; where it has not spoken the phrase, the usual one has.
        """
        text = self.find(key, language)
        return self._in_stock(text, language, rate, name) if text else None

    async def part(self, key: str, language: str, rate: int, *, name: str = "") -> Part:
        """Return the phrase, spoken now if need be; if that fails, what is in stock of it, or the general apology.

        Raises:
            OmoideError: Nothing can be said at all.
        """
        text = self.text(key, language)
        try:
            sound = await self._speak(text, self._voice(language, name))
        except OmoideError:
            for words, spoken in (
                (text, language),
                (self.text("apology", language), language),
                (self.text("apology", self._language), self._language),
            ):
                if (kept := self._in_stock(words, spoken, rate, name)) is not None:
                    return kept
            raise
        return part_of(sound, text, rate, filler=True)

    def _in_stock(self, text: str, language: str, rate: int, name: str) -> Part | None:
        for voice in (self._voice(language, name), self._voice(language)):
            if (sound := self._sounds.get((voice, text))) is not None:
                return part_of(sound, text, rate, filler=True)
        return None

    async def _prepare_named(self, language: str, names: Iterable[str]) -> None:
        for name in filter(None, dict.fromkeys(names)):
            try:
                for key in PREPARED:
                    await self._speak(self.text(key, language), self._voice(language, name))
            except OmoideError as error:
                log.info("phrases-in-usual-voice", voice=name, language=language, code=error.code)

    def _voice(self, language: str, name: str = "") -> Voice:
        return Voice(language, name, self._section.speed)

    async def _speak(self, text: str, voice: Voice) -> Audio:
        if (voice, text) in self._sounds:
            return self._sounds[voice, text]
        async with aclosing(pronounce(self._tts, text, voice, self._section)) as pieces:
            parts = [piece async for piece in pieces]
        if not parts:
            raise TtsError("tts-silent", "The voice gave no sound for a phrase.")
        sound = self._sounds[voice, text] = join(parts, parts[0].rate)
        return sound
