"""What is stored of a person as plain data, as in the API and in exports."""

from typing import Any

from server.config import FadingSection
from server.memory.audit import AuditEntry
from server.memory.consents import Pending, Rule
from server.memory.dossier import Dossier
from server.memory.erasing import Erased
from server.memory.fading import fades_at
from server.memory.importing import Imported
from server.memory.models import (
    Candidate,
    DaySummary,
    Fact,
    Grounds,
    Note,
    Page,
    ProfileEntry,
    Segment,
    Trait,
)
from server.memory.recall import as_scores
from server.memory.safety.described import describe_event
from server.memory.selecting import Selected
from server.web.persona_described import describe_proposal


def describe_dossier(dossier: Dossier, fading: FadingSection) -> dict[str, Any]:
    """Return everything of a person as plain data."""
    return {
        "person": dossier.person,
        "facts": [describe_fact(fact, fading) for fact in dossier.facts],
        "pages": [
            {
                **describe_page(page),
                "waiting": dossier.states[page.id].waiting,
                "batch": dossier.states[page.id].batch,
                "rests_on": _grounds(dossier.grounds.get(page.id, Grounds())),
            }
            for page in dossier.pages
        ],
        "chains": [{"id": chain.id, "summary": chain.summary} for chain in dossier.chains],
        "segments": [_segment(segment) for segment in dossier.segments],
        "profile": [_entry(entry) for entry in dossier.profile],
        "traits": [_trait(trait) for trait in dossier.traits],
        "notes": [_note(note) for note in dossier.notes],
        "safety": [describe_event(event) for event in dossier.safety],
        "days": [_day(summary) for summary in dossier.days],
        "proposals": [describe_proposal(proposal) for proposal in dossier.proposals],
        "consent": {
            "memory": str(dossier.remembering),
            "policies": {str(one): str(policy) for one, policy in dossier.policies.items()},
            "pending": [describe_pending(one) for one in dossier.pending],
            "rules": [describe_rule(rule) for rule in dossier.rules],
        },
    }


MOST_EXAMPLES = 10
"""Of what would go; the numbers say how much it is."""
_LONGEST_EXAMPLE = 100


def describe_erasure(kind: str, erased: Erased, selected: Selected | None = None) -> dict[str, Any]:
    """Return what went, or would go, as plain data: by kind, and some of it in its words."""
    return {
        "kind": kind,
        "persons": sorted(erased.persons),
        "counts": dict(erased.counts),
        "total": erased.total,
        "open_signs": list(erased.open_signs),
        "examples": _examples(selected) if selected else [],
    }


def _examples(selected: Selected) -> list[str]:
    facts = [f"{fact.id}  {fact.text}" for fact in selected.facts]
    pages = [f"{page.id}  {page.at:%Y-%m-%d %H:%M}  {page.said}" for page in selected.pages]
    half = MOST_EXAMPLES // 2
    shown = [*facts[: max(half, MOST_EXAMPLES - len(pages))], *pages][:MOST_EXAMPLES]
    return [one if len(one) <= _LONGEST_EXAMPLE else f"{one[:_LONGEST_EXAMPLE]}…" for one in shown]


def describe_imported(imported: Imported) -> dict[str, Any]:
    """Return what came of an import as plain data."""
    return {
        "counts": dict(imported.counts),
        "forgotten": imported.forgotten,
        "known": imported.known,
    }


def describe_audit(entry: AuditEntry) -> dict[str, Any]:
    """Return an entry of the record of erasures as plain data."""
    return {
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "kind": entry.kind,
        "count": entry.count,
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


def _grounds(grounds: Grounds) -> dict[str, Any]:
    return {"recalled": sorted(grounds.recalled), "held": sorted(map(sorted, grounds.held))}


def _segment(segment: Segment) -> dict[str, Any]:
    return {
        "id": segment.id,
        "language": segment.language,
        "summary": segment.summary,
        "keywords": sorted(segment.keywords),
        "created_at": segment.created_at.isoformat(),
        "last_at": segment.last_at.isoformat(),
        "visits": segment.visits,
        "unread": segment.unread,
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
        "made_at": summary.made_at.isoformat(),
        "sources": list(summary.sources),
    }
