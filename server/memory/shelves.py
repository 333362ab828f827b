"""Keeps the shelves of all persons, and the vector index, in step with the store."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from zlib import crc32

import numpy as np
import structlog
from anyio import to_thread

from server.config import FadingSection, LongTermSection
from server.errors import StoreError
from server.memory.fading import fades_at, has_faded
from server.memory.index import Point, VectorIndex
from server.memory.models import Fact
from server.memory.person_cache import PersonCache
from server.memory.shelf import Entry, Shelf, fill_shelf, held_at
from server.memory.store import Store, Vector
from server.memory.terms import Analysis
from server.memory.wording import Wording
from server.memory.writer import Writer
from server.ports import Embedder, EmbeddingError

log = structlog.get_logger(__name__)

MOST_SHELVES = 200
"""Persons whose facts are held ready; the others are read again when they talk."""
_BATCH = 64
_SATURATION = 0.3
"""BM25's k1, with b = 0: facts are one sentence, the long ones hold more."""
_NOTION_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class _Filled:
    """A shelf, and between which moments nothing fades that is on it, nor anything else has to come back."""

    shelf: Shelf
    after: datetime | None
    until: datetime | None

    def serves(self, counter: int, at: datetime) -> bool:
        """Return whether it is what would be made now of a store with this change counter for this moment."""
        is_late_enough = self.after is None or self.after < at
        return self.shelf.counter == counter and is_late_enough and not self._is_past(at)

    def _is_past(self, at: datetime) -> bool:
        return self.until is not None and self.until < at


