"""The outbox in the store: which webhook has still to be told of which event.

It holds all of an event but its words, and outlives it: an event that is erased before everybody was told is told without them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, case, delete, func, select, update

from server.memory.database import Database, insert_new
from server.memory.keeping import in_zone, zone_name
from server.memory.models import Origin
from server.memory.safety.models import Delivery, SafetyEvent, Severity, SignalKind, Standing
from server.memory.schema import safety_events, safety_outbox

_UNSORTED = ""
"""Stands for the webhooks before it is sorted out which ones are told."""
_LONGEST_ERASED = timedelta(days=7)
"""So long an event whose words are erased waits at most: somebody wanted it gone."""
_urgent_first = case(
    {str(severity): -severity.rank for severity in Severity}, value=safety_outbox.c.severity
)


class Deliveries:
    """A part of `server.memory.store.Store`, and as that raises `StoreError`."""

    def __init__(
        self, database: Database, events: Callable[[Sequence[str]], Mapping[str, SafetyEvent]]
    ) -> None:
        """Say where deliveries are kept, and what reads events by their ids, as far as they are there."""
        self._database = database
        self._events = events

    def post(self, wanted_by: Callable[[SafetyEvent], Iterable[str]], now: datetime) -> None:
        """Sort out who is told of events that are new; drop what was erased and can't be told for too long.

        Args:
            wanted_by: Names the webhooks that are to be told of an event.
            now: When the first attempt is due.
        """
        with self._database.writing() as connection:
            unsorted = select(safety_outbox).where(safety_outbox.c.webhook == _UNSORTED)
            new = [_wordless(row) for row in connection.execute(unsorted)]
            rows = [
                _row(one) | {"webhook": name, "since": now, "next_at": now}
                for one in new
                for name in wanted_by(one)
            ]
            insert_new(connection, safety_outbox, rows)
            connection.execute(delete(safety_outbox).where(safety_outbox.c.webhook == _UNSORTED))
            is_erased = safety_outbox.c.event.not_in(select(safety_events.c.id))
            seen = update(safety_outbox).where(is_erased, safety_outbox.c.erased_at.is_(None))
            connection.execute(seen.values(erased_at=now))
            is_over = safety_outbox.c.erased_at < now - _LONGEST_ERASED
            ended = connection.execute(delete(safety_outbox).where(is_erased, is_over)).rowcount
        if ended:
            self._database.scrub()

    def due(self, webhook: str, now: datetime, most: int) -> list[Delivery]:
        """Return what a webhook is to be told now: what is urgent first, of that the longest due."""
        query = (
            select(safety_outbox)
            .where(safety_outbox.c.webhook == webhook, safety_outbox.c.next_at <= now)
            .order_by(_urgent_first, safety_outbox.c.next_at, safety_outbox.c.event)
            .limit(most)
        )
        rows = self._database.rows(query)
        whole = self._events([row.event for row in rows])
        return [
            Delivery(
                whole.get(row.event) or _wordless(row),
                row.webhook,
                row.attempts,
                is_erased=row.event not in whole,
            )
            for row in rows
        ]

    def next_due(self, webhook: str) -> datetime | None:
        """Return when a webhook is to be told something next; None if nothing waits."""
        query = select(func.min(safety_outbox.c.next_at)).where(safety_outbox.c.webhook == webhook)
        moment: datetime | None = self._database.rows(query)[0][0]
        return moment

    def standings(self) -> dict[str, Standing]:
        """Return how it stands with each webhook that has still to be told something, by its name."""
        rows = self._database.rows(
            select(safety_outbox).where(safety_outbox.c.webhook != _UNSORTED)
        )
        waiting: dict[str, list[Row[Any]]] = {}
        for row in rows:
            waiting.setdefault(row.webhook, []).append(row)
        return {name: _standing(mine) for name, mine in waiting.items()}

    def put_off(
        self, delivery: Delivery, until: datetime, error: str = "", *, all_due: bool = False
    ) -> None:
        """Try a delivery again at a later moment; with `all_due` also whatever else its webhook should be told before."""
        change = {"attempts": safety_outbox.c.attempts + 1, "next_at": until, "error": error}
        sooner = (safety_outbox.c.webhook == delivery.webhook) & (safety_outbox.c.next_at < until)
        with self._database.writing() as connection:
            connection.execute(update(safety_outbox).where(_is_delivery(delivery)).values(change))
            if all_due:
                connection.execute(update(safety_outbox).where(sooner).values(next_at=until))

    def delivered(self, delivery: Delivery) -> None:
        """Be done with a delivery; of one whose words are erased nothing is left."""
        if delivery.is_erased:
            self._database.owe_scrub()
        with self._database.writing() as connection:
            connection.execute(delete(safety_outbox).where(_is_delivery(delivery)))
        self._database.scrub_again()


def put_out(connection: Connection, new: Sequence[SafetyEvent]) -> None:
    """Let events that are new wait for it to be sorted out who is told of them, as a part of the transaction that adds them."""
    insert_new(connection, safety_outbox, [_row(event) for event in new])


def _wordless(row: Row[Any]) -> SafetyEvent:
    return SafetyEvent(
        id=row.event,
        person=row.whose,
        device=row.device,
        kind=SignalKind(row.kind),
        severity=Severity(row.severity),
        quote="",
        page="",
        language=row.language,
        at=in_zone(row.at, row.zone),
        origin=Origin(row.origin),
    )


def _standing(rows: Sequence[Row[Any]]) -> Standing:
    tried = [row for row in rows if row.attempts]
    last = max(tried, key=lambda row: row.next_at, default=None)
    return Standing(
        waiting=len(rows),
        since=min(row.since for row in rows),
        attempts=max(row.attempts for row in rows),
        next_at=min(row.next_at for row in rows),
        error=last.error if last is not None else "",
    )


def _row(event: SafetyEvent) -> dict[str, Any]:
    return {
        "event": event.id,
        "webhook": _UNSORTED,
        "whose": event.person,
        "device": event.device,
        "kind": str(event.kind),
        "severity": str(event.severity),
        "language": event.language,
        "at": event.at,
        "zone": zone_name(event.at),
        "origin": str(event.origin),
        "since": event.at,
        "attempts": 0,
        "next_at": event.at,
        "error": "",
    }


def _is_delivery(delivery: Delivery) -> ColumnElement[bool]:
    return (safety_outbox.c.event == delivery.event.id) & (
        safety_outbox.c.webhook == delivery.webhook
    )
