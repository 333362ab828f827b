"""The facts of one person, made ready for search: cut into terms, with their vectors, once for every change."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.memory.models import Fact
from server.memory.terms import Analysis
from server.memory.wording import plain_analysis

_BACKGROUND = 30
"""Imaginary facts in which no term occurs: with a handful of real ones every frequency would look the same."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A current fact and what search needs to know of it."""

    fact: Fact
    terms: Analysis
    vector: NDArray[np.float32] | None
    """None if it could not be embedded yet: it is found by its words alone."""


@dataclass(frozen=True, slots=True)
class Cosines:
    """How near facts are to a query."""

    of: Mapping[str, float]
    """By fact; a fact without a vector is missing."""
    mean: float
    """Over all facts of the person."""
    top: float
    """The highest of them."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """All current facts of one person at one moment."""

    entries: Mapping[str, Entry]
    """By id of the fact."""
    frequency: Mapping[str, int]
    """In how many facts a term or a notion (with "#") occurs."""
    names: frozenset[str]
    """Names that occur, by sound."""
    sounds: frozenset[str]
    """How all words that occur sound, and their keys."""
    persons: frozenset[str]
    """Classes of people that occur."""
    counter: int
    """The store's change counter that this reflects."""
    order: tuple[str, ...]
    """The facts that have a vector."""
    matrix: NDArray[np.float32]
    """Their vectors, in that order."""

    def cosines(self, vector: NDArray[np.float32] | None, wanted: Set[str]) -> Cosines:
        """Return the cosines of some facts with a vector, beside those of all."""
        if vector is None or not self.order:
            return Cosines({}, 0.0, 0.0)
        values = self.matrix @ vector
        near = {
            key: float(value)
            for key, value in zip(self.order, values, strict=True)
            if key in wanted
        }
        return Cosines(near, float(values.mean()), float(values.max()))

    def rarity(self, key: str) -> float:
        """Return how telling a term is, from 0 to 1; one that occurs nowhere is the most telling (BM25's idf)."""
        total = len(self.entries) + _BACKGROUND
        found = self.frequency.get(key, 0)
        return math.log(1 + (total - found + 0.5) / (found + 0.5)) / math.log(
            1 + (total + 0.5) / 0.5
        )

    def neighbours(
        self, fact_id: str, vector: NDArray[np.float32] | None, limit: int
    ) -> list[tuple[Fact, float]]:
        """Return the facts nearest to a vector with their cosines, and the one with this id, if it is there.

        Those without a vector are always among them, at cosine 0.
        """
        near: dict[str, float] = {
            key: 0.0 for key, entry in self.entries.items() if entry.vector is None
        }
        if vector is not None and self.order:
            values = self.matrix @ vector
            near |= {
                self.order[place]: float(values[place]) for place in np.argsort(-values)[:limit]
            }
        if fact_id in self.entries:
            near.setdefault(fact_id, 1.0)
        return [(self.entries[key].fact, cosine) for key, cosine in near.items()]


def fill_shelf(
    facts: Sequence[Fact], vectors: Mapping[str, NDArray[np.float32]], counter: int
) -> Shelf:
    """Prepare the facts that still hold."""
    entries = {
        fact.id: Entry(fact, plain_analysis(fact.text, fact.language), vectors.get(fact.id))
        for fact in facts
        if fact.current
    }
    frequency: Counter[str] = Counter()
    for entry in entries.values():
        frequency.update({term.key for term in entry.terms.terms})
        frequency.update(f"#{notion}" for notion in entry.terms.notions)
    order = tuple(key for key, entry in entries.items() if entry.vector is not None)
    rows = [vectors[key] for key in order]
    matrix = np.stack(rows) if rows else np.zeros((0, 0), np.float32)
    told = [entry.terms for entry in entries.values()]
    return Shelf(
        entries,
        frequency,
        frozenset().union(*(terms.names for terms in told)),
        frozenset().union(*(terms.forms for terms in told)),
        frozenset().union(*(terms.persons for terms in told)),
        counter,
        order,
        matrix,
    )
