"""What is known of a person as a whole, in the store: profile, traits, notes and day summaries."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, exists, func, select, union
from sqlalchemy.dialects import sqlite

from server.memory.consents import has_consent
from server.memory.counters import Part, change_count, changed_since, count_change
from server.memory.database import Database, insert_new
from server.memory.keeping import in_zone, storable, zone_name
from server.memory.lineage import add_sources, drop_sources, of_table, record_key, sources_of
from server.memory.models import (
    MANY_VALUED,
    DaySummary,
    Level,
    Note,
    NoteKind,
    Origin,
    ProfileEntry,
    ProfileField,
    Trait,
)
from server.memory.pages import owners_of
from server.memory.schema import (
    day_summaries,
    notes,
    pages,
    profile,
    record_sources,
    traits,
)
from server.memory.schema import sources as fact_sources

MOST_VALUES = 20
"""Of one field of the profile, the newest."""


class Unsummed(NamedTuple):
    """An exchange that a day summary has still to be made from."""

    person: str
    at: datetime
    """In the person's zone."""
    waits: bool
    """Whether facts and notes have still to be drawn from it."""


class Portrait:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`.

    Profile, traits and notes are written by `Store.add_facts`, together with the facts of the same pages.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def profile_of(self, person: str) -> list[ProfileEntry]:
        """Return every value that was ever in the profile of a person: field by field, the oldest first; see `newest_of`."""
        mine = select(profile).where(profile.c.person == person)
        rows = self._database.rows(mine.order_by(profile.c.said_at, profile.c.value))
        drawn = sources_of(self._database, person)
        held: dict[ProfileField, list[ProfileEntry]] = {field: [] for field in ProfileField}
        for row in rows:
            key = record_key(profile, person, row.field, row.value)
            entry = _entry(row, drawn.get(key, ()))
            held[entry.field].append(entry)
        return [entry for entries in held.values() for entry in entries]

    def traits_of(self, person: str) -> list[Trait]:
        """Return the traits of a person by dimension."""
        query = select(traits).where(traits.c.person == person).order_by(traits.c.dimension)
        rows = self._database.rows(query)
        drawn = sources_of(self._database, person)
        return [
            _trait(row, drawn.get(record_key(traits, person, row.dimension), ())) for row in rows
        ]

    def notes_of(self, person: str, since: datetime | None = None) -> list[Note]:
        """Return what was noted of a person, from a moment on or all of it, oldest first."""
        query = select(notes).where(notes.c.person == person)
        if since is not None:
            query = query.where(notes.c.at >= since)
        rows = self._database.rows(query.order_by(notes.c.at, notes.c.id))
        return [_note(row) for row in rows]

    def summaries_of(self, person: str, last: int | None = None) -> list[DaySummary]:
        """Return the summaries of a person's last days, or of all, that tell something, newest last."""
        told = (day_summaries.c.text != "") | (day_summaries.c.follow_ups != ())
        mine = select(day_summaries).where(day_summaries.c.person == person, told)
        rows = self._database.rows(mine.order_by(day_summaries.c.day.desc()).limit(last))
        drawn = sources_of(self._database, person)
        return [
            _summary(row, drawn.get(record_key(day_summaries, person, row.day), ()))
            for row in reversed(rows)
        ]

    def put_summary(self, summary: DaySummary, read_at: Mapping[str, int] | None = None) -> bool:
        """Store what was talked about on a day in the place of what is there.

        Args:
            summary: Of a day.
            read_at: `Cuts.count` by person, from before its pages were read; None if they were not.

        Returns:
            Whether it is stored: not if one of its pages, or something in them, has been forgotten meanwhile.
        """
        key = record_key(day_summaries, summary.person, summary.day)
        with self._database.writing() as connection:
            if owners_of(connection, summary.sources).keys() != set(summary.sources):
                return False
            if changed_since(connection, Part.CUTS, read_at or {}):
                return False
            new = (
                sqlite.insert(day_summaries).prefix_with("OR REPLACE").values(summary_row(summary))
            )
            connection.execute(new)
            drop_sources(connection, [key])
            add_sources(connection, key, summary.sources)
            count_change(connection, Part.PORTRAIT, [summary.person])
        return True

    def not_in_summary(self, since: datetime) -> list[Unsummed]:
        """Return the exchanges that a day summary has still to be made from, oldest first.

        Those that none was made from, and those that facts or notes were drawn from only after it was made; of nobody who
        does not want to be remembered any longer.

        Args:
            since: Of this moment or later.
        """
        of_day = (
            record_sources.c.page == pages.c.id,
            of_table(record_sources.c.record, day_summaries),
        )
        summed = exists().where(*of_day)
        summed_before = exists().where(
            *of_day,
            day_summaries.c.person == pages.c.person,
            day_summaries.c.day == func.json_extract(record_sources.c.record, "$[2]"),
            day_summaries.c.made_at <= pages.c.extracted_at,
        )
        gave = exists().where(fact_sources.c.page == pages.c.id) | exists().where(
            notes.c.page == pages.c.id
        )
        query = select(pages.c.person, pages.c.at, pages.c.zone, pages.c.extracted_at).where(
            pages.c.at >= since, ~summed | (summed_before & gave), has_consent(pages.c.person)
        )
        rows = self._database.rows(query.order_by(pages.c.at, pages.c.id))
        return [
            Unsummed(row.person, in_zone(row.at, row.zone), row.extracted_at is None)
            for row in rows
        ]

    def pages_needed(self, person: str) -> set[str]:
        """Return the pages of a person that profile, traits or notes rest on; values that newer ones hide count, too."""
        drawn = (
            select(record_sources.c.page)
            .join(pages, pages.c.id == record_sources.c.page)
            .where(pages.c.person == person, ~of_table(record_sources.c.record, day_summaries))
        )
        noted = select(notes.c.page).where(notes.c.person == person)
        return {row.page for row in self._database.rows(union(drawn, noted))}

    def change_count(self, person: str) -> int:
        """Return a number that is another one whenever something here has changed for a person."""
        return change_count(self._database, Part.PORTRAIT, person)


def newest_of(profile: Sequence[ProfileEntry]) -> list[ProfileEntry]:
    """Return of each field the last value, of those of `MANY_VALUED` all; in the order that they come in."""
    last = {entry.field: entry for entry in profile}
    return [entry for entry in profile if entry.field in MANY_VALUED or entry is last[entry.field]]


def put_portrait(
    connection: Connection,
    entries: Sequence[ProfileEntry],
    seen: Sequence[Trait],
    noticed: Sequence[Note],
    gone: Set[str],
) -> None:
    """Add what was drawn for a portrait, as a part of a transaction; see `put_profile`, `put_traits` and `put_notes`."""
    put_profile(connection, entries, gone)
    put_traits(connection, seen, gone)
    put_notes(connection, noticed, gone)


def put_profile(connection: Connection, entries: Sequence[ProfileEntry], gone: Set[str]) -> None:
    """Add entries to profiles, as a part of a transaction, in whatever order they come.

    Every value is kept with the latest time at which it was said, and in a field with one value the newest one is
    shown: an older one that comes later, from an import, does not replace it, and holds again if that is forgotten.

    Args:
        connection: In the transaction.
        entries: An entry that had sources, all of which are gone, is left out.
        gone: Pages that have been forgotten meanwhile.
    """
    kept = [entry for entry in entries if _is_supported(entry.sources, gone)]
    for entry in kept:
        row = _entry_row(entry)
        new = sqlite.insert(profile).values(row)
        again = new.on_conflict_do_update(
            index_elements=["person", "field", "value"],
            set_={"said_at": new.excluded.said_at, "zone": new.excluded.zone},
            where=new.excluded.said_at > profile.c.said_at,
        )
        connection.execute(again)
        key = record_key(profile, entry.person, entry.field, row["value"])
        add_sources(connection, key, set(entry.sources) - gone)
    for person, field in {(entry.person, entry.field) for entry in kept}:
        _drop_oldest(connection, person, field)
    count_change(connection, Part.PORTRAIT, {entry.person for entry in kept})


def put_traits(connection: Connection, seen: Sequence[Trait], gone: Set[str]) -> None:
    """Add traits, as a part of a transaction. A level that was seen before the one that is there does not replace it.

    Args:
        connection: In the transaction.
        seen: One that had sources, all of which are gone, is left out.
        gone: Pages that have been forgotten meanwhile.
    """
    kept = [trait for trait in seen if _is_supported(trait.sources, gone)]
    for trait in kept:
        row = _trait_row(trait)
        key = record_key(traits, trait.person, trait.dimension)
        same = (traits.c.person == trait.person) & (traits.c.dimension == trait.dimension)
        known = connection.execute(select(traits).where(same)).one_or_none()
        is_newer = known is None or known.seen_at <= trait.seen_at
        if known is not None and known.level != trait.level:
            if not is_newer:
                continue
            drop_sources(connection, [key])  # they show the other level
        if is_newer:
            connection.execute(sqlite.insert(traits).prefix_with("OR REPLACE").values(row))
        add_sources(connection, key, set(trait.sources) - gone)
    count_change(connection, Part.PORTRAIT, {trait.person for trait in kept})


def put_notes(connection: Connection, new: Sequence[Note], gone: Set[str]) -> None:
    """Add notes, as a part of a transaction; those of pages that are gone are left out."""
    kept = [note for note in new if note.page not in gone]
    insert_new(connection, notes, [_note_row(note) for note in kept])
    count_change(connection, Part.PORTRAIT, {note.person for note in kept})


def named_in(
    profile: Sequence[ProfileEntry], traits: Sequence[Trait], notes: Sequence[Note]
) -> set[str]:
    """Return the pages that records name as their sources."""
    drawn = (*(entry.sources for entry in profile), *(trait.sources for trait in traits))
    return {page for sources in drawn for page in sources} | {note.page for note in notes}


def _is_supported(sources: Sequence[str], gone: Set[str]) -> bool:
    return not sources or bool(set(sources) - gone)


def _drop_oldest(connection: Connection, person: str, field: ProfileField) -> None:
    """Keep the newest values of a field."""
    mine = (profile.c.person == person) & (profile.c.field == field)
    newest = select(profile).where(mine).order_by(profile.c.said_at.desc(), profile.c.value.desc())
    for row in connection.execute(newest.offset(MOST_VALUES)).all():
        drop_sources(connection, [record_key(profile, person, field, row.value)])
        connection.execute(delete(profile).where(mine, profile.c.value == row.value))


def _entry_row(entry: ProfileEntry) -> dict[str, Any]:
    return {
        "person": entry.person,
        "field": str(entry.field),
        "value": storable(entry.value),
        "said_at": entry.said_at,
        "zone": zone_name(entry.said_at),
    }


def _entry(row: Row[Any], sources: tuple[str, ...]) -> ProfileEntry:
    said_at = in_zone(row.said_at, row.zone)
    return ProfileEntry(row.person, ProfileField(row.field), row.value, said_at, sources)


def _trait_row(trait: Trait) -> dict[str, Any]:
    return {
        "person": trait.person,
        "dimension": trait.dimension,
        "level": str(trait.level),
        "seen_at": trait.seen_at,
        "zone": zone_name(trait.seen_at),
    }


def _trait(row: Row[Any], sources: tuple[str, ...]) -> Trait:
    seen_at = in_zone(row.seen_at, row.zone)
    return Trait(row.person, row.dimension, Level(row.level), seen_at, sources)


def _note_row(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "person": note.person,
        "kind": str(note.kind),
        "text": storable(note.text),
        "quote": storable(note.quote),
        "at": note.at,
        "zone": zone_name(note.at),
        "page": note.page,
    }


def _note(row: Row[Any]) -> Note:
    at = in_zone(row.at, row.zone)
    return Note(row.id, row.person, NoteKind(row.kind), row.text, row.quote, at, row.page)


def summary_row(summary: DaySummary) -> dict[str, Any]:
    """Return a summary as a row of its table."""
    return {
        "person": summary.person,
        "day": summary.day,
        "language": summary.language,
        "text": storable(summary.text),
        "follow_ups": summary.follow_ups,
        "origin": str(summary.origin),
        "made_at": summary.made_at,
    }


def _summary(row: Row[Any], sources: tuple[str, ...]) -> DaySummary:
    return DaySummary(
        person=row.person,
        day=row.day,
        language=row.language,
        text=row.text,
        follow_ups=row.follow_ups,
        origin=Origin(row.origin),
        made_at=row.made_at,
        sources=sources,
    )
