"""Reading what a language model answered to the question for facts, however it wrapped or broke its JSON.

Whole objects are taken out of whatever stands around them (prose, code fences, a list, a wrapper that is missing or
doubled); an object that was cut off is left out. An answer without any JSON is a failure, not "no facts".
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from server.errors import OmoideError
from server.memory.keeping import storable

MOST_FACTS = 40
"""Facts that one answer may hold; a model that repeats itself in a loop writes hundreds."""

_MOST_BROKEN = 100
"""Brackets that open nothing; a model in a loop writes thousands, and each is read to the end."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact as a model put it, not yet checked."""

    text: str
    quote: str
    turn: int
    """Number of the turn that it was said in, from 1; 0 if the model gave none."""
    kind: str


def read_drafts(answer: str) -> list[Draft]:
    """Return the drafts in a model's answer; an empty list only if it says that there are none.

    Raises:
        OmoideError: ``extraction-malformed``: the answer holds no JSON that could be a list of facts.
    """
    drafts: list[Draft] = []
    understood = False
    for value in _values(answer):
        objects, is_list = _objects(value)
        understood = understood or is_list or bool(objects)
        drafts += [draft for entry in objects if (draft := _draft(entry)) is not None]
    if not understood or len(drafts) > MOST_FACTS:
        raise OmoideError(
            "extraction-malformed",
            "The model's answer was not a list of facts. It is asked again, with other settings.",
        )
    return drafts


def _values(answer: str) -> Iterator[Any]:
    """Yield the outermost JSON values that can be read from the left."""
    decoder = json.JSONDecoder(strict=False)
    place, broken = 0, 0
    while (place := _next_bracket(answer, place)) >= 0 and broken <= _MOST_BROKEN:
        try:
            value, place = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError):
            place += 1  # cut off or no JSON: what it holds may be whole
            broken += 1
            continue
        yield value


def _next_bracket(text: str, start: int) -> int:
    places = [place for mark in "{[" if (place := text.find(mark, start)) >= 0]
    return min(places, default=-1)


def _objects(value: Any) -> tuple[list[dict[str, Any]], bool]:
    """Return the fact objects in a JSON value, and whether it is a list of facts at all (perhaps an empty one)."""
    if isinstance(value, list):
        objects = [entry for entry in value if isinstance(entry, dict)]
        return objects, not value or bool(objects)
    if not isinstance(value, dict):
        return [], False
    if "text" in value:
        return [value], True
    lists = [
        inner for key, inner in value.items() if key == "facts" and isinstance(inner, list | dict)
    ]
    if not lists:
        return [], False
    return _objects(lists[0])


def _draft(entry: dict[str, Any]) -> Draft | None:
    text, quote = entry.get("text"), entry.get("quote", "")
    if not isinstance(text, str) or not isinstance(quote, str):
        return None
    turn = entry.get("turn", 0)
    number = turn if isinstance(turn, int) else 0
    kind = entry.get("kind", "")
    return Draft(storable(text).strip(), storable(quote).strip(), number, str(kind))
