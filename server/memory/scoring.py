"""How relevant a fact is to a question: the signs of it.

Nothing is fused by rank and nothing is cut by cosine before they are weighed: a fact that shares no word is found by its vector,
one whose vector is far by its day. What they amount to is learnt per embedder on sets of our own (`omoide calibrate`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from server.memory import lexicon
from server.memory.answer_types import AnswerType, offers
from server.memory.attributes import PET, Attribute, Owned
from server.memory.claims import SPEAKER
from server.memory.judging import NO_OPINION, Forest, add_standing
from server.memory.question import Question
from server.memory.shelf import Cosines, Entry, Shelf
from server.memory.sounds import likeness, occurs_in
from server.memory.terms import Term, TermKind

OF_OTHERS = "of_others"
"""The sign that a question is about one person, or the robot, and a fact about another: it rules the fact out by itself."""
CLAIMS = "claims"
"""The sign that a fact gives exactly the attribute that is asked for, of the one who is asked about: it lets the fact in."""
_GIVES, _IN_PASSING = 0.9, 0.75
"""How sure it is that a fact which gives it is wanted; and one which names somebody while it tells something else."""
_ASKED_ATTRIBUTES = frozenset(
    {"birthday", "age", "colour", "phone", "money", "name", "weight", "height"}
)
"""Notions that a fact has to touch if they are asked for: a fact about Ken is no answer to how old Ken is."""
_LITTLE_ELSE = 0.5
"""Weight of the terms under which a question has no topic but its days ("what's on tomorrow")."""
_TELLING = 0.6
_SHORTEST_NAME = 3
"""Shorter sounds are often a tokenizer's mistake."""
_SCALE = 5.0
"""Brings differences of cosines to the size of the other signs."""
_COVERAGE_PRIOR = 0.3


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


@dataclass(frozen=True, slots=True)
class _People:
    """Of which people a question and a fact speak; a name stands for what is known of its bearer."""

    shared: Set[str]
    """Asked after, and perhaps meant by the fact."""
    missing: Set[str]
    """Asked after, and not in the fact."""
    extra: Set[str]
    """In the fact, and not asked after."""
    of_others: bool
    """The question is about one of the family, and the fact about another."""


def signs_of(
    question: Question, shelf: Shelf, cosines: Cosines, wanted: Iterable[str]
) -> dict[str, dict[str, float]]:
    """Return the signs of relevance of facts, by id; what perceptrons say comes to them with `with_opinions`.

    Args:
        question: What is asked.
        shelf: The person's facts.
        cosines: Of the question's vector with those of the facts; a fact without one counts as average.
        wanted: Ids of the facts to look at.
    """
    found = {}
    unknown = _unknown_signs(question, shelf)
    asked_after = shelf.people_in(question.terms)
    for fact_id in sorted(wanted):
        entry = shelf.entries[fact_id]
        people = _people(asked_after, shelf.people_in(entry.terms))
        cosine = cosines.of.get(fact_id, cosines.mean)
        signs = {
            "dense": cosine,
            "dense_above_mean": (cosine - cosines.mean) * _SCALE,
            "dense_below_top": (cosines.top - cosine) * _SCALE,
            "dense_deviations": (cosine - cosines.mean) / (cosines.deviation or 1.0),
        }
        overlap = _overlap(question, entry, shelf)
        signs |= _word_signs(question, entry, shelf, overlap)
        signs |= _person_signs(people, overlap) | _subject_signs(question, entry, asked_after)
        signs |= _asking_signs(question, people, overlap)
        signs |= _day_signs(question, entry, overlap) | unknown
        signs[CLAIMS] = _claim_sign(question, entry)
        signs[OF_OTHERS] = max(signs[OF_OTHERS], float(_claims_of_others(question, entry)))
        signs |= _answer_signs(question, entry)
        found[fact_id] = signs | _joint_signs(signs, overlap)
    for name in ("dense", "dense_deviations", "coverage", "topic_coverage"):
        add_standing(list(found.values()), name)
    return found


