"""The exchanges in the store that facts have still to be drawn from."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import case, func, or_, select, update

from server.memory.consents import has_consent
from server.memory.database import Database
from server.memory.models import Page
from server.memory.pages import find_pages
from server.memory.schema import pages


class Queue:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(
        self, due: datetime | None = None, person: str | None = None
    ) -> dict[str, list[Page]]:
        """Return the pages that no facts were drawn from yet, by person, oldest first.

        Whoever does not want to be remembered any longer is left out.

        Args:
            due: Leave out those that were put off to a moment after this one.
            person: Whose pages; None for everybody's.
        """
        query = select(pages).where(pages.c.extracted_at.is_(None), has_consent(pages.c.person))
        if due is not None:
            query = query.where(or_(pages.c.retry_at.is_(None), pages.c.retry_at <= due))
        if person is not None:
            query = query.where(pages.c.person == person)
        found: dict[str, list[Page]] = {}
        for page in find_pages(self._database, query.order_by(pages.c.at)):
            found.setdefault(page.person, []).append(page)
        return found

    def count(self, person: str | None = None) -> int:
        """Return how many exchanges, of a person or of everybody, no facts were drawn from yet."""
        query = select(func.count()).select_from(pages).where(pages.c.extracted_at.is_(None))
        if person is not None:
            query = query.where(pages.c.person == person)
        return int(self._database.rows(query)[0][0])

    def states_of(self, person: str) -> dict[str, tuple[bool, str]]:
        """Return of each page whether facts have still to be drawn from it, and the batch that it was put in words in."""
        columns = (pages.c.id, pages.c.extracted_at, pages.c.batch)
        rows = self._database.rows(select(*columns).where(pages.c.person == person))
        return {row.id: (row.extracted_at is None, row.batch) for row in rows}

    def newest(self, person: str, most: int) -> list[Page]:
        """Return the last pages of a person that no facts were drawn from yet, oldest first."""
        query = select(pages).where(pages.c.extracted_at.is_(None), pages.c.person == person)
        return find_pages(self._database, query.order_by(pages.c.at.desc()).limit(most))[::-1]

    def overdue(self, now: datetime, silent_since: datetime) -> list[str]:
        """Return the persons with pages that are to be tried again now, or who fell silent before `silent_since`.

        What was said after `now`, while the clock was ahead, does not count as talk of this moment.
        """
        again = func.min(pages.c.retry_at) <= now
        last = func.max(case((pages.c.at <= now, pages.c.at)))
        silent = or_(last.is_(None), last <= silent_since)
        query = (
            select(pages.c.person)
            .where(pages.c.extracted_at.is_(None), has_consent(pages.c.person))
            .group_by(pages.c.person)
            .having(or_(again, silent))
        )
        return sorted(row.person for row in self._database.rows(query))

    def attempts(self, ids: Sequence[str]) -> int:
        """Return how often facts have been drawn from these pages in vain, at most."""
        rows = self._database.rows(select(func.max(pages.c.attempts)).where(pages.c.id.in_(ids)))
        return int(rows[0][0] or 0)

    def bring_forward(self, latest: datetime, now: datetime) -> None:
        """Let pages that were put off to a moment after `latest` be tried again now: the clock was ahead then."""
        stale = pages.c.extracted_at.is_(None) & (pages.c.retry_at > latest)
        with self._database.writing() as connection:
            connection.execute(update(pages).where(stale).values(retry_at=now))

    def put_off(self, ids: Sequence[str], retry_at: datetime) -> None:
        """Leave pages queued until `retry_at`, after an attempt that failed."""
        change = {"attempts": pages.c.attempts + 1, "retry_at": retry_at}
        with self._database.writing() as connection:
            connection.execute(update(pages).where(pages.c.id.in_(ids)).values(change))
