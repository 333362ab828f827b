"""The records of memory: pages (exchanges), segments, facts, profile, traits, day summaries, and how a candidate scored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Grounds:
    """What was in mind when an answer was given: ids of facts and pages, and days as ``YYYY-MM-DD``."""

    recalled: frozenset[str] = frozenset()
    """What came to mind for the question: the answer may tell of it in whatever words."""
    held: frozenset[frozenset[str]] = frozenset()
    """What is in mind whatever is asked, and what was said just before. What has several sources goes with the last of them."""

    def __bool__(self) -> bool:
        """Whether there was anything."""
        return bool(self.recalled or self.held)


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
    chain: str = ""
    """Id of the first page of the dialogue chain that it belongs to; empty until it has been sorted."""
    segment: str = ""
    """Id of the segment that it lies in; empty until it has been sorted."""
    begun_in: tuple[str, ...] = ()
    """Ids of the turns before, where what was said in several was put together again; see `server.memory.passages`."""
    grounds: Grounds = Grounds()
    """What the answer rested on; kept in the store, and not read back with the page."""

    @property
    def turns(self) -> tuple[str, ...]:
        """Ids of all turns that it was said in, oldest first."""
        return (*self.begun_in, self.id)


@dataclass(frozen=True, slots=True)
class Chain:
    """Exchanges that follow from each other (MemoryOS, section 3.1: dialogue chain)."""

    id: str
    """Of its first page."""
    person: str
    summary: str
    """What it is about so far: the meta information of all its pages."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Pages on one topic: the middle of the three tiers (MemoryOS, section 3.1: mid-term memory)."""

    id: str
    person: str
    language: str
    summary: str
    keywords: frozenset[str]
    created_at: datetime
    last_at: datetime
    """When a page of it last came in or last reached a prompt."""
    visits: int = 0
    """How often pages of it have reached a prompt (N_visit)."""
    unread: int = 0
    """Pages that the profile has not been updated from yet (L_interaction)."""
    evicted_at: datetime | None = None
    """When it had to make room; its pages are found all the same."""


class Importance(StrEnum):
    """How long something is worth knowing."""

    LASTING = "lasting"
    """Names, family, losses, health, hard preferences: never fades."""
    ORDINARY = "ordinary"
    FLEETING = "fleeting"
    """What was on television: fades within weeks."""


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
    importance: Importance = Importance.ORDINARY
    about: str = ""
    """Name of the agent, for what it told of itself or did for the person (agent traits); empty for what the person told."""
    superseded_by: str = ""
    """Id of the fact that replaced it; empty while it is current."""
    superseded_at: datetime | None = None
    repeated_at: tuple[datetime, ...] = ()
    """When it was said again on later days, oldest first, one for each day: as its sources tell."""

    @property
    def last_said_at(self) -> datetime:
        """When it was last said, to the day."""
        return self.repeated_at[-1] if self.repeated_at else self.said_at

    @property
    def current(self) -> bool:
        """Whether it still holds, as far as is known."""
        return not self.superseded_by


class ProfileField(StrEnum):
    """What the profile has a place for. Those that hold several values are in `MANY_VALUED`."""

    NAME = "name"
    BIRTH = "birth"
    """Year of birth, or birthday, as told."""
    GENDER = "gender"
    HOME = "home"
    """Where the person lives; the room, in a care home."""
    WORK = "work"
    FAMILY = "family"
    PREFERENCE = "preference"
    """What the person would be hurt to see forgotten: no meat, always the window open."""
    HEALTH = "health"
    """Allergies, illnesses, medicine."""


MANY_VALUED = frozenset({ProfileField.FAMILY, ProfileField.PREFERENCE, ProfileField.HEALTH})


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One value in the profile of a person."""

    person: str
    field: ProfileField
    value: str
    said_at: datetime
    sources: tuple[str, ...]
    """Ids of the pages that say so."""


class Level(StrEnum):
    """How strong a trait is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Trait:
    """How a person is in one of the dimensions that `prompts/traits.yaml` names (MemoryOS: user traits)."""

    person: str
    dimension: str
    level: Level
    seen_at: datetime
    sources: tuple[str, ...]
    """Ids of the pages that show it."""


class NoteKind(StrEnum):
    """What is noted beside facts."""

    FOLLOW_UP = "follow-up"
    """Something to ask about another day."""
    MOOD = "mood"
    SAFETY = "safety"
    """A symptom or a sign of danger, with the person's own words."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something noticed in one exchange that is no fact to be recalled."""

    id: str
    person: str
    kind: NoteKind
    text: str
    quote: str
    """The words of the person."""
    at: datetime
    page: str
    """Id of the page that it was noticed in."""


@dataclass(frozen=True, slots=True)
class DaySummary:
    """What a person talked about on one day, in a few sentences."""

    person: str
    day: date
    """In the person's zone."""
    language: str
    text: str
    follow_ups: tuple[str, ...]
    """What to ask about next time."""
    origin: Origin
    made_at: datetime
    sources: tuple[str, ...]
    """Ids of the pages of the day."""


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
