"""The truth of memory, in SQL: facts with their sources and vectors here, the rest in its parts. Everything else can be rebuilt from it.

Calls block; they are made from threads (`server.memory.writer` for those that change something).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Row, delete, exists, select, union, update

from server.errors import OutdatedError
from server.memory.audit import Actor, Audit, AuditEntry, note_erasure
from server.memory.cipher import Cipher
from server.memory.consents import Consents
from server.memory.counters import Part, change_count, changed_since, count_change
from server.memory.cuts import Cuts
from server.memory.database import Database, insert_new, present
from server.memory.erasing import Erasing
from server.memory.erasure import cut_down, erase, pass_on, remove_pages
from server.memory.erasures import Erasures
from server.memory.fact_rows import fact_of, fact_row
from server.memory.fact_vectors import FactVectors, put_fact_vectors
from server.memory.ids import Ids
from server.memory.incoming import Incoming
from server.memory.layers.table import PersonaTable
from server.memory.models import Fact, Note, Page, ProfileEntry, Trait
from server.memory.pages import Pages, owners_of
from server.memory.portrait import Portrait, named_in, put_portrait
from server.memory.queue import Queue
from server.memory.safety.deliveries import Deliveries
from server.memory.safety.events import SafetyEvents, put_drawn
from server.memory.safety.models import SafetyEvent
from server.memory.schema import OF_PERSONS, changes, consent_choices, facts, pages, sources
from server.memory.stored_lines import StoredLines
from server.memory.sweeping import lose_grounds
from server.memory.tiers import Sorting, Tiers, put_sorting

Vector = NDArray[np.float32]


class Store:
    """One database: facts here, exchanges in `pages`, the rest in the other parts.

    Close it when no call runs any more. Every method raises `StoreError` if the database can't do it; then nothing of the call has happened.
    """

    def __init__(self, file: Path, cipher: Cipher | None = None) -> None:
        """Open the file, made or migrated as needed; with a cipher it is encrypted.

        Raises:
            StoreError: As in `server.memory.database.open_database`.
        """
        self._database = Database(file, cipher)
        self.pages = Pages(self._database)
        self.vectors = FactVectors(self._database)
        self.queue = Queue(self._database)
        self.lines = StoredLines(self._database)
        self.tiers = Tiers(self._database)
        self.portrait = Portrait(self._database)
        self.cuts = Cuts(self._database)
        self.consents = Consents(self._database)
        self.safety = SafetyEvents(self._database)
        self.ids = Ids(self._database)
        self.deliveries = Deliveries(self._database, self.safety.named)
        self.erasures = Erasures(self._database)
        self.incoming = Incoming(self._database)
        self.audit = Audit(self._database)
        self.personas = PersonaTable(self._database)

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        self._database.close()

    def scrub_again(self) -> None:
        """Overwrite what was forgotten while that could not be done."""
        self._database.scrub_again()

    def backup(self, target: Path) -> None:
        """Write a consistent copy of the database to `target`, while others may be using it."""
        self._database.backup(target)

    def add_facts(
        self,
        new: Sequence[Fact],
        now: datetime,
        *,
        superseded: Mapping[str, str] | None = None,
        more_sources: Mapping[str, Sequence[str]] | None = None,
        vectors_by_fact: Mapping[str, Vector] | None = None,
        stamp: str = "",
        drawn_from: Sequence[str] = (),
        is_worded: bool = False,
        sorting: Sorting | None = None,
        profile: Sequence[ProfileEntry] = (),
        traits: Sequence[Trait] = (),
        notes: Sequence[Note] = (),
        events: Sequence[SafetyEvent] = (),
        read_at: Mapping[str, int] | None = None,
    ) -> list[Fact]:
        """Store what was drawn from pages, and that they are done with, in one transaction; return the facts stored.

        What rests on pages that are gone meanwhile is left out. Pages that such a fact was drawn from, too, wait on.

        Args:
            new: Facts of one person; an id that is stored already is left as it is.
            now: The present moment.
            superseded: Old fact to the new one that replaces it.
            more_sources: Known fact to the pages that said it again.
            vectors_by_fact: Embeddings of the new facts, made by `stamp`.
            stamp: Names what made them.
            drawn_from: Pages that are done with.
            is_worded: Whether what `sorting` and `notes` tell of one of these pages may come from any of them.
            sorting: The segments and chains that the pages belong to.
            profile: Said in the pages, or in those of a segment that was read through.
            traits: Seen in them.
            notes: Noticed in the pages.
            events: Danger signs in them.
            read_at: `Cuts.count` by person, from before the pages were read; None if nothing was.

        Raises:
            OutdatedError: Something was taken out of the pages since then; nothing is stored.
        """
        sorting = sorting or Sorting()
        named = {*drawn_from, *sorting.pages, *named_in(profile, traits, notes)}
        with self._database.writing() as connection:
            if changed_since(connection, Part.CUTS, read_at or {}):
                raise OutdatedError
            gone = named - owners_of(connection, named).keys()
            kept = [fact for fact in new if gone.isdisjoint(fact.sources)]
            left_out = {page for fact in new if fact not in kept for page in fact.sources}
            insert_new(connection, facts, [fact_row(fact, now) for fact in kept])
            _put_sources(connection, {fact.id: fact.sources for fact in kept}, gone)
            _put_sources(connection, more_sources or {}, gone)
            put_fact_vectors(connection, vectors_by_fact or {}, stamp)
            _supersede(connection, superseded or {}, now)
            put_sorting(connection, sorting, gone, now)
            put_portrait(connection, profile, traits, notes, gone)
            put_drawn(connection, events)
            _be_done_with(connection, drawn_from, left_out, now, is_worded=is_worded)
            count_change(connection, Part.FACTS, _persons_of(connection, kept, more_sources or {}))
        return kept

    def facts_of(self, person: str) -> list[Fact]:
        """Return all facts of a person, those that were replaced too, in the order in which they were said."""
        query = select(facts).where(facts.c.person == person).order_by(facts.c.said_at, facts.c.id)
        rows = self._database.rows(query)
        drawn = self._sources(facts.c.person == person)
        return [fact_of(row, drawn.get(row.id, [])) for row in rows]

    def has_changed_since(self, person: str, moment: datetime) -> bool:
        """Say whether anything was said by a person, for the first time or again, or replaced, after a moment."""
        again = exists().where(
            sources.c.fact == facts.c.id, sources.c.page == pages.c.id, pages.c.at > moment
        )
        later = (facts.c.said_at > moment) | (facts.c.superseded_at > moment) | again
        query = select(facts.c.id).where(facts.c.person == person, later).limit(1)
        return bool(self._database.rows(query))

    def fact(self, fact_id: str) -> Fact | None:
        """Return one fact, or None."""
        rows = self._database.rows(select(facts).where(facts.c.id == fact_id))
        drawn = self._sources(facts.c.id == fact_id)
        return fact_of(rows[0], drawn.get(fact_id, [])) if rows else None

    def forget(self, fact_ids: Sequence[str], retold: Sequence[str] = ()) -> int:
        """Delete facts, their vectors, and the pages that no other fact was drawn from; return how many facts.

        What one of them had replaced holds again, or is replaced by what had replaced that one. Their words are cut out
        of the pages that stay. What was drawn from those that go alone goes with them. What is said of the segments and
        chains that held them is emptied, and what the robot told of itself in the answers that go is deleted.

        Args:
            fact_ids: Which facts; those that are not there don't matter.
            retold: Pages in whose answers they may have been told: the answers are deleted.
        """
        what = Erasing(facts=tuple(fact_ids), answers=tuple(retold))
        self._database.owe_scrub()
        with self._database.writing() as connection:
            wanted = select(facts.c.id).where(facts.c.id.in_(fact_ids))
            there = len(connection.execute(wanted).all())
            erase(connection, what)
        self._database.scrub()
        return there

    def end(self, fact_ids: Sequence[str], left: Sequence[Page], now: datetime) -> int:
        """Delete facts whose time is over, their vectors, and the pages that they were drawn from; return how many facts.

        What was made of these pages goes as in `forget`. The same words in other pages stay.

        Args:
            fact_ids: Which facts; no other fact, and nothing in the portrait but day summaries, rests on their pages.
            left: The pages that stay, with what is left of them.
            now: The present moment.
        """
        self._database.owe_scrub()
        with self._database.writing() as connection:
            there = select(facts.c.id, facts.c.person).where(facts.c.id.in_(fact_ids))
            ended = connection.execute(there).all()
            drawn_from = select(sources.c.page).where(sources.c.fact.in_(fact_ids)).distinct()
            useless = set(connection.scalars(drawn_from)) - {page.id for page in left}
            for row in ended:
                pass_on(connection, row.id)
            connection.execute(delete(facts).where(facts.c.id.in_(fact_ids)))
            cut_down(connection, left)
            remove_pages(connection, sorted(useless))
            persons = {row.person for row in ended}
            lose_grounds(connection, persons, useless | {row.id for row in ended})
            count_change(connection, Part.FACTS, persons)
            if ended:
                entry = AuditEntry(now, Actor.SCHEDULE, "retention-facts", len(ended))
                note_erasure(connection, entry)
        self._database.scrub()
        return len(ended)

    def forget_person(self, person: str) -> int:
        """Delete everything about a person; return how many facts."""
        self._database.owe_scrub()
        with self._database.writing() as connection:
            erased = erase(connection, Erasing(person=person))
        self._database.scrub()
        return erased.facts

    def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""
        named = (table for table in OF_PERSONS if table not in (changes, consent_choices))
        held = (select(table.c.person).where(table.c.person != "") for table in named)
        return sorted(row[0] for row in self._database.rows(union(*held)))

    def change_count(self, person: str) -> int:
        """Return a number that is another one whenever a person's facts have changed; 0 if there never were any.

        Pages and the portrait are counted by their own parts.
        """
        return change_count(self._database, Part.FACTS, person)

    def _sources(self, which: ColumnElement[bool]) -> dict[str, list[Row[Any]]]:
        query = (
            select(sources.c.fact, sources.c.page, pages.c.at, pages.c.zone)
            .join(facts, facts.c.id == sources.c.fact)
            .outerjoin(pages, pages.c.id == sources.c.page)
            .where(which)
            .order_by(sources.c.page)
        )
        drawn: dict[str, list[Row[Any]]] = {}
        for row in self._database.rows(query):
            drawn.setdefault(row.fact, []).append(row)
        return drawn


def _put_sources(
    connection: Connection, by_fact: Mapping[str, Sequence[str]], gone: Set[str]
) -> None:
    there = present(connection, facts, by_fact)
    rows = [
        {"fact": fact, "page": page}
        for fact, page_ids in by_fact.items()
        for page in page_ids
        if fact in there and page not in gone
    ]
    insert_new(connection, sources, rows)


def _persons_of(connection: Connection, new: Iterable[Fact], again: Iterable[str]) -> set[str]:
    """Return whose the new facts are, and those that were said again."""
    query = select(facts.c.person).where(facts.c.id.in_(list(again))).distinct()
    return {fact.person for fact in new}.union(connection.scalars(query))


def _be_done_with(
    connection: Connection,
    drawn_from: Sequence[str],
    left_out: Set[str],
    now: datetime,
    *,
    is_worded: bool,
) -> None:
    done = update(pages).where(pages.c.id.in_(set(drawn_from) - left_out))
    batch = drawn_from[0] if is_worded and drawn_from else ""
    connection.execute(done.values(extracted_at=now, retry_at=None, batch=batch))


def _supersede(connection: Connection, by_old: Mapping[str, str], now: datetime) -> None:
    there = present(connection, facts, by_old.values())
    for old, newer in by_old.items():
        if newer in there:
            holds = (facts.c.id == old) & (facts.c.superseded_by == "")
            change = {"superseded_by": newer, "superseded_at": now}
            connection.execute(update(facts).where(holds).values(change))
