"""What is kept of a person, for their own eyes: listing it, showing it, and forgetting it."""

from collections.abc import Sequence
from functools import partial

from anyio import to_thread

from server.memory.models import Fact, Page
from server.memory.page_shelves import PageShelves
from server.memory.shelves import Shelves
from server.memory.store import Store
from server.memory.working import WorkingBuffer
from server.memory.writer import Writer


class Archive:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        shelves: Shelves,
        page_shelves: PageShelves,
        working: WorkingBuffer,
    ) -> None:
        self._store = store
        self._writer = writer
        self._shelves = shelves
        self._page_shelves = page_shelves
        self._working = working

    async def facts(self, person: str) -> list[Fact]:
        """Return all facts of a person, replaced ones too, in the order in which they were said."""
        return await to_thread.run_sync(self._store.facts_of, person)

    async def fact(self, fact_id: str) -> Fact | None:
        """Return one fact, or None."""
        return await to_thread.run_sync(self._store.fact, fact_id)

    async def pages(self, person: str) -> list[Page]:
        """Return all exchanges of a person, oldest first."""
        return await to_thread.run_sync(self._store.pages.of, person)

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""
        return await to_thread.run_sync(self._store.persons)

    async def forget(self, fact_ids: Sequence[str]) -> int:
        """Delete facts and what was said that nothing else was drawn from; return how many facts there were."""
        return await self._writer.run(partial(self._store.forget, fact_ids))

    async def forget_person(self, person: str) -> int:
        """Delete everything about a person; return how many facts there were."""
        self._working.forget(person)
        gone = await self._writer.run(partial(self._store.forget_person, person))
        await self._shelves.drop(person)
        self._page_shelves.drop(person)
        return gone

    async def reindex(self, person: str) -> int:
        """Make the vectors of a person anew where the present model has made none; return how many."""
        await self._shelves.drop(person)
        return await self._shelves.embed_missing(person)
