"""`omoide safety`: danger signs in what was said, who has looked at them, and a note of them in the form of SOAP."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import anyio
from anyio import to_thread

from server.clock import SystemClock
from server.commands.api import Api, api_of, path_of
from server.commands.moment import parse_moment
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.errors import OmoideError
from server.memory.cipher import cipher_of
from server.memory.safety.described import describe_event, describe_webhook
from server.memory.safety.models import Review, SafetyEvent, Standing, State
from server.memory.safety.soap import render_soap, soap_of
from server.memory.store import Store
from server.registry import write_private
from server.short_ids import whole_id
from server.web.permissions import unknown_event
from server.webhook_post import test_webhook

NOTHING: Mapping[str, Mapping[str, object]] = {
    "list": {"events": [], "webhooks": [], "error": None},
    "show": {"event": None, "error": None},
    "webhooks": {"webhooks": [], "error": None},
    "webhook-test": {"webhook": "", "ok": False, "code": "", "error": None},
    "ack": {"event": None, "error": None},
    "close": {"event": None, "error": None},
    "export": {"note": None, "error": None},
}
"""The shape of each command's JSON object when nothing came of it."""

Row: TypeAlias = dict[str, Any]
"""An event or a note as the API describes it."""

_VERBS = {State.ACKNOWLEDGED: "acknowledge", State.CLOSED: "close"}
_HEADINGS = ("ID", "PERSON", "SAID AT", "SEVERITY", "KIND", "STATE", "QUOTE", "REVIEWED")
_WEBHOOK_HEADINGS = ("WEBHOOK", "ADDRESS", "FROM", "KINDS", "PERSONS", "DELIVERIES")


async def list_events(person: str, state: State | None, place: Place, tell: Tell) -> Report:
    """List events, of everybody if no person is named.

    Raises:
        OmoideError: They can't be had.
    """
    async with _opened(place) as desk:
        events = await desk.events(person, state)
        webhooks = await desk.webhooks()
    if events:
        tell_table([_HEADINGS, *map(_row, events)], tell)
        tell("`omoide safety show ID` shows all of one; the beginning of an ID is enough.")
    else:
        tell("There is none.")
    for webhook in webhooks:
        if webhook["waiting"]:
            tell(f"Webhook {webhook['name']}: {standing_in_words(webhook)}.")
    return Report({**NOTHING["list"], "events": events, "webhooks": webhooks})


async def show_event(event_id: str, place: Place, tell: Tell) -> Report:
    """Show all of an event: the words, where they stand, and who has looked at it.

    Raises:
        OmoideError: There is no such event.
    """
    async with _opened(place) as desk:
        event = await desk.event(event_id)
    for name in ("id", "person", "device", "at", "kind", "severity", "state", "origin", "page"):
        tell(f"{name:9} {event[name]}")
    tell(f"quote     {event['quote']}")
    for review in event["reviews"]:
        tell(f"{review['at'][:16].replace('T', ' ')}  {_review_in_words(review)}")
    return Report({**NOTHING["show"], "event": event})


async def list_webhooks(place: Place, tell: Tell) -> Report:
    """Show who is told of events, and how it stands with that.

    Raises:
        OmoideError: That can't be had.
    """
    async with _opened(place) as desk:
        webhooks = await desk.webhooks()
    rows = [
        (
            one["name"],
            one["url"],
            one["min_severity"],
            ", ".join(one["kinds"]) or "all",
            ", ".join(one["persons"]) or "everybody",
            standing_in_words(one),
        )
        for one in webhooks
    ]
    if rows:
        tell_table([_WEBHOOK_HEADINGS, *rows], tell)
    else:
        tell("No webhook is configured, or it is not for this key to see. See safety.webhooks.")
    return Report({**NOTHING["webhooks"], "webhooks": webhooks})


async def try_webhook(webhook: str, place: Place, tell: Tell) -> Report:
    """Send a webhook a message that tells of nobody, and say what came of it.

    Raises:
        OmoideError: There is no such webhook.
    """
    if place.url is not None:
        path = path_of("/api/safety/webhooks", webhook, "test")
        came = dict(await api_of(place).ask("POST", path))
    else:
        clock = place.clock or SystemClock(place.config.server.timezone)
        came = await test_webhook(webhook, place.config.safety.webhooks, clock)
    if came["ok"]:
        tell(f"{webhook} has taken the message.")
    else:
        tell(
            f"{webhook} has not taken the message: {came['code']}. Look at safety.webhooks.{webhook}.url."
        )
    return Report({**NOTHING["webhook-test"], **came}, ok=bool(came["ok"]))


async def review(
    event_id: str, state: State, by: str, note: str, place: Place, tell: Tell
) -> Report:
    """Acknowledge or close an event.

    Raises:
        OmoideError: There is no such event.
    """
    async with _opened(place) as desk:
        event = await desk.review(event_id, state, by, note)
    last = event["reviews"][-1]
    tell(f"{event['id']} is {event['state']} by {last['by']}.")
    return Report({**NOTHING["ack"], "event": event})


