"""What must never be acted against of what was said a moment ago, until facts are drawn from it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache

from anyio import to_thread

from server.memory.models import Fact, Page
from server.memory.standing import standing
from server.memory.store import Store
from server.memory.working import WorkingBuffer

_MOST = 3
_MOST_READ = 64
"""Exchanges of which is kept what was read in them: they are read again at every turn."""


class Lately:
    """Reads the working buffer by rules: an allergy counts from the moment on that it is told."""

    def __init__(
        self, store: Store, working: WorkingBuffer, read: Callable[[Page], Sequence[Fact]]
    ) -> None:
        """Look into a buffer.

        Args:
            store: Knows from which exchanges facts were drawn.
            working: The last exchanges.
            read: Returns the facts that an exchange states. Blocks.
        """
        self._store = store
        self._working = working
        self._read = lru_cache(_MOST_READ)(read)

    async def standing(self, person: str, now: datetime) -> list[Fact]:
        """Return what stands, of the exchanges that wait for facts to be drawn; it is stored nowhere as a fact.

        Raises:
            StoreError: The store can't be read.
        """
        held = self._working.held(person, now)
        if not held:
            return []
        return await to_thread.run_sync(self._standing, held, now, abandon_on_cancel=True)

    def drop(self) -> None:
        """Forget what was read."""
        self._read.cache_clear()

    def _standing(self, held: Sequence[Page], now: datetime) -> list[Fact]:
        drawn = self._store.queue.drawn_among([page.id for page in held])
        stated = [fact for page in held if page.id not in drawn for fact in self._read(page)]
        return standing(stated, _MOST, now)
