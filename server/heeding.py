"""What is done at once about what people say, whatever the model answers: danger signs, and wishes about the memory itself."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from server.forgetting import Forgetting
from server.memory.consenting import Consenting
from server.memory.safety.watch import SafetyWatch
from server.turn import Heeded, Turn


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
        forgetting: Forgetting,
        phrase: Callable[[str, str], str],
    ) -> None:
        """Say who acts.

        Args:
            consenting: On wishes to be remembered or not.
            safety: On danger signs.
            forgetting: Deletes.
            phrase: Returns the words of a key in a language.
        """
        self._consenting = consenting
        self._safety = safety
        self._forgetting = forgetting
        self._phrase = phrase

    def notice(self, turn: Turn) -> None:
        """Keep danger signs in what was said; returns at once."""
        self._safety.heed(turn)

    async def heed(self, turn: Turn) -> Heeded:
        """Do what the person wants of the memory; return what is said to that, and to a danger before all else.

        Raises:
            StoreError: It can't be done.
        """
        if line := self._safety.escalation(turn):
            return Heeded(instead=line)
        heeded = await self._consenting.heed(turn)
        if heeded.unsaid:
            await self._forgetting.forget_last(turn.person)
        language = turn.question.language if turn.question else ""
        words = (
            self._phrase(key, language) if key else "" for key in (heeded.instead, heeded.after)
        )
        instead, after = words
        return replace(heeded, instead=instead, after=after)


async def put_in_words(
    heeded: Heeded, tokens: AsyncGenerator[str, None]
) -> AsyncGenerator[str, None]:
    """Say what was done in place of what the model says, or ask behind it. Closing this closes `tokens`."""
    async with aclosing(tokens):
        if heeded.instead:
            yield heeded.instead
            return
        async for token in tokens:
            yield token
        if heeded.after:
            yield f"\n{heeded.after}"
