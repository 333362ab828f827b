"""What is kept of a person, for their own eyes: listing it, showing it, and forgetting it."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from anyio import to_thread

from server.memory.consenting import Consenting
from server.memory.dossier import Dossier, dossier_of
from server.memory.models import Fact, Page
from server.memory.page_shelves import PageShelves
from server.memory.recollecting import Recollector
from server.memory.redaction import tells
from server.memory.shelves import Shelves
from server.memory.store import Store
from server.memory.working import WorkingBuffer
from server.memory.writer import Writer


class Forgotten(NamedTuple):
    """What went when facts were forgotten."""

    facts: int
    """How many there were."""
    turns: Mapping[str, frozenset[str]]
    """By person, the turns in which they were said or may have been told."""


class Archive:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        shelves: Shelves,
        page_shelves: PageShelves,
        recollector: Recollector,
        working: WorkingBuffer,
        *,
        consenting: Consenting,
    ) -> None:
        self._store = store
        self._writer = writer
        self._shelves = shelves
        self._page_shelves = page_shelves
        self._recollector = recollector
        self._working = working
        self._consenting = consenting

    async def facts(self, person: str) -> list[Fact]:
        """Return all facts of a person, replaced ones too, in the order in which they were said."""
        return await to_thread.run_sync(self._store.facts_of, person)

    async def fact(self, fact_id: str) -> Fact | None:
        """Return one fact, or None."""
        return await to_thread.run_sync(self._store.fact, fact_id)

    async def pages(self, person: str) -> list[Page]:
        """Return all exchanges of a person, oldest first."""
        return await to_thread.run_sync(self._store.pages.of, person)

    async def said_in(self, fact_ids: Sequence[str]) -> list[str]:
        """Return the exchanges in which facts were said, once or again."""
        return await to_thread.run_sync(self._store.cuts.pages_telling, fact_ids)

    async def dossier(self, person: str) -> Dossier:
        """Return everything that is stored of a person."""
        return await to_thread.run_sync(dossier_of, self._store, person)

    async def waiting(self, person: str | None = None) -> int:
        """Return how many exchanges, of a person or of everybody, facts have still to be drawn from."""
        return await to_thread.run_sync(self._store.queue.count, person)

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""
        return await to_thread.run_sync(self._store.persons)

    async def forget(self, fact_ids: Sequence[str], told_in: Collection[str] = ()) -> Forgotten:
        """Delete facts and their words, wherever they stand in what was said; see `Store.forget`.

        Args:
            fact_ids: Which facts; those that are not there don't matter.
            told_in: The turns whose answers were given with one of the facts in mind.
        """
        forgotten = await self._writer.run(partial(self._forget, fact_ids, told_in))
        for person, turns in forgotten.turns.items():
            self._working.forget_pages(person, turns)
        await self._shelves.forget(forgotten.turns)
        for person in forgotten.turns:
            self._drop(person)
        return forgotten

    def _forget(self, fact_ids: Sequence[str], told_in: Collection[str]) -> Forgotten:
        known = [
            fact for id_ in dict.fromkeys(fact_ids) if (fact := self._store.fact(id_)) is not None
        ]
        touched = {*self._store.cuts.pages_telling(fact_ids), *told_in}
        persons = {fact.person for fact in known}
        # In a talk one thing leads to another: what was answered after the first of them may tell of it again.
        turns = {
            one: frozenset(touched.union(self._working.since(one, touched))) for one in persons
        }
        self._store.forget(fact_ids, sorted(frozenset().union(*turns.values())))
        self._writer.give_up(
            lambda page: any(tells(fact, page.person, page.said) for fact in known)
        )
        return Forgotten(len(known), turns)

    async def forget_person(self, person: str) -> int:
        """Delete everything about a person; return how many facts there were."""

        def forget() -> int:
            gone = self._store.forget_person(person)
            self._writer.give_up(lambda page: page.person == person)
            return gone

        gone = await self._writer.run(forget)
        self._working.forget(person)
        self._consenting.drop(person)
        await self._shelves.forget([person])
        self._drop(person)
        return gone

    def _drop(self, person: str) -> None:
        """Let go of copies that were made of what is kept."""
        self._page_shelves.drop(person)
        self._recollector.drop(person)

    async def reindex(self, person: str) -> int:
        """Make the vectors of a person anew where the present model has made none; return how many."""
        await self._shelves.drop(person)
        return await self._shelves.embed_missing(person)
