"""The records of safety: a sign in a sentence, the event that is kept of it, and what became of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class SignalKind(StrEnum):
    """What a danger sign is about."""

    SYMPTOM = "symptom"
    FALL = "fall"
    SELF_HARM = "self-harm"
    ABUSE = "abuse"
    """Something that others do to the person."""
    MEDICATION = "medication"
    """Missed, doubled, refused, run out of, or not borne."""
    DISTRESS = "distress"
    """Despair, panic, loneliness that does not pass."""


class Severity(StrEnum):
    """How soon a person has to look at it."""

    WATCH = "watch"
    CONCERN = "concern"
    URGENT = "urgent"

    @property
    def rank(self) -> int:
        """Its place among the severities: the higher, the sooner."""
        return [*Severity].index(self)


class State(StrEnum):
    """How far the review of an event is."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Signal:
    """A danger sign in one sentence."""

    kind: SignalKind
    severity: Severity
    quote: str
    """The sentence as it was said."""


@dataclass(frozen=True, slots=True)
class SafetyEvent:
    """What is kept of the signs of one kind in one exchange."""

    id: str
    """The same for the same page and kind."""
    person: str
    device: str
    kind: SignalKind
    severity: Severity
    quote: str
    """The words of the person, from the first sign to the last."""
    page: str
    """Id of the exchange."""
    language: str
    at: datetime
    """When it was said; aware, in the person's zone."""
    state: State = State.OPEN
    changed_by: str = ""
    """Who acknowledged or closed it; empty while it is open."""
    changed_at: datetime | None = None
    note: str = ""
    """What they wrote about it."""
