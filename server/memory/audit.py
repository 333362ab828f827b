"""The record of what was erased: when, by whom, what kind and how much, and nothing of what it was. It can only be added to."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, insert, select

from server.memory.database import Database
from server.memory.schema import audit


class Actor(StrEnum):
    """By which way somebody erased something."""

    COMMAND = "command"
    API = "api"
    VOICE = "voice"
    SCHEDULE = "schedule"
    """Its time was over: see `server.memory.retention`."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One erasure, or one import."""

    at: datetime
    """In UTC."""
    actor: str
    kind: str
    """What was named (person, fact, page, day, topic, words), or ``retention-…``, ``import``."""
    count: int
    """Records that went or came."""


class Audit:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, last: int | None = None) -> list[AuditEntry]:
        """Return the last entries, or all, oldest first."""
        query = select(audit).order_by(audit.c.id.desc()).limit(last)
        rows = reversed(self._database.rows(query))
        return [AuditEntry(row.at, row.actor, row.kind, row.count) for row in rows]


def note_erasure(connection: Connection, entry: AuditEntry) -> None:
    """Add an entry, in the transaction that does what it tells of."""
    row = {"at": entry.at, "actor": entry.actor, "kind": entry.kind, "count": entry.count}
    connection.execute(insert(audit).values(row))
