"""What people ask of the memory itself while they talk: done at once, and answered in fixed words that say what was done."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from server.forgetting import Forgetting
from server.memory.consenting import Consenting
from server.phrasebook import Phrasebook
from server.turn import Heeded, Turn


class Heeds(Protocol):
    """What a conversation needs of it."""

    async def heed(self, turn: Turn) -> Heeded:
        """Do what the person wants of the memory; return what is said to that."""


class Heeding:
    """Hands what is said to whoever can grant it."""

    def __init__(self, consenting: Consenting, forgetting: Forgetting) -> None:
        self._consenting = consenting
        self._forgetting = forgetting

    async def heed(self, turn: Turn) -> Heeded:
        """Do what the person wants of the memory; return what is said to that.

        Raises:
            StoreError: It can't be done.
        """
        heeded = await self._consenting.heed(turn)
        if heeded.unsaid:
            await self._forgetting.forget_last(turn.person)
        return heeded


async def put_in_words(
    heeded: Heeded, tokens: AsyncGenerator[str, None], phrases: Phrasebook, language: str
) -> AsyncGenerator[str, None]:
    """Say what was done in place of what the model says, or ask behind it. Closing this closes `tokens`."""
    async with aclosing(tokens):
        if heeded.instead:
            yield phrases.text(heeded.instead, language)
            return
        async for token in tokens:
            yield token
        if heeded.after:
            yield f"\n{phrases.text(heeded.after, language)}"
