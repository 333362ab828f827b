"""Sorts exchanges into segments of one topic each (MemoryOS, section 3.1, equations 2 and 3)."""

import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np

from server.config import SegmentsSection
from server.memory.gist import Rarity, keywords_of, shortened, summary_of
from server.memory.harvest import Topic
from server.memory.heat import to_evict
from server.memory.models import Page, Segment
from server.memory.stored_lines import Vector
from server.memory.terms import analyse
from server.memory.tiers import Sorting

MOST_KEYWORDS = 12
LONGEST_LINE = 160
"""Of a summary, which has two lines at most."""
_LEAST_SPREAD = 0.2
_NAMESPACE = uuid.UUID("5a1f0f4e-98c5-4d0b-9a57-3f1f0b4b7c11")


@dataclass(frozen=True, slots=True)
class MidTerm:
    """The middle tier of one person as it stands."""

    segments: Sequence[Segment] = ()
    """Those that are not evicted. One without keywords takes nothing in: `Sorter` gives those new ones before that have lost
    a page that was forgotten."""
    centroids: Mapping[str, Vector] = field(default_factory=dict)
    """Mean of the vectors of the pages in each, left as it is: brought to length 1 it says no longer how far they lie
    apart, and a wide segment would draw everything to it (see `closeness`). Missing where no page has a vector."""
    segment_of: Mapping[str, str] = field(default_factory=dict)
    """Where the person's pages lie that have been sorted, in evicted segments, too: page to segment."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Pages that are sorted together."""

    pages: tuple[Page, ...]
    """Oldest first; at least one."""
    language: str
    keywords: tuple[str, ...]
    summary: str
    mean: Vector | None


@dataclass(slots=True)
class _Standing:
    """A segment as it becomes while a batch is sorted."""

    segment: Segment
    mean: Vector | None
    size: int
    """Number of its pages."""


def sort_pages(
    pages: Sequence[Page],
    topics: Sequence[Topic],
    known: MidTerm,
    vectors: Mapping[str, Vector],
    *,
    chain_of: Mapping[str, str],
    rarity: Rarity,
    rest: float,
    window: timedelta,
    section: SegmentsSection,
    now: datetime,
) -> Sorting:
    """Decide in which one segment every page of a batch lies, and which segments have to make room. Blocks.

    Pages of one topic go together; of those without one, pages of one chain; and those that name nothing ("yes, right")
    stay with their talk: kept by likeness they would run together from all talks. A group goes to the segment that it is
    most like, if `closeness` and the Jaccard index of the keywords come to more than `section.similarity`; else it makes
    a new one, whose id follows from its first page. Languages stay apart, as a summary is in one. What lies in a segment
    stays there: a batch that is sorted again changes nothing.

    Args:
        pages: Of one person, oldest first.
        topics: What a model named; none without a model. Pages in them that are not in the batch are passed over.
        known: The middle tier so far.
        vectors: Of length 1, by page; a page may have none.
        chain_of: Page to its dialogue chain (`server.memory.chains`); a page that is not in it goes alone.
        rarity: How telling a term is.
        rest: Mean cosine of any two lines of this embedder, less than 1.
        window: Pause after which another talk begins.
        section: Threshold, capacity and weights of heat.
        now: The present moment, aware.
    """
    new = [page for page in pages if page.id not in known.segment_of]
    segment_of = {page.id: known.segment_of.get(page.id, "") for page in pages}
    sizes = _sizes(known)
    standings = [
        _Standing(segment, known.centroids.get(segment.id), sizes.get(segment.id, 1))
        for segment in known.segments
    ]
    touched: dict[str, _Standing] = {}
    for group in _grouped(new, topics, vectors, chain_of, rarity, window):
        standing = _most_like(group, standings, rest, section.similarity)
        if standing is None:
            standing = _Standing(_founded(group), group.mean, len(group.pages))
            standings.append(standing)
        else:
            _take_in(standing, group, rarity)
        touched[standing.segment.id] = standing
        segment_of.update((page.id, standing.segment.id) for page in group.pages)
    founded = touched.keys() - {segment.id for segment in known.segments}
    all_segments = [standing.segment for standing in standings]
    return Sorting(
        segments=[standing.segment for standing in touched.values()],
        segment_of=segment_of,
        evicted=to_evict(all_segments, founded, now, section),
    )


def closeness(mean: Vector, other: Vector, rest: float) -> float:
    """Return how near two means of vectors of length 1 lie in meaning, from 0 to 1: the cosine of equation 3, corrected.

    Raw cosines won't do. Those of many embedders lie high for any two texts (0.7 to 0.95), which is more than the
    threshold already; so `rest`, their mean, counts as nothing: ``(cos - rest) / (1 - rest)``. And the more vectors a
    mean is made of, the more it leans to what all vectors have in common, so that two wide topics look alike. There
    `rest` is divided by the lengths of the means, which have become shorter by as much: ``(a·b - rest) / (|a||b| - rest)``,
    the same for single vectors. Below a fifth of the distance that single vectors have the figures would say nothing.
    """
    lengths = np.linalg.norm(mean) * np.linalg.norm(other)
    return float(closenesses(np.array([mean @ other]), np.array([lengths]), rest)[0])


def closenesses(products: Vector, lengths: Vector, rest: float) -> Vector:
    """Return the same for many pairs, from their inner products and the products of their lengths."""
    spread = np.maximum(lengths - rest, _LEAST_SPREAD * (1 - rest))
    near: Vector = np.clip((products - rest) / spread, 0.0, 1.0)
    return near


