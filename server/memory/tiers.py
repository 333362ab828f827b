"""The middle tier in the store: segments and chains of pages."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Row, Table, delete, exists, func, select, update
from sqlalchemy.dialects import sqlite

from server.memory.counters import Part, change_count, count_change
from server.memory.database import Database
from server.memory.keeping import in_zone, storable, zone_name
from server.memory.models import Chain, Segment
from server.memory.pages import owners_of
from server.memory.schema import chains, pages, segments


@dataclass(frozen=True, slots=True)
class Sorting:
    """What sorting a batch of pages of one person into the middle tier leads to."""

    segments: Sequence[Segment] = ()
    """New ones; of those that are there, summary, keywords and unread are replaced, and `last_at` may rise."""
    chains: Sequence[Chain] = ()
    """New ones, and new summaries of those that are there."""
    segment_of: Mapping[str, str] = field(default_factory=dict)
    """Page to its segment, of the pages that are sorted. If one of them has been forgotten meanwhile the summary is left
    out."""
    chain_of: Mapping[str, str] = field(default_factory=dict)
    """Page to its chain; likewise."""
    evicted: Sequence[str] = ()
    """Ids of segments that had to make room."""

    @property
    def pages(self) -> set[str]:
        """Those that it says anything of."""
        return {*self.segment_of, *self.chain_of}


class Tiers:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`.

    A sorting is written by `Store.add_facts`, together with the facts of the pages.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def segments_of(self, person: str) -> list[Segment]:
        """Return all segments of a person, evicted ones too, oldest first.

        One without a summary or keywords has lost a page that was forgotten; `Sorter` makes them again with the next
        batch.
        """
        mine = select(segments).where(segments.c.person == person)
        rows = self._database.rows(mine.order_by(segments.c.created_at, segments.c.id))
        return [_segment(row) for row in rows]

    def chains_of(self, person: str) -> list[Chain]:
        """Return all chains of a person; one without a summary has lost a page that was forgotten."""
        query = select(chains).where(chains.c.person == person).order_by(chains.c.id)
        return [Chain(row.id, row.person, row.summary) for row in self._database.rows(query)]

    def unsaid_chains(self, person: str) -> list[Chain]:
        """Return those without a summary; `Sorter` makes it again with the next batch."""
        mine = select(chains).where(chains.c.person == person, chains.c.summary == "")
        rows = self._database.rows(mine.order_by(chains.c.id))
        return [Chain(row.id, row.person, row.summary) for row in rows]

    def chain_summary(self, chain: str) -> str:
        """Return what a chain is about; empty if nothing is known of it."""
        rows = self._database.rows(select(chains.c.summary).where(chains.c.id == chain))
        return str(rows[0].summary) if rows else ""

    def visit(self, page_ids: Sequence[str], now: datetime) -> None:
        """Note that pages reached a prompt: every segment with at least one of them was visited once more."""
        hit = select(pages.c.segment).where(pages.c.id.in_(page_ids))
        change = {"visits": segments.c.visits + 1, "last_at": now}
        with self._database.writing() as connection:
            connection.execute(update(segments).where(segments.c.id.in_(hit)).values(change))

    def leave_unread(self, segment_id: str, count: int) -> None:
        """Note that the profile has been updated from all pages of a segment but the newest few.

        Args:
            segment_id: Of the segment.
            count: How many that are.
        """
        with self._database.writing() as connection:
            read = update(segments).where(segments.c.id == segment_id).values(unread=count)
            connection.execute(read)

    def change_count(self, person: str) -> int:
        """Return a number that is another one whenever pages, lines, segments or chains of a person have changed.

        Visits and what the profile was updated from are no such change.
        """
        return change_count(self._database, Part.PAGES, person)


def put_sorting(connection: Connection, sorting: Sorting, gone: Set[str], now: datetime) -> None:
    """Write a sorting, as a part of a transaction. Writing it again changes nothing.

    Args:
        connection: In the transaction.
        sorting: What pages, segments and chains are to be.
        gone: Pages that have been forgotten meanwhile.
        now: The present moment.
    """
    stained = {id_ for page, id_ in sorting.segment_of.items() if page in gone}
    for segment in sorting.segments:
        _put_segment(connection, segment, is_stained=segment.id in stained)
    stained = {id_ for page, id_ in sorting.chain_of.items() if page in gone}
    for chain in sorting.chains:
        _put_chain(connection, chain, is_stained=chain.id in stained)
    _assign(connection, segments, pages.c.segment, sorting.segment_of)
    _assign(connection, chains, pages.c.chain, sorting.chain_of)
    _evict(connection, sorting.evicted, now)
    persons = {segment.person for segment in sorting.segments}
    drop_empty(connection, persons | {chain.person for chain in sorting.chains})
    owners = owners_of(connection, {*sorting.segment_of, *sorting.chain_of})
    count_change(connection, Part.PAGES, set(owners.values()))


def lose_unread(connection: Connection, page_ids: Sequence[str]) -> None:
    """Count pages that are about to be deleted no longer among those that the profile has not been updated from.

    These are the newest of a segment.
    """
    holding = select(pages.c.segment).where(pages.c.id.in_(page_ids), pages.c.segment != "")
    query = select(segments.c.id, segments.c.unread).where(segments.c.id.in_(holding))
    for row in connection.execute(query).all():
        newest = select(pages.c.id).where(pages.c.segment == row.id)
        newest = newest.order_by(pages.c.at.desc(), pages.c.id.desc()).limit(row.unread)
        left = set(connection.scalars(newest)) - set(page_ids)
        change = update(segments).where(segments.c.id == row.id)
        connection.execute(change.values(unread=len(left)))


def unsay(connection: Connection, page_ids: Sequence[str]) -> None:
    """Empty what is said about segments and chains with these pages, which are about to change or to be deleted."""
    these = pages.c.id.in_(page_ids)
    touched = segments.c.id.in_(select(pages.c.segment).where(these))
    connection.execute(update(segments).where(touched).values(summary="", keywords=()))
    touched = chains.c.id.in_(select(pages.c.chain).where(these))
    connection.execute(update(chains).where(touched).values(summary=""))


def drop_empty(connection: Connection, persons: Iterable[str]) -> None:
    """Delete segments and chains without pages."""
    for person in persons:
        for table, column in ((segments, pages.c.segment), (chains, pages.c.chain)):
            used = select(column).where(pages.c.person == person)
            empty = (table.c.person == person) & table.c.id.not_in(used)
            connection.execute(delete(table).where(empty))


def _put_segment(connection: Connection, segment: Segment, *, is_stained: bool) -> None:
    """Insert or update a segment; leave out what a stained one's summary and keywords tell."""
    if is_stained:
        segment = replace(segment, summary="", keywords=frozenset())
    new = sqlite.insert(segments).values(_segment_row(segment))
    # It may have been visited meanwhile.
    latest = func.max(segments.c.last_at, new.excluded.last_at)
    change = {"unread": new.excluded.unread, "last_at": latest}
    if not is_stained:
        change |= {"summary": new.excluded.summary, "keywords": new.excluded.keywords}
    connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=change))


