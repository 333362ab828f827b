"""A part of a set of dialogues, written to a file of its own: every system is given the same one."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from server.commands.dialogues import read_dialogues

T = TypeVar("T")


def cut(file: Path, target: Path, conversations: int | None, questions: int | None) -> None:
    """Write the first dialogues of a file, and some of the questions that have evidence in them.

    Args:
        file: In the form of LoCoMo.
        target: Where the part goes, in the same form.
        conversations: How many dialogues; None for all.
        questions: How many questions of each, from all over its list; None for all that have evidence.

    Raises:
        ConfigError: ``dialogues-broken``.
    """
    dialogues, _ = read_dialogues(file)
    entries: list[dict[str, Any]] = json.loads(file.read_bytes())
    chosen = []
    for dialogue, entry in list(zip(dialogues, entries, strict=True))[:conversations]:
        answerable = [
            row
            for row, question in zip(entry["qa"], dialogue.questions, strict=True)
            if question.evidence
        ]
        chosen.append({**entry, "qa": spread(answerable, questions)})
    target.write_text(json.dumps(chosen, ensure_ascii=False), encoding="utf-8")


def spread(rows: Sequence[T], count: int | None) -> list[T]:
    """Return `count` rows at even distances: questions of one kind often stand together."""
    if count is None or count >= len(rows):
        return list(rows)
    return [rows[place * len(rows) // count] for place in range(count)]
