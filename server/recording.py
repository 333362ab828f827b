"""Keeping finished turns: the last ones in memory for the API, and on disk those that the configuration asks for.

By default nothing is written: audio needs `recording.keep_audio`, text `recording.keep_turns`.
"""

import hashlib
import json
import re
import shutil
import uuid
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

import structlog

from server.audio import write_wav
from server.config import RecordingSection
from server.errors import StoreError
from server.turn import Recalled, Turn

log = structlog.get_logger(__name__)

RECORDINGS = "recordings"
"""Name of their folder in the data folder."""
_GONE = ".gone-"
"""How the name of a folder begins that is being deleted."""
_TRIES = 3


class RecentTurns:
    """The last turns of all devices, for the console and the API. A `TurnObserver`."""

    def __init__(self, capacity: int) -> None:
        self._turns: deque[Turn] = deque(maxlen=capacity)

    def turn_finished(self, turn: Turn) -> None:
        """Keep a turn, unless nothing was said and nothing went wrong; of who does not want it kept, without any words."""
        if turn.question or turn.error:
            whole = turn.may_be_shown and not turn.is_guest
            self._turns.append(turn if whole else turn.without_words())

    def forget(self, is_meant: Callable[[Turn], bool]) -> None:
        """Forget some turns."""
        kept = [turn for turn in self._turns if not is_meant(turn)]
        self._turns.clear()
        self._turns.extend(kept)

    def list(self, device: str | None = None) -> list[Turn]:
        """Return the turns, oldest first."""
        return [turn for turn in self._turns if device is None or turn.device == device]


class Recorder:
    """Writes turns to a folder. A `TurnObserver`.

    One folder per person and day, files of a turn beside each other: ``hana.1f0c…/2026-05-03/152001-<turn id>.json``
    and ``.said.wav``, ``.reply.wav``.
    """

    def __init__(self, folder: Path, section: RecordingSection) -> None:
        """Delete what could not be deleted before, and close the folder to others; one that is not there is not made."""
        self._folder = folder
        self._section = section
        _close(folder, 0o700)
        try:
            _sweep(folder)
        except OSError as error:
            log.warning("recordings-undeletable", folder=str(folder), reason=str(error))

    def turn_finished(self, turn: Turn) -> None:
        """Write what the configuration asks for. A full disk is logged, never raised.

        A broken character (half of a pair) can't be written as UTF-8, but JSON has an escape for it.
        """
        if not (turn.question or turn.error) or not turn.may_be_shown:
            return
        sounds = {".said.wav": turn.said_audio, ".reply.wav": turn.reply_audio}
        day = recordings_of(self._folder, turn.person) / f"{turn.started_at:%Y-%m-%d}"
        stem = day / f"{turn.started_at:%H%M%S}-{turn.id}"
        try:
            if self._section.keep_turns or any(sound is not None for sound in sounds.values()):
                for each in (self._folder, day.parent, day):
                    each.mkdir(mode=0o700, parents=True, exist_ok=True)
                    _close(each, 0o700)
            if self._section.keep_turns:
                text = json.dumps(describe(turn), ensure_ascii=False, indent=1)
                file = stem.with_suffix(".json")
                file.write_text(text, encoding="utf-8", errors="backslashreplace")
                _close(file, 0o600)
            for ending, sound in sounds.items():
                if sound is not None:
                    write_wav(stem.with_suffix(ending), sound)
                    _close(stem.with_suffix(ending), 0o600)
        except (OSError, RuntimeError) as error:  # the errors of libsndfile are RuntimeErrors
            log.warning("recording-failed", turn=turn.id, reason=str(error))


def expire_recordings(folder: Path, before: date) -> int:
    """Delete the recordings of all days before one; return of how many days, counted for each person.

    Raises:
        StoreError: ``recordings-undeletable``.
    """
    gone = 0
    for day in list(folder.glob("*/????-??-??")):
        with suppress(ValueError):
            if date.fromisoformat(day.name) < before:
                try:
                    _delete(day)
                except OSError as error:
                    raise _undeletable(day, error, "Delete it by hand.") from error
                gone += 1
    return gone