def _put_chain(connection: Connection, chain: Chain, *, is_stained: bool) -> None:
    told = "" if is_stained else storable(chain.summary)
    new = sqlite.insert(chains).values(id=chain.id, person=chain.person, summary=told)
    if is_stained:
        connection.execute(new.on_conflict_do_nothing())
    else:
        change = {"summary": new.excluded.summary}
        connection.execute(new.on_conflict_do_update(index_elements=["id"], set_=change))


def _assign(
    connection: Connection, table: Table, column: "Column[str]", by_page: Mapping[str, str]
) -> None:
    """Put pages into a segment or chain that is there and is the same person's."""
    for page, id_ in by_page.items():
        there = exists().where(table.c.id == id_, table.c.person == pages.c.person)
        connection.execute(update(pages).where(pages.c.id == page, there).values({column: id_}))


def _evict(connection: Connection, segment_ids: Sequence[str], now: datetime) -> None:
    here = segments.c.id.in_(segment_ids) & segments.c.evicted_at.is_(None)
    connection.execute(update(segments).where(here).values(evicted_at=now))


def _segment_row(segment: Segment) -> dict[str, Any]:
    return {
        "id": segment.id,
        "person": segment.person,
        "language": segment.language,
        "summary": storable(segment.summary),
        "keywords": sorted(segment.keywords),
        "created_at": segment.created_at,
        "last_at": segment.last_at,
        "zone": zone_name(segment.last_at),
        "visits": segment.visits,
        "unread": segment.unread,
        "evicted_at": segment.evicted_at,
    }


def _segment(row: Row[Any]) -> Segment:
    return Segment(
        id=row.id,
        person=row.person,
        language=row.language,
        summary=row.summary,
        keywords=frozenset(row.keywords),
        created_at=in_zone(row.created_at, row.zone),
        last_at=in_zone(row.last_at, row.zone),
        visits=row.visits,
        unread=row.unread,
        evicted_at=row.evicted_at,
    )
