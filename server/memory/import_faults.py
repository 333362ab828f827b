"""Finds what is wrong with an export as a whole: ids that are there twice, lead nowhere, to somebody else, or in a circle."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.memory.importing import Exported


def faults_in(exported: "Exported", place: str) -> Iterator[str]:
    """Find what no field by itself shows: ids that are there twice, that lead nowhere, or to somebody else."""
    start = f"{place}." if place else ""
    kinds = ("facts", "pages", "chains", "segments", "notes", "safety")
    ids = {kind: Counter(row.id for row in getattr(exported, kind)) for kind in kinds}
    for kind in kinds:
        for number, row in enumerate(getattr(exported, kind)):
            if ids[kind][row.id] > 1:
                yield f"{start}{kind}[{number}].id: {row.id} is there more than once"
    yield from (f"{start}{fault}" for fault in _faults_of_facts(exported))
    for path, kind, id_ in _named(exported):
        if id_ and id_ not in ids[kind]:
            yield f"{start}{path}: there is no {kind[:-1]} {id_}"


def _faults_of_facts(exported: "Exported") -> Iterator[str]:
    after = {fact.id: fact.superseded_by for fact in exported.facts if fact.superseded_by}
    for number, fact in enumerate(exported.facts):
        if fact.person != exported.person:
            yield f"facts[{number}].person: {fact.person} is not {exported.person}"
        if fact.id in after and _leads_back(fact.id, after):
            yield f"facts[{number}].superseded_by: {fact.id} replaces itself in the end"


def _leads_back(id_: str, after: Mapping[str, str]) -> bool:
    """Say whether a fact is reached again by what replaced it."""
    seen, now = {id_}, after.get(id_)
    while now is not None and now not in seen:
        seen.add(now)
        now = after.get(now)
    return now == id_


def _named(exported: "Exported") -> Iterator[tuple[str, str, str]]:
    """Return every id that a record names: where it stands, of what kind it is, and the id."""
    for number, fact in enumerate(exported.facts):
        yield f"facts[{number}].superseded_by", "facts", fact.superseded_by or ""
    for number, page in enumerate(exported.pages):
        yield f"pages[{number}].chain", "chains", page.chain
        yield f"pages[{number}].segment", "segments", page.segment
    for number, note in enumerate(exported.notes):
        yield f"notes[{number}].page", "pages", note.page
    for kind in ("facts", "profile", "traits", "days"):
        for number, row in enumerate(getattr(exported, kind)):
            for id_ in row.sources:
                yield f"{kind}[{number}].sources", "pages", id_
