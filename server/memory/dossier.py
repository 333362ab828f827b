"""Everything that is stored of a person, for their own eyes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from server.config import Policy
from server.memory.consents import Pending, Remembering, Rule
from server.memory.layers.proposals import Proposal
from server.memory.models import (
    Chain,
    DaySummary,
    Fact,
    Grounds,
    Note,
    Page,
    ProfileEntry,
    Segment,
    Trait,
)
from server.memory.portrait import newest_of
from server.memory.private import Category
from server.memory.safety.models import SafetyEvent

if TYPE_CHECKING:
    from server.memory.store import Store


class PageState(NamedTuple):
    """How far an exchange has been worked off."""

    waiting: bool = False
    """Whether facts have still to be drawn from it."""
    batch: str = ""
    """Id of the first of those that a model put in words together; empty if none did."""


@dataclass(frozen=True, slots=True)
class Dossier:
    """What a person said, and what was made of it; each sequence has the oldest first."""

    person: str
    facts: Sequence[Fact]
    """Replaced ones too."""
    pages: Sequence[Page]
    chains: Sequence[Chain]
    segments: Sequence[Segment]
    """Evicted ones too."""
    profile: Sequence[ProfileEntry]
    traits: Sequence[Trait]
    """By dimension."""
    notes: Sequence[Note]
    safety: Sequence[SafetyEvent]
    days: Sequence[DaySummary]
    proposals: Sequence[Proposal]
    """What they asked the robot to be."""
    remembering: Remembering
    policies: Mapping[Category, Policy]
    """What they have decided of private matters."""
    pending: Sequence[Pending]
    """What waits for that."""
    rules: Sequence[Rule]
    """What the robot is to do for good."""
    states: Mapping[str, PageState] = field(default_factory=dict)
    """By page."""
    grounds: Mapping[str, Grounds] = field(default_factory=dict)
    """By page, what the answer rested on."""


def dossier_of(store: "Store", person: str) -> Dossier:
    """Return everything of a person. Blocks.

    Raises:
        StoreError: The store can't be read.
    """
    return Dossier(
        person,
        store.facts_of(person),
        store.pages.of(person),
        store.tiers.chains_of(person),
        store.tiers.segments_of(person),
        newest_of(store.portrait.profile_of(person)),
        store.portrait.traits_of(person),
        store.portrait.notes_of(person),
        store.safety.find(person),
        store.portrait.summaries_of(person),
        store.personas.asked_by(person),
        store.consents.state_of(person),
        store.consents.choices().get(person, {}),
        store.consents.pending_of(person),
        store.consents.rules().get(person, ()),
        {id_: PageState(*state) for id_, state in store.queue.states_of(person).items()},
        store.cuts.grounds_of(person),
    )
