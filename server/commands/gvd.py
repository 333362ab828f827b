"""Reads GVD, the dialogues of MemoryBank, and labels that say in which exchanges the answers lie, into the form of other dialogues."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from server.commands.dialogues import BROKEN, ZONE, Dialogue, DialogueQuestion, Utterance
from server.errors import ConfigError
from server.memory.lines import Role
from server.memory.speakers import Speakers

LANGUAGES = {"en": "en", "cn": "zh"}
"""Labels of a bank to its language."""
_EVENING = timedelta(hours=18)
"""GVD names days alone."""
_BETWEEN_EXCHANGES = timedelta(minutes=1)
_ANSWERED_AFTER = timedelta(seconds=20)


def read_gvd(bank: Path, labels: Path) -> tuple[list[Dialogue], str]:
    """Return the dialogues of a bank that questions are labelled for, and the SHA-256 of both files together.

    Both halves of an exchange have one id, as what is looked for there is a page.

    Args:
        bank: ``memory_bank_en.json`` or ``memory_bank_cn.json`` of MemoryBank.
        labels: For each bank, a list of objects with ``bank_key``, ``question``, ``answer``, and ``exchanges``: pairs of a
            day and the place in it, from 0.

    Raises:
        ConfigError: ``dialogues-broken``: a file can't be read, or the labels are those of other dialogues.
    """
    try:
        contents = bank.read_bytes(), labels.read_bytes()
        users, told = map(json.loads, contents)
        name = next(
            name
            for name in LANGUAGES
            if told.get(name) and all(row["bank_key"] in users for row in told[name])
        )
        asked: dict[str, list[Mapping[str, Any]]] = {}
        for row in told[name]:
            asked.setdefault(row["bank_key"], []).append(row)
        dialogues = [
            _dialogue(key, users[key]["history"], rows, LANGUAGES[name])
            for key, rows in asked.items()
        ]
    except (*BROKEN, StopIteration) as error:
        raise ConfigError(
            f"{bank} and {labels} are no bank of GVD with its labels ({type(error).__name__}: {error}).",
            code="dialogues-broken",
        ) from error
    return dialogues, sha256(b"".join(contents)).hexdigest()


def _dialogue(
    key: str,
    history: Mapping[str, Sequence[Mapping[str, str]]],
    rows: Sequence[Mapping[str, Any]],
    language: str,
) -> Dialogue:
    utterances: list[Utterance] = []
    for session, (day, exchanges) in enumerate(sorted(history.items()), 1):
        evening = datetime.fromisoformat(day).replace(tzinfo=ZONE) + _EVENING
        for place, exchange in enumerate(exchanges):
            at = evening + place * _BETWEEN_EXCHANGES
            id_ = _id(day, place)
            utterances += [
                Utterance(id_, Role.SAID, exchange["query"], at, session),
                Utterance(id_, Role.HEARD, exchange["response"], at + _ANSWERED_AFTER, session),
            ]
    asked_at = utterances[-1].at + timedelta(days=1)
    known = {one.id for one in utterances}
    questions = []
    for row in rows:
        evidence = frozenset(_id(day, place) for day, place in row["exchanges"])
        if not evidence <= known:
            raise ValueError(f"{key!r} has no exchange {sorted(evidence - known)}")
        questions.append(
            DialogueQuestion(str(row["question"]), str(row["answer"]), evidence, 0, "gvd", asked_at)
        )
    return Dialogue(
        key.strip(), language, Speakers((key.strip(),), ()), tuple(utterances), tuple(questions)
    )


def _id(day: str, place: int) -> str:
    return f"{day}:{int(place)}"
