"""Deletes what is kept for so many days only: the words of exchanges, summaries of days, notes."""

from collections.abc import Collection
from datetime import date, datetime

from sqlalchemy import Connection, delete, select, update

from server.memory.counters import Part, count_change
from server.memory.lineage import drop_sources, record_key
from server.memory.models import NoteKind
from server.memory.schema import day_summaries, grounds, line_vectors, lines, notes, pages


def expire_exchanges(connection: Connection, before: datetime) -> int:
    """Empty exchanges that facts were drawn from; return how many. When they were, and what was made of them, stays.

    So whoever forgets a fact still finds what else was drawn from the same exchange.
    """
    has_words = (pages.c.said != "") | (pages.c.heard != "")
    old = select(pages.c.id, pages.c.person).where(
        pages.c.at < before, pages.c.extracted_at.is_not(None), has_words
    )
    rows = connection.execute(old).all()
    ids = [row.id for row in rows]
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        emptied = update(pages).where(pages.c.id.in_(some))
        connection.execute(emptied.values(said="", heard=""))
        for table in (lines, line_vectors, grounds):
            connection.execute(delete(table).where(table.c.page.in_(some)))
    _count(connection, {row.person for row in rows}, Part.PAGES, Part.CUTS)
    return len(ids)


def expire_summaries(connection: Connection, before: date) -> int:
    """Delete the summaries of days; return how many."""
    old = select(day_summaries.c.person, day_summaries.c.day).where(day_summaries.c.day < before)
    rows = connection.execute(old).all()
    drop_sources(connection, [record_key(day_summaries, row.person, row.day) for row in rows])
    connection.execute(delete(day_summaries).where(day_summaries.c.day < before))
    _count(connection, {row.person for row in rows}, Part.PORTRAIT)
    return len(rows)


def expire_notes(connection: Connection, before: datetime) -> int:
    """Delete moods and things to ask about; return how many. Signs of danger stay until somebody has looked at them."""
    old = (notes.c.at < before) & (notes.c.kind != str(NoteKind.SAFETY))
    persons = set(connection.scalars(select(notes.c.person).where(old)))
    count = connection.execute(delete(notes).where(old)).rowcount
    _count(connection, persons, Part.PORTRAIT)
    return int(count)


_AT_ONCE = 5_000


def _count(connection: Connection, persons: Collection[str], *parts: Part) -> None:
    for part in parts:
        count_change(connection, part, persons)
