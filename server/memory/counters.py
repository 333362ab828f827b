"""Counters of changes: whoever holds a copy of what is kept of a person sees by them that it has grown old."""

import secrets
from collections.abc import Iterable, Mapping
from enum import StrEnum

from sqlalchemy import Connection, select
from sqlalchemy.dialects import sqlite

from server.memory.database import Database
from server.memory.schema import changes


class Part(StrEnum):
    """What is counted apart, because it changes at its own pace."""

    FACTS = "facts"
    PAGES = "pages"
    """Exchanges, their lines and vectors, segments and chains."""
    CUTS = "cuts"
    """What was taken out of exchanges: those that were read before are no longer as they were."""
    PORTRAIT = "portrait"
    """Profile, traits, notes and day summaries."""


def count_change(connection: Connection, part: Part, persons: Iterable[str]) -> None:
    """Count a change of a part of what is kept of each of these persons."""
    for person in persons:
        # By chance, so that whoever is forgotten and comes back does not get to a number that was there before.
        first = 1 + secrets.randbelow(2**48)
        row = sqlite.insert(changes).values(person=person, part=str(part), counter=first)
        key, higher = ["person", "part"], {"counter": changes.c.counter + 1}
        connection.execute(row.on_conflict_do_update(index_elements=key, set_=higher))


def change_counts(database: Database, part: Part) -> dict[str, int]:
    """Return what `change_count` returns, by person; those are missing of whom there never was anything."""
    rows = database.rows(select(changes.c.person, changes.c.counter).where(changes.c.part == part))
    return {row.person: row.counter for row in rows}


def changed_since(connection: Connection, part: Part, counts: Mapping[str, int]) -> set[str]:
    """Return, in a transaction, those persons for whom a part has another number now than in `counts`, by person."""
    same = changes.c.person.in_(list(counts)) & (changes.c.part == part)
    query = select(changes.c.person, changes.c.counter).where(same)
    now = {row.person: row.counter for row in connection.execute(query)}
    return {person for person, counter in counts.items() if now.get(person, 0) != counter}


def change_count(database: Database, part: Part, person: str) -> int:
    """Return a number that is another one whenever that part has changed; 0 if there never was anything."""
    query = select(changes.c.counter).where(changes.c.person == person, changes.c.part == part)
    rows = database.rows(query)
    return int(rows[0][0]) if rows else 0
