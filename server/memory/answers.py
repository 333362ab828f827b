"""Reading what a language model answered, however it wrapped or broke its JSON.

Whole values are taken out of whatever stands around them (prose, code fences, a list, a wrapper that is missing or
doubled); what was cut off is left out, and what can't be understood spoils nothing beside it. An answer without any JSON,
or with objects that are no facts, is a failure, not "no facts". That there are none has to be the answer itself: an empty
list in the middle of prose, or in our own instructions that a model repeats, says nothing.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from server.errors import OmoideError
from server.memory.answer_forms import DAY, EXTRACT, LAYER, PORTRAIT, Form
from server.memory.answer_parts import (
    Draft,
    NoteDraft,
    PersonaDraft,
    ProfileDraft,
    TopicDraft,
    TraitDraft,
    numbers_of,
    read_fact,
    read_note,
    read_persona,
    read_profile,
    read_topic,
    read_trait,
    texts_of,
)
from server.memory.keeping import storable
from server.memory.terms import letters

_Entry = TypeVar("_Entry")

MOST_FACTS = 40
"""Facts that one answer may hold; a model that repeats itself in a loop writes hundreds."""
MOST_TOPICS = 4
MOST_ENTRIES = 20
"""Of any other part; what comes after them is left out."""

_MOST_BROKEN = 100
"""Values that do not end; a model in a loop writes thousands, and each is read to the end."""
_DEEPEST = 4
"""Wrappers inside each other."""
_SHORTEST_LINE = 15
"""Letters of a line of instructions that nobody writes by chance."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer holds."""

    facts: tuple[Draft, ...]
    cut: bool
    """Whether it breaks off before its facts are complete."""
    topics: tuple[TopicDraft, ...] = ()
    continues: tuple[int, ...] = ()
    """Numbers of the turns that follow from the turn before."""
    chain: str = ""
    profile: tuple[ProfileDraft, ...] = ()
    traits: tuple[TraitDraft, ...] = ()
    agent: tuple[Draft, ...] = ()
    notes: tuple[NoteDraft, ...] = ()
    persona: tuple[PersonaDraft, ...] = ()
    unreadable: Mapping[str, int] = field(default_factory=dict)
    """How many entries of each part could not be understood or were too many; none where all was well."""


@dataclass(frozen=True, slots=True)
class DayAnswer:
    """What an answer says of a day."""

    summary: str
    follow_ups: tuple[str, ...] = ()


def read_answer(answer: str, instructions: str = "") -> Answer:
    """Return what a model wrote about a batch; no facts only if it says that there are none.

    Args:
        answer: All that the model wrote.
        instructions: What it was told to do; an answer that repeats a line of it is no word that there are no facts.

    Raises:
        OmoideError: ``extraction-malformed``: the answer holds no JSON that could be a list of facts, or objects that are none.
    """
    found = _found_in(answer, EXTRACT, instructions)
    facts = found.read("facts", read_fact, MOST_FACTS + 1)
    if not found.understood("facts", facts) or len(facts) > MOST_FACTS:
        raise OmoideError(
            "extraction-malformed",
            "The model's answer was not a list of facts. It is asked again, with other settings.",
        )
    return Answer(
        facts=facts,
        cut=found.cut("facts"),
        topics=found.read("topics", read_topic, MOST_TOPICS),
        continues=numbers_of(found.entries["continues"]),
        chain=found.texts.get("chain", ""),
        profile=found.read("profile", read_profile),
        traits=found.read("traits", read_trait),
        agent=found.read("agent", read_fact),
        notes=found.read("notes", read_note),
        persona=found.read("persona", read_persona),
        unreadable=found.unreadable,
    )


def read_portrait(answer: str, instructions: str = "") -> Answer:
    """Return the profile, the traits and what the agent did in a model's answer; anything else in it is not read.

    Args:
        answer: As in `read_answer`.
        instructions: Likewise.

    Raises:
        OmoideError: ``extraction-malformed``: none of the three can be understood.
    """
    found = _found_in(answer, PORTRAIT, instructions)
    profile = found.read("profile", read_profile)
    traits = found.read("traits", read_trait)
    agent = found.read("agent", read_fact)
    if not any(map(found.understood, PORTRAIT.parts, (profile, traits, agent))):
        raise OmoideError("extraction-malformed", "The model's answer was no portrait.")
    return Answer(
        (), False, profile=profile, traits=traits, agent=agent, unreadable=found.unreadable
    )


def read_layer(answer: str, instructions: str = "") -> tuple[PersonaDraft, ...]:
    """Return what a model wrote about one layer of the persona; nothing only if it says that there is nothing.

    Args:
        answer: As in `read_answer`.
        instructions: Likewise.

    Raises:
        OmoideError: ``extraction-malformed``: there is nothing in it that can be understood.
    """
    found = _found_in(answer, LAYER, instructions)
    drafts = found.read("persona", read_persona)
    if not found.understood("persona", drafts):
        raise OmoideError("extraction-malformed", "The model's answer was no list of changes.")
    return drafts


def read_day(answer: str) -> DayAnswer:
    """Return the summary of a day and what to ask about; of an answer in prose all of it is the summary.

    Raises:
        OmoideError: ``summary-malformed``: there is no summary.
    """
    written = answer.rpartition("</think>")[2]
    found = _found_in(written, DAY)
    summary = found.texts.get("summary", "") if "{" in written else storable(written).strip()
    if not letters(summary):
        raise OmoideError("summary-malformed", "The model's answer was no summary of the day.")
    return DayAnswer(summary, texts_of(found.entries["follow_ups"]))


