"""The User layer: what is known of a person, as the third layer beside Soul and Identity. A view, stored nowhere.

Its parts are the profile, the traits and the most telling facts, which a prompt is told in `<about_the_person>`. They are
changed where they are kept: by what the person says, and by correcting and forgetting facts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from server.memory.knowledge import knowledge
from server.memory.models import Fact, Kind, ProfileEntry, ProfileField, Trait
from server.memory.traits import Dimension

MOST_LINES = 10
"""Of a field."""


@dataclass(frozen=True, slots=True)
class UserLayer:
    """Who the robot talks with. Every field is in the person's language."""

    name: str = ""
    traits: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    """What they mean to do, the newest first; what is past is none."""
    facts: tuple[str, ...] = ()
    """What else is known of them for good, the most telling first."""


def user_layer(
    profile: Sequence[ProfileEntry],
    traits: Sequence[Trait],
    facts: Sequence[Fact],
    dimensions: Mapping[str, Dimension],
    language: str,
    today: date,
) -> UserLayer:
    """Return the view.

    Args:
        profile: The values that hold.
        traits: Those of the person.
        facts: All of the person; what was replaced, and what the robot did, is passed over.
        dimensions: What traits are called.
        language: Two-letter code of these names.
        today: In the person's zone.
    """
    named = [entry.value for entry in profile if entry.field is ProfileField.NAME]
    held = [fact for fact in facts if fact.current and not fact.about]
    newest = sorted(held, key=lambda fact: fact.last_said_at, reverse=True)
    goals = [fact for fact in newest if fact.kind is Kind.PLAN and _is_ahead(fact, today)]
    liked = [fact for fact in newest if fact.kind is Kind.PREFERENCE]
    known = [fact for fact in knowledge(facts) if fact not in goals and fact not in liked]
    wished = [entry.value for entry in profile if entry.field is ProfileField.PREFERENCE]
    return UserLayer(
        named[-1] if named else "",
        _first(_told(trait, dimensions, language) for trait in traits if trait.dimension in dimensions),
        _first([*wished, *(fact.text for fact in liked)]),
        _first(fact.text for fact in goals),
        _first(fact.text for fact in known),
    )  # fmt: skip


def _is_ahead(fact: Fact, today: date) -> bool:
    return fact.event_to is None or fact.event_to >= today


def _told(trait: Trait, dimensions: Mapping[str, Dimension], language: str) -> str:
    return f"{dimensions[trait.dimension].name(language)}: {trait.level}"


def _first(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))[:MOST_LINES]