async def export(person: str, since: str, out: Path | None, place: Place, tell: Tell) -> Report:
    """Hand out a note in the form of SOAP, as text: on the terminal or into a file.

    Raises:
        OmoideError: The events can't be had, or ``file-unwritable``.
    """
    begin = parse_moment(since, place.config.server.timezone) if since else None
    async with _opened(place) as desk:
        note = await desk.soap(person, begin)
    text = render_soap(note)
    if out is None:
        tell(text)
        return Report({**NOTHING["export"], "note": note})
    try:
        write_private(out, f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OmoideError(
            "file-unwritable", f"{out} can't be written ({error.strerror}). Name another file."
        ) from error
    tell(f"{out}: {len(note['subjective'])} events. Nobody but you may read it.")
    return Report({**NOTHING["export"], "note": note, "file": str(out)})


def _row(event: Row) -> tuple[str, ...]:
    said_at = event["at"][:16].replace("T", " ")
    words = " ".join(event["quote"].split())
    return (
        event["id"],
        event["person"],
        said_at,
        event["severity"],
        event["kind"],
        event["state"],
        words,
        _review_in_words(event["reviews"][-1]) if event["reviews"] else "",
    )


def _review_in_words(review: Row) -> str:
    note = " ".join(review["note"].split())
    return f"{review['state']} by {review['by']}" + (f": {note}" if note else "")


def standing_in_words(webhook: Row) -> str:
    """Return how the deliveries of a webhook stand, as a phrase."""
    if not webhook["waiting"]:
        return "nothing waits"
    since = webhook["since"][:16].replace("T", " ")
    tried = f"; tried {webhook['attempts']} times, last: {webhook['error']}"
    waits = f"{webhook['waiting']} wait since {since}"
    return waits + (tried if webhook["attempts"] else "")


class _Desk(Protocol):
    """Where events are reviewed."""

    async def events(self, person: str, state: State | None) -> list[Row]:
        """Return events, oldest first."""

    async def event(self, event_id: str) -> Row:
        """Return one event."""

    async def webhooks(self) -> list[Row]:
        """Return how it stands with each webhook; none if that is not for whoever asks."""

    async def review(self, event_id: str, state: State, by: str, note: str) -> Row:
        """Note that somebody looked at an event; return it."""

    async def soap(self, person: str, since: datetime | None) -> Row:
        """Return a note of what a person said since a moment, or ever."""


@asynccontextmanager
async def _opened(place: Place) -> AsyncIterator[_Desk]:
    if place.url is not None:
        yield _RemoteDesk(api_of(place))
        return
    file = place.data / "memory" / "memory.db"
    if not file.exists():
        raise OmoideError(
            "memory-missing",
            f"There is no memory in {place.data}. Name its data folder with --data, or a running server with --url.",
        )
    store = await to_thread.run_sync(Store, file, cipher_of(place.config.store))
    try:
        yield _FolderDesk(store, place)
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(store.close)


class _RemoteDesk:
    """That of a running server. See `_Desk`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def events(self, person: str, state: State | None) -> list[Row]:
        params: dict[str, str | int] = {"person": person}
        if state is not None:
            params["state"] = str(state)
        return list((await self._api.ask("GET", "/api/safety/events", params))["events"])

    async def event(self, event_id: str) -> Row:
        return dict(await self._api.ask("GET", path_of("/api/safety/events", event_id)))

    async def webhooks(self) -> list[Row]:
        try:
            return list((await self._api.ask("GET", "/api/safety/webhooks"))["webhooks"])
        except OmoideError as error:
            if (
                error.code == "person-forbidden"
            ):  # a key for some does not see how much is told of others
                return []
            raise

    async def review(self, event_id: str, state: State, by: str, note: str) -> Row:
        path = path_of("/api/safety/events", event_id, _VERBS[state])
        return dict(await self._api.ask("POST", path, body={"by": by, "note": note}))

    async def soap(self, person: str, since: datetime | None) -> Row:
        params = {"since": since.isoformat()} if since else {}
        path = path_of("/api/safety", person, "soap")
        return dict(await self._api.ask("GET", path, params))


class _FolderDesk:
    """That in a data folder, also beside a running server, which holds no copy of events. See `_Desk`."""

    def __init__(self, store: Store, place: Place) -> None:
        self._events, self._deliveries, self._ids = store.safety, store.deliveries, store.ids
        self._webhooks = place.config.safety.webhooks
        self._clock = place.clock or SystemClock(place.config.server.timezone)

    async def events(self, person: str, state: State | None) -> list[Row]:
        found = await to_thread.run_sync(self._events.find, person or None, state)
        return [describe_event(event) for event in found]

    async def review(self, event_id: str, state: State, by: str, note: str) -> Row:
        looked = Review(state, by, self._clock.now(), note)
        id_ = await self._whole(event_id)
        event: SafetyEvent | None = await to_thread.run_sync(self._events.review, id_, looked)
        if event is None:
            raise unknown_event(event_id)
        return describe_event(event)

    async def event(self, event_id: str) -> Row:
        event = await to_thread.run_sync(self._events.get, await self._whole(event_id))
        if event is None:
            raise unknown_event(event_id)
        return describe_event(event)

    async def webhooks(self) -> list[Row]:
        standings = await to_thread.run_sync(self._deliveries.standings)
        return [
            describe_webhook(name, section, standings.get(name, Standing(0)))
            for name, section in self._webhooks.items()
        ]

    async def _whole(self, event_id: str) -> str:
        found = await to_thread.run_sync(self._ids.events, event_id)
        return whole_id(event_id, found) or event_id

    async def soap(self, person: str, since: datetime | None) -> Row:
        found = await to_thread.run_sync(self._events.find, person)
        chosen = [event for event in found if since is None or event.at >= since]
        return soap_of(person, chosen, self._clock.now())
