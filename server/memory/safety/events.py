"""The safety events in the store, with their reviews; and the outbox: what webhooks have still to be told."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, select, update

from server.memory.database import Database, insert_new
from server.memory.keeping import in_zone, storable, zone_name
from server.memory.models import Origin
from server.memory.pages import owners_of
from server.memory.redaction import holds
from server.memory.safety.models import Delivery, Review, SafetyEvent, Severity, SignalKind, State
from server.memory.schema import safety_events, safety_outbox, safety_reviews


class SafetyEvents:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: Sequence[SafetyEvent]) -> None:
        """Keep events; of one page and kind the first stays as it is."""
        with self._database.writing() as connection:
            insert_new(connection, safety_events, [_event_row(event) for event in new])

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

    def post(self, wanted_by: Callable[[SafetyEvent], Iterable[str]], now: datetime) -> None:
        """Put events that are new into the outbox.

        Args:
            wanted_by: Names the webhooks that are to be told of an event.
            now: When the first attempt is due.
        """
        new = self._find(safety_events.c.posted.is_(False))
        if not new:
            return
        rows = [
            {"event": event.id, "webhook": name, "attempts": 0, "next_at": now}
            for event in new
            for name in wanted_by(event)
        ]
        with self._database.writing() as connection:
            insert_new(connection, safety_outbox, rows)
            done = safety_events.c.id.in_([event.id for event in new])
            connection.execute(update(safety_events).where(done).values(posted=True))

    def due(self, webhook: str, now: datetime, most: int) -> list[Delivery]:
        """Return what a webhook is to be told now, the longest due first."""
        query = (
            select(safety_outbox)
            .where(safety_outbox.c.webhook == webhook, safety_outbox.c.next_at <= now)
            .order_by(safety_outbox.c.next_at, safety_outbox.c.event)
            .limit(most)
        )
        rows = self._database.rows(query)
        events = {
            event.id: event
            for event in self._find(safety_events.c.id.in_([row.event for row in rows]))
        }
        return [
            Delivery(events[row.event], row.webhook, row.attempts)
            for row in rows
            if row.event in events
        ]

    def next_due(self, webhooks: Collection[str]) -> datetime | None:
        """Return when one of these webhooks is to be told something next; None if nothing waits."""
        waiting = safety_outbox.c.webhook.in_(list(webhooks))
        query = select(func.min(safety_outbox.c.next_at)).where(waiting)
        moment: datetime | None = self._database.rows(query)[0][0]
        return moment

    def put_off(self, delivery: Delivery, until: datetime, *, all_due: bool = False) -> None:
        """Try a delivery again at a later moment; with `all_due` also whatever else its webhook should be told before."""
        change = {"attempts": safety_outbox.c.attempts + 1, "next_at": until}
        sooner = (safety_outbox.c.webhook == delivery.webhook) & (safety_outbox.c.next_at < until)
        with self._database.writing() as connection:
            connection.execute(update(safety_outbox).where(_is_delivery(delivery)).values(change))
            if all_due:
                connection.execute(update(safety_outbox).where(sooner).values(next_at=until))

    def delivered(self, delivery: Delivery) -> None:
        """Be done with a delivery."""
        with self._database.writing() as connection:
            connection.execute(delete(safety_outbox).where(_is_delivery(delivery)))

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
    rows = [_event_row(event) for event in new if event.page in there]
    insert_new(connection, safety_events, rows)


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
    insert_new(connection, safety_events, [_event_row(one) | {"posted": True} for one in new])
    reviews = [_review_row(one.id, review) for one in new for review in one.reviews]
    insert_new(connection, safety_reviews, reviews)


def lose_events(connection: Connection, page_ids: Collection[str]) -> None:
    """Delete the events of exchanges, with their reviews and what webhooks have still to be told of them."""
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


def _is_delivery(delivery: Delivery) -> ColumnElement[bool]:
    return (safety_outbox.c.event == delivery.event.id) & (
        safety_outbox.c.webhook == delivery.webhook
    )


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
        "posted": False,
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
