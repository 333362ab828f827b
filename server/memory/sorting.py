"""Puts the pages of a batch into the middle tier: chains, segments, and what search needs of every page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from anyio import to_thread

from server.config import SegmentsSection
from server.errors import OmoideError
from server.memory.chains import Running, chain_summary, link_pages
from server.memory.gist import Rarity, keywords_of, summary_of
from server.memory.harvest import Harvest
from server.memory.models import Chain, Page, Segment
from server.memory.page_shelf import PageShelf
from server.memory.page_shelves import PageShelves
from server.memory.passages import passages
from server.memory.store import Store
from server.memory.tiers import Sorting
from server.memory.topics import MidTerm, sort_pages

log = structlog.get_logger(__name__)

_MOST_READ = 100
"""The newest pages of a segment, from which it is said anew what it is about."""


class Sorter:
    """Decides where pages lie. What it decides is written by `Store.add_facts`, together with their facts."""

    def __init__(
        self, store: Store, shelves: PageShelves, section: SegmentsSection, window: timedelta
    ) -> None:
        """Sort into a store.

        Args:
            store: Where the tiers are.
            shelves: Of the same store.
            section: How topics are told apart, and how many stay.
            window: Pause after which another talk begins.
        """
        self._store = store
        self._shelves = shelves
        self._section = section
        self._window = window

    async def sort(self, pages: Sequence[Page], harvest: Harvest, now: datetime) -> Sorting:
        """Return where the pages of a batch lie.

        Args:
            pages: Of one person, oldest first; at least one.
            harvest: What was drawn from them.
            now: The present moment.

        Raises:
            StoreError: The store can't be read or written.
        """
        person = pages[0].person
        await self._shelves.make_lines(person)
        try:
            await self._shelves.embed([each for page in pages for each in page.turns])
        except OmoideError as error:  # words have to do
            log.warning("pages-without-vectors", code=error.code, count=len(pages))
        shelf = await self._shelves.get(person)
        return await to_thread.run_sync(self._sorted, shelf, pages, harvest, now)

    def _sorted(
        self, shelf: PageShelf, pages: Sequence[Page], harvest: Harvest, now: datetime
    ) -> Sorting:
        person = pages[0].person
        linked = link_pages(
            pages, harvest, self._running(pages[0]), rarity=shelf.rarity, window=self._window
        )
        segments = self._store.tiers.segments_of(person)
        here = {segment.id: segment for segment in segments if segment.evicted_at is None}
        told_again = self._told_again(person, here.values(), shelf.rarity)
        here |= {segment.id: segment for segment in told_again.segments}
        known = MidTerm(
            list(here.values()),
            {one.id: one.mean for one in shelf.segments if one.mean is not None},
            {page: segment for page, segment in shelf.segment_of.items() if segment},
        )
        sorting = sort_pages(
            pages,
            harvest.topics,
            known,
            shelf.said_vectors({page.id for page in pages}),
            chain_of=linked.chain_of,
            rarity=shelf.rarity,
            rest=shelf.vectors.rest(),
            window=self._window,
            section=self._section,
            now=now,
        )
        sorting = replace(sorting, chains=linked.chains, chain_of=linked.chain_of)
        return _united(told_again, _with_beginnings(sorting, pages))

    def _told_again(self, person: str, segments: Iterable[Segment], rarity: Rarity) -> Sorting:
        """Say anew what those segments and chains are about that have lost a page, from what is left of them."""
        told: list[Segment] = []
        chains: list[Chain] = []
        segment_of: dict[str, str] = {}
        chain_of: dict[str, str] = {}
        for segment in segments:
            if segment.summary or segment.keywords:
                continue
            left = self._store.pages.of_segment(person, segment.id, _MOST_READ)
            alike = [page for page in left if page.language == segment.language]
            whole = passages(alike)
            keywords = frozenset(keywords_of(whole, rarity))
            told.append(replace(segment, summary=summary_of(whole, rarity), keywords=keywords))
            segment_of |= {page.id: segment.id for page in alike}
        for chain in self._store.tiers.unsaid_chains(person):
            left = self._store.pages.of_chain(person, chain.id)
            if left:
                chains.append(replace(chain, summary=chain_summary(passages(left), rarity)))
                chain_of |= {page.id: chain.id for page in left}
        return Sorting(told, chains, segment_of, chain_of)

    def _running(self, first: Page) -> Running | None:
        """Return the chain of the page right before a batch; it survives a restart, as it comes from the store."""
        before = self._store.pages.before(replace(first, id=first.turns[0]))
        if not before or not before[0].chain:
            return None
        chain = before[0].chain
        pages = passages(self._store.pages.of_chain(first.person, chain))
        return Running(Chain(chain, first.person, self._store.tiers.chain_summary(chain)), pages)


def _united(before: Sorting, after: Sorting) -> Sorting:
    """Put one sorting after another; what both say something about is as the later one says."""
    segments = {segment.id: segment for segment in (*before.segments, *after.segments)}
    chains = {chain.id: chain for chain in (*before.chains, *after.chains)}
    return Sorting(
        list(segments.values()),
        list(chains.values()),
        {**before.segment_of, **after.segment_of},
        {**before.chain_of, **after.chain_of},
        after.evicted,
    )


def _with_beginnings(sorting: Sorting, pages: Sequence[Page]) -> Sorting:
    """Let the turns in which a sentence only began lie where its end lies."""
    segment_of = dict(sorting.segment_of)
    added: Counter[str] = Counter()
    for page in pages:
        segment = segment_of[page.id]
        segment_of |= dict.fromkeys(page.begun_in, segment)
        added[segment] += len(page.begun_in)
    segments = [replace(one, unread=one.unread + added[one.id]) for one in sorting.segments]
    return replace(sorting, segments=segments, segment_of=segment_of)
