"""Counters of changes: whoever holds a copy of what is kept of a person sees by them that it has grown old."""

import secrets
from collections.abc import Iterable
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


def change_count(database: Database, part: Part, person: str) -> int:
    """Return a number that is another one whenever that part has changed; 0 if there never was anything."""
    query = select(changes.c.counter).where(changes.c.person == person, changes.c.part == part)
    rows = database.rows(query)
    return int(rows[0][0]) if rows else 0
