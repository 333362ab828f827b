"""Sets of facts and questions with known answers: reading them, and asking them of a memory."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from server.errors import OmoideError
from server.memory.facts import event_days
from server.memory.models import Fact


@dataclass(frozen=True, slots=True)
class SetFact:
    """A fact of a set."""

    person: str
    id: str
    text: str
    said_at: datetime
    event_from: date | None
    event_to: date | None

    def as_fact(self, language: str) -> Fact:
        """Return it as memory keeps it. Where the set names no days, those that the sentence names count."""
        first, last = self.event_from, self.event_to
        if first is None:
            first, last = event_days(self.text, language, self.said_at)
        return Fact(
            memory_id(self.person, self.id),
            self.person,
            self.text,
            language,
            self.said_at,
            event_from=first,
            event_to=last,
        )


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question of a set, and which facts it should bring to mind."""

    person: str
    id: str
    text: str
    asked_at: datetime
    expect: tuple[str, ...]
    forbid: tuple[str, ...]
    kind: str


def memory_id(person: str, fact_id: str) -> str:
    """Return the id under which a fact of a set is stored: ids of a set are its persons' own."""
    return f"{person}/{fact_id}"


@dataclass(frozen=True, slots=True)
class RecallSet:
    """Facts and questions, in the order of their times."""

    events: tuple[SetFact | SetQuestion, ...]
    japanese: bool
    """Whether text in Chinese characters alone is Japanese."""

    def language_of(self, text: str) -> str:
        """Return the language of a text in this set, by its script."""
        if re.search(r"[\u3040-\u30ff]", text):
            return "ja"
        if re.search(r"[\u3400-\u9fff]", text):
            return "ja" if self.japanese else "zh"
        return "en"

    @property
    def questions(self) -> list[SetQuestion]:
        """The questions."""
        return [event for event in self.events if isinstance(event, SetQuestion)]


def read_recall_set(path: Path) -> RecallSet:
    """Read a set.

    Raises:
        OmoideError: ``recall-set-invalid``: the file is missing or a line of it can't be used; the message names the line.
    """
    try:
        # Editors on Windows begin with a mark; a text may hold other ends of lines than "\n".
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(f"{path} can't be read ({error}).") from error
    events = [
        _read_line(f"{path}:{number}", line)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not events:
        raise _invalid(f"{path} holds no facts and no questions.")
    _check_ids(path, events)
    # What is said at the very moment of a question was not said before it.
    events.sort(key=lambda event: (_time(event), isinstance(event, SetFact)))
    japanese = any(re.search(r"[\u3040-\u30ff]", event.text) for event in events)
    return RecallSet(tuple(events), japanese)


def _read_line(place: str, line: str) -> SetFact | SetQuestion:
    try:
        return _read_row(json.loads(line))
    except RecursionError as error:
        raise _invalid(
            f"{place}: brackets are nested too deeply; a row is one flat object."
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise _invalid(f"{place}: {error}") from error


def _read_row(row: object) -> SetFact | SetQuestion:
    if not isinstance(row, dict):
        raise TypeError("not an object")
    match row.get("type"):
        case "fact":
            return SetFact(
                _text(row, "person"),
                _text(row, "id"),
                _text(row, "text"),
                _moment(row, "said_at"),
                _day(row, "event_from"),
                _day(row, "event_to") or _day(row, "event_from"),
            )
        case "question":
            return SetQuestion(
                _text(row, "person"),
                _text(row, "id"),
                _text(row, "text"),
                _moment(row, "asked_at"),
                _ids(row, "expect"),
                _ids(row, "forbid"),
                str(row.get("kind", "")),
            )
        case _:
            raise ValueError("type must be 'fact' or 'question'")


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key} must be a text")
    return value


def _moment(row: dict[str, Any], key: str) -> datetime:
    moment = datetime.fromisoformat(_text(row, key))
    if moment.tzinfo is None:
        raise ValueError(f"{key} needs a zone, e.g. 2026-09-27T12:00:00+09:00")
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{key} lies beyond the ends of the calendar") from error
    return moment


def _day(row: dict[str, Any], key: str) -> date | None:
    value = row.get(key)
    return None if not value else datetime.fromisoformat(str(value)).date()


def _ids(row: dict[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{key} must be a list of ids")
    return tuple(value)


def _time(event: SetFact | SetQuestion) -> datetime:
    return event.said_at if isinstance(event, SetFact) else event.asked_at


def _check_ids(path: Path, events: Sequence[SetFact | SetQuestion]) -> None:
    known: set[tuple[str, str]] = set()
    for event in events:
        if isinstance(event, SetFact):
            if (event.person, event.id) in known:
                raise _invalid(f"{path}: the fact {event.id} of {event.person} stands there twice.")
            known.add((event.person, event.id))
    for event in events:
        if isinstance(event, SetQuestion):
            for wanted in (*event.expect, *event.forbid):
                if (event.person, wanted) not in known:
                    raise _invalid(
                        f"{path}: question {event.id} names {wanted}, which is no fact of {event.person}."
                    )


def _invalid(message: str) -> OmoideError:
    return OmoideError("recall-set-invalid", message)
