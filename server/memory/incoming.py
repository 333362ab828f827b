"""Puts what was exported into the store: once, under its own person, and nothing that was forgotten there unless that is asked for."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, select

from server.errors import OmoideError
from server.memory.audit import AuditEntry, note_erasure
from server.memory.counters import Part, count_change
from server.memory.database import Database, insert_new
from server.memory.dossier import Dossier
from server.memory.fact_rows import fact_row
from server.memory.importing import Imported
from server.memory.lineage import add_sources, record_key
from server.memory.pages import page_rows
from server.memory.portrait import put_notes, put_profile, put_traits, summary_row
from server.memory.safety.events import bring_in_events
from server.memory.schema import (
    chains,
    day_summaries,
    facts,
    forgotten,
    grounds,
    notes,
    pages,
    safety_events,
    segments,
    sources,
)
from server.memory.sweeping import census
from server.memory.tiers import Sorting, drop_empty, put_sorting
from server.memory.unfinished import digest_of, unbury


class Incoming:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def bring_in(self, dossier: Dossier, now: datetime, actor: str, *, is_asked: bool) -> Imported:
        """Store what was exported of a person, in one transaction; see `bring_in` beside this class."""
        rows = {fact.id: fact_row(fact, now) for fact in dossier.facts}
        with self._database.writing() as connection:
            imported = bring_in(connection, dossier, rows, now, is_asked=is_asked)
            if imported.counts:
                count = sum(imported.counts.values())
                note_erasure(connection, AuditEntry(now, actor, "import", count))
        return imported


def bring_in(
    connection: Connection,
    dossier: Dossier,
    fact_rows: Mapping[str, Mapping[str, Any]],
    now: datetime,
    *,
    is_asked: bool,
) -> Imported:
    """Store what is not there yet, in an open transaction.

    Args:
        connection: In the transaction.
        dossier: What was exported.
        fact_rows: Its facts as rows of their table, by id.
        now: The present moment.
        is_asked: Whether what was forgotten comes back.

    Raises:
        OmoideError: ``import-foreign``: an id belongs to somebody else here.
    """
    _refuse_foreign(connection, dossier)
    named = {*fact_rows, *(page.id for page in dossier.pages)}
    if is_asked:
        unbury(connection, named)
    buried = _buried(connection, named)
    known = _known(connection, pages, (page.id for page in dossier.pages))
    cut, retold = _changed(connection, dossier)
    gone = (buried | cut) & {page.id for page in dossier.pages}
    before = census(connection, [dossier.person])
    known_facts = _known(connection, facts, fact_rows)
    _put_pages(connection, dossier, buried, now)
    left_out = _put_facts(connection, dossier, fact_rows, buried)
    _put_tiers(connection, dossier, known | gone, now)
    left_out += _put_portrait(connection, dossier, gone, retold)
    bring_in_events(connection, dossier.safety, gone)
    for part in (Part.FACTS, Part.PAGES, Part.CUTS, Part.PORTRAIT):
        count_change(connection, part, [dossier.person])
    after = census(connection, [dossier.person])
    counts = {kind: count - before[kind] for kind, count in after.items() if count > before[kind]}
    return Imported(
        counts, left_out + len(buried - fact_rows.keys()), len(known) + len(known_facts)
    )


def _refuse_foreign(connection: Connection, dossier: Dossier) -> None:
    """Refuse ids under which somebody else has something."""
    for kind, table, rows in (
        ("facts", facts, dossier.facts),
        ("pages", pages, dossier.pages),
        ("segments", segments, dossier.segments),
        ("chains", chains, dossier.chains),
        ("notes", notes, dossier.notes),
        ("safety", safety_events, dossier.safety),
    ):
        ids = [row.id for row in rows]
        for some in _some(ids):
            theirs = select(table.c.id).where(
                table.c.id.in_(some), table.c.person != dossier.person
            )
            foreign = connection.scalars(theirs.limit(1)).first()
            if foreign is not None:
                raise OmoideError(
                    "import-foreign",
                    f"{kind}[{ids.index(foreign)}].id: {foreign} belongs to somebody else here. Nothing was changed.",
                )


def _buried(connection: Connection, ids: Set[str]) -> set[str]:
    """Return those of these ids that were forgotten here."""
    digests = {digest_of(id_): id_ for id_ in ids}
    rows = connection.scalars(select(forgotten.c.digest)).all()
    return {digests[digest] for digest in rows if digest in digests}


def _changed(connection: Connection, dossier: Dossier) -> tuple[set[str], set[str]]:
    """Return the exchanges that are there with other words of the person, and with another answer.

    Something in them was forgotten, or their time is over.
    """
    mine = select(pages.c.id, pages.c.said, pages.c.heard).where(pages.c.person == dossier.person)
    there = {row.id: row for row in connection.execute(mine)}
    both = [(page, there[page.id]) for page in dossier.pages if page.id in there]
    cut = {page.id for page, row in both if page.said != row.said}
    return cut, {page.id for page, row in both if page.heard != row.heard}


def _known(connection: Connection, table: Table, ids: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for some in _some(list(ids)):
        found.update(connection.scalars(select(table.c.id).where(table.c.id.in_(some))))
    return found


def _some(ids: list[str], most: int = 5_000) -> Iterable[list[str]]:
    return (ids[start : start + most] for start in range(0, len(ids), most))


def _put_pages(connection: Connection, dossier: Dossier, buried: Set[str], now: datetime) -> None:
    new = [
        replace(page, grounds=dossier.grounds.get(page.id, page.grounds))
        for page in dossier.pages
        if page.id not in buried
    ]
    rows, of_answers = page_rows(new)
    for row in rows:
        state = dossier.states[row["id"]]
        row["extracted_at"] = None if state.waiting else now
        row["batch"] = state.batch
    insert_new(connection, pages, rows)
    insert_new(connection, grounds, of_answers)


def _put_facts(
    connection: Connection,
    dossier: Dossier,
    fact_rows: Mapping[str, Mapping[str, Any]],
    buried: Set[str],
) -> int:
    """Put facts in; return how many were forgotten here. What one of those had replaced holds again."""
    kept = [dict(row) for id_, row in fact_rows.items() if id_ not in buried]
    for row in kept:
        if row["superseded_by"] in buried:
            row["superseded_by"], row["superseded_at"] = "", None
    insert_new(connection, facts, kept)
    drawn = [
        {"fact": fact.id, "page": page}
        for fact in dossier.facts
        for page in fact.sources
        if fact.id not in buried and page not in buried
    ]
    insert_new(connection, sources, drawn)
    return len(fact_rows) - len(kept)


def _put_tiers(connection: Connection, dossier: Dossier, known: Set[str], now: datetime) -> None:
    """Put topics and chains in that are not there; what tells of exchanges that were forgotten is told without words."""
    there = _known(connection, segments, (one.id for one in dossier.segments))
    there |= _known(connection, chains, (one.id for one in dossier.chains))
    new = [page for page in dossier.pages if page.id not in known]
    stained = {page.segment for page in dossier.pages if page.id in known}
    stained |= {page.chain for page in dossier.pages if page.id in known}
    used = {page.segment for page in new} | {page.chain for page in new}
    put_sorting(
        connection,
        Sorting(
            [
                replace(one, summary="", keywords=frozenset()) if one.id in stained else one
                for one in dossier.segments
                if one.id in used - there
            ],
            [
                replace(one, summary="") if one.id in stained else one
                for one in dossier.chains
                if one.id in used - there
            ],
            {page.id: page.segment for page in new if page.segment},
            {page.id: page.chain for page in new if page.chain},
        ),
        set(),
        now,
    )
    drop_empty(connection, [dossier.person])


def _put_portrait(
    connection: Connection, dossier: Dossier, gone: Set[str], retold: Set[str]
) -> int:
    """Put profile, traits, notes and summaries in; return how many are left out, as what they rest on was forgotten.

    A summary may tell of answers, too.
    """

    def is_lost(ids: Iterable[str]) -> bool:
        named = set(ids)
        return bool(named) and named <= gone

    put_profile(connection, dossier.profile, gone)
    put_traits(connection, dossier.traits, gone)
    put_notes(connection, dossier.notes, gone)
    days = [one for one in dossier.days if (gone | retold).isdisjoint(one.sources)]
    have = select(day_summaries.c.day).where(day_summaries.c.person == dossier.person)
    there = set(connection.scalars(have))
    for one in days:
        if one.day not in there:
            insert_new(connection, day_summaries, [summary_row(one)])
            key = record_key(day_summaries, one.person, one.day)
            add_sources(connection, key, one.sources)
    lost = sum(is_lost(entry.sources) for entry in dossier.profile)
    lost += sum(is_lost(trait.sources) for trait in dossier.traits)
    lost += sum(note.page in gone for note in dossier.notes)
    return lost + len(dossier.days) - len(days)
