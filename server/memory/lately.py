"""What must never be acted against of what was said lately, until facts are drawn from it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial

from anyio import to_thread

from server.memory.models import Fact, Page
from server.memory.standing import standing
from server.memory.store import Store

_MOST = 3
_MOST_READ = 64
"""Exchanges that are read, at every turn again; of so many is kept what was read in them."""


class Lately:
    """Reads by rules what waits: an allergy counts from the moment on that it is told, whatever the extracting model does."""

    def __init__(self, store: Store, read: Callable[[Page], Sequence[Fact]]) -> None:
        """Look into a queue.

        Args:
            store: Knows which exchanges wait for facts to be drawn from them.
            read: Returns the facts that an exchange states. Blocks.
        """
        self._store = store
        self._read = lru_cache(_MOST_READ)(read)

    async def standing(self, person: str, now: datetime) -> list[Fact]:
        """Return what stands in the exchanges that wait.

        It is stored nowhere as a fact, so each has the id of its exchange: what was told of it goes with that.

        Raises:
            StoreError: The store can't be read.
        """
        read = partial(self._standing, person, now)
        return await to_thread.run_sync(read, abandon_on_cancel=True)

    def drop(self) -> None:
        """Forget what was read."""
        self._read.cache_clear()

    def _standing(self, person: str, now: datetime) -> list[Fact]:
        waiting = self._store.queue.newest(person, _MOST_READ)
        stated = [
            replace(fact, id=page.id)
            for page in waiting
            if page.at <= now
            for fact in self._read(page)
        ]
        return standing(stated, _MOST, now)
