"""Erasures that are committed and whose files have still to be gone through: after a kill they are finished at the next start."""

import hashlib
import uuid
from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert

from server.memory.database import insert_new
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
