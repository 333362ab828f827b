"""Reading what a language model answered to the question for facts, however it wrapped or broke its JSON.

Whole objects are taken out of whatever stands around them (prose, code fences, a list, a wrapper that is missing or
doubled); an object that was cut off is left out. An answer without any JSON, or with objects that are no facts, is a
failure, not "no facts". That there are none has to be the answer itself: an empty list in the middle of prose, or in our
own instructions that a model repeats, says nothing.
"""

import json
from dataclasses import dataclass
from typing import Any

from server.errors import OmoideError
from server.memory.keeping import storable
from server.memory.terms import letters

MOST_FACTS = 40
"""Facts that one answer may hold; a model that repeats itself in a loop writes hundreds."""

_MOST_BROKEN = 100
"""Brackets that open nothing; a model in a loop writes thousands, and each is read to the end."""

_SHORTEST_LINE = 15
"""Letters of a line of instructions that nobody writes by chance."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact as a model put it, not yet checked."""

    text: str
    quote: str
    turn: int
    """Number of the turn that it was said in, from 1; 0 if the model gave none."""
    kind: str


@dataclass(frozen=True, slots=True)
class Drafts:
    """What an answer holds."""

    whole: tuple[Draft, ...]
    cut: bool
    """Whether the answer breaks off in the middle of more."""


def read_drafts(answer: str, instructions: str = "") -> Drafts:
    """Return the drafts in a model's answer; none only if it says that there are none.

    Args:
        answer: All that the model wrote.
        instructions: What it was told to do; an answer that repeats a line of it is no word that there are no facts.

    Raises:
        OmoideError: ``extraction-malformed``: the answer holds no JSON that could be a list of facts, or objects that are none.
    """
    drafts: list[Draft] = []
    seen, says_none = 0, False
    values, cut = _values(answer)
    for value, start, end in values:
        objects, is_list = _objects(value)
        seen += len(objects)
        says_none = says_none or (is_list and not objects and _stands_alone(answer, start, end))
        drafts += [draft for entry in objects if (draft := _draft(entry)) is not None]
    understood = bool(drafts) or (says_none and not seen and not _repeats(answer, instructions))
    if not understood or len(drafts) > MOST_FACTS:
        raise OmoideError(
            "extraction-malformed",
            "The model's answer was not a list of facts. It is asked again, with other settings.",
        )
    return Drafts(tuple(drafts), cut)


def _stands_alone(answer: str, start: int, end: int) -> bool:
    """Say whether a value has its lines for itself, or ends the answer."""
    before = answer[:start].rpartition("\n")[2]
    after = answer[end:].partition("\n")[0]
    return not after.strip(" `\t\r.") and (
        not before.strip(" `\t\r") or not answer[end:].strip(" `\t\r\n.")
    )


def _repeats(answer: str, instructions: str) -> bool:
    """Say whether an answer holds a whole line of the instructions, whatever they were spaced and marked like."""
    written = letters(answer.rpartition("</think>")[2])
    lines = (letters(line) for line in instructions.splitlines())
    return any(len(line) >= _SHORTEST_LINE and line in written for line in lines)


def _values(answer: str) -> tuple[list[tuple[Any, int, int]], bool]:
    """Return the outermost JSON values that can be read from the left, with their places, and whether one was cut off."""
    decoder = json.JSONDecoder(strict=False)
    values: list[tuple[Any, int, int]] = []
    place, broken, cut = 0, 0, False
    while (place := _next_bracket(answer, place)) >= 0 and broken <= _MOST_BROKEN:
        start = place
        try:
            value, place = decoder.raw_decode(answer, start)
        except json.JSONDecodeError as error:
            at_end = error.pos >= len(answer.rstrip()) or error.msg.startswith("Unterminated")
            cut = cut or at_end
            place += 1  # what it holds may be whole
            broken += 1
        except (ValueError, RecursionError):
            place += 1
            broken += 1
        else:
            values.append((value, start, place))
    return values, cut


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
