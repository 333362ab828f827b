"""The read path over pages: from a question to the few exchanges, word for word, in which the answer was spoken, or none.

Two stages as in MemoryOS (section 3.3): the few segments nearest to the question, then pages. The first only adds to
the score of the second: as a filter it loses answers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from anyio import to_thread

from server.config import PagesSection
from server.memory.line_table import Floats
from server.memory.page_shelf import PageShelf
from server.memory.page_shelves import PageShelves
from server.memory.page_signs import (
    FIRST_LOOK,
    PageQuery,
    Places,
    Signs,
    best_of,
    cut_query,
    page_signs,
    weigh,
)
from server.memory.page_weights import PageWeights
from server.memory.postings import REACH
from server.memory.question import Question, read_question
from server.memory.speakers import Speakers, in_first_person
from server.memory.terms import TermKind
from server.memory.vectors_in_time import embed_in_time
from server.memory.wording import Wording
from server.ports import Embedder

LOOKED_AT = 100
"""Utterances that are looked at closely."""
SHOWN = 40
"""Of these, so many are returned."""
BEST_SEGMENTS = PagesSection().segments
"""Where the configuration does not say otherwise."""
_NAMING = frozenset({TermKind.NAME, TermKind.PERSON})


@dataclass(frozen=True, slots=True)
class PageCandidate:
    """An utterance that was looked at, and how relevant it is."""

    page: str
    role: int
    """0 if the person said it, 1 if it was heard."""
    score: float
    signs: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PageFindings:
    """What was found for a question."""

    candidates: tuple[PageCandidate, ...] = ()
    """Best first, one for each utterance."""
    relevance: float = 0.0
    """Probability that any of them answers."""
    passed: bool = False


class PageReader:
    """Finds the exchanges that a question is about."""

    def __init__(
        self,
        shelves: PageShelves,
        embedder: Embedder | None,
        wording: Wording,
        section: PagesSection,
        weights: PageWeights,
        *,
        week_start: int = 0,
        embed_seconds: float = 1.0,
        reach: int = REACH,
    ) -> None:
        self._shelves = shelves
        self._embedder = embedder
        self._wording = wording
        self._section = section
        self._weights = weights
        self._week_start = week_start
        self._embed_seconds = embed_seconds
        self._reach = reach

    async def prepare(self, person: str) -> None:
        """Read the pages of a person."""
        await self._shelves.get(person)

    async def find(
        self, person: str, text: str, language: str, at: datetime, speakers: Speakers
    ) -> PageFindings:
        """Return the utterances that were looked at.

        Args:
            person: Whose pages.
            text: The question, as transcribed.
            language: Two-letter code of it.
            at: The moment it is asked, aware, in the person's zone; only what was said before is found.
            speakers: The names of the two that talk.

        Raises:
            StoreError: The store can't be read.
        """
        shelf = await self._shelves.get(person)
        if not len(shelf.table):
            return PageFindings()
        vector = None
        if self._embedder is not None:
            alike = self._wording.of_query(in_first_person(text, language, speakers))
            [vector] = await embed_in_time(self._embedder, [alike], self._embed_seconds)
            shelf = await self._shelves.get(person)  # something may be forgotten

        def look() -> PageFindings:
            question = read_question(text, language, at, self._week_start)
            query = cut_query(replace(question, vector=vector), speakers, self._reach)
            return rank(shelf, query, self._weights, self._section.gate, self._section.segments)

        return await to_thread.run_sync(look, abandon_on_cancel=True)


def rank(
    shelf: PageShelf,
    query: PageQuery,
    weights: PageWeights,
    gate: float | None,
    segments: int = BEST_SEGMENTS,
) -> PageFindings:
    """Look through the pages on a shelf. Blocks.

    Args:
        shelf: The pages of one person.
        query: What is asked.
        weights: Of the signs. What counts nothing there has no part in the first look either.
        gate: Probability from which anything is told; None for that of `weights`.
        segments: How many of those nearest to the question make their utterances more relevant.
    """
    asked = query.question.vector is not None
    worths = weights.with_vectors if asked else weights.by_words
    first_look = {name: worth for name, worth in FIRST_LOOK.items() if worths.get(name)}
    places, signs = page_signs(
        query, shelf.table, shelf.postings, shelf.vectors, LOOKED_AT, first_look
    )
    said = shelf.table.moments[places] <= query.question.at.timestamp()
    places, signs = places[said], {name: column[said] for name, column in signs.items()}
    signs["topic"] = topic_sign(query.question, shelf, places, segments)
    candidates = _candidates(shelf, places, weigh(signs, worths), signs)
    relevance = weights.relevance(gate_signs(query.question, candidates))
    return PageFindings(
        candidates, relevance, relevance >= (weights.threshold if gate is None else gate)
    )


def gate_signs(question: Question, candidates: Sequence[PageCandidate]) -> dict[str, float]:
    """Return what tells whether pages have to do with a question at all."""
    if not candidates:
        return {}
    best = candidates[0]
    kinds = {term.key: term.kind for term in question.terms.terms}
    tenth = candidates[min(9, len(candidates) - 1)]
    asking = question.asking
    return {
        "words": max(one.signs["words"] for one in candidates[:10]),
        "pieces": max(one.signs["pieces"] for one in candidates[:10]),
        "dense": max(one.signs["dense"] for one in candidates[:10]),
        "closeness": max(one.signs["closeness"] for one in candidates[:10]),
        "lead": best.score - tenth.score,
        "dated": max(best.signs["day_near"], best.signs["day_told"]),
        "offers": best.signs["offers"],
        "asks": float(asking.asks),
        "recalls": float(asking.recalls),
        "own": float(asking.own),
        "world": float(asking.world),
        "orders": float(asking.orders),
        # All of "good afternoon" has been said before: what a question consists of counts, too.
        "substance": math.log1p(len(kinds)),
        "names": float(not _NAMING.isdisjoint(kinds.values())),
        "wants": float(bool(question.wants)),
        "agenda": float(question.wants_agenda),
        "states": float(question.states),
    }


def topic_sign(question: Question, shelf: PageShelf, places: Places, most: int) -> Floats:
    """Return how near the segment of each utterance is to the question, if few are nearer (`most` in all); else 0."""
    asked = {term.key for term in question.terms.terms if term.kind is not TermKind.NUMBER}
    rest = shelf.vectors.rest() if question.vector is not None else 0.0
    near = shelf.segment_table.nearness(asked, question.vector, rest)
    ids = shelf.segment_table.ids
    named = [(ids[place], float(near[place])) for place in _not_below(near, most)]
    best = dict(sorted(named, key=lambda one: (-one[1], one[0]))[:most])
    pages = (shelf.table.pages[place] for place in places.tolist())
    return np.array([best.get(shelf.segment_of.get(page, ""), 0.0) for page in pages], np.float32)


def _not_below(near: Floats, most: int) -> list[int]:
    """Return the places of the `most` highest numbers, and of those as high as the last of them."""
    if most >= len(near):
        return [*range(len(near))]
    return np.flatnonzero(near >= np.partition(near, -most)[-most]).tolist()


def _candidates(
    shelf: PageShelf, places: Places, scores: Floats, signs: Signs
) -> tuple[PageCandidate, ...]:
    """Return the best of the utterances that were looked at, best first."""
    order = best_of(scores, SHOWN)
    rows = np.stack([*signs.values()], axis=1)[order].tolist()
    table = shelf.table
    return tuple(
        PageCandidate(table.pages[place], role, score, dict(zip(signs, row, strict=True)))
        for place, role, score, row in zip(
            places[order].tolist(),
            table.roles[places[order]].tolist(),
            scores[order].tolist(),
            rows,
            strict=True,
        )
    )
