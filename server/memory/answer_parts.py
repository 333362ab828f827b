"""The parts of a model's answer, entry by entry: drafts that say what the model meant and are not yet checked.

Their fields are what a model is asked for (`server.memory.answer_forms`), in this order. A word may be any, whatever it
was to be.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from server.memory.keeping import storable
from server.memory.layers.fields import FieldKey
from server.memory.models import Importance, Kind, Level, NoteKind, ProfileField
from server.memory.safety.models import SignalKind

NOTED = (NoteKind.FOLLOW_UP, NoteKind.MOOD, *SignalKind)
"""What a model is asked to note: a danger sign by its kind."""
_BETWEEN = re.compile(r"[,，、;；]")


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact as a model put it."""

    turn: int
    """Number of the turn that it was said in, from 1; 0 if the model gave none."""
    quote: str
    text: str
    kind: Annotated[str, Kind]
    importance: Annotated[str, Importance] = ""


@dataclass(frozen=True, slots=True)
class TopicDraft:
    """Turns that a model found to be about one thing."""

    turns: tuple[int, ...]
    keywords: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class ProfileDraft:
    """A value for a field of the profile."""

    field: Annotated[str, ProfileField]
    value: str
    turn: int
    quote: str


@dataclass(frozen=True, slots=True)
class TraitDraft:
    """A level in one dimension."""

    dimension: str
    level: Annotated[str, Level]
    turns: tuple[int, ...]
    quotes: tuple[str, ...] = ()
    """Words of the person in these turns that show it."""


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """Something noticed."""

    kind: Annotated[str, NOTED]
    text: str
    turn: int
    quote: str


@dataclass(frozen=True, slots=True)
class PersonaDraft:
    """What the person wants the robot to be."""

    field: Annotated[str, FieldKey]
    value: str
    turn: int
    quote: str


def read_fact(entry: Mapping[str, Any]) -> Draft | None:
    """Return the fact in an entry, or None if it is none."""
    if not isinstance(entry.get("text"), str) or not isinstance(entry.get("quote", ""), str):
        return None
    kind, importance = str(entry.get("kind", "")), _word(entry, "importance")
    return Draft(_turn(entry), _text(entry, "quote"), _text(entry, "text"), kind, importance)


def read_topic(entry: Mapping[str, Any]) -> TopicDraft | None:
    """Return the topic in an entry, or None if it names no turns."""
    turns = _turns(entry)
    if not turns:
        return None
    return TopicDraft(turns, texts_of(entry.get("keywords")), _text(entry, "summary"))


def read_profile(entry: Mapping[str, Any]) -> ProfileDraft | None:
    """Return the value in an entry, or None if there is none. A number, as of a year, counts as its digits."""
    value = entry.get("value")
    written = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(written, str) or not _text(entry, "quote"):
        return None
    quote = _text(entry, "quote")
    return ProfileDraft(_word(entry, "field"), storable(written).strip(), _turn(entry), quote)


def read_trait(entry: Mapping[str, Any]) -> TraitDraft | None:
    """Return the trait in an entry, or None if it lacks its dimension or its level."""
    quotes = entry.get("quotes", entry.get("quote"))
    draft = TraitDraft(
        _word(entry, "dimension"),
        _word(entry, "level"),
        _turns(entry),
        texts_of(quotes if isinstance(quotes, list) else [quotes]),
    )
    return draft if draft.dimension and draft.level else None


def read_note(entry: Mapping[str, Any]) -> NoteDraft | None:
    """Return the note in an entry, or None if it says nothing."""
    draft = NoteDraft(
        _word(entry, "kind"), _text(entry, "text"), _turn(entry), _text(entry, "quote")
    )
    return draft if draft.text and draft.quote else None


def read_persona(entry: Mapping[str, Any]) -> PersonaDraft | None:
    """Return what is to be changed of the persona in an entry, or None if it says nothing."""
    draft = PersonaDraft(
        _text(entry, "field"), _text(entry, "value"), _turn(entry), _text(entry, "quote")
    )
    return draft if draft.value and draft.quote else None


def numbers_of(value: Any) -> tuple[int, ...]:
    """Return the whole numbers in a value: in a list, alone, or written as text."""
    if isinstance(value, list):
        return tuple(number for inner in value[:100] for number in numbers_of(inner))
    if isinstance(value, str):
        return tuple(map(int, re.findall(r"(?<![\d.])[0-9]{1,4}(?![\d.])", value[:400])))
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else ()


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts in a value: of a list, or of one line with commas between them."""
    if isinstance(value, str):
        value = _BETWEEN.split(value)
    if not isinstance(value, list):
        return ()
    found = (storable(text).strip() for text in value if isinstance(text, str))
    return tuple(text for text in found if text)


def _text(entry: Mapping[str, Any], key: str) -> str:
    text = entry.get(key)
    return storable(text).strip() if isinstance(text, str) else ""


def _word(entry: Mapping[str, Any], key: str) -> str:
    """Return what should be one of a few words, as those are spelt."""
    return _text(entry, key).casefold().replace("_", "-").replace(" ", "-")


def _turns(entry: Mapping[str, Any]) -> tuple[int, ...]:
    return numbers_of(entry.get("turns", entry.get("turn")))


def _turn(entry: Mapping[str, Any]) -> int:
    return next(iter(numbers_of(entry.get("turn", entry.get("turns")))), 0)
