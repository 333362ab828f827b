"""What is done at once about what people say, whatever the model answers: danger signs, and wishes about the memory itself."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

import structlog

from server.ahead import Put
from server.concern import ConcernLine
from server.config import Config
from server.errors import OmoideError
from server.forgetting_by_voice import VoiceForgetting
from server.memory.consenting import Consenting
from server.memory.safety.watch import SafetyWatch
from server.sentences import Sentence
from server.telling import VoiceTelling
from server.thinking import cut
from server.turn import Heeded, Turn

log = structlog.get_logger(__name__)


class Heeds(Protocol):
    """What a conversation needs of it."""

    def notice(self, turn: Turn) -> None:
        """Keep what somebody has to look at in what was said in a turn, as soon as it is understood."""

    async def heed(self, turn: Turn) -> Heeded:
        """Do what the person wants; return what is said to that."""


class Heeding:
    """Hands what is said to whoever acts on it."""

    def __init__(
        self,
        consenting: Consenting,
        safety: SafetyWatch,
        forgetting: VoiceForgetting,
        concern: ConcernLine,
        telling: VoiceTelling,
        phrase: Callable[[str, str], str],
    ) -> None:
        """Say who acts.

        Args:
            consenting: On wishes to be remembered or not.
            safety: On danger signs.
            forgetting: On what is to be forgotten.
            concern: On danger signs that are not urgent.
            telling: On questions what is remembered.
            phrase: Returns the words of a key in a language.
        """
        self._consenting = consenting
        self._safety = safety
        self._forgetting = forgetting
        self._concern = concern
        self._telling = telling
        self._phrase = phrase

    def notice(self, turn: Turn) -> None:
        """Keep danger signs in what was said; returns at once."""
        self._safety.heed(turn)

    async def heed(self, turn: Turn) -> Heeded:
        """Do what the person wants of the memory; return what is said to that, and to a danger before all else.

        Raises:
            StoreError: It can't be done.
        """
        if urgent := self._safety.escalation(turn):
            return Heeded(instead=f"{urgent} {await self._done_beside(turn)}".strip())
        heeded = await self._granted(turn)
        if not heeded.instead and (told := await self._telling.heed(turn)):
            heeded = Heeded(instead=told)
        return heeded.behind(self._concern.first_words(turn), alone=False)

    async def _done_beside(self, turn: Turn) -> str:
        """Grant a wish beside something urgent; return what is said to it. One that fails is no reason not to say the line."""
        try:
            return (await self._granted(turn)).instead
        except OmoideError as error:
            log.warning("wish-not-granted", turn=turn.id, code=error.code)
            return ""

    async def _granted(self, turn: Turn) -> Heeded:
        """Do what the person wants of the memory; return what is said to that."""
        if turn.is_guest:  # there is no memory to want anything of
            turn.unkept = "guest"
            return Heeded()
        if (done := await self._forgetting.heed(turn)) is not None:
            return Heeded(instead=done)
        heeded = await self._consenting.heed(turn)
        if heeded.unsaid:
            await self._forgetting.forget_last(turn)
        language = turn.question.language if turn.question else ""
        words = (
            self._phrase(key, language) if key else "" for key in (heeded.instead, heeded.after)
        )
        instead, after = words
        return replace(heeded, instead=instead, after=after)


async def put_in_words(
    heeded: Heeded,
    watch: Callable[[Put[Sentence]], Awaitable[None]],
    config: Config,
    language: str,
    put: Put[Sentence],
) -> None:
    """Say what was done before or in place of what the model says, or ask behind it.

    Args:
        heeded: What is to be said.
        watch: Puts the sentences of the model.
        config: How texts are cut into sentences.
        language: Two-letter code of what is said.
        put: Takes each sentence.
    """
    await _put_text(heeded.first, config, language, put)
    if heeded.instead:
        await _put_text(heeded.instead, config, language, put)
        return
    await watch(put)
    await _put_text(heeded.after, config, language, put)


async def _put_text(text: str, config: Config, language: str, put: Put[Sentence]) -> None:
    async with aclosing(cut(_tokens(text), language, config)) as sentences:
        async for sentence in sentences:
            await put(sentence)


async def _tokens(text: str) -> AsyncGenerator[str, None]:
    yield text
