"""Counts what is kept of persons, and deletes what holds certain words, whatever it was made of."""

from collections.abc import Collection, Iterable, Set
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, update

from server.memory.erasing import Erasing
from server.memory.lineage import drop_sources, record_key
from server.memory.pages import owners_of
from server.memory.redaction import names
from server.memory.schema import (
    chains,
    day_summaries,
    facts,
    grounds,
    notes,
    pages,
    pending,
    profile,
    rules,
    safety_events,
    segments,
    sources,
    traits,
)

_COUNTED: tuple[tuple[str, Table, ColumnElement[bool] | None], ...] = (
    ("facts", facts, None),
    ("exchanges", pages, None),
    ("answers", pages, pages.c.heard != ""),
    ("topics", segments, None),
    ("summaries", segments, segments.c.summary != ""),
    ("summaries", chains, chains.c.summary != ""),
    ("summaries", day_summaries, None),
    ("profile", profile, None),
    ("traits", traits, None),
    ("notes", notes, None),
    ("signs", safety_events, None),
    ("waiting", pending, None),
    ("rules", rules, None),
)
_NAMED = (
    (profile, ("value",)),
    (traits, ("dimension",)),
    (day_summaries, ("text", "follow_ups")),
)
"""Records that are called by their primary key among what they were drawn from, and the columns with words in them."""


def census(connection: Connection, persons: Collection[str]) -> dict[str, int]:
    """Return how many records of each kind there are of some persons."""
    counts: dict[str, int] = {}
    for kind, table, which in _COUNTED:
        query = select(func.count()).select_from(table).where(table.c.person.in_(persons))
        found = connection.scalar(query if which is None else query.where(which))
        counts[kind] = counts.get(kind, 0) + int(found or 0)
    return counts


def persons_meant(connection: Connection, what: Erasing) -> set[str]:
    """Return whose records an erasure touches."""
    if what.person:
        return {what.person}
    drawn = select(sources.c.fact).where(sources.c.page.in_(what.pages))
    of_facts = select(facts.c.person).where(facts.c.id.in_(what.facts) | facts.c.id.in_(drawn))
    named = {*what.pages, *what.sentences, *what.answers}
    return {*connection.scalars(of_facts), *owners_of(connection, named).values()}


def ids_of(connection: Connection, person: str) -> set[str]:
    """Return the ids of a person's facts and exchanges."""
    return {
        id_
        for table in (facts, pages)
        for id_ in connection.scalars(select(table.c.id).where(table.c.person == person))
    }


def lose_grounds(connection: Connection, persons: Collection[str], ids: Set[str]) -> None:
    """Take facts and exchanges that are gone out of what answers rested on: what rested on several rests on the others."""
    mine = select(grounds).where(grounds.c.person.in_(persons))
    for row in connection.execute(mine).all() if ids else ():
        recalled = [id_ for id_ in row.recalled if id_ not in ids]
        left = ("\n".join(i for i in each.split("\n") if i not in ids) for each in row.held)
        held = [each for each in dict.fromkeys(left) if each]
        if (*recalled, *held) != (*row.recalled, *row.held):
            change = update(grounds).where(grounds.c.page == row.page)
            connection.execute(change.values(recalled=recalled, held=held))


def lose_words(connection: Connection, persons: Iterable[str], words: str) -> None:
    """Delete what holds some words in the profile, traits, notes and summaries of persons.

    What is said of a topic or a chain is only emptied.
    """
    for person in persons:
        for table, columns in _NAMED:
            for row in _holding(connection, table, columns, person, words):
                key = [getattr(row, column.name) for column in table.primary_key]
                drop_sources(connection, [record_key(table, *key)])
                same = (column == getattr(row, column.name) for column in table.primary_key)
                connection.execute(delete(table).where(*same))
        for row in _holding(connection, notes, ("text", "quote"), person, words):
            connection.execute(delete(notes).where(notes.c.id == row.id))
        for row in _holding(connection, segments, ("summary", "keywords"), person, words):
            same_one = segments.c.id == row.id
            connection.execute(update(segments).where(same_one).values(summary="", keywords=()))
        for row in _holding(connection, chains, ("summary",), person, words):
            connection.execute(update(chains).where(chains.c.id == row.id).values(summary=""))


def _holding(
    connection: Connection, table: Table, columns: Iterable[str], person: str, words: str
) -> list[Any]:
    rows = connection.execute(select(table).where(table.c.person == person)).all()
    return [
        row for row in rows if any(names(_text(getattr(row, column)), words) for column in columns)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else " ".join(value) if isinstance(value, tuple) else ""
