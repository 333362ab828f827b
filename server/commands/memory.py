"""`omoide memory` and `omoide extract`: what is known of people, and what a question would recall."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from server.clock import SystemClock
from server.commands.counts import in_words
from server.commands.memory_access import open_access
from server.commands.memory_kinds import MemoryAccess, Row, Search
from server.commands.moment import parse_moment
from server.commands.reach import Place
from server.commands.report import Report, Tell, counted
from server.commands.table import tell_table
from server.errors import ConfigError, OmoideError
from server.languages import written_language
from server.memory.importing import MOST_BYTES
from server.registry import write_private

NOTHING: Mapping[str, Mapping[str, object]] = {
    "list": {"facts": [], "waiting": 0, "error": None},
    "search": {"candidates": [], "error": None},
    "show": {"fact": None, "error": None},
    "correct": {"fact": None, "error": None},
    "export": {"persons": [], "error": None},
    "import": {"counts": {}, "forgotten": 0, "known": 0, "error": None},
    "reindex": {"embedded": 0, "persons": [], "error": None},
    "extract": {"stored": [], "waiting": 0, "interrupted": False, "error": None},
}
"""The shape of each command's JSON object when nothing came of it."""

_SCORES = ("final", "relevance", "dense", "lexical", "recency", "date")


@dataclass(frozen=True, slots=True)
class Question:
    """A search as it stands on the command line."""

    text: str
    person: str = ""
    language: str = ""
    at: str = ""
    limit: int = 20


async def list_facts(person: str, superseded: bool, place: Place, tell: Tell) -> Report:
    """List the facts of a person, or of everybody.

    Raises:
        OmoideError: The memory can't be had, or nothing is stored of that person.
    """
    async with open_access(place) as memory:
        persons = await persons_meant(memory, person)
        listings = [await memory.facts(one, superseded=superseded) for one in persons]
    facts = [fact for listing in listings for fact in listing.facts]
    waiting = sum(listing.waiting for listing in listings)
    if facts:
        headings = ("ID", "PERSON", "SAID AT", "FACT")
        now = (place.clock or SystemClock(place.config.server.timezone)).now()
        tell_table([headings, *(_row(fact, now) for fact in facts)], tell)
    else:
        tell("Nothing is known yet.")
    if waiting:
        waits = counted(waiting, "exchange waits", "exchanges wait")
        tell(f"{waits} for facts to be drawn: after some silence, or with `omoide extract`.")
    return Report({**NOTHING["list"], "facts": facts, "waiting": waiting})


async def search(question: Question, place: Place, tell: Tell) -> Report:
    """Show what a question would recall, and every other fact that was looked at, with the scores of each.

    Raises:
        OmoideError: The memory can't be had, or it is not clear whose is meant.
    """
    config = place.config
    zone = config.server.timezone
    if not question.text.strip():
        raise OmoideError("text-empty", "There is nothing to look for. Give a question.")
    at = parse_moment(question.at, zone) if question.at else None
    language = question.language or written_language(question.text, config.persona.language)
    async with open_access(place) as memory:
        person = await _one_person(memory, question.person)
        found = await memory.search(person, Search(question.text, language, at, question.limit))
    _tell_candidates(found, tell)
    asked_at = (at or SystemClock(zone).now()).isoformat()
    data = {"person": person, "language": language, "at": asked_at, "candidates": found}
    return Report({**NOTHING["search"], **data})


async def show(fact_id: str, place: Place, tell: Tell) -> Report:
    """Show everything about one fact.

    Raises:
        OmoideError: There is no such fact.
    """
    async with open_access(place) as memory:
        fact = await memory.fact(fact_id)
    for key, value in fact.items():
        if value not in (None, "", []):
            tell(f"{key + ':':15}{', '.join(value) if isinstance(value, list) else value}")
    return Report({**NOTHING["show"], "fact": fact})


async def correct(fact_id: str, text: str, place: Place, tell: Tell) -> Report:
    """Put a sentence in the place of a fact.

    Raises:
        OmoideError: There is no such fact, or it holds no longer; or ``text-empty``.
    """
    if not text.strip():
        raise OmoideError("text-empty", "There is nothing to put in its place. Give a sentence.")
    async with open_access(place) as memory:
        fact = await memory.correct(fact_id, text)
    tell(f"Holds now: {fact['id']}  {fact['text']}")
    return Report({**NOTHING["correct"], "fact": fact})


