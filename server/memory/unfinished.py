"""Erasures that are committed and whose files have still to be gone through: after a kill they are finished at the next start."""

import hashlib
import uuid
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from server.memory.database import Database, insert_new
from server.memory.erasing import Order
from server.memory.schema import erasures, forgotten


class Unfinished(NamedTuple):
    """What is left to do for one person."""

    id: str
    owner: str
    turns: frozenset[str]
    """Whose recordings go."""
    is_whole: bool
    """Whether all of them go."""


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

    def forgotten_among(self, ids: Iterable[str]) -> set[str]:
        """Return those of these ids of facts and pages that were forgotten."""
        digests = {digest_of(id_): id_ for id_ in ids}
        with self._database.reading() as connection:
            rows = connection.scalars(select(forgotten.c.digest)).all()
        return {digests[digest] for digest in rows if digest in digests}


def begin(connection: Connection, order: Order) -> None:
    """Note what has still to be done for an erasure, in the transaction that makes it."""
    rows = [
        {"id": uuid.uuid4().hex, "owner": owner, "turns": sorted(turns), "is_whole": order.is_whole}
        for owner, turns in order.turns.items()
    ]
    if rows:
        connection.execute(insert(erasures), rows)


def bury(connection: Connection, ids: Collection[str]) -> None:
    """Note that facts or pages were forgotten, so that no import brings them back unasked."""
    insert_new(connection, forgotten, [{"digest": digest_of(id_)} for id_ in sorted(ids)])


def unbury(connection: Connection, ids: Collection[str]) -> None:
    """Forget that they were."""
    digests = [digest_of(id_) for id_ in ids]
    connection.execute(delete(forgotten).where(forgotten.c.digest.in_(digests)))


def digest_of(id_: str) -> str:
    """Return what stands for an id that was forgotten."""
    return hashlib.sha256(id_.encode("utf-8", "surrogatepass")).hexdigest()[:24]
