"""What must never be acted against of what was said lately, until facts are drawn from it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache, partial

from anyio import to_thread

from server.memory.models import Fact, Page
from server.memory.standing import standing
from server.memory.store import Store

_MOST = 3
_MOST_READ = 64
_MOST_KEPT = 2_000
"""Exchanges that are read, at every turn again, and of how many is kept what was read in them."""


class Lately:
    """Reads by rules what waits: an allergy counts from the moment on that it is told, whatever the extracting model does."""

    def __init__(self, store: Store, read: Callable[[Page], Sequence[Fact]]) -> None:
        """Look into a queue.

        Args:
            store: Knows which exchanges wait for facts to be drawn from them.
            read: Returns the facts that an exchange states. Blocks.
        """
        self._store = store
        self._read = lru_cache(_MOST_KEPT)(read)

    async def standing(self, person: str, now: datetime) -> list[Fact]:
        """Return what stands in the exchanges that wait; it is stored nowhere as a fact.

        Raises:
            StoreError: The store can't be read.
        """
        read = partial(self._standing, person, now)
        return await to_thread.run_sync(read, abandon_on_cancel=True)

    def facts(self, person: str, now: datetime) -> list[Fact]:
        """Return all that the exchanges that wait state, newest last; it is stored nowhere as a fact. Blocks.

        Raises:
            StoreError: The store can't be read.
        """
        waiting = sorted(self._store.queue.newest(person, _MOST_READ), key=lambda page: page.at)
        return [fact for page in waiting if page.at <= now for fact in self._read(page)]

    def drop(self) -> None:
        """Forget what was read."""
        self._read.cache_clear()

    def _standing(self, person: str, now: datetime) -> list[Fact]:
        waiting = self._store.queue.newest(person, _MOST_READ)
        stated = [fact for page in waiting if page.at <= now for fact in self._read(page)]
        return standing(stated, _MOST, now)