class _Found:
    """The values in an answer, by the part that they belong to."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self.entries: dict[str, list[Any]] = defaultdict(list)
        self.texts: dict[str, str] = {}
        self.unreadable: dict[str, int] = {}
        self._empty: set[str] = set()
        self._whole: set[str] = set()
        self._broken: set[str] = set()

    def take(self, part: str, value: Any, depth: int = 0, *, alone: bool) -> None:
        """Sort a whole value in; a wrapper is opened, and what belongs to no part is left.

        Args:
            part: The key before it or around it; empty if there is none, as before a bare list.
            value: As decoded.
            depth: Number of wrappers that it came out of.
            alone: Whether it is the answer, so that an empty list in it says that there is nothing.
        """
        members = _members(value, self._form)
        if members and depth < _DEEPEST:
            for key, inner in members.items():
                self._whole.add(key)
                self.take(key, inner, depth + 1, alone=alone)
        elif part in self._form.texts:
            if isinstance(value, str):
                self.texts[part] = storable(value).strip()
        elif part in self._form.parts:
            self._add(part, value if isinstance(value, list) else [value], depth, alone=alone)
        elif not part and (isinstance(value, list) or "text" in value):
            bare = value if isinstance(value, list) else [value]
            self._add(self._form.bare, bare, depth, alone=alone)

    def miss(self, part: str) -> None:
        """Note that a value of a part, or around all parts, breaks off."""
        self._broken.add(part)

    def keep(self, part: str) -> None:
        """Note that a part was written to its end."""
        self._whole.add(part)

    def cut(self, part: str) -> bool:
        """Return whether the answer breaks off before a part is complete."""
        return part in self._broken or (bool(self._broken) and part not in self._whole)

    def read(
        self,
        part: str,
        reader: Callable[[Mapping[str, Any]], _Entry | None],
        most: int = MOST_ENTRIES,
    ) -> tuple[_Entry, ...]:
        """Return the entries of a part that can be understood, and count the others."""
        entries = self.entries[part]
        drafts = [reader(entry) if isinstance(entry, dict) else None for entry in entries]
        kept = tuple(draft for draft in drafts if draft is not None)[:most]
        if len(kept) < len(entries):
            self.unreadable[part] = len(entries) - len(kept)
        return kept

    def understood(self, part: str, drafts: Sequence[object]) -> bool:
        """Say whether the answer tells something of a part, be it that there is nothing."""
        objects = any(isinstance(entry, dict) for entry in self.entries[part])
        return bool(drafts) or (part in self._empty and not objects)

    def _add(self, part: str, entries: list[Any], depth: int, *, alone: bool) -> None:
        if not entries and alone:
            self._empty.add(part)
        for entry in entries:
            if depth < _DEEPEST and _members(entry, self._form):
                self.take(part, entry, depth + 1, alone=alone)
            else:
                self.entries[part].append(entry)


def _found_in(answer: str, form: Form, instructions: str = "") -> _Found:
    """Read the JSON values from the left, outermost first; of one that breaks off, the whole values that it holds."""
    decoder = json.JSONDecoder(strict=False)
    found, starts = _Found(form), _starts(form.texts)
    is_echo = _repeats(answer, instructions)
    around, place, broken, opened = "", 0, 0, -1
    while (start := starts.search(answer, place)) is not None and broken <= _MOST_BROKEN:
        part = start[1] or start[2] or ""
        opening = start.end() - 1
        try:
            value, place = decoder.raw_decode(answer, opening)
        except (ValueError, RecursionError) as error:
            around = part or around
            opened = opening if opened < 0 else opened
            if _breaks_off(error, answer):
                found.miss(around)
            place = opening + 1  # what it holds may be whole
            broken += 1
        else:
            if part:
                found.keep(part)
            is_member = bool(part) and opened >= 0 and _is_member(answer, opened, place)
            alone = is_member or _stands_alone(answer, start.start(), place)
            found.take(part or around, value, alone=alone and not is_echo)
    return found


@lru_cache
def _starts(texts: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds where a value begins, and the key before it: an object, a list, or one of these texts."""
    keys = "|".join(texts) or "(?!)"
    return re.compile(rf'(?:"(\w{{1,20}})"\s*:\s*)?[{{\[]|"({keys})"\s*:\s*"')


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


def _is_member(answer: str, opened: int, end: int) -> bool:
    """Say whether a value with a key is a part of an object that is the answer, though it is broken somewhere else."""
    before = answer[:opened].rpartition("\n")[2]
    return not before.strip(" `\t\r") and re.match(r"\s*(?:[,}\]]|$)", answer[end:]) is not None


def _breaks_off(error: Exception, answer: str) -> bool:
    """Say whether JSON is at fault only in that it ends too early."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(answer.rstrip()) or error.msg.startswith("Unterminated")


def _members(value: Any, form: Form) -> dict[str, Any]:
    """Return the parts in a wrapper, or in wrappers around it that hold nothing else; none of anything else."""
    for _ in range(_DEEPEST):
        if not isinstance(value, dict) or "text" in value:
            break
        members = {key: inner for key, inner in value.items() if key in form.parts}
        if members or len(value) != 1:
            return members
        (value,) = value.values()
    return {}
