"""What is kept of a person, for their own eyes: listing it, showing it, and forgetting it."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar, TypeVarTuple

from anyio import to_thread

from server.config import Policy
from server.memory.audit import Actor, AuditEntry
from server.memory.cleaning import cleaned
from server.memory.consenting import Consenting
from server.memory.dossier import Dossier, dossier_of
from server.memory.eraser import Eraser, Forgotten
from server.memory.importing import Imported
from server.memory.models import Fact, Page
from server.memory.private import Category
from server.memory.shelves import Shelves
from server.memory.store import Store
from server.memory.writer import Writer

T = TypeVar("T")
Given = TypeVarTuple("Given")


class Archive:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it.

    What is listed holds all that was handed in before.
    """

    def __init__(
        self,
        store: Store,
        writer: Writer,
        shelves: Shelves,
        eraser: Eraser,
        consenting: Consenting,
    ) -> None:
        self._store = store
        self._writer = writer
        self._shelves = shelves
        self.eraser = eraser
        self._consenting = consenting

    async def facts(self, person: str) -> list[Fact]:
        """Return all facts of a person, replaced ones too, in the order in which they were said."""
        return await self._settled(self._store.facts_of, person)

    async def fact(self, fact_id: str) -> Fact | None:
        """Return one fact, or None."""
        return await to_thread.run_sync(self._store.fact, fact_id)

    async def pages(self, person: str) -> list[Page]:
        """Return all exchanges of a person, oldest first."""
        return await self._settled(self._store.pages.of, person)

    async def dossier(self, person: str) -> Dossier:
        """Return everything that is stored of a person."""
        return await self._settled(dossier_of, self._store, person)

    async def facts_beginning(self, beginning: str) -> dict[str, str]:
        """Return the facts whose ids begin so, each with its person."""
        return await to_thread.run_sync(self._store.ids.facts, beginning)

    async def waiting(self, person: str | None = None) -> int:
        """Return how many exchanges, of a person or of everybody, facts have still to be drawn from."""
        return await self._settled(self._store.queue.count, person)

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""
        return await self._settled(self._store.persons)

    async def audit(self, last: int | None = None) -> list[AuditEntry]:
        """Return the record of what was erased, by numbers, oldest first."""
        return await to_thread.run_sync(self._store.audit.entries, last)

    async def forget(self, fact_ids: Sequence[str], told_in: Collection[str] = ()) -> Forgotten:
        """Delete facts and their words, wherever they stand in what was said, where nothing is recorded.

        Args:
            fact_ids: Which facts; those that are not there don't matter.
            told_in: The turns whose answers were given with one of the facts in mind.
        """
        selected = await self.eraser.facts_named(fact_ids)
        forgotten, _ = await self.eraser.erase(selected, Actor.COMMAND, told_in)
        await self._finish()
        return forgotten

    async def forget_person(self, person: str) -> int:
        """Delete everything about a person, where nothing is recorded; return how many facts there were."""
        selected = await self.eraser.everything_of(person)
        forgotten, _ = await self.eraser.erase(selected, Actor.COMMAND)
        await self._finish()
        return forgotten.facts

    async def _finish(self) -> None:
        begun = await self.eraser.unfinished()
        await self.eraser.let_go(begun)
        await self.eraser.finish(begun)

    async def bring_in(
        self, dossier: Dossier, actor: Actor, now: datetime, *, is_asked: bool = False
    ) -> Imported:
        """Store what was exported of a person and is not there; see `server.memory.incoming.bring_in`.

        Secrets, and orders for good that nobody has agreed to here, are left out as if they had been said.

        Args:
            dossier: As `server.memory.importing` has read it.
            actor: Who wants it.
            now: The present moment.
            is_asked: Whether what was forgotten here comes back.
        """
        orders = self._consenting.policy(dossier.person, Category.RULES) is Policy.KEEP
        clean = self._consenting.without_secrets
        allowed = await to_thread.run_sync(partial(cleaned, dossier, clean, orders=orders))
        work = partial(self._store.incoming.bring_in, allowed, now, actor, is_asked=is_asked)
        imported = await self._writer.run(work)
        await self._shelves.forget([dossier.person])
        self.eraser.drop(dossier.person)
        return imported

    async def reindex(self, person: str) -> int:
        """Make the vectors of a person anew where the present model has made none; return how many."""
        await self._shelves.drop(person)
        return await self._shelves.embed_missing(person)

    async def _settled(self, read: Callable[[*Given], T], *given: *Given) -> T:
        """Read once all that was handed in before is stored."""
        await self._writer.settle()
        return await to_thread.run_sync(read, *given)
