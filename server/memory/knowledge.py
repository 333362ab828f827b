"""The facts that a long-term memory consists of (MemoryOS, section 3.1): what holds of a person, and what the agent did."""

from collections.abc import Sequence, Set

from server.config import LongTermSection
from server.memory.models import Fact, Importance

MOST_KNOWLEDGE = LongTermSection().capacity
"""Entries of the user knowledge base, and of the agent traits, where the configuration does not say otherwise."""


def knowledge(
    facts: Sequence[Fact], without: Set[str] = frozenset(), capacity: int = MOST_KNOWLEDGE
) -> list[Fact]:
    """Return the user knowledge base: what holds of the person for good, the newest first, `capacity` at most.

    What is lasting is pinned: trivia never push it out.
    """
    mine = [
        fact
        for fact in facts
        if fact.current
        and not fact.about
        and fact.event_from is None
        and fact.id not in without
        and fact.importance is not Importance.FLEETING
    ]
    newest = sorted(
        mine,
        key=lambda fact: (fact.importance is not Importance.LASTING, -fact.said_at.timestamp()),
    )
    return newest[:capacity]


def agent_traits(facts: Sequence[Fact], capacity: int = MOST_KNOWLEDGE) -> list[Fact]:
    """Return what an agent told of itself or did for the person, the newest first.

    Args:
        facts: Those about other agents left out.
        capacity: How many at most.
    """
    own = [fact for fact in facts if fact.current and fact.about]
    return sorted(own, key=lambda fact: -fact.said_at.timestamp())[:capacity]
