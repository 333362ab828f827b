"""Everything that is stored of a person, for their own eyes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.config import Policy
from server.memory.consents import Pending, Remembering, Rule
from server.memory.models import (
    Chain,
    DaySummary,
    Fact,
    Note,
    Page,
    ProfileEntry,
    Segment,
    Trait,
)
from server.memory.portrait import newest_of
from server.memory.private import Category
from server.memory.store import Store


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
    days: Sequence[DaySummary]
    remembering: Remembering
    policies: Mapping[Category, Policy]
    """What they have decided of private matters."""
    pending: Sequence[Pending]
    """What waits for that."""
    rules: Sequence[Rule]
    """What the robot is to do for good."""


def dossier_of(store: Store, person: str) -> Dossier:
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
        store.portrait.summaries_of(person),
        store.consents.state_of(person),
        store.consents.choices().get(person, {}),
        store.consents.pending_of(person),
        store.consents.rules().get(person, ()),
    )
