"""The safety events in the store, with their reviews."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, select

from server.memory.database import Database, insert_new, present
from server.memory.keeping import in_zone, storable, zone_name
from server.memory.models import Origin
from server.memory.pages import owners_of
from server.memory.redaction import holds
from server.memory.safety.deliveries import put_out
from server.memory.safety.models import Review, SafetyEvent, Severity, SignalKind, State
from server.memory.schema import safety_events, safety_reviews


class SafetyEvents:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: Sequence[SafetyEvent]) -> None:
        """Keep events; of one page and kind the first stays as it is."""
        with self._database.writing() as connection:
            _put(connection, new)

    def find(self, person: str | None = None, state: State | None = None) -> list[SafetyEvent]:
        """Return events, oldest first.

        Args:
            person: Whose; None for everybody's.
            state: Those in this state; None for all.
        """
        found = self._find(safety_events.c.person == person if person is not None else None)
        return [event for event in found if state is None or event.state is state]

    def get(self, event_id: str) -> SafetyEvent | None:
        """Return one event, or None."""
        return next(iter(self._find(safety_events.c.id == event_id)), None)

    def named(self, event_ids: Collection[str]) -> dict[str, SafetyEvent]:
        """Return events by their ids, as far as they are there."""
        found = self._find(safety_events.c.id.in_(list(event_ids)))
        return {event.id: event for event in found}

    def review(self, event_id: str, review: Review) -> SafetyEvent | None:
        """Note that somebody looked at an event; return it as it is then, or None if it is gone.

        What is closed stays closed, and what is acknowledged is so once: a second review of the kind changes nothing.
        """
        with self._database.writing() as connection:
            there = connection.execute(
                select(safety_events.c.id).where(safety_events.c.id == event_id)
            ).first()
            closed = connection.execute(
                select(safety_reviews.c.event).where(
                    safety_reviews.c.event == event_id, safety_reviews.c.state == State.CLOSED
                )
            ).first()
            if there is not None and closed is None:
                insert_new(connection, safety_reviews, [_review_row(event_id, review)])
        return self.get(event_id)

    def _find(self, which: ColumnElement[bool] | None) -> list[SafetyEvent]:
        query = select(safety_events).order_by(safety_events.c.at, safety_events.c.id)
        reviews = (
            select(safety_reviews, safety_events.c.zone)
            .join(safety_events, safety_events.c.id == safety_reviews.c.event)
            .order_by(safety_reviews.c.at)
        )
        if which is not None:
            query, reviews = query.where(which), reviews.where(which)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
            by_event: dict[str, list[Review]] = {}
            for row in connection.execute(reviews):
                by_event.setdefault(row.event, []).append(_review(row))
        return [_event(row, by_event.get(row.id, ())) for row in rows]


def put_drawn(connection: Connection, new: Sequence[SafetyEvent]) -> None:
    """Add events drawn from stored exchanges, as a part of a transaction; those of exchanges that are gone are left out."""
    there = owners_of(connection, {event.page for event in new})
    _put(connection, [event for event in new if event.page in there])


def open_kinds(connection: Connection, persons: Collection[str]) -> Mapping[str, SignalKind]:
    """Return the kind of each event of some persons that nobody has looked at yet, by its id."""
    seen = select(safety_reviews.c.event)
    query = select(safety_events.c.id, safety_events.c.kind).where(
        safety_events.c.person.in_(list(persons)), safety_events.c.id.not_in(seen)
    )
    return {row.id: SignalKind(row.kind) for row in connection.execute(query)}


def bring_in_events(
    connection: Connection, events: Sequence[SafetyEvent], gone: Collection[str]
) -> None:
    """Add events that were exported, as a part of a transaction, but those of exchanges that are gone. Nobody is told again."""
    wanted = [event for event in events if event.page not in gone]
    known = set(
        connection.scalars(
            select(safety_events.c.id).where(safety_events.c.id.in_([one.id for one in wanted]))
        )
    )
    new = [event for event in wanted if event.id not in known]
    insert_new(connection, safety_events, [_event_row(one) for one in new])
    reviews = [_review_row(one.id, review) for one in new for review in one.reviews]
    insert_new(connection, safety_reviews, reviews)


def lose_events(connection: Connection, page_ids: Collection[str]) -> None:
    """Delete the events of exchanges, with their reviews. That there were any is still told: see `server.memory.safety.deliveries`."""
    connection.execute(delete(safety_events).where(safety_events.c.page.in_(list(page_ids))))


def lose_quoted(
    connection: Connection, quotes_by_page: Mapping[str, Sequence[str]], persons: Collection[str]
) -> None:
    """Delete the events that quote forgotten words, or are quoted in them.

    Args:
        connection: With an open transaction.
        quotes_by_page: The words, by the exchange that they are taken out of.
        persons: Whose events are looked at in other exchanges, too: one that still runs is not stored yet.
    """
    quotes = {quote for each in quotes_by_page.values() for quote in each if quote}
    mine = select(safety_events).where(safety_events.c.person.in_(list(persons)))
    for event in connection.execute(mine).all():
        here = [quote for quote in quotes_by_page.get(event.page, ()) if quote]
        is_told = any(quote in event.quote or event.quote in quote for quote in here) or any(
            holds(event.quote, quote) or holds(quote, event.quote) for quote in quotes
        )
        if is_told:
            connection.execute(delete(safety_events).where(safety_events.c.id == event.id))


def _put(connection: Connection, new: Sequence[SafetyEvent]) -> None:
    known = present(connection, safety_events, [event.id for event in new])
    insert_new(connection, safety_events, [_event_row(event) for event in new])
    put_out(connection, [event for event in new if event.id not in known])


def _event_row(event: SafetyEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "person": event.person,
        "device": event.device,
        "kind": str(event.kind),
        "severity": str(event.severity),
        "quote": storable(event.quote),
        "page": event.page,
        "language": event.language,
        "at": event.at,
        "zone": zone_name(event.at),
        "origin": str(event.origin),
    }


def _review_row(event_id: str, review: Review) -> dict[str, Any]:
    return {
        "event": event_id,
        "state": str(review.state),
        "at": review.at,
        "by": storable(review.by),
        "note": storable(review.note),
    }


def _event(row: Row[Any], reviews: Sequence[Review]) -> SafetyEvent:
    return SafetyEvent(
        id=row.id,
        person=row.person,
        device=row.device,
        kind=SignalKind(row.kind),
        severity=Severity(row.severity),
        quote=row.quote,
        page=row.page,
        language=row.language,
        at=in_zone(row.at, row.zone),
        origin=Origin(row.origin),
        reviews=tuple(reviews),
    )


def _review(row: Row[Any]) -> Review:
    return Review(State(row.state), row.by, in_zone(row.at, row.zone), row.note)
