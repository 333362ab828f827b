"""The facts of one person, made ready for search: cut into terms, with their vectors, once for every change."""

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.memory.answer_types import AnswerType, held_types
from server.memory.attribute_claims import claims_attributes, names_in_passing
from server.memory.attributes import Owned
from server.memory.claims import SPEAKER, claims_of_fact
from server.memory.habits import Habit, read_habit
from server.memory.knowledge import MOST_KNOWLEDGE, agent_traits, knowledge
from server.memory.models import Fact
from server.memory.terms import Analysis, TermKind
from server.memory.wording import bare, plain_analysis, without_dates

_BACKGROUND = 30
"""Imaginary facts in which no term occurs: with a handful of real ones every frequency would look the same."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A current fact and what search needs to know of it."""

    fact: Fact
    terms: Analysis
    holds: frozenset[AnswerType]
    """The sorts of answer that it has to offer."""
    habit: Habit | None
    """When it comes round, if it has no date and names weekdays."""
    claims: frozenset[Owned]
    """The plain attributes that it gives, and of whom."""
    calls: frozenset[str]
    """Classes of people whom it calls by name in passing."""
    is_of_another: bool
    """Whether all of it tells what somebody else does or is: the mother's fear is not the person's own."""
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
    deviation: float
    """Their standard deviation."""


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
    aliases: Mapping[str, frozenset[str]]
    """Classes of people that a name stands for, by the sound of the name."""
    knowledge: frozenset[str]
    """Ids of the user knowledge base."""
    agent: frozenset[str]
    """Ids of the agent traits."""
    counter: int
    """The store's change counter that this reflects."""
    order: tuple[str, ...]
    """The facts that have a vector."""
    matrix: NDArray[np.float32]
    """Their vectors, in that order."""
    of_past: bool = False
    """Whether it shows what held at some moment of the past."""

    def people_in(self, terms: Analysis) -> frozenset[str]:
        """Return the classes of the people that a text mentions, by word or by name."""
        named = (self.aliases.get(name, frozenset()) for name in terms.names)
        return terms.persons.union(*named)

    def cosines(self, vector: NDArray[np.float32] | None, wanted: Set[str]) -> Cosines:
        """Return the cosines of some facts with a vector, beside those of all."""
        if vector is None or not self.order:
            return Cosines({}, 0.0, 0.0, 0.0)
        values = self.matrix @ vector
        near = {
            key: float(value)
            for key, value in zip(self.order, values, strict=True)
            if key in wanted
        }
        return Cosines(near, float(values.mean()), float(values.max()), float(values.std()))

    def rarity(self, key: str) -> float:
        """Return how telling a term is, from 0 to 1; one that occurs nowhere is the most telling (BM25's idf)."""
        total = len(self.entries) + _BACKGROUND
        found = self.frequency.get(key, 0)
        return math.log(1 + (total - found + 0.5) / (found + 0.5)) / math.log(
            1 + (total + 0.5) / 0.5
        )

    def nearest(
        self,
        vector: NDArray[np.float32] | None,
        terms: Analysis,
        among: Set[str],
        limit: int,
    ) -> set[str]:
        """Return those of some facts that are nearest by meaning, and as many that share the most telling words."""
        near: dict[str, float] = {}
        if vector is not None and (held := self.vectors(sorted(among))):
            near = dict(zip(held, (np.stack([*held.values()]) @ vector).tolist(), strict=True))
        weights = {term.key: term.weight * self.rarity(term.key) for term in terms.terms}
        shared = {
            key: weight
            for key in sorted(among)
            if (
                weight := sum(
                    weights[word] for word in weights.keys() & self.entries[key].terms.forms
                )
            )
        }
        return {
            key
            for found in (near, shared)
            for key in heapq.nlargest(limit, found, key=lambda one: found[one])
        }

    def neighbours(
        self, fact_id: str, vector: NDArray[np.float32] | None, limit: int
    ) -> list[Entry]:
        """Return the facts nearest to a vector, those without one, and the one with this id; without a vector, all of them."""
        if vector is None:
            return list(self.entries.values())
        near = {key for key, entry in self.entries.items() if entry.vector is None}
        if self.order:
            values = self.matrix @ vector
            near |= {self.order[place] for place in np.argsort(-values)[:limit]}
        if fact_id in self.entries:
            near.add(fact_id)
        return [self.entries[key] for key in sorted(near)]

    def vectors(self, wanted: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of some facts; a fact that has none is missing."""
        found = ((key, self.entries[key].vector) for key in wanted)
        return {key: vector for key, vector in found if vector is not None}


def fill_shelf(
    facts: Sequence[Fact],
    vectors: Mapping[str, NDArray[np.float32]],
    counter: int,
    capacity: int = MOST_KNOWLEDGE,
) -> Shelf:
    """Prepare the facts that still hold; `capacity` is that of the user knowledge base and of the agent traits."""
    entries = {fact.id: make_entry(fact, vectors.get(fact.id)) for fact in facts if fact.current}
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
        _aliases(told),
        frozenset(fact.id for fact in knowledge(facts, capacity)),
        frozenset(fact.id for fact in agent_traits(facts, capacity)),
        counter,
        order,
        matrix,
    )


def held_at(facts: Sequence[Fact], moment: datetime) -> list[Fact]:
    """Return what was known of a person at a moment: what was said later is not there, what was replaced later holds."""
    said_at = {fact.id: fact.said_at for fact in facts}

    def as_it_was(fact: Fact) -> Fact:
        fact = replace(fact, repeated_at=tuple(at for at in fact.repeated_at if at <= moment))
        replaced_at = said_at.get(fact.superseded_by, fact.superseded_at)
        if replaced_at is None or replaced_at <= moment:
            return fact
        return replace(fact, superseded_by="", superseded_at=None)

    return [as_it_was(fact) for fact in facts if fact.said_at <= moment]


def make_entry(fact: Fact, vector: NDArray[np.float32] | None) -> Entry:
    """Cut a fact into what search and comparison need to know of it."""
    is_dated = fact.event_from is not None
    return Entry(fact, *_read(fact.text, fact.language, is_dated, bool(fact.about)), vector)


_Reading: TypeAlias = tuple[
    Analysis, frozenset[AnswerType], Habit | None, frozenset[Owned], frozenset[str], bool
]
"""What an `Entry` says of the text of its fact."""
_NONE: frozenset[Owned] = frozenset()
_NOBODY: frozenset[str] = frozenset()


@lru_cache(maxsize=20_000)  # a shelf is filled anew at every change
def _read(text: str, language: str, is_dated: bool, is_of_robot: bool) -> _Reading:
    terms = plain_analysis(text, language)
    habit = None if is_dated else read_habit(text)
    holds = held_types(bare(text), terms, language, on_days=is_dated or habit is not None)
    if is_of_robot:  # what the robot did for the person is the person's, too
        return terms, holds, habit, _NONE, _NOBODY, False
    told = without_dates(text)
    claims = claims_attributes(told, language)
    calls = names_in_passing(told, language)
    return terms, holds, habit, claims, calls, _is_of_another(text, language)


def _is_of_another(text: str, language: str) -> bool:
    claims = claims_of_fact(bare(text), language)
    return bool(claims) and all(one.subject and SPEAKER not in one.subject for one in claims)


def _aliases(told: Sequence[Analysis]) -> dict[str, frozenset[str]]:
    """Return what people the names stand for, as far as facts say so: "your son Teo", 妹の美咲."""
    found: dict[str, set[str]] = {}
    for terms in told:
        for one, other in pairwise(terms.terms):
            kinds = {one.kind, other.kind}
            if kinds == {TermKind.PERSON, TermKind.NAME}:
                person, name = (one, other) if one.kind is TermKind.PERSON else (other, one)
                if name.sound not in terms.places:
                    found.setdefault(name.sound, set()).add(person.key)
    return {name: frozenset(classes) for name, classes in found.items()}
