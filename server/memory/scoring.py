"""How relevant a fact is to a question: signs of it, weighed and added, and the probability that comes of the sum.

Nothing is fused by rank and nothing is cut by cosine before the sum: a fact that shares no word is found by its vector,
one whose vector is far by its day. The weights are set per embedder on sets of our own (`omoide calibrate`).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from server.memory.comparing import Closeness, probability
from server.memory.question import Question, weekdays
from server.memory.shelf import Cosines, Entry, Shelf
from server.memory.sounds import likeness, occurs_in
from server.memory.terms import Term, TermKind
from server.memory.wording import bare

_ASKED_ATTRIBUTES = frozenset({"birthday", "age", "colour", "phone", "money", "name", "weight"})
"""Notions that a fact has to touch if they are asked for: a fact about Ken is no answer to how old Ken is."""
_LITTLE_ELSE = 0.5
"""Weight of the terms under which a question has no topic but its days ("what's on tomorrow")."""
_AMOUNT = re.compile(
    r"\d|[一二三四五六七八九十百千万]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|half|dozen|hundred)\b",
    re.IGNORECASE,
)
_TELLING = 0.6
_SHORTEST_NAME = 3
"""Shorter sounds are often a tokenizer's mistake."""
_SCALE = 5.0
"""Brings differences of cosines to the size of the other signs."""
_COVERAGE_PRIOR = 0.3


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the numbers of one embedder mean."""

    weights: Mapping[str, float]
    """Of the signs of relevance, with ``bias``."""
    gate: float
    """Probability from which a fact is told to the model."""
    closeness: Closeness
    personal: NDArray[np.float32] | None = None
    """The direction in which questions of one's own life differ from all else: the embedder's dimensions and a bias."""

    def how_personal(self, vector: NDArray[np.float32] | None) -> float:
        """Return how much a query asks for the speaker's own life, by its vector: a logit, 0 if nothing is known."""
        if self.personal is None or vector is None or len(vector) + 1 != len(self.personal):
            return 0.0
        return float(vector @ self.personal[:-1] + self.personal[-1])


@dataclass(frozen=True, slots=True)
class _Overlap:
    """How much of a question's words a fact has."""

    whole: float
    topic: float
    """Without names."""
    best: float
    mass: float
    """Weight of the words that are not names."""
    names_shared: bool
    names_missing: bool


def signs_of(
    question: Question,
    shelf: Shelf,
    cosines: Cosines,
    wanted: Iterable[str],
    personal: float,
) -> dict[str, dict[str, float]]:
    """Return the signs of relevance of facts, by id.

    Args:
        question: What is asked.
        shelf: The person's facts.
        cosines: Of the question's vector with those of the facts; a fact without one counts as average.
        wanted: Ids of the facts to look at.
        personal: `Calibration.how_personal` of the whole query.
    """
    found = {}
    unknown = _unknown_signs(question, shelf)
    for fact_id in sorted(wanted):
        entry = shelf.entries[fact_id]
        cosine = cosines.of.get(fact_id, cosines.mean)
        signs = {
            "dense": cosine,
            "dense_above_mean": (cosine - cosines.mean) * _SCALE,
            "dense_below_top": (cosines.top - cosine) * _SCALE,
            "personal": personal,
        }
        overlap = _overlap(question, entry, shelf)
        signs |= _word_signs(question, entry, shelf, overlap)
        signs |= _asking_signs(question, entry, overlap)
        signs |= _day_signs(question, entry, overlap) | unknown
        signs |= _answer_signs(question, entry)
        found[fact_id] = signs | _joint_signs(signs, overlap)
    return found


def relevance(signs: Mapping[str, float], calibration: Calibration) -> float:
    """Return the probability that a fact with these signs is what the question wants."""
    return probability(calibration.weights, signs)


def recency(said_at: datetime, now: datetime, weight: float, days: float) -> float:
    """Return ``weight · exp(−Δ/days)``, Δ in days (the article's boost); a time ahead of `now` counts as now."""
    elapsed = max(0.0, (now - said_at).total_seconds() / 86_400)
    return weight * math.exp(-elapsed / days)


def _overlap(question: Question, entry: Entry, shelf: Shelf) -> _Overlap:
    sounds = [term.sound for term in entry.terms.terms if term.kind is not TermKind.PERSON]
    total = found = topic_total = topic_found = best = 0.0
    shared = missing = False
    for term in question.terms.terms:
        if term.kind is TermKind.PERSON:
            continue
        match = _match(term, entry.terms.forms, sounds)
        weight = term.weight * shelf.rarity(term.key)
        total += weight
        found += weight * match
        if term.kind is TermKind.NAME or term.sound in shelf.names:
            shared, missing = shared or match > 0.5, missing or match <= 0.5
        else:
            topic_total += weight
            topic_found += weight * match
            best = max(best, weight * match)
    return _Overlap(
        found / (total + _COVERAGE_PRIOR),
        topic_found / (topic_total + _COVERAGE_PRIOR),
        best,
        topic_total,
        shared,
        missing,
    )


