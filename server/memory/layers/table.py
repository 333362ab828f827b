"""What was set of personas by hand, and what is proposed, in the store."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update
from sqlalchemy.dialects import sqlite

from server.memory.database import Database, insert_new, present
from server.memory.keeping import storable
from server.memory.layers.fields import FieldKey
from server.memory.layers.proposals import By, Occasion, Proposal, State
from server.memory.schema import pages, persona_proposals, personas


class PersonaTable:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`. Documents are text here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def document(self, agent: str) -> str | None:
        """Return what was set by hand; None if nothing ever was."""
        rows = self._database.rows(select(personas.c.document).where(personas.c.agent == agent))
        return str(rows[0][0]) if rows else None

    def put(self, agent: str, document: str, now: datetime, accepted: str = "") -> None:
        """Store what was set by hand, and that a proposal was accepted with it."""
        row = {"agent": agent, "document": storable(document), "changed_at": now}
        with self._database.writing() as connection:
            connection.execute(sqlite.insert(personas).prefix_with("OR REPLACE").values(row))
            if accepted:
                _decide(connection, accepted, State.ACCEPTED, now)

    def propose(self, agent: str, proposal: Proposal) -> bool:
        """Store a proposal; return False if it is there already, be it decided, or its exchange has been forgotten."""
        page = [proposal.occasion.page] if proposal.occasion.page else []
        with self._database.writing() as connection:
            is_known = bool(present(connection, persona_proposals, [proposal.id]))
            if is_known or len(present(connection, pages, page)) < len(page):
                return False
            insert_new(connection, persona_proposals, [_row(agent, proposal)])
        return True

    def reject(self, proposal_id: str, now: datetime) -> None:
        """Note that a proposal was turned down."""
        with self._database.writing() as connection:
            _decide(connection, proposal_id, State.REJECTED, now)

    def proposals(self, agent: str, state: State | None = State.PENDING) -> Sequence[Proposal]:
        """Return the proposals in a state, or all, oldest first."""
        query = select(persona_proposals).where(persona_proposals.c.agent == agent)
        if state is not None:
            query = query.where(persona_proposals.c.state == state)
        rows = self._database.rows(query.order_by(persona_proposals.c.at, persona_proposals.c.id))
        return [_proposal(row) for row in rows]

    def asked_by(self, person: str) -> Sequence[Proposal]:
        """Return everything that a person proposed in a talk, decided or not, oldest first."""
        mine = select(persona_proposals).where(persona_proposals.c.person == person)
        rows = self._database.rows(mine.order_by(persona_proposals.c.at, persona_proposals.c.id))
        return [_proposal(row) for row in rows]


def _decide(connection: Connection, proposal_id: str, state: State, now: datetime) -> None:
    mine = update(persona_proposals).where(persona_proposals.c.id == proposal_id)
    connection.execute(mine.values(state=str(state), decided_at=now))


def _row(agent: str, proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "agent": agent,
        "field": str(proposal.key),
        "lines": proposal.lines,
        "source": str(proposal.by),
        "person": proposal.occasion.person,
        "page": proposal.occasion.page or None,
        "at": proposal.at,
        "state": str(proposal.state),
        "decided_at": proposal.decided_at,
    }


def _proposal(row: Row[Any]) -> Proposal:
    return Proposal(
        row.id,
        FieldKey(row.field),
        row.lines,
        By(row.source),
        Occasion(row.person, row.page or ""),
        row.at,
        State(row.state),
        row.decided_at,
    )
