"""The embeddings of facts in the store."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import sqlite

from server.memory.database import Database, present
from server.memory.schema import facts, vectors

Vector = NDArray[np.float32]


class FactVectors:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, person: str, stamp: str) -> dict[str, Vector]:
        """Return the embeddings of a person's facts that were made with `stamp`, by fact.

        As they stand there: one that was torn has another length.
        """
        query = (
            select(vectors.c.fact, vectors.c.data)
            .join(facts, facts.c.id == vectors.c.fact)
            .where(facts.c.person == person, vectors.c.stamp == stamp)
        )
        return {
            row.fact: np.frombuffer(row.data, "<f4", len(row.data) // 4)
            for row in self._database.rows(query)
        }

    def owners(self) -> list[str]:
        """Return everybody of whose facts there are embeddings, of whatever stamp."""
        query = select(facts.c.person).join(vectors, vectors.c.fact == facts.c.id).distinct()
        return sorted(row.person for row in self._database.rows(query))

    def missing_in(self, stamp: str) -> list[str]:
        """Return the persons with facts that have no embedding made with `stamp`."""
        made = select(vectors.c.fact).where(vectors.c.stamp == stamp)
        query = select(facts.c.person).where(facts.c.id.not_in(made)).distinct()
        return sorted(row.person for row in self._database.rows(query))

    def put(self, by_fact: Mapping[str, Vector], stamp: str) -> None:
        """Store embeddings of facts that are there; those of other stamps stay for a way back."""
        with self._database.writing() as connection:
            put_fact_vectors(connection, by_fact, stamp)

    def drop(self, fact_ids: Sequence[str], stamp: str) -> None:
        """Delete embeddings, so that the facts are embedded again."""
        made = vectors.c.fact.in_(fact_ids) & (vectors.c.stamp == stamp)
        with self._database.writing() as connection:
            connection.execute(delete(vectors).where(made))


def put_fact_vectors(connection: Connection, by_fact: Mapping[str, Vector], stamp: str) -> None:
    """Store embeddings of facts that are there, as a part of a transaction."""
    there = present(connection, facts, by_fact)
    rows = [
        {"fact": fact, "stamp": stamp, "data": vector.astype("<f4").tobytes()}
        for fact, vector in by_fact.items()
        if fact in there
    ]
    if rows:
        connection.execute(sqlite.insert(vectors).prefix_with("OR REPLACE"), rows)
