"""The exchanges in the store."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Executable, Row, Select, func, select, tuple_

from server.memory.counters import Part, count_change
from server.memory.database import Database, insert_new
from server.memory.keeping import in_zone, storable, zone_name
from server.memory.models import Page
from server.memory.schema import grounds, pages


class Outline(NamedTuple):
    """Where an exchange stands, without its words."""

    id: str
    at: datetime
    """In the person's zone."""
    segment: str
    """Empty until it has been sorted."""


class Pages:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, page: Page) -> None:
        """Store a finished exchange, which no segment or chain holds yet; storing the same turn again changes nothing."""
        self.add_all([page])

    def add_all(self, new: Sequence[Page]) -> None:
        """Store several at once."""
        with self._database.writing() as connection:
            insert_pages(connection, new)

    def since(self, moment: datetime) -> list[Page]:
        """Return the exchanges of all persons from a moment on, oldest first."""
        return self._find(select(pages).where(pages.c.at >= moment).order_by(pages.c.at))

    def of(self, person: str) -> list[Page]:
        """Return all exchanges of a person, oldest first."""
        return self._find(select(pages).where(pages.c.person == person).order_by(pages.c.at))

    def outline(self, person: str, after: tuple[datetime, str] | None = None) -> list[Outline]:
        """Return where the exchanges of a person stand, oldest first.

        Args:
            person: Whose.
            after: Time and id of a page: only those that follow it.
        """
        columns = (pages.c.id, pages.c.at, pages.c.zone, pages.c.segment)
        query = select(*columns).where(pages.c.person == person)
        if after is not None:
            query = query.where(is_behind(*after))
        rows = self._database.rows(query.order_by(pages.c.at, pages.c.id))
        return [Outline(row.id, in_zone(row.at, row.zone), row.segment) for row in rows]

    def count(self, person: str) -> int:
        """Return how many exchanges of a person there are."""
        query = select(func.count()).select_from(pages).where(pages.c.person == person)
        return int(self._database.rows(query)[0][0])

    def find(self, ids: Sequence[str]) -> dict[str, Page]:
        """Return exchanges by id; those that are gone are missing."""
        return {page.id: page for page in self._find(select(pages).where(pages.c.id.in_(ids)))}

    def before(self, page: Page, reach: int = 1) -> list[Page]:
        """Return the exchanges of the same person right before one, at most `reach`, oldest first."""
        newest = (pages.c.at.desc(), pages.c.id.desc())
        query = _of_person(page).where(_place_of(page.at, page.id) > _PLACE).order_by(*newest)
        return self._find(query.limit(reach))[::-1]

    def after(self, page: Page, reach: int = 1) -> list[Page]:
        """Return those right after it, oldest first."""
        query = _of_person(page).where(is_behind(page.at, page.id))
        return self._find(query.order_by(pages.c.at, pages.c.id).limit(reach))

    def of_chain(self, person: str, chain: str) -> list[Page]:
        """Return the exchanges in a dialogue chain of a person, oldest first."""
        query = select(pages).where(pages.c.person == person, pages.c.chain == chain)
        return self._find(query.order_by(pages.c.at, pages.c.id))

    def of_segment(self, person: str, segment: str, last: int) -> list[Page]:
        """Return the last exchanges of a person in a segment, oldest first."""
        query = select(pages).where(pages.c.person == person, pages.c.segment == segment)
        found = self._find(query.order_by(pages.c.at.desc(), pages.c.id.desc()).limit(last))
        return found[::-1]

    def of_day(self, person: str, day: date) -> list[Page]:
        """Return the exchanges of a person on one day, counted where the person was, oldest first."""
        query = select(pages).where(pages.c.person == person, pages.c.day == day)
        return self._find(query.order_by(pages.c.at))

    def _find(self, query: Executable) -> list[Page]:
        return find_pages(self._database, query)


_PLACE = tuple_(pages.c.at, pages.c.id)


def _place_of(at: datetime, page_id: str) -> ColumnElement[Any]:
    """Return a place as it is compared with `_PLACE`: a tuple does not take its types from the other side."""
    return tuple_(at, page_id, types=[pages.c.at.type, pages.c.id.type])


def is_behind(at: datetime, page_id: str) -> ColumnElement[bool]:
    """Return whether an exchange comes after the one of this time and id."""
    return _place_of(at, page_id) < _PLACE


def _of_person(page: Page) -> Select[Any]:
    return select(pages).where(pages.c.person == page.person)


def find_pages(database: Database, query: Executable) -> list[Page]:
    """Return the exchanges that a query over whole rows of their table finds."""
    return [_page(row) for row in database.rows(query)]


def owners_of(connection: Connection, ids: Iterable[str]) -> dict[str, str]:
    """Return, of these pages, those that are there, with the person whose each is."""
    query = select(pages.c.id, pages.c.person).where(pages.c.id.in_(list(ids)))
    return {row.id: row.person for row in connection.execute(query)}


def insert_pages(connection: Connection, new: Sequence[Page]) -> None:
    """Store exchanges as a part of a transaction; those that are there already are left as they are."""
    rows, of_answers = page_rows(new)
    insert_new(connection, pages, rows)
    insert_new(connection, grounds, of_answers)
    if new:
        count_change(connection, Part.PAGES, {page.person for page in new})


def page_rows(new: Sequence[Page]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return exchanges as rows of their table, in no segment or chain, and as those of what their answers rested on."""
    of_answers = [_grounds_row(page) for page in new if page.grounds and page.heard]
    return [_row(page) for page in new], of_answers


def _row(page: Page) -> dict[str, Any]:
    return {
        "id": page.id,
        "person": page.person,
        "device": page.device,
        "said": storable(page.said),
        "heard": storable(page.heard),
        "language": page.language,
        "at": page.at,
        "zone": zone_name(page.at),
        "interrupted": page.interrupted,
        "attempts": 0,
        "day": page.at.date(),
    }


def _grounds_row(page: Page) -> dict[str, Any]:
    held = sorted("\n".join(sorted(ids)) for ids in page.grounds.held)
    recalled = sorted(page.grounds.recalled)
    return {"page": page.id, "person": page.person, "recalled": recalled, "held": held}


def _page(row: Row[Any]) -> Page:
    return Page(
        said=row.said,
        heard=row.heard,
        at=in_zone(row.at, row.zone),
        language=row.language,
        interrupted=row.interrupted,
        id=row.id,
        person=row.person,
        device=row.device,
        chain=row.chain,
        segment=row.segment,
    )
