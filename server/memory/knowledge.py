"""The facts that a long-term memory consists of (MemoryOS, section 3.1): what holds of a person, and what the agent did."""

from collections.abc import Sequence

from server.config import LongTermSection
from server.memory.models import Fact, Importance
from server.memory.pinning import Pin, is_kept_by_agent, pin_of

MOST_KNOWLEDGE = LongTermSection().capacity
"""Entries of the user knowledge base, and of the agent traits, where the configuration does not say otherwise."""


def knowledge(facts: Sequence[Fact], capacity: int = MOST_KNOWLEDGE) -> list[Fact]:
    """Return the user knowledge base: what holds of the person for good, `capacity` entries at most.

    What is lasting is pinned, by what it is (`Pin`): neither trivia nor anything newer push out a name or an allergy. In
    each rank the newest comes first. Of what happened on a day, only what is pinned by what it is belongs to it: the day
    that somebody died, not one on which they were called.
    """
    mine = [
        (pin, fact)
        for fact in facts
        if fact.current
        and not fact.about
        and fact.importance is not Importance.FLEETING
        and _is_for_good(fact, pin := pin_of(fact))
    ]
    ranked = sorted(
        mine,
        key=lambda one: (len(Pin) if one[0] is None else one[0], -one[1].last_said_at.timestamp()),
    )
    return [fact for _, fact in ranked[:capacity]]


def agent_traits(facts: Sequence[Fact], capacity: int = MOST_KNOWLEDGE) -> list[Fact]:
    """Return what an agent told of itself or did for the person.

    What it promised and what was named comes first, then the newest.

    Args:
        facts: Those about other agents left out.
        capacity: How many at most.
    """
    own = [fact for fact in facts if fact.current and fact.about]
    own.sort(key=lambda fact: (not is_kept_by_agent(fact), -fact.last_said_at.timestamp()))
    return own[:capacity]


def _is_for_good(fact: Fact, pin: Pin | None) -> bool:
    if fact.event_from is None:
        return True
    is_behind = fact.event_from <= fact.said_at.date()
    return is_behind and pin is not None and pin is not Pin.OTHER
