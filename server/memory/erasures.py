"""Erasing in the store: what is named, or what is over, in one transaction with the record of it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from sqlalchemy import Connection, delete, select

from server.memory.audit import Actor, AuditEntry, note_erasure
from server.memory.database import Database
from server.memory.erasing import Erased, Erasing, Order
from server.memory.erasure import erase
from server.memory.schema import erasures
from server.memory.unfinished import Unfinished, begin


class _TakenBack(Exception):  # noqa: N818 - no error: it takes a change back that was only tried
    """Ends a transaction without effect."""


class Erasures:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def unfinished(self) -> list[Unfinished]:
        """Return what has begun and is not finished."""
        rows = self._database.rows(select(erasures).order_by(erasures.c.id))
        return [Unfinished(row.id, row.owner, frozenset(row.turns), row.is_whole) for row in rows]

    def finish(self, ids: Sequence[str]) -> None:
        """Note that the files are gone through, and overwrite what was deleted from the database."""
        if ids:
            self._database.owe_scrub()
            with self._database.writing() as connection:
                connection.execute(delete(erasures).where(erasures.c.id.in_(ids)))
        self._database.scrub_again()

    def erase(self, what: Erasing, order: Order) -> Erased:
        """Delete everything that is named, and what rests on it; note that in the record. `erasures.finish` ends it."""
        self._database.owe_scrub()
        with self._database.writing() as connection:
            erased = erase(connection, what)
            begin(connection, order)
            if erased.total:
                entry = AuditEntry(order.at, order.actor, order.kind, erased.total)
                note_erasure(connection, entry)
        return erased

    def would_erase(self, what: Erasing) -> Erased:
        """Return what would go, by deleting it and taking that back."""
        erased = Erased()
        with suppress(_TakenBack), self._database.writing() as connection:
            erased = erase(connection, what)
            raise _TakenBack
        return erased

    def expire(self, expire: Callable[[Connection], int], kind: str, now: datetime) -> int:
        """Delete what is kept for a time only, by a function of `server.memory.expiring`; return how much."""
        self._database.owe_scrub()
        with self._database.writing() as connection:
            count = expire(connection)
            if count:
                note_erasure(
                    connection, AuditEntry(now, Actor.SCHEDULE, f"retention-{kind}", count)
                )
        return count