def _match(term: Term, forms: Set[str], sounds: Sequence[str]) -> float:
    if term.key in forms or term.sound in forms:
        return 1.0
    return 0.8 * max((likeness(term.sound, other) for other in sounds), default=0.0)


def _word_signs(
    question: Question, entry: Entry, shelf: Shelf, overlap: _Overlap
) -> dict[str, float]:
    asked, told = question.terms, entry.terms
    shared, missing = asked.notions & told.notions, asked.notions - told.notions
    missing_attributes = missing & _ASKED_ATTRIBUTES
    if told.names:
        missing_attributes -= {"name"}
    heard = [
        occurs_in(term.sound, question.sound, question.language) * shelf.rarity(term.key)
        for term in told.terms
        if term.kind in (TermKind.WORD, TermKind.NAME) and term.weight >= _TELLING
    ]
    return {
        "coverage": overlap.whole,
        "topic_coverage": overlap.topic,
        "best_term": overlap.best,
        "topic_mass": min(overlap.mass, 3.0) / 3.0,
        "heard": max(heard, default=0.0),
        "notions": sum(shelf.rarity(f"#{notion}") for notion in shared)
        / (1 + 0.5 * len(asked.notions)),
        "notions_missing": len(missing) / (1 + len(asked.notions)),
        "attribute_missing": float(bool(missing_attributes)),
        "person_shared": float(bool(asked.persons & told.persons)),
        "person_missing": float(bool(asked.persons - told.persons)),
        "person_extra": float(bool(told.persons - asked.persons) and not overlap.names_shared),
        "name_shared": float(overlap.names_shared),
        "name_missing": float(overlap.names_missing),
    }


def _unknown_signs(question: Question, shelf: Shelf) -> dict[str, float]:
    """Return whether a question is about somebody of whom nothing is known: then no fact is an answer."""
    strange = any(
        max((likeness(term.sound, known) for known in shelf.sounds), default=0.0) < 0.5
        for term in question.terms.terms
        if term.kind is TermKind.NAME
        and len(term.sound) >= _SHORTEST_NAME
        and not {term.sound, term.key} & shelf.sounds
    )
    unknown_person = question.terms.persons - shelf.persons
    return {"stranger": float(strange), "unknown_person": float(bool(unknown_person))}


def _asking_signs(question: Question, entry: Entry, overlap: _Overlap) -> dict[str, float]:
    asking = question.asking
    about_people = overlap.names_shared or bool(question.terms.persons & entry.terms.persons)
    return {
        "asks": float(asking.asks),
        "own": float(asking.own),
        "recalls": float(asking.recalls),
        "world": float(asking.world and not asking.recalls),
        "orders": float(asking.orders),
        "tell": float(asking.tell),
        "anchored": float(asking.own or asking.recalls or about_people or bool(question.ranges)),
    }


def _answer_signs(question: Question, entry: Entry) -> dict[str, float]:
    """Return whether a fact holds the sort of thing that is asked for: an amount, a person."""
    has_amount = _AMOUNT.search(bare(entry.fact.text)) is not None
    has_person = bool(entry.terms.names or entry.terms.persons)
    return {
        "amount": float(question.wants_amount and has_amount),
        "amount_missing": float(question.wants_amount and not has_amount),
        "who": float(question.wants_person and has_person),
        "who_missing": float(question.wants_person and not has_person),
    }


def _day_signs(question: Question, entry: Entry, overlap: _Overlap) -> dict[str, float]:
    last = entry.fact.event_to
    if entry.fact.event_from is None or last is None:
        shares_weekday = bool(question.weekdays & weekdays(entry.fact.text))
        return {
            "undated": float(bool(question.ranges)),
            "weekday": float(shares_weekday),
            "when_undated": float(question.wants_day),
        }
    in_range = question.covers(entry.fact)
    ahead = last >= question.at.date()
    agenda = question.wants_agenda
    return {
        "in_range": float(in_range),
        "out_of_range": float(bool(question.ranges) and not in_range),
        "in_range_agenda": float(in_range and (agenda or overlap.mass < _LITTLE_ELSE)),
        "when_dated": float(question.wants_day),
        "when_ahead": float(question.wants_day and ahead),
        "agenda_ahead": float(agenda and ahead and not question.ranges),
    }


def _joint_signs(signs: Mapping[str, float], overlap: _Overlap) -> dict[str, float]:
    """Return signs that mean something only together: shared words are worth less where no memory is asked for."""
    coverage = signs["coverage"]
    return {
        "coverage_unanchored": (1 - signs["anchored"]) * coverage,
        "coverage_personal": coverage * signs["personal"],
        "coverage_world": signs["world"] * coverage,
        "coverage_unasked": (1 - signs["asks"]) * coverage,
        "name_without_topic": signs["name_shared"] * (1 - overlap.topic) * (overlap.mass > 0.15),
        "attribute_missing_coverage": signs["attribute_missing"] * coverage,
        "topic_missing": signs["topic_mass"] * (1 - overlap.topic),
    }