def jaccard(keywords: Iterable[str], others: Iterable[str], language: str) -> float:
    """Return the Jaccard index of two sets of keywords, compared term by term: cats are a cat, 猫 is ネコ."""
    keys, other_keys = keys_of(keywords, language), keys_of(others, language)
    united = keys | other_keys
    return len(keys & other_keys) / len(united) if united else 0.0


def _sizes(known: MidTerm) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for id_ in known.segment_of.values():
        sizes[id_] = sizes.get(id_, 0) + 1
    return sizes


def _grouped(
    pages: Sequence[Page],
    topics: Sequence[Topic],
    vectors: Mapping[str, Vector],
    chain_of: Mapping[str, str],
    rarity: Rarity,
    window: timedelta,
) -> list[_Group]:
    """Put every page into exactly one group; the groups in the order of their first pages."""
    groups: list[_Group] = []
    left = {page.id: page for page in pages}
    for topic in topics:
        own = tuple(page for page in pages if page.id in topic.pages and page.id in left)
        if own:
            # A model is asked to write in the language of the last turn.
            language, keywords = pages[-1].language, tuple(sorted(topic.keywords))
            groups.append(_Group(own, language, keywords, topic.summary, _mean(own, vectors)))
        for page in own:
            del left[page.id]
    mute: dict[tuple[int, str], list[Page]] = {}
    talks = _talks(pages, window)
    for own in _in_chains(left.values(), chain_of):
        keywords = keywords_of(own, rarity)
        if keywords:
            summary = summary_of(own, rarity)
            groups.append(_Group(own, own[0].language, keywords, summary, _mean(own, vectors)))
        else:
            for page in own:
                mute.setdefault((talks[page.id], page.language), []).append(page)
    groups += [
        _Group(tuple(own), own[0].language, (), summary_of(own, rarity), None)
        for own in mute.values()
    ]
    order = {page.id: place for place, page in enumerate(pages)}
    return sorted(groups, key=lambda group: order[group.pages[0].id])


def _in_chains(pages: Iterable[Page], chain_of: Mapping[str, str]) -> list[tuple[Page, ...]]:
    found: dict[tuple[str, str], list[Page]] = {}
    for page in pages:
        found.setdefault((chain_of.get(page.id, page.id), page.language), []).append(page)
    return [tuple(own) for own in found.values()]


def _talks(pages: Sequence[Page], window: timedelta) -> dict[str, int]:
    """Number the talks of a batch, by page."""
    talks: dict[str, int] = {}
    talk, last = 0, pages[0].at.timestamp() if pages else 0.0
    for page in pages:
        talk += page.at.timestamp() - last > window.total_seconds()
        last = page.at.timestamp()
        talks[page.id] = talk
    return talks


def _mean(pages: Iterable[Page], vectors: Mapping[str, Vector]) -> Vector | None:
    rows = [vectors[page.id] for page in pages if page.id in vectors]
    return np.mean(rows, axis=0, dtype=np.float32) if rows else None


def _most_like(
    group: _Group, standings: Iterable[_Standing], rest: float, similarity: float
) -> _Standing | None:
    """Return the segment that a group belongs to (equation 2), None if it is a topic of its own."""
    if not group.keywords:
        return None
    best, most = None, similarity
    for standing in standings:
        if standing.segment.language != group.language or not standing.segment.keywords:
            continue
        likeness = jaccard(group.keywords, standing.segment.keywords, group.language)
        if group.mean is not None and standing.mean is not None:
            likeness += closeness(group.mean, standing.mean, rest)
        if likeness > most:
            best, most = standing, likeness
    return best


def _founded(group: _Group) -> Segment:
    first, last = group.pages[0], group.pages[-1]
    return Segment(
        id=uuid.uuid5(_NAMESPACE, f"{first.person}\n{first.id}").hex,
        person=first.person,
        language=group.language,
        summary=shortened(group.summary, LONGEST_LINE),
        keywords=frozenset(group.keywords[:MOST_KEYWORDS]),
        created_at=first.at,
        last_at=last.at,
        unread=len(group.pages),
    )


def _take_in(standing: _Standing, group: _Group, rarity: Rarity) -> None:
    """Add a group to a segment."""
    segment, size = standing.segment, len(group.pages)
    standing.segment = replace(
        segment,
        summary=_continued(segment.summary, group.summary),
        keywords=_united(group.keywords, segment.keywords, segment.language, rarity),
        last_at=max(segment.last_at, group.pages[-1].at),
        unread=segment.unread + size,
    )
    if standing.mean is None:
        standing.mean = group.mean
    elif group.mean is not None:
        whole = standing.mean * standing.size + group.mean * size
        standing.mean = (whole / (standing.size + size)).astype(np.float32)
    standing.size += size


def _continued(summary: str, newest: str) -> str:
    """Return the summary of a segment that something was added to: how it began, and what came last."""
    lines = [*summary.splitlines()[:1], newest]
    kept = dict.fromkeys(shortened(line, LONGEST_LINE) for line in lines if line)
    return "\n".join(kept)


def _united(new: Sequence[str], old: Set[str], language: str, rarity: Rarity) -> frozenset[str]:
    """Return new keywords and, as far as there is room, the most telling of the old ones."""

    def telling(word: str) -> tuple[float, str]:
        return -max(map(rarity, keys_of([word], language)), default=0.0), word

    return frozenset([*new, *sorted(old - set(new), key=telling)][:MOST_KEYWORDS])


def keys_of(keywords: Iterable[str], language: str) -> frozenset[str]:
    """Return keywords in the form in which terms are compared."""
    return frozenset().union(*(_keys_of_one(keyword, language) for keyword in keywords))


@lru_cache(maxsize=20_000)
def _keys_of_one(keyword: str, language: str) -> frozenset[str]:
    return frozenset(term.key for term in analyse(keyword, language).terms)
