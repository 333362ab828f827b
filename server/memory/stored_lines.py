"""What search needs of every utterance, in the store: its numbers and its vector, kept beside the pages."""

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, delete, exists, func, select
from sqlalchemy.dialects import sqlite

from server.memory.counters import Part, changed_since, count_change
from server.memory.database import Database
from server.memory.models import Page
from server.memory.pages import find_pages, owners_of
from server.memory.schema import line_vectors, lines, pages

Vector = NDArray[np.float32]


class StoredLine(NamedTuple):
    """What search needs of one utterance, as the store keeps it."""

    page: str
    role: int
    """0 for what was said, 1 for what was heard."""
    version: str
    """Of what made the data."""
    data: bytes


class StoredLines:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, rows: Sequence[StoredLine], read_at: Mapping[str, int] | None = None) -> None:
        """Store lines in the place of earlier ones; those of pages that are gone are left out.

        Args:
            rows: The lines.
            read_at: `Cuts.counts` from before the pages were read: those of persons whose count is another one now
                are left out, too. None if it can't have changed.
        """
        with self._database.writing() as connection:
            owners = _unchanged(connection, {row.page for row in rows}, read_at)
            kept = [row._asdict() | {"role": int(row.role)} for row in rows if row.page in owners]
            _put(connection, lines, kept)
            count_change(connection, Part.PAGES, set(owners.values()))

    def of(self, person: str) -> list[StoredLine]:
        """Return the lines of a person of all versions, in the order in which they were spoken."""
        query = (
            select(lines.c.page, lines.c.role, lines.c.version, lines.c.data)
            .join(pages, pages.c.id == lines.c.page)
            .where(pages.c.person == person)
            .order_by(pages.c.at, pages.c.id, lines.c.role)
        )
        rows = self._database.rows(query)
        return [StoredLine(row.page, row.role, row.version, row.data) for row in rows]

    def pages_without(self, person: str, version: str) -> list[Page]:
        """Return the pages of a person that have no line of this version, oldest first."""
        made = exists().where(lines.c.page == pages.c.id, lines.c.version == version)
        query = select(pages).where(pages.c.person == person, ~made)
        return find_pages(self._database, query.order_by(pages.c.at, pages.c.id))

    def put_vectors(
        self,
        by_line: Mapping[tuple[str, int], Vector],
        stamp: str,
        read_at: Mapping[str, int] | None = None,
    ) -> None:
        """Store embeddings by page and role, those of a page together; those of other stamps stay for a way back.

        Args:
            by_line: Kept as float16. An empty one says that none can be made: the page is not asked for again.
            stamp: What made them.
            read_at: As in `put`.
        """
        with self._database.writing() as connection:
            owners = _unchanged(connection, {page for page, _ in by_line}, read_at)
            rows = [
                {"page": page, "role": int(role), "stamp": stamp, "data": _half(vector)}
                for (page, role), vector in by_line.items()
                if page in owners
            ]
            _put(connection, line_vectors, rows)
            count_change(connection, Part.PAGES, set(owners.values()))

    def vectors_of(
        self, person: str, stamp: str, page_ids: Sequence[str] | None = None
    ) -> dict[tuple[str, int], Vector]:
        """Return the embeddings of a person's lines that were made with `stamp`, by page and role.

        As they stand there: one that was torn has another length.

        Args:
            person: Whose.
            stamp: What made them.
            page_ids: Of these pages only.
        """
        query = (
            select(line_vectors.c.page, line_vectors.c.role, line_vectors.c.data)
            .join(pages, pages.c.id == line_vectors.c.page)
            .where(pages.c.person == person, line_vectors.c.stamp == stamp)
            .where(func.length(line_vectors.c.data) > 0)
        )
        if page_ids is not None:
            query = query.where(line_vectors.c.page.in_(page_ids))
        return {
            (row.page, row.role): np.frombuffer(row.data, "<f2", len(row.data) // 2).astype(
                np.float32
            )
            for row in self._database.rows(query)
        }

    def drop_vectors(self, page_ids: Sequence[str], stamp: str) -> None:
        """Delete the embeddings of pages, so that they are embedded again."""
        made = line_vectors.c.page.in_(page_ids) & (line_vectors.c.stamp == stamp)
        with self._database.writing() as connection:
            connection.execute(delete(line_vectors).where(made))
            count_change(connection, Part.PAGES, set(owners_of(connection, page_ids).values()))

    def pages_without_vectors(
        self, stamp: str, limit: int, page_ids: Sequence[str] | None = None
    ) -> list[Page]:
        """Return pages of anybody, or of these, whose lines have no embedding made with `stamp`, the newest first."""
        made = exists().where(line_vectors.c.page == pages.c.id, line_vectors.c.stamp == stamp)
        query = select(pages).where(~made)
        if page_ids is not None:
            query = query.where(pages.c.id.in_(page_ids))
        newest = query.order_by(pages.c.at.desc(), pages.c.id).limit(limit)
        return find_pages(self._database, newest)


def _unchanged(
    connection: Connection, page_ids: Set[str], read_at: Mapping[str, int] | None
) -> dict[str, str]:
    """Return, of these pages, those that are as they were read, with the person whose each is."""
    owners = owners_of(connection, page_ids)
    if read_at is None:
        return owners
    counts = {person: read_at.get(person, 0) for person in owners.values()}
    cut = changed_since(connection, Part.CUTS, counts)
    return {page: person for page, person in owners.items() if person not in cut}


def _put(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(sqlite.insert(table).prefix_with("OR REPLACE"), rows)


def _half(vector: Vector) -> bytes:
    return vector.astype("<f2").tobytes()
