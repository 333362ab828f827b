"""The records of safety: a sign in a sentence, the event that is kept of it, and what became of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from server.memory.models import Origin


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


HIDDEN = frozenset({SignalKind.SELF_HARM, SignalKind.ABUSE})
"""Kinds that are rarely spoken out: whatever sounds like one has to be looked at the same day."""


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
class Review:
    """That somebody looked at an event."""

    state: State
    """What it is from then on."""
    by: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class SafetyEvent:
    """What is kept of the signs of one kind in one exchange."""

    id: str
    """Follows from page and kind: the same signs are kept once."""
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
    origin: Origin = Origin.RULES
    """Who noticed it: the rules at once, or a model in what was said, minutes later."""
    reviews: tuple[Review, ...] = ()
    """Oldest first."""

    @property
    def state(self) -> State:
        """How far its review is."""
        return self.reviews[-1].state if self.reviews else State.OPEN


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event that a webhook has still to be told of."""

    event: SafetyEvent
    webhook: str
    """Its name in the configuration."""
    attempts: int
    """How often it has been tried in vain."""
    is_erased: bool = False
    """Whether its words were erased meanwhile: the event has none, no exchange and no reviews then."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How it stands with what a webhook has still to be told."""

    waiting: int
    since: datetime | None = None
    """From when on the oldest waits; None if nothing does."""
    attempts: int = 0
    """How often at most one of them was tried in vain."""
    next_at: datetime | None = None
    """When something is tried again."""
    error: str = ""
    """What went wrong with the attempt before that, in a word."""