def recordings_of(folder: Path, person: str) -> Path:
    """Return the folder of a person's recordings: readable where the name is, and two names never share one."""
    readable = re.sub(r"[^\w-]+", "-", person)[:32]
    digest = hashlib.sha256(person.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return folder / f"{readable}.{digest}"


def turns_recorded(folder: Path, person: str, is_meant: Callable[[str], bool]) -> frozenset[str]:
    """Return the turns of a person whose written record is meant.

    Args:
        folder: Of all recordings.
        person: Whose turns.
        is_meant: Says so of a record.

    Raises:
        StoreError: ``recordings-undeletable``: one can't be read.
    """
    own = recordings_of(folder, person)
    found = set()
    try:
        for file in own.rglob("*.json"):
            if is_meant(file.read_text("utf-8", "replace")):
                found.add(_turn_of(file))
    except FileNotFoundError:
        # The person is being forgotten: all of it goes. What came into their folder since then is looked through.
        return turns_recorded(folder, person, is_meant) if own.exists() else frozenset()
    except OSError as error:
        raise _undeletable(own, error, "Nothing is forgotten; look to its rights.") from error
    return frozenset(found)


def erase_turns(folder: Path, person: str, turns: Collection[str]) -> None:
    """Delete the recordings of some turns of a person.

    Raises:
        StoreError: ``recordings-undeletable``.
    """
    own = recordings_of(folder, person)
    try:
        for file in list(own.rglob("*")):
            if _turn_of(file) in turns and file.is_file():
                file.unlink(missing_ok=True)
    except FileNotFoundError:
        # The person is being forgotten: all of it goes. What came into their folder since then is looked through.
        if own.exists():
            erase_turns(folder, person, turns)
    except OSError as error:
        rest = "Memory is gone; delete what was recorded of it by hand."
        raise _undeletable(own, error, rest) from error


def _undeletable(folder: Path, error: OSError, rest: str) -> StoreError:
    return StoreError(
        "recordings-undeletable",
        f"A recording in {folder} can't be read or deleted ({error.strerror}). {rest}",
    )


def _turn_of(file: Path) -> str:
    return file.name.partition(".")[0].partition("-")[2]


def erase_recordings(folder: Path, person: str) -> None:
    """Delete the recordings of a person.

    Raises:
        StoreError: ``recordings-undeletable``.
    """
    own = recordings_of(folder, person)
    gone = folder / f"{_GONE}{uuid.uuid4().hex}"
    try:
        with suppress(FileNotFoundError):
            # First: else what is being recorded at the moment comes in again and again.
            own.rename(gone)
        _sweep(folder)
    except OSError as error:
        left = next(folder.glob(f"{_GONE}*"), own)
        raise StoreError(
            "recordings-undeletable",
            f"{left} can't be deleted ({error.strerror}). Memory is gone; delete this folder by hand.",
        ) from error


def _sweep(folder: Path) -> None:
    """Delete what was moved away to be deleted, now or when that failed."""
    for gone in list(folder.glob(f"{_GONE}*")):
        _delete(gone)


def _delete(folder: Path) -> None:
    for _ in range(_TRIES):
        with suppress(OSError):  # a file that was just being opened when the folder was moved
            shutil.rmtree(folder)
        if not folder.exists():  # perhaps somebody else has deleted it meanwhile
            return
    shutil.rmtree(folder)


def _close(path: Path, mode: int) -> None:
    with suppress(OSError):  # it may belong to another user, or be on a disk that knows no rights
        path.chmod(mode)


def describe(turn: Turn) -> Mapping[str, object]:
    """Return a turn as plain data, as in the API and in recordings."""
    question = turn.question
    return {
        "id": turn.id,
        "device": turn.device,
        "person": turn.person,
        "started_at": turn.started_at.isoformat(),
        "transcript": question.text if question else "",
        "language": question.language if question else "",
        "query": turn.query,
        "recalled": [
            {**_describe_fact(line), "score": line.score, "parts": dict(line.parts)}
            for line in turn.recalled.lines
        ],
        "standing": [_describe_fact(line) for line in turn.recalled.standing],
        "pages": [
            {
                "id": page.id,
                "said": page.said,
                "heard": page.heard,
                "at": page.at.isoformat(),
                "neighbour": page.neighbour,
                "score": page.score,
                "parts": dict(page.parts),
            }
            for page in turn.recalled.pages
        ],
        "rests_on": sorted(map(sorted, turn.recalled.rests_on)),
        "told": list(turn.told),
        "unkept": turn.unkept,
        "stopped": [
            {"kind": one.kind, "facts": list(one.facts), "attempt": one.attempt}
            for one in turn.stopped
        ],
        "reply": turn.reply,
        "heard": turn.heard,
        "emotion": turn.emotion,
        "interrupted": turn.interrupted,
        "error": turn.error,
        "prompt_tokens": turn.prompt_tokens,
        "completion_tokens": turn.completion_tokens,
        "first_audio_ms": turn.first_audio_ms,
        "stages_ms": {str(stage): spent for stage, spent in turn.stages_ms.items()},
        "events": [
            {
                "event": str(event.happening),
                "at_ms": event.at_ms,
                **({"code": event.code} if event.code else {}),
            }
            for event in turn.events
        ],
    }


def _describe_fact(line: Recalled) -> Mapping[str, object]:
    return {
        "id": line.id,
        "text": line.text,
        "said_at": line.at.isoformat(),
        "sources": list(line.sources),
    }
