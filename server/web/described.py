"""What is stored of a person as plain data, as in the API and in exports."""

from typing import Any

from server.config import FadingSection
from server.memory.consents import Pending, Rule
from server.memory.dossier import Dossier
from server.memory.fading import fades_at
from server.memory.models import (
    Candidate,
    DaySummary,
    Fact,
    Note,
    Page,
    ProfileEntry,
    Segment,
    Trait,
)
from server.memory.recall import as_scores


def describe_dossier(dossier: Dossier, fading: FadingSection) -> dict[str, Any]:
    """Return everything of a person as plain data."""
    return {
        "person": dossier.person,
        "facts": [describe_fact(fact, fading) for fact in dossier.facts],
        "pages": [describe_page(page) for page in dossier.pages],
        "chains": [{"id": chain.id, "summary": chain.summary} for chain in dossier.chains],
        "segments": [_segment(segment) for segment in dossier.segments],
        "profile": [_entry(entry) for entry in dossier.profile],
        "traits": [_trait(trait) for trait in dossier.traits],
        "notes": [_note(note) for note in dossier.notes],
        "days": [_day(summary) for summary in dossier.days],
        "consent": {
            "memory": str(dossier.remembering),
            "policies": {str(one): str(policy) for one, policy in dossier.policies.items()},
            "pending": [describe_pending(one) for one in dossier.pending],
            "rules": [describe_rule(rule) for rule in dossier.rules],
        },
    }


def describe_pending(one: Pending) -> dict[str, Any]:
    """Return a sentence that waits for consent as plain data."""
    return {
        "id": one.id,
        "category": str(one.category),
        "text": one.text,
        "language": one.language,
        "at": one.at.isoformat(),
    }


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Return what the robot is to do for good as plain data."""
    return {"id": rule.id, "text": rule.text, "at": rule.at.isoformat(), "actor": rule.actor}


def describe_fact(fact: Fact, fading: FadingSection) -> dict[str, Any]:
    """Return a fact as plain data."""
    faded = fades_at(fact, fading)
    return {
        "id": fact.id,
        "person": fact.person,
        "text": fact.text,
        "language": fact.language,
        "kind": str(fact.kind),
        "importance": str(fact.importance),
        "about": fact.about,
        "said_at": fact.said_at.isoformat(),
        "repeated_at": [moment.isoformat() for moment in fact.repeated_at],
        "event_from": fact.event_from.isoformat() if fact.event_from else None,
        "event_to": fact.event_to.isoformat() if fact.event_to else None,
        "quote": fact.quote,
        "origin": str(fact.origin),
        "sources": list(fact.sources),
        "fades_at": faded.astimezone(fact.said_at.tzinfo).isoformat() if faded else None,
        "superseded_by": fact.superseded_by or None,
        "superseded_at": fact.superseded_at.isoformat() if fact.superseded_at else None,
    }


def describe_candidate(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data: the fact, every score, and why it passed or not."""
    return {
        "id": candidate.fact.id,
        "text": candidate.fact.text,
        "said_at": candidate.fact.said_at.isoformat(),
        "last_said_at": candidate.fact.last_said_at.isoformat(),
        "scores": dict(as_scores(candidate)),
        "signs": {name: round(value, 3) for name, value in candidate.signs.items() if value},
        "passed": candidate.passed,
        "reason": candidate.reason,
    }


def describe_page(page: Page) -> dict[str, Any]:
    """Return an exchange as plain data."""
    return {
        "id": page.id,
        "at": page.at.isoformat(),
        "device": page.device,
        "said": page.said,
        "heard": page.heard,
        "language": page.language,
        "interrupted": page.interrupted,
        "chain": page.chain,
        "segment": page.segment,
    }


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "id": segment.id,
        "language": segment.language,
        "summary": segment.summary,
        "keywords": sorted(segment.keywords),
        "created_at": segment.created_at.isoformat(),
        "last_at": segment.last_at.isoformat(),
        "visits": segment.visits,
        "evicted_at": segment.evicted_at.isoformat() if segment.evicted_at else None,
    }


def _entry(entry: ProfileEntry) -> dict[str, Any]:
    return {
        "field": str(entry.field),
        "value": entry.value,
        "said_at": entry.said_at.isoformat(),
        "sources": list(entry.sources),
    }


def _trait(trait: Trait) -> dict[str, Any]:
    return {
        "dimension": trait.dimension,
        "level": str(trait.level),
        "seen_at": trait.seen_at.isoformat(),
        "sources": list(trait.sources),
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "kind": str(note.kind),
        "text": note.text,
        "quote": note.quote,
        "at": note.at.isoformat(),
        "page": note.page,
    }


def _day(summary: DaySummary) -> dict[str, Any]:
    return {
        "day": summary.day.isoformat(),
        "language": summary.language,
        "text": summary.text,
        "follow_ups": list(summary.follow_ups),
        "origin": str(summary.origin),
        "sources": list(summary.sources),
    }