def with_opinions(
    signs: Mapping[str, Mapping[str, float]], personal: float, paired: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Return signs with what perceptrons say of the vectors.

    Args:
        signs: Of `signs_of`.
        personal: Logit of the probability that memory is asked at all.
        paired: Logits of the probability that the question and a fact belong together, by fact.
    """
    full = {
        key: {
            **one,
            "personal": personal,
            "coverage_personal": one["coverage"] * personal,
            "paired": paired.get(key, NO_OPINION),
        }
        for key, one in signs.items()
    }
    add_standing(list(full.values()), "paired")
    return full


def judged(forest: Forest, signs: Sequence[Mapping[str, float]]) -> list[float]:
    """Return the probability that each of some facts is what the question wants.

    None that is about others can be, and one that gives what is asked for is so whatever else the signs say.
    """
    likely = forest.probabilities(signs).tolist()
    return [
        0.0 if one[OF_OTHERS] else value + (1 - value) * one[CLAIMS]
        for one, value in zip(signs, likely, strict=True)
    ]


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
        "other_kind": float(lexicon.are_other_kinds(asked.kinds, told.kinds)),
        "name_shared": float(overlap.names_shared),
        "name_missing": float(overlap.names_missing),
    }


def _people(wanted: Set[str], there: Set[str]) -> _People:
    shared = lexicon.may_be_among(wanted, there)
    extra = there - lexicon.may_be_among(there, wanted)
    of_others = bool(wanted & lexicon.KIN and there & lexicon.KIN) and not shared
    return _People(shared, wanted - shared, extra, of_others)


def _person_signs(people: _People, overlap: _Overlap) -> dict[str, float]:
    """Return whether a fact is about the people that are asked after."""
    return {
        "person_shared": float(bool(people.shared)),
        "person_missing": float(bool(people.missing)),
        "kin_missing": float(bool(people.missing & lexicon.KIN)),
        "person_extra": float(bool(people.extra) and not overlap.names_shared),
        OF_OTHERS: float(people.of_others),
    }


def _claim_sign(question: Question, entry: Entry) -> float:
    if any(_gives(entry.claims, owned) for owned in question.asked):
        return _GIVES
    names = {owner for owner, attribute in question.asked if attribute is Attribute.NAME}
    return _IN_PASSING if lexicon.may_be_among(names & lexicon.KIN, entry.calls) else 0.0


def _claims_of_others(question: Question, entry: Entry) -> bool:
    """Say whether a fact gives what is asked for of somebody else only: the dog's name; or the robot is asked about."""
    if question.of_robot:
        return not entry.fact.about
    if lexicon.are_other_kinds(_animals(question.terms.kinds), _animals(entry.terms.kinds)):
        return True
    if any(_gives(entry.claims, owned) for owned in question.asked):
        return False
    return any(
        attribute is wanted
        and (whose == SPEAKER or owner in _KNOWN or _is_own(owner, attribute, entry))
        for whose, wanted in question.asked
        for owner, attribute in entry.claims
    )


def _is_own(owner: str, attribute: Attribute, entry: Entry) -> bool:
    """Say whether an attribute is the speaker's and nobody else's. A home is shared; in 犬がいて、名前はポチ the name is whose?"""
    names_others = entry.terms.persons or _animals(entry.terms.kinds)
    return owner == SPEAKER and attribute is not Attribute.HOME and not names_others


def _animals(kinds: Set[str]) -> set[str]:
    return {kind for kind in kinds if kind.startswith("animal/")}


_KNOWN = lexicon.KIN | {PET}
"""Owners that are nobody else; a name may be anybody's."""


def _gives(claims: Set[Owned], asked: Owned) -> bool:
    whose, wanted = asked
    owners = {owner for owner, attribute in claims if attribute is wanted}
    return whose in owners or bool(lexicon.may_be_among({whose} & lexicon.KIN, owners))


def _subject_signs(question: Question, entry: Entry, asked_after: Set[str]) -> dict[str, float]:
    """Return whether a fact tells of somebody else, and whether that is so while the question is about the speaker alone."""
    of_self = question.asking.own and not asked_after and not question.terms.names
    return {
        "of_another": float(entry.is_of_another),
        "self_for_another": float(of_self and entry.is_of_another),
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


def _asking_signs(question: Question, people: _People, overlap: _Overlap) -> dict[str, float]:
    asking = question.asking
    about_people = overlap.names_shared or bool(people.shared)
    return {
        "asks": float(asking.asks),
        "own": float(asking.own),
        "recalls": float(asking.recalls),
        "world": float(asking.world and not asking.recalls),
        "orders": float(asking.orders),
        "states": float(question.states),
        "tell": float(asking.tell),
        "anchored": float(asking.own or asking.recalls or about_people or _asks_for_days(question)),
    }


def _asks_for_days(question: Question) -> bool:
    return bool(question.ranges) and not question.remarks


def _answer_signs(question: Question, entry: Entry) -> dict[str, float]:
    """Return for each sort of answer that is asked for whether the fact has one (1) or not (-1)."""
    found = {
        kind: offers(kind, entry.holds, question.terms, entry.terms) for kind in question.wants
    }
    return {
        "answers": float(any(found.values())),
        "answer_missing": float(bool(found) and not any(found.values())),
        **{f"answer_{kind}": 1.0 if held else -1.0 for kind, held in found.items()},
    }


def _day_signs(question: Question, entry: Entry, overlap: _Overlap) -> dict[str, float]:
    last = entry.fact.event_to
    wants_day = AnswerType.DAY in question.wants
    if entry.fact.event_from is None or last is None:
        return {
            "undated": float(bool(question.ranges)),
            **_habit_signs(question, entry, overlap),
            "when_undated": float(wants_day),
        }
    covered = question.covers(entry.fact)
    in_range = covered and not question.remarks
    ahead = last >= question.at.date()
    agenda = question.wants_agenda
    return {
        "in_range": float(in_range),
        "out_of_range": float(bool(question.ranges) and not covered),
        "in_range_agenda": float(in_range and (agenda or overlap.mass < _LITTLE_ELSE)),
        "when_dated": float(wants_day),
        "when_ahead": float(wants_day and ahead),
        "agenda_ahead": float(agenda and ahead and not question.ranges),
    }


def _habit_signs(question: Question, entry: Entry, overlap: _Overlap) -> dict[str, float]:
    if entry.habit is None or not (question.days or question.weekdays):
        return {}
    meets = question.meets(entry.habit)
    agenda = question.wants_agenda or overlap.mass < _LITTLE_ELSE
    return {
        "recurs": float(meets and not question.remarks),
        "recurs_agenda": float(meets and agenda and not question.remarks),
        "recurs_elsewhen": float(not meets),
    }


def _joint_signs(signs: Mapping[str, float], overlap: _Overlap) -> dict[str, float]:
    """Return signs that mean something only together: shared words are worth less where no memory is asked for."""
    coverage = signs["coverage"]
    return {
        "coverage_unanchored": (1 - signs["anchored"]) * coverage,
        "coverage_world": signs["world"] * coverage,
        "coverage_unasked": (1 - signs["asks"]) * coverage,
        "name_without_topic": signs["name_shared"] * (1 - overlap.topic) * (overlap.mass > 0.15),
        "attribute_missing_coverage": signs["attribute_missing"] * coverage,
        "topic_missing": signs["topic_mass"] * (1 - overlap.topic),
    }
