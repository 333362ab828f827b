"""Short ways to make the records of the tiers."""

from datetime import datetime

from server.memory.models import (
    Chain,
    DaySummary,
    Level,
    Note,
    NoteKind,
    Origin,
    ProfileEntry,
    ProfileField,
    Segment,
    Trait,
)
from tests.memory.remembering import NOON


def segment(
    id_: str,
    summary: str = "猫の話。",
    *keywords: str,
    person: str = "hana",
    at: datetime = NOON,
    unread: int = 0,
) -> Segment:
    """Return a segment that was made and last touched at one moment."""
    words = frozenset(keywords or ("猫", "タマ"))
    return Segment(id_, person, "ja", summary, words, at, at, unread=unread)


def chain(id_: str, summary: str = "猫を飼い始めた。", person: str = "hana") -> Chain:
    """Return a chain."""
    return Chain(id_, person, summary)


def entry(
    field: ProfileField, value: str, at: datetime = NOON, *sources: str, person: str = "hana"
) -> ProfileEntry:
    """Return a value in a profile."""
    return ProfileEntry(person, field, value, at, sources)


def trait(
    dimension: str, level: Level, at: datetime = NOON, *sources: str, person: str = "hana"
) -> Trait:
    """Return a trait."""
    return Trait(person, dimension, level, at, sources)


def note(page: str, text: str = "めまい", at: datetime = NOON, person: str = "hana") -> Note:
    """Return a note whose id follows from its page and text."""
    return Note(f"{page}/{text}", person, NoteKind.SAFETY, text, "くらくらする", at, page)


def summary(
    at: datetime, *sources: str, text: str = "猫の話。", person: str = "hana"
) -> DaySummary:
    """Return the summary of the day of a moment."""
    asked = ("タマは元気?",)
    return DaySummary(person, at.date(), "ja", text, asked, Origin.MODEL, at, sources)
