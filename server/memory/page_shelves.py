"""Keeps the pages of all persons ready for search, in step with the store, and gives them lines and vectors."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from functools import partial

import anyio
import numpy as np
import structlog
from anyio import to_thread

from server.memory.line_table import TALK_GAP, PlacedLine
from server.memory.lines import VERSION, Line, Role, lines_of, pack_line, unpack_line
from server.memory.models import Page
from server.memory.page_shelf import LineKey, PageShelf, Vector
from server.memory.pages import Outline
from server.memory.person_cache import PersonCache
from server.memory.shelves import stamp_of
from server.memory.store import Store
from server.memory.stored_lines import StoredLine
from server.memory.wording import Wording
from server.memory.writer import Writer
from server.ports import Embedder, EmbeddingError

log = structlog.get_logger(__name__)

MOST_SHELVES = 50
"""Persons whose pages are held ready; the others are read again when they talk."""
_BATCH = 32
"""Pages that get their vectors at once."""
_AT_ONCE = 500
"""Ids in one query."""


class PageShelves:
    """What search in pages works on. The store is the truth."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        embedder: Embedder,
        wording: Wording,
        week_start: int = 0,
    ) -> None:
        self._store = store
        self._writer = writer
        self._embedder = embedder
        self._wording = wording
        self._week_start = week_start
        self.stamp = stamp_of(embedder, wording)
        self._shelves = PersonCache[PageShelf](MOST_SHELVES)
        self._embedding = anyio.Lock()
        """Held for a batch, so that none is embedded twice and who needs a few soon gets in between."""

    async def get(self, person: str) -> PageShelf:
        """Return the pages of a person as the store has them now. The shelf stays as it is, whatever comes later.

        A caller that is cancelled does not wait: the shelf is made ready for the next one.

        Raises:
            StoreError: The store can't be read.
        """
        renew = partial(self._renewed, person)
        return await to_thread.run_sync(
            self._shelves.renewed, person, renew, abandon_on_cancel=True
        )

    def drop(self, person: str) -> None:
        """Forget the shelf of a person."""
        self._shelves.drop(person)

    async def make_lines(self, person: str) -> int:
        """Store the lines of those pages of a person that have none of this version; return of how many pages."""
        cuts = await to_thread.run_sync(self._store.cuts.counts)
        pages = await to_thread.run_sync(self._store.lines.pages_without, person, VERSION)
        for start in range(0, len(pages), _AT_ONCE):
            rows = await to_thread.run_sync(self._lines_to_store, pages[start : start + _AT_ONCE])
            await self._writer.run(partial(self._store.lines.put, rows, cuts))
        return len(pages)

    async def embed_missing(self) -> int:
        """Give pages of everybody vectors of the present model where they have none; return how many pages got some.

        Raises:
            OmoideError: The embedder can't work at all.
        """
        embedded = 0
        while count := await self._embed_batch():
            embedded += count
        return embedded

    async def embed(self, page_ids: Sequence[str]) -> int:
        """Do so for some pages, without waiting for all others; return how many got vectors.

        Raises:
            OmoideError: The embedder can't work at all.
        """
        return sum(
            [
                await self._embed_batch(page_ids[start : start + _BATCH])
                for start in range(0, len(page_ids), _BATCH)
            ]
        )

    async def _embed_batch(self, page_ids: Sequence[str] | None = None) -> int:
        async with self._embedding:
            cuts = await to_thread.run_sync(self._store.cuts.counts)
            pages = await to_thread.run_sync(
                self._store.lines.pages_without_vectors, self.stamp, _BATCH, page_ids
            )
            if pages:
                vectors = await self._embed(pages)
                put = partial(self._store.lines.put_vectors, vectors, self.stamp, cuts)
                await self._writer.run(put)
            return len(pages)

    async def _embed(self, pages: Sequence[Page]) -> dict[LineKey, Vector]:
        """Embed lines, each with the one before it; an empty vector where none can be made, or nothing was said."""
        texts = await to_thread.run_sync(self._texts, pages)
        made: dict[LineKey, Vector] = {
            (page.id, int(role)): np.zeros(0, np.float32) for page in pages for role in Role
        }
        keys = list(texts)
        try:
            rows = await self._embedder.embed([texts[key] for key in keys], "passage")
        except EmbeddingError as error:
            refused = {keys[place] for place in error.positions}
            if not refused:
                raise
            log.warning("lines-without-vectors", code=error.code, count=len(refused))
            keys = [key for key in keys if key not in refused]
            rows = await self._embedder.embed([texts[key] for key in keys], "passage")
        return made | dict(zip(keys, rows, strict=True))

    def _texts(self, pages: Sequence[Page]) -> dict[LineKey, str]:
        """Return what is embedded of every line: it is understood with the one before it. Blocks."""
        texts: dict[LineKey, str] = {}
        for page in pages:
            earlier = self._store.pages.before(page)
            heard_before = earlier[0].heard if earlier and _follows(earlier[0], page) else ""
            for role, before, text in (
                (Role.SAID, heard_before, page.said),
                (Role.HEARD, page.said, page.heard),
            ):
                if text.strip():
                    texts[page.id, int(role)] = self._wording.of_fact(f"{before} {text}".strip())
        return texts

    def _renewed(self, person: str, shelf: PageShelf | None) -> PageShelf:
        counter = self._store.tiers.change_count(person)
        if shelf is not None and shelf.counter == counter:
            return shelf
        shelf = self._refreshed(person, shelf)
        shelf.counter = counter
        return shelf

    def _refreshed(self, person: str, shelf: PageShelf | None) -> PageShelf:
        """Return a copy of a shelf that is up to date; a new one if pages have gone, changed, or come in between. Blocks."""
        cuts = self._store.cuts.count(person)
        if shelf is not None and shelf.cuts == cuts:
            fresh = self._store.pages.outline(person, shelf.newest)
            if self._store.pages.count(person) == shelf.pages + len(fresh):
                shelf = shelf.copy()
                self._extend(person, shelf, fresh)
                return shelf
        outline = self._store.pages.outline(person)
        stored = {
            (row.page, row.role): row.data
            for row in self._store.lines.of(person)
            if row.version == VERSION
        }
        vectors = self._vectors_of(person)
        lines = self._placed(outline, stored)
        shelf = PageShelf.of(lines, vectors, self._embedder.dimensions)
        shelf.cuts = cuts
        self._note_pages(shelf, outline)
        self._note_segments(person, shelf)
        return shelf

    def _extend(self, person: str, shelf: PageShelf, fresh: Sequence[Outline]) -> None:
        """Add what has come: pages, vectors, segments."""
        without = sorted({shelf.table.pages[place] for place in shelf.vectors.missing()})
        for start in range(0, len(without), _AT_ONCE):
            some = without[start : start + _AT_ONCE]
            shelf.put_vectors(self._vectors_of(person, some))
        lines = self._placed(fresh, {})
        ids = [outline.id for outline in fresh]
        vectors = self._vectors_of(person, ids)
        shelf.add(lines, vectors, self._embedder.dimensions)
        self._note_pages(shelf, fresh)
        self._note_segments(person, shelf)

    def _vectors_of(
        self, person: str, page_ids: Sequence[str] | None = None
    ) -> dict[LineKey, Vector]:
        """Return the vectors of lines. Torn ones are deleted: `embed_missing` makes those of their pages anew."""
        vectors = self._store.lines.vectors_of(person, self.stamp, page_ids)
        torn = {key for key, vector in vectors.items() if not self._is_sound(vector)}
        if torn:
            log.warning("line-vectors-torn", code="vector-torn", count=len(torn))
            pages = sorted({page for page, _ in torn})
            self._writer.submit(partial(self._store.lines.drop_vectors, pages, self.stamp))
        return {key: vector for key, vector in vectors.items() if key not in torn}

    def _is_sound(self, vector: Vector) -> bool:
        return vector.shape == (self._embedder.dimensions,) and bool(np.isfinite(vector).all())

    def _note_pages(self, shelf: PageShelf, outline: Sequence[Outline]) -> None:
        shelf.pages += len(outline)
        if outline:
            shelf.newest = (outline[-1].at, outline[-1].id)
        shelf.segment_of.update((one.id, one.segment) for one in outline)

    def _note_segments(self, person: str, shelf: PageShelf) -> None:
        unsorted = [page for page, segment in shelf.segment_of.items() if not segment]
        for start in range(0, len(unsorted), _AT_ONCE):
            found = self._store.pages.find(unsorted[start : start + _AT_ONCE])
            shelf.segment_of.update((page.id, page.segment) for page in found.values())
        shelf.put_segments(self._store.tiers.segments_of(person))

    def _placed(
        self, outline: Sequence[Outline], stored: Mapping[LineKey, bytes]
    ) -> list[PlacedLine]:
        """Return the lines of pages, oldest first: as they are stored, else read anew."""
        known = {key: line for key, data in stored.items() if (line := _unpacked(data)) is not None}
        if len(known) < len(stored):
            log.warning("lines-broken", code="store-line-broken", count=len(stored) - len(known))
        broken = {page for page, _ in stored.keys() - known.keys()}
        lacking = [
            one.id
            for one in outline
            if one.id in broken or not any((one.id, int(role)) in known for role in Role)
        ]
        for start in range(0, len(lacking), _AT_ONCE):
            found = self._store.pages.find(lacking[start : start + _AT_ONCE])
            for page in found.values():
                lines = lines_of(page, self._week_start)
                known |= {(page.id, int(role)): line for role, line in lines.items()}
        return [
            PlacedLine(one.id, role, one.at, line)
            for one in outline
            for role in Role
            if (line := known.get((one.id, int(role)))) is not None
        ]

    def _lines_to_store(self, pages: Sequence[Page]) -> list[StoredLine]:
        return [
            StoredLine(page.id, int(role), VERSION, pack_line(line))
            for page in pages
            for role, line in lines_of(page, self._week_start).items()
        ]


def _follows(earlier: Page, page: Page) -> bool:
    """Say whether an exchange belongs to the talk of the one before it; within one zone, plain subtraction goes by its clocks."""
    return page.at.astimezone(UTC) - earlier.at.astimezone(UTC) <= TALK_GAP


def _unpacked(data: bytes) -> Line | None:
    """Return a stored line; None if it is broken."""
    try:
        return unpack_line(data)
    except ValueError:
        return None
