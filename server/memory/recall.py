"""The read path: from a query to the few facts that are worth telling the model, or to none.

Candidates come from the vector index (by meaning and by words) and from the calendar; every one is scored in full, and
what is not relevant enough is left out, however few remain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from anyio import to_thread

from server.config import LongTermSection, RetrievalSection
from server.memory.calibration import Calibration
from server.memory.models import Candidate
from server.memory.parts import split_question
from server.memory.question import Question, read_question
from server.memory.scoring import OF_OTHERS, recency, signs_of, with_opinions
from server.memory.shelf import Entry, Shelf
from server.memory.shelves import Shelves
from server.memory.store import Vector
from server.memory.vectors_in_time import embed_in_time
from server.memory.wording import Wording
from server.ports import Embedder


class Reader(Protocol):
    """Finds what is relevant to a query."""

    async def candidates(
        self, person: str, text: str, language: str, at: datetime, *, as_of: bool = False
    ) -> list[Candidate]:
        """Return the facts that were looked at, best first; `Candidate.passed` says which are to be told.

        Args:
            person: Whose memory.
            text: The query, as transcribed.
            language: Two-letter code of it.
            at: The moment it is asked, aware, in the person's zone.
            as_of: Look at what was known at that moment, instead of all that is known now.

        Raises:
            StoreError: The store can't be read.
        """


class HybridReader:
    """Vector, words, days, people and the kind of question together, with a gate that was calibrated."""

    def __init__(
        self,
        shelves: Shelves,
        embedder: Embedder,
        wording: Wording,
        section: RetrievalSection,
        long_term: LongTermSection,
        calibration: Calibration,
    ) -> None:
        self._shelves = shelves
        self._embedder = embedder
        self._wording = wording
        self._section = section
        self._long_term = long_term
        self._calibration = calibration

    async def candidates(
        self, person: str, text: str, language: str, at: datetime, *, as_of: bool = False
    ) -> list[Candidate]:
        """Return the scored candidates; see `Reader`."""
        shelf = await self._shelves.get(person, at, as_of=as_of)
        if not shelf.entries:
            return []
        wholes = [text, *split_question(text, language)]
        vectors = await embed_in_time(
            self._embedder,
            [self._wording.of_query(part) for part in wholes],
            self._section.embed_timeout_seconds,
        )
        shelf = await self._shelves.renewed(
            shelf, person, at, as_of=as_of
        )  # something may be forgotten
        return await to_thread.run_sync(
            self._rank, person, shelf, language, at, wholes, vectors, abandon_on_cancel=True
        )

    def _rank(
        self,
        person: str,
        shelf: Shelf,
        language: str,
        at: datetime,
        wholes: Sequence[str],
        vectors: Sequence[Vector | None],
    ) -> list[Candidate]:
        week_start = self._section.week_start
        questions = [read_question(text, language, at, week_start) for text in wholes]
        asking = questions[0].asking  # a part says nothing of what kind of thing is asked
        personal = self._calibration.personal(vectors[0])
        found: dict[str, Candidate] = {}
        for question, vector in zip(questions, vectors, strict=True):
            asked = replace(question, asking=asking, states=questions[0].states, vector=vector)
            for candidate in self._score(person, shelf, asked, personal):
                known = found.get(candidate.fact.id)
                if known is None or candidate.score > known.score:
                    found[candidate.fact.id] = candidate
        ranked = sorted(found.values(), key=lambda candidate: (-candidate.score, candidate.fact.id))
        return select(ranked, self._section.limit)

    def _score(
        self, person: str, shelf: Shelf, question: Question, personal: float
    ) -> list[Candidate]:
        section = self._section
        chosen = self._shelves.find(
            person, shelf, question.vector, question.terms, section.candidates
        )
        for tier in (shelf.knowledge, shelf.agent):
            most = self._long_term.candidates
            chosen |= shelf.nearest(question.vector, question.terms, tier, most)
        chosen |= {key for key, entry in shelf.entries.items() if _is_on(entry, question)}
        cosines = shelf.cosines(question.vector, chosen)
        paired = self._calibration.paired(question.vector, shelf.vectors(chosen))
        signs = with_opinions(signs_of(question, shelf, cosines, chosen), personal, paired)
        relevances = self._calibration.relevances(signs, cosines.of.keys())
        gate = self._calibration.gate if section.gate is None else section.gate
        scored = []
        for fact_id, parts in signs.items():
            fact, probability = shelf.entries[fact_id].fact, relevances[fact_id]
            boost = recency(
                fact.last_said_at, question.at, section.recency_weight, section.recency_days
            )
            passed = probability >= gate
            shown = {
                "relevance": probability,
                "dense": parts["dense"],
                "lexical": parts["coverage"],
                "recency": boost,
                "date": parts.get("in_range", 0.0),
            }
            why = "about somebody else" if parts[OF_OTHERS] else f"relevance below {gate:.2f}"
            reason = "" if passed else why
            scored.append(Candidate(fact, probability + boost, passed, shown, reason, parts))
        return scored


def _is_on(entry: Entry, question: Question) -> bool:
    """Say whether a fact tells of a day that the question asks for, or of a habit that falls on one."""
    if question.remarks:
        return False
    return question.covers(entry.fact) or (entry.habit is not None and question.meets(entry.habit))


class ArticleReader:
    """The form of the article, for comparison: the nearest 8 by cosine, recency, a threshold, the best 3."""

    def __init__(
        self, shelves: Shelves, embedder: Embedder, wording: Wording, section: RetrievalSection
    ) -> None:
        self._shelves = shelves
        self._embedder = embedder
        self._wording = wording
        self._section = section

    async def candidates(
        self, person: str, text: str, language: str, at: datetime, *, as_of: bool = False
    ) -> list[Candidate]:
        """Return the scored candidates; see `Reader`."""
        section = self._section
        shelf = await self._shelves.get(person, at, as_of=as_of)
        vectors = await embed_in_time(
            self._embedder, [self._wording.of_query(text)], section.embed_timeout_seconds
        )
        shelf = await self._shelves.renewed(shelf, person, at, as_of=as_of)
        cosines = shelf.cosines(vectors[0], set(shelf.entries)).of
        nearest = sorted(cosines, key=lambda key: (-cosines[key], key))[
            : section.article.candidates
        ]
        scored = []
        for fact_id in nearest:
            fact = shelf.entries[fact_id].fact
            boost = recency(fact.last_said_at, at, section.recency_weight, section.recency_days)
            score = cosines[fact_id] + boost
            passed = score >= section.article.threshold
            shown = {"dense": cosines[fact_id], "recency": boost}
            reason = "" if passed else "below the threshold"
            scored.append(Candidate(fact, score, passed, shown, reason))
        scored.sort(key=lambda candidate: (-candidate.score, candidate.fact.id))
        return select(scored, section.limit)


def select(ranked: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Let at most `limit` of those that passed through, best first."""
    kept: list[Candidate] = []
    places = limit
    for candidate in ranked:
        if candidate.passed and places <= 0:
            candidate = replace(candidate, passed=False, reason="others are more relevant")  # noqa: PLW2901
        places -= candidate.passed
        kept.append(candidate)
    return kept


def as_scores(candidate: Candidate) -> Mapping[str, float]:
    """Return the score and its parts, rounded, for people and programs."""
    parts = {name: round(value, 4) for name, value in candidate.parts.items()}
    return parts | {"final": round(candidate.score, 4)}
