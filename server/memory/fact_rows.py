"""Facts as rows of their table."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from server.memory.keeping import in_zone, storable, zone_name
from server.memory.models import Fact, Importance, Kind, Origin

_KINDS = {str(one): one for one in Kind}
_ORIGINS = {str(one): one for one in Origin}
_IMPORTANCES = {str(one): one for one in Importance}


def fact_row(fact: Fact, now: datetime) -> dict[str, Any]:
    """Return a fact that is new now as a row, without what it was drawn from."""
    return {
        "id": fact.id,
        "person": fact.person,
        "text": storable(fact.text),
        "language": fact.language,
        "kind": str(fact.kind),
        "quote": storable(fact.quote),
        "said_at": fact.said_at,
        "zone": zone_name(fact.said_at),
        "event_from": fact.event_from,
        "event_to": fact.event_to,
        "origin": str(fact.origin),
        "created_at": now,
        "superseded_by": fact.superseded_by,
        "superseded_at": fact.superseded_at,
        "importance": str(fact.importance),
        "about": storable(fact.about),
    }


def fact_of(row: Row[Any], drawn_from: Sequence[Row[Any]]) -> Fact:
    """Return the fact in a row.

    Args:
        row: Of its table.
        drawn_from: The pages that it was drawn from, with their times.
    """
    said_at = in_zone(row.said_at, row.zone)
    return Fact(
        id=row.id,
        person=row.person,
        text=row.text,
        language=row.language,
        said_at=said_at,
        kind=_KINDS.get(row.kind, Kind.OTHER),
        quote=row.quote,
        event_from=row.event_from,
        event_to=row.event_to,
        origin=_ORIGINS.get(row.origin, Origin.HAND),
        sources=tuple(page.page for page in drawn_from),
        importance=_IMPORTANCES.get(row.importance, Importance.ORDINARY),
        about=row.about,
        superseded_by=row.superseded_by,
        superseded_at=row.superseded_at,
        repeated_at=_repeated(said_at, drawn_from),
    )


def _repeated(first: datetime, drawn_from: Sequence[Row[Any]]) -> tuple[datetime, ...]:
    """Return when it was said again, once for each day after the first."""
    moments = sorted(in_zone(page.at, page.zone) for page in drawn_from if page.at)
    by_day = {moment.date(): moment for moment in moments if moment.date() > first.date()}
    return tuple(by_day.values())