class Shelves:
    """What search works on. The store is the truth: whatever differs from it here is made anew.

    What has faded is on no shelf and in no index, and what another agent did neither.
    """

    def __init__(
        self,
        store: Store,
        writer: Writer,
        index: VectorIndex,
        embedder: Embedder,
        wording: Wording,
        *,
        fading: FadingSection,
        long_term: LongTermSection,
        agent: str,
    ) -> None:
        self._fading = fading
        self._capacity = long_term.capacity
        self._agent = agent
        self._store = store
        self._writer = writer
        self._index = index
        self._embedder = embedder
        self._wording = wording
        self.stamp = stamp_of(embedder, wording)
        self._shelves = PersonCache[_Filled](MOST_SHELVES)
        self._unerased: set[str] = set()

    async def get(self, person: str, at: datetime, *, as_of: bool = False) -> Shelf:
        """Return the facts of a person as the store has them now, without those that have faded at a moment.

        Facts without a vector are on it, too; `embed_missing` gives them one. A caller that is cancelled does not wait: the
        shelf is filled for the next one.

        Args:
            person: Whose.
            at: The moment for which they are wanted, aware.
            as_of: Return them as they held at that moment, instead of all that is known now.

        Raises:
            StoreError: The store can't be read.
        """
        if as_of and await to_thread.run_sync(self._store.has_changed_since, person, at):
            return await to_thread.run_sync(self._fill_as_of, person, at)
        renew = partial(self._refilled, person, at)
        filled = await to_thread.run_sync(
            self._shelves.renewed, person, renew, abandon_on_cancel=True
        )
        return filled.shelf

    async def renewed(
        self, shelf: Shelf, person: str, at: datetime, *, as_of: bool = False
    ) -> Shelf:
        """Return the same shelf, or another one if the store has changed since; arguments and errors are those of `get`."""
        counter = await to_thread.run_sync(self._store.change_count, person, abandon_on_cancel=True)
        return shelf if counter == shelf.counter else await self.get(person, at, as_of=as_of)

    async def embed(self, facts: Sequence[Fact]) -> dict[str, Vector]:
        """Return the vectors of facts, in the form in which they are searched, by id.

        Facts that the embedder has no vector for are left out.

        Raises:
            OmoideError: The embedder can't work at all.
        """
        try:
            texts = [self._wording.of_fact(fact.text) for fact in facts]
            rows = await self._embedder.embed(texts, "passage")
        except EmbeddingError as error:
            sound = [fact for place, fact in enumerate(facts) if place not in error.positions]
            if len(sound) == len(facts):
                raise
            log.warning("facts-without-vectors", code=error.code, count=len(facts) - len(sound))
            return await self.embed(sound) if sound else {}
        return {fact.id: row for fact, row in zip(facts, rows, strict=True)}

    async def embed_missing(self, person: str) -> int:
        """Give the facts of a person vectors of the present model where they have none; return how many got one.

        A fact that can't be embedded stays without one and is found by its words.

        Raises:
            OmoideError: The embedder can't work at all.
        """
        facts = await to_thread.run_sync(self._store.facts_of, person)
        known = await to_thread.run_sync(self._vectors_of, person)
        missing = [fact for fact in facts if fact.id not in known]
        embedded = 0
        for start in range(0, len(missing), _BATCH):
            vectors = await self.embed(missing[start : start + _BATCH])
            await self._writer.run(partial(self._store.vectors.put, vectors, self.stamp))
            embedded += len(vectors)
        if embedded:
            self._shelves.drop(person)
        return embedded

    async def embed_all_missing(self) -> int:
        """Do so for everybody."""
        persons = await to_thread.run_sync(self._store.vectors.missing_in, self.stamp)
        return sum([await self.embed_missing(person) for person in persons])

    async def drop(self, person: str) -> None:
        """Throw away a person's shelf and what the index holds of them, on disk too; both are made anew when asked for.

        Raises:
            StoreError: The index can't do it.
        """
        await to_thread.run_sync(self._erase, person)
        self._unerased.discard(person)

    async def forget(self, persons: Iterable[str]) -> None:
        """Do so after something of these persons was forgotten: the files of an index keep vectors that were taken out.

        An index that can't do it is logged; `forget_again` makes up for it.
        """
        for person in persons:
            try:
                await self.drop(person)
            except StoreError as error:
                self._unerased.add(person)
                log.warning("index-not-erased", code=error.code, reason=str(error))

    async def forget_again(self) -> None:
        """Erase what could not be erased before."""
        await self.forget(tuple(self._unerased))

    def erase_unknown(self) -> None:
        """Erase from the index whom the store has no vector of: the program may have ended before it could. Blocks.

        An index that can't do it is logged.
        """
        try:
            self._index.erase_others(self._store.vectors.owners())
        except StoreError as error:
            log.warning("index-not-erased", code=error.code, reason=str(error))

    def find(
        self, person: str, shelf: Shelf, vector: Vector | None, terms: Analysis, limit: int
    ) -> set[str]:
        """Return the ids of the facts that are nearest by meaning and by words. Blocks."""
        if shelf.of_past:
            return set(shelf.entries)  # the index knows the present only
        unindexed = {key for key, entry in shelf.entries.items() if entry.vector is None}
        try:
            near = [] if vector is None else self._index.search_dense(person, vector, limit)
            hits = near + self._index.search_sparse(person, query_weights(terms, shelf), limit)
        except StoreError as error:
            log.warning("index-trouble", code=error.code, reason=str(error))
            return set(shelf.entries)  # slower, and right
        if vector is not None and len(near) < min(limit, len(shelf.entries) - len(unindexed)):
            return set(shelf.entries)  # it was erased meanwhile, as something was forgotten
        return unindexed | {hit.id for hit in hits if hit.id in shelf.entries}

    def _erase(self, person: str) -> None:
        with self._shelves.nothing_made(person):  # it would put back what the store has lost
            self._shelves.drop(person)
            self._index.erase(person)

    def _refilled(self, person: str, at: datetime, filled: _Filled | None) -> _Filled:
        counter = self._store.change_count(person)
        if filled is not None and filled.serves(counter, at):
            return filled
        return self._fill(person, at)

    def _fill(self, person: str, at: datetime) -> _Filled:
        counter = self._store.change_count(person)
        mine = self._mine(self._store.facts_of(person))
        fresh = [fact for fact in mine if not has_faded(fact, at, self._fading)]
        ends = [moment for fact in mine if (moment := fades_at(fact, self._fading)) is not None]
        shelf = fill_shelf(fresh, self._vectors_of(person), counter, self._capacity)
        try:
            self._mend_index(person, shelf)
        except StoreError as error:
            log.warning("index-trouble", code=error.code, reason=str(error))
        return _Filled(
            shelf,
            max((moment for moment in ends if moment < at), default=None),
            min((moment for moment in ends if moment >= at), default=None),
        )

    def _fill_as_of(self, person: str, at: datetime) -> Shelf:
        held = self._mine(held_at(self._store.facts_of(person), at))
        fresh = [fact for fact in held if not has_faded(fact, at, self._fading)]
        counter = self._store.change_count(person)
        shelf = fill_shelf(fresh, self._vectors_of(person), counter, self._capacity)
        return replace(shelf, of_past=True)

    def _mine(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the facts that hold, without those about another agent."""
        return [fact for fact in facts if fact.current and fact.about in ("", self._agent)]

    def _vectors_of(self, person: str) -> dict[str, Vector]:
        """Return the vectors of a person's facts. Torn ones are deleted: `embed_all_missing` makes them anew."""
        vectors = self._store.vectors.of(person, self.stamp)
        torn = [key for key, vector in vectors.items() if not self._is_sound(vector)]
        if torn:
            log.warning("vectors-torn", code="vector-torn", count=len(torn))
            self._writer.submit(partial(self._store.vectors.drop, torn, self.stamp))
        return {key: vector for key, vector in vectors.items() if key not in torn}

    def _is_sound(self, vector: Vector) -> bool:
        is_whole = vector.shape == (self._embedder.dimensions,)
        return is_whole and bool(np.isfinite(vector).all() and vector.any())

    def _mend_index(self, person: str, shelf: Shelf) -> None:
        """Make the index hold just what is on the shelf: it may be gone, torn, or of another model."""
        wanted = {key: entry for key, entry in shelf.entries.items() if entry.vector is not None}
        if not wanted:
            self._index.erase(person)  # who is only asked after gets no files
            return
        there = self._index.ids(person)
        if there - wanted.keys():  # forgotten, and the program ended before the files were erased
            self._index.erase(person)
            there = set()
        new = [_point(wanted[key]) for key in sorted(wanted.keys() - there)]
        if new:
            self._index.upsert(person, new)


def stamp_of(embedder: Embedder, wording: Wording) -> str:
    """Return what makes vectors comparable: the model, their length, and the form that was embedded."""
    return f"{embedder.model}|{embedder.dimensions}|{wording.version}"


def _point(entry: Entry) -> Point:
    assert entry.vector is not None
    return Point(entry.fact.id, entry.vector, fact_weights(entry.terms))


def fact_weights(terms: Analysis) -> dict[int, float]:
    """Return the sparse vector of a fact: saturated counts, so that its dot product with a query's is BM25."""
    counts: dict[str, float] = {}
    for term in terms.terms:
        for key in {term.key, term.sound}:
            counts[key] = counts.get(key, 0.0) + term.weight
    weights = {word_number(key): count / (count + _SATURATION) for key, count in counts.items()}
    return weights | {word_number(f"#{notion}"): _NOTION_WEIGHT for notion in terms.notions}


def query_weights(terms: Analysis, shelf: Shelf) -> dict[int, float]:
    """Return the sparse vector of a query: how telling each of its terms is."""
    weights = {
        word_number(key): term.weight * shelf.rarity(term.key)
        for term in terms.terms
        for key in (term.key, term.sound)
    }
    return weights | {
        word_number(f"#{notion}"): shelf.rarity(f"#{notion}") for notion in terms.notions
    }


def word_number(key: str) -> int:
    """Return the number that stands for a term in sparse vectors, the same in every process."""
    return crc32(key.encode("utf-8", "surrogatepass"))
