"""The routes of safety: events in any state, their review, and a note in the form of SOAP."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from server.grants import EVERYBODY
from server.memory.keeping import storable
from server.memory.safety.described import describe_event, describe_webhook
from server.memory.safety.models import State
from server.memory.safety.soap import soap_of
from server.web.host import host_of
from server.web.permissions import grant_of, unknown_event
from server.web.segments import SegmentRoute
from server.webhook_post import test_webhook

router = APIRouter(route_class=SegmentRoute)


class Looked(BaseModel):
    """Who looked at an event, and what they have to say about it."""

    model_config = ConfigDict(extra="forbid")

    by: Annotated[str, Field(min_length=1, max_length=80)]
    note: Annotated[str, Field(max_length=2000)] = ""


@router.get("/api/safety/events", tags=["safety"], summary="Danger signs in what was said")
async def list_events(
    request: Request,
    person: Annotated[str, Query(max_length=64)] = "",
    state: State | None = None,
) -> dict[str, object]:
    """Return events, oldest first: of everybody within reach if no person is named, in any state if none is."""
    grant = grant_of(request)
    if person:
        grant.check_person(person)
    found = await host_of(request).memory.desk.find(person or None, state)
    return {"events": [describe_event(event) for event in found if grant.allows(event.person)]}


@router.get("/api/safety/events/{event_id}", tags=["safety"], summary="One event")
async def show_event(request: Request, event_id: str) -> Any:
    """Return an event and its reviews."""
    event = await host_of(request).memory.desk.get(event_id)
    if event is None:
        raise unknown_event(event_id)
    return describe_event(event)


@router.post(
    "/api/safety/events/{event_id}/acknowledge", tags=["safety"], summary="Acknowledge an event"
)
async def acknowledge_event(request: Request, event_id: str, looked: Looked) -> Any:
    """Note that somebody has seen an event; return it. What is closed stays closed."""
    return await _review(request, event_id, State.ACKNOWLEDGED, looked)


@router.post("/api/safety/events/{event_id}/close", tags=["safety"], summary="Close an event")
async def close_event(request: Request, event_id: str, looked: Looked) -> Any:
    """Note that an event is dealt with; return it."""
    return await _review(request, event_id, State.CLOSED, looked)


@router.get("/api/safety/webhooks", tags=["safety"], summary="Who is told of danger signs")
async def list_webhooks(request: Request) -> dict[str, object]:
    """Return the webhooks, and how it stands with what they have still to be told. It takes a key for everybody."""
    grant_of(request).check_person(EVERYBODY)
    host = host_of(request)
    standings = await host.memory.outbox.standings()
    sections = host.config.safety.webhooks
    described = [describe_webhook(name, sections[name], each) for name, each in standings.items()]
    return {"webhooks": described}


@router.post(
    "/api/safety/webhooks/{webhook}/test", tags=["safety"], summary="Send a webhook a test"
)
async def send_test(request: Request, webhook: str) -> dict[str, object]:
    """Send a message of type `webhook-test`, which tells of nobody; say what came of it. It takes a key for everybody."""
    grant_of(request).check_person(EVERYBODY)
    host = host_of(request)
    return await test_webhook(webhook, host.config.safety.webhooks, host.clock)


@router.get("/api/safety/{person}/soap", tags=["safety"], summary="A note in the form of SOAP")
async def export_soap(
    request: Request,
    person: str,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
) -> dict[str, object]:
    """Return the person's own words with their times; assessment and plan are empty. It is no clinical record.

    Of `since` or later, and before `until`.
    """
    host = host_of(request)
    found = await host.memory.desk.find(person)
    chosen = [
        event
        for event in found
        if (since is None or event.at >= since) and (until is None or event.at < until)
    ]
    return soap_of(person, chosen, host.clock.now())


async def _review(request: Request, event_id: str, state: State, looked: Looked) -> Any:
    desk = host_of(request).memory.desk
    event = await desk.review(event_id, state, storable(looked.by), storable(looked.note))
    if event is None:
        raise unknown_event(event_id)
    return describe_event(event)
