"""Which pages a record of the portrait was drawn from, so that it goes when they go."""

import json
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    Text,
    and_,
    delete,
    select,
    type_coerce,
)

from server.memory.database import Database, insert_new
from server.memory.schema import day_summaries, pages, record_sources, tables


def record_key(table: Table, *key: object) -> str:
    """Return what a record is called among its sources: its table and its primary key."""
    return json.dumps([table.name, *(str(value) for value in key)], ensure_ascii=False)


def of_table(record: "Column[str]", table: Table) -> ColumnElement[bool]:
    """Return whether what `record_key` made names a record of a table."""
    return record.startswith(f'["{table.name}",', autoescape=True)


def add_sources(connection: Connection, record: str, page_ids: Iterable[str]) -> None:
    """Note that a record was drawn from pages, which are there."""
    insert_new(connection, record_sources, [{"record": record, "page": id_} for id_ in page_ids])


def drop_sources(connection: Connection, records: Iterable[str]) -> None:
    """Forget what records were drawn from; to do before they are deleted or written anew."""
    connection.execute(delete(record_sources).where(record_sources.c.record.in_(list(records))))


def sources_of(database: Database, person: str) -> dict[str, tuple[str, ...]]:
    """Return the pages of every record of a person, oldest first."""
    query = (
        select(record_sources)
        .join(pages, pages.c.id == record_sources.c.page)
        .where(pages.c.person == person)
        .order_by(pages.c.at, pages.c.id)
    )
    found: dict[str, tuple[str, ...]] = {}
    for row in database.rows(query):
        found[row.record] = (*found.get(row.record, ()), row.page)
    return found


def lose_pages(connection: Connection, page_ids: Sequence[str], kept: Collection[str] = ()) -> None:
    """Delete the records that have no other source than these pages, which are about to be deleted.

    A day summary goes with the first of its pages: its text may tell of any of them.

    Args:
        connection: With an open transaction.
        page_ids: Which pages.
        kept: Records that rest on these pages all the same.
    """
    of_pages = record_sources.c.page.in_(page_ids)
    _lose(connection, of_pages & record_sources.c.record.not_in(kept))


def lose_answers(connection: Connection, page_ids: Sequence[str]) -> None:
    """Delete the day summaries of pages whose answers are about to be deleted.

    The other records rest on what the person said.
    """
    of_days = of_table(record_sources.c.record, day_summaries)
    _lose(connection, record_sources.c.page.in_(page_ids) & of_days)


def _lose(connection: Connection, which: ColumnElement[bool]) -> None:
    touched = set(connection.scalars(select(record_sources.c.record).where(which)))
    connection.execute(delete(record_sources).where(which))
    still = select(record_sources.c.record).where(record_sources.c.record.in_(touched))
    supported = set(connection.scalars(still))
    for record in touched:
        name, *values = json.loads(record)
        table = tables.tables[name]
        if table is day_summaries or record not in supported:
            drop_sources(connection, [record])
            key = zip(table.primary_key, values, strict=True)
            same = (type_coerce(column, Text) == value for column, value in key)
            connection.execute(delete(table).where(and_(*same)))
