"""The records of memory: pages (exchanges), facts, and how a candidate scored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Page:
    """One exchange, as it was said and heard."""

    said: str
    heard: str
    """The part of the reply that was really played; empty if there was none, or an apology in its place."""
    at: datetime
    """When the turn began; aware, in the person's zone."""
    language: str = "ja"
    """Two-letter code of what was said."""
    interrupted: bool = False
    id: str = ""
    """The id of the turn."""
    person: str = ""
    device: str = ""
    begun_in: tuple[str, ...] = ()
    """Ids of the turns before, where what was said in several was put together again; see `server.memory.passages`."""


class Kind(StrEnum):
    """What a fact is about, as a model or the rules sorted it."""

    PREFERENCE = "preference"
    HABIT = "habit"
    PLAN = "plan"
    EVENT = "event"
    PROFILE = "profile"
    RELATION = "relation"
    HEALTH = "health"
    OTHER = "other"


class Origin(StrEnum):
    """Where a fact comes from."""

    MODEL = "model"
    """A language model wrote the sentence; the quote shows what the person said."""
    RULES = "rules"
    """The person's own sentence, quoted."""
    HAND = "hand"
    """Put in through the API, an import or a test set."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One dated sentence about a person."""

    id: str
    person: str
    text: str
    language: str
    said_at: datetime
    """When it was said; aware, in the person's zone."""
    kind: Kind = Kind.OTHER
    quote: str = ""
    """The words of the person that it was drawn from."""
    event_from: date | None = None
    """First day of what it tells of, in the person's zone."""
    event_to: date | None = None
    """Last day, inclusive."""
    origin: Origin = Origin.HAND
    sources: tuple[str, ...] = ()
    """Ids of the pages it was drawn from."""
    superseded_by: str = ""
    """Id of the fact that replaced it; empty while it is current."""
    superseded_at: datetime | None = None

    @property
    def current(self) -> bool:
        """Whether it still holds, as far as is known."""
        return not self.superseded_by


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that was looked at for a query, and why it was taken or left."""

    fact: Fact
    score: float
    passed: bool
    """Whether it is relevant enough to be told to the model."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Components of the score by name: dense, lexical, recency, date, …"""
    reason: str = ""
    """What it was left out for; empty if it passed."""
    signs: Mapping[str, float] = field(default_factory=dict)
    """Everything that its relevance was reckoned from."""