async def export(person: str, out: Path | None, place: Place, tell: Tell) -> Report:
    """Hand out everything that is stored of a person, or of everybody: into a file, or line by line as JSON.

    Raises:
        OmoideError: The memory can't be had, or ``file-unwritable``.
    """
    async with open_access(place) as memory:
        persons = [await memory.export(one) for one in await persons_meant(memory, person)]
    if out is None:
        for one in persons:
            tell(json.dumps(one, ensure_ascii=False, indent=2))
        return Report({**NOTHING["export"], "persons": persons})
    text = json.dumps({"persons": persons}, ensure_ascii=False, indent=2)
    try:
        write_private(out, f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OmoideError(
            "file-unwritable", f"{out} can't be written ({error.strerror}). Name another file."
        ) from error
    tell(f"{out}: {counted(len(persons), 'person')}. Nobody but you may read it.")
    names = [one["person"] for one in persons]
    return Report({**NOTHING["export"], "persons": names, "file": str(out)})


async def bring_in(
    file: Path, person: str, place: Place, tell: Tell, *, forgotten: bool = False
) -> Report:
    """Read an export back into the memory of a person.

    Args:
        file: What `export` has written.
        person: Whose memory it becomes.
        place: Where the memory is.
        tell: Told what came in, and what did not.
        forgotten: Whether what was forgotten here comes back.

    Raises:
        OmoideError: ``file-unreadable``, ``import-invalid``, ``import-foreign``; or the memory can't be had.
    """
    text = _read(file)
    async with open_access(place) as memory:
        imported = await memory.bring_in(text, person, forgotten=forgotten)
    new = in_words(imported["counts"])
    tell(f"New: {new or 'nothing'}. {imported['known']} facts and exchanges were there already.")
    if imported["forgotten"]:
        tell(
            f"{imported['forgotten']} records were left out: they had been forgotten here. Add --forgotten to bring them back."
        )
    return Report({**NOTHING["import"], **imported})


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise OmoideError(
                "file-too-large", f"{file} has more than {MOST_BYTES >> 20} MB. Split it by person."
            )
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise OmoideError("file-unreadable", f"{file} can't be read ({reason}).") from error


async def reindex(person: str, place: Place, tell: Tell) -> Report:
    """Make the vector index anew, of a person or of everybody.

    Raises:
        OmoideError: The memory can't be had, or the embedder fails.
    """
    async with open_access(place) as memory:
        persons = await persons_meant(memory, person)
        embedded = sum([await memory.reindex(one) for one in persons])
    indexed, had_none = counted(len(persons), "person"), counted(embedded, "fact")
    tell(f"{indexed} indexed anew; {had_none} had no vector of this model yet.")
    return Report({**NOTHING["reindex"], "embedded": embedded, "persons": persons})


async def extract(person: str, place: Place, tell: Tell) -> Report:
    """Draw facts from what was said and waits.

    Raises:
        OmoideError: The memory can't be had, or no facts could be drawn; what was said stays queued then.
    """
    async with open_access(place) as memory:
        drawn = await memory.extract(person)
    tell_stored(drawn.stored, tell)
    if drawn.interrupted:
        tell("It ended early: somebody began to talk, and the model has to answer them first.")
    if drawn.waiting:
        waits = counted(drawn.waiting, "exchange still waits", "exchanges still wait")
        tell(f"{waits}, until the next silence.")
    return Report({**NOTHING["extract"], **asdict(drawn)})


def tell_stored(stored: Sequence[Mapping[str, Any]], tell: Tell) -> None:
    """Print the facts that were drawn."""
    drawn = counted(len(stored), "fact was drawn", "facts were drawn")
    tell(f"{drawn}." if stored else "No facts were drawn.")
    for fact in stored:
        tell(f"    {fact['text']}")


async def persons_meant(memory: MemoryAccess, person: str) -> list[str]:
    """Return the person who was named, or everybody."""
    known = await memory.persons()
    if not person:
        return known
    if person not in known:
        raise _unknown(person, known)
    return [person]


async def _one_person(memory: MemoryAccess, person: str) -> str:
    """Return whose memory is meant: without a name, the only one there is."""
    known = await memory.persons()
    if person and person not in known:
        raise _unknown(person, known)
    if person or len(known) == 1:
        return person or known[0]
    if not known:
        raise OmoideError("memory-empty", "Nothing is remembered of anybody yet.")
    raise ConfigError(
        f"Say with --person whose memory is meant: {', '.join(known)}.", "person-missing"
    )


def _unknown(person: str, known: Sequence[str]) -> OmoideError:
    names = ", ".join(known) or "nobody"
    return OmoideError(
        "person-unknown", f"Nothing is remembered of {person}. What is remembered is of: {names}."
    )


def _row(fact: Row, now: datetime) -> tuple[str, ...]:
    fades_at = fact.get("fades_at")  # a server of an older version does not say
    replaced = "  (replaced)" if fact["superseded_by"] else ""
    again = fact.get("repeated_at")
    again = f"  (again {again[-1][:10]})" if again else ""
    faded = "  (faded)" if fades_at and datetime.fromisoformat(fades_at) < now else ""
    return (
        fact["id"],
        fact["person"],
        fact["said_at"][:16].replace("T", " "),
        fact["text"] + again + replaced + faded,
    )


def _tell_candidates(found: Sequence[Row], tell: Tell) -> None:
    if not found:
        tell("No fact was looked at.")
        return
    names = [name for name in _SCORES if any(name in row["scores"] for row in found)]
    rows: list[tuple[str, ...]] = [("PASSED", *(name.upper() for name in names), "FACT")]
    for row in found:
        scores = (f"{row['scores'].get(name, 0.0):.3f}" for name in names)
        told = "yes" if row["passed"] else f"no: {row['reason']}"
        rows.append((told, *scores, row["text"]))
    tell_table(rows, tell)
    passed = sum(row["passed"] for row in found)
    tell(
        f"{passed} of {len(found)} would be recalled. What stands in every prompt (allergies, medicine, losses, what is not "
        "to be mentioned) is told besides."
    )
