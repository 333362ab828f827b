"""Looks up what an id that somebody typed may mean: what is stored under one that begins like that, and whose it is."""

from sqlalchemy import Table, select

from server.memory.database import Database
from server.memory.schema import facts, pages, persona_proposals, safety_events


class Ids:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def facts(self, beginning: str) -> dict[str, str]:
        """Return the facts whose ids begin so, each with its person."""
        return self._find(facts, beginning)

    def pages(self, beginning: str) -> dict[str, str]:
        """Return the exchanges whose ids begin so, each with its person."""
        return self._find(pages, beginning)

    def events(self, beginning: str) -> dict[str, str]:
        """Return the danger signs whose ids begin so, each with its person."""
        return self._find(safety_events, beginning)

    def proposals(self, beginning: str) -> dict[str, str]:
        """Return the proposals for the persona whose ids begin so, each with who asked for it in a talk; empty for nobody."""
        return self._find(persona_proposals, beginning)

    def _find(self, table: Table, beginning: str) -> dict[str, str]:
        if not beginning:
            return {}
        begins = table.c.id.startswith(beginning, autoescape=True)
        rows = self._database.rows(select(table.c.id, table.c.person).where(begins))
        return {row.id: row.person for row in rows}
