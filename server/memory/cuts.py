"""What was taken out of exchanges because a fact was forgotten, from which it would be, and which answers rest on it."""

from collections.abc import Sequence

from sqlalchemy import select

from server.memory.counters import Part, change_count, change_counts
from server.memory.database import Database
from server.memory.erasure import pages_telling
from server.memory.models import Grounds
from server.memory.schema import grounds


class Cuts:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, person: str) -> int:
        """Return a number that is another one whenever something was taken out of what a person said or heard."""
        return change_count(self._database, Part.CUTS, person)

    def counts(self) -> dict[str, int]:
        """Return the same by person. Ask before you read what is said, and give it to what stores what you made of it."""
        return change_counts(self._database, Part.CUTS)

    def pages_telling(self, fact_ids: Sequence[str]) -> list[str]:
        """Return the pages that have words of facts: their sources, and those in which the same was said once more."""
        with self._database.reading() as connection:
            return list(pages_telling(connection, fact_ids))

    def grounds_of(self, person: str) -> dict[str, Grounds]:
        """Return what the answers to a person rested on, by page; of those that rested on nothing, nothing."""
        rows = self._database.rows(select(grounds).where(grounds.c.person == person))
        return {
            row.page: Grounds(
                frozenset(row.recalled), frozenset(frozenset(one.split("\n")) for one in row.held)
            )
            for row in rows
        }
