"""What one look at a batch of pages gives: facts and everything else that memory keeps of a talk."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server.memory.layers.fields import FieldKey
from server.memory.models import Fact, Note, ProfileEntry, Trait
from server.memory.safety.models import SafetyEvent


@dataclass(frozen=True, slots=True)
class Topic:
    """Pages of one batch that are about the same thing."""

    keywords: frozenset[str]
    summary: str
    """In the language of the batch."""
    pages: tuple[str, ...]
    """Ids, oldest first; no page lies in two topics."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked the robot to be from now on, in their own words."""

    key: FieldKey
    value: str
    person: str
    page: str
    """Id of the exchange."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """What was drawn from pages of one person, all of it checked; empty where there was nothing, or nothing sound."""

    facts: tuple[Fact, ...] = ()
    """What the person told, then what the agent told of itself or did for the person (`Fact.about`)."""
    topics: tuple[Topic, ...] = ()
    """A page that lies in none has still to be sorted."""
    continued: frozenset[str] = frozenset()
    """Ids of the pages that follow from the page before them in time."""
    chain_summary: str = ""
    """What the dialogue chain is about that runs on after the last page."""
    profile: tuple[ProfileEntry, ...] = ()
    traits: tuple[Trait, ...] = ()
    notes: tuple[Note, ...] = ()
    events: tuple[SafetyEvent, ...] = ()
    persona: tuple[Asked, ...] = ()
    misfiled: Mapping[str, int] = field(default_factory=dict)
    """How much was left out because it belongs to a layer that is not written this way, by the reason."""

    @property
    def is_worded(self) -> bool:
        """Whether a model told in words of its own what pages are about: it saw all, and may tell of any."""
        return bool(self.topics or self.chain_summary or self.notes)
