"""Reads long dialogues with questions about them, in the form of LoCoMo, and other talks that are put into it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from server.errors import ConfigError
from server.memory import Page
from server.memory.lines import Role
from server.memory.speakers import Speakers

ZONE = ZoneInfo("UTC")
"""Of sets that name none: the times in them are those of a wall clock."""
_TURN_SECONDS = 20
_DATE = "%I:%M %p on %d %B, %Y"
_TURN_ID = re.compile(r"D\d+:\d+")
BROKEN = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What a file of another form leads to."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue."""

    id: str
    role: Role
    """The first speaker stands for the person, the second for the robot."""
    text: str
    at: datetime
    session: int


@dataclass(frozen=True, slots=True)
class DialogueQuestion:
    """A question about a dialogue."""

    text: str
    answer: str
    evidence: frozenset[str]
    """Ids of the turns that hold the answer, as far as they exist; empty if nothing does."""
    category: int
    kind: str
    asked_at: datetime
    """As the set says, else a day after the last session."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue over many days."""

    name: str
    language: str
    speakers: Speakers
    utterances: tuple[Utterance, ...]
    questions: tuple[DialogueQuestion, ...]

    def pages(self) -> list[tuple[Page, dict[Role, str]]]:
        """Return the exchanges, oldest first, and which turn each half of them was.

        A turn that the other did not answer, or that answers none, is a page with one empty half.
        """
        pages: list[tuple[Page, dict[Role, str]]] = []
        for pair in _paired(self.utterances):
            first = next(iter(pair.values()))
            texts = {role: turn.text for role, turn in pair.items()}
            page = Page(
                said=texts.get(Role.SAID, ""),
                heard=texts.get(Role.HEARD, ""),
                at=first.at,
                language=self.language,
                id=f"{self.name} {first.id}",
                person=self.name,
            )
            pages.append((page, {role: turn.id for role, turn in pair.items()}))
        return pages


def read_dialogues(path: Path, zone: tzinfo = ZONE) -> tuple[list[Dialogue], str]:
    """Return the dialogues in a file, and the SHA-256 of it.

    Args:
        path: A JSON list of objects with ``conversation`` and ``qa``, as LoCoMo has them. ``language`` (English if missing)
            and, of a question, ``kind`` and ``asked_at`` are ours.
        zone: Where the times of the file are from.

    Raises:
        ConfigError: ``dialogues-broken``: the file can't be read, or is no such list.
    """
    try:
        content = path.read_bytes()
        dialogues = [_dialogue(entry, zone) for entry in json.loads(content)]
    except BROKEN as error:
        raise ConfigError(
            f"{path} is no set of dialogues ({type(error).__name__}: {error}). It has to be a JSON list in the form of LoCoMo.",
            code="dialogues-broken",
        ) from error
    return dialogues, sha256(content).hexdigest()


def _dialogue(entry: Mapping[str, Any], zone: tzinfo) -> Dialogue:
    talk = entry["conversation"]
    first, second = str(talk["speaker_a"]), str(talk["speaker_b"])
    utterances = tuple(_utterances(talk, first, zone))
    known = frozenset(turn.id for turn in utterances)
    last = utterances[-1].at + timedelta(days=1)
    questions = [_question(row, known, last, zone) for row in entry["qa"]]
    return Dialogue(
        str(entry["sample_id"]),
        str(entry.get("language", "en")),
        Speakers((first,), (second,)),
        utterances,
        tuple(questions),
    )


def _utterances(talk: Mapping[str, Any], first: str, zone: tzinfo) -> Iterator[Utterance]:
    session = 1
    while f"session_{session}" in talk:
        start = _moment(str(talk[f"session_{session}_date_time"]), zone)
        for place, turn in enumerate(talk[f"session_{session}"]):
            role = Role.SAID if turn["speaker"] == first else Role.HEARD
            shown = f" {turn['blip_caption']}" if turn.get("blip_caption") else ""
            at = start + timedelta(seconds=_TURN_SECONDS * place)
            yield Utterance(str(turn["dia_id"]), role, turn["text"] + shown, at, session)
        session += 1


def _question(
    row: Mapping[str, Any], known: frozenset[str], last: datetime, zone: tzinfo
) -> DialogueQuestion:
    named = _TURN_ID.findall(str(row.get("evidence")))
    asked_at = _moment(row["asked_at"], zone) if "asked_at" in row else last
    answer = row.get("answer", row.get("adversarial_answer", ""))
    return DialogueQuestion(
        str(row["question"]),
        str(answer),
        known.intersection(named),
        int(row["category"]),
        str(row.get("kind", "")),
        asked_at,
    )


def _moment(text: str, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = datetime.strptime(text, _DATE)  # noqa: DTZ007 - the zone follows
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _paired(utterances: tuple[Utterance, ...]) -> Iterator[dict[Role, Utterance]]:
    pair: dict[Role, Utterance] = {}
    session = 0
    for turn in utterances:
        follows = turn.role is Role.HEARD and Role.HEARD not in pair and turn.session == session
        if pair and not follows:
            yield pair
            pair = {}
        pair[turn.role] = turn
        session = turn.session
    if pair:
        yield pair
