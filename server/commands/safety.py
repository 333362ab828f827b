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
from server.memory.safety.described import describe_event
from server.memory.safety.models import Review, SafetyEvent, State
from server.memory.safety.soap import render_soap, soap_of
from server.memory.store import Store
from server.registry import write_private

NOTHING: Mapping[str, Mapping[str, object]] = {
    "list": {"events": [], "error": None},
    "ack": {"event": None, "error": None},
    "close": {"event": None, "error": None},
    "export": {"note": None, "error": None},
}
"""The shape of each command's JSON object when nothing came of it."""

Row: TypeAlias = dict[str, Any]
"""An event or a note as the API describes it."""

_VERBS = {State.ACKNOWLEDGED: "acknowledge", State.CLOSED: "close"}
_HEADINGS = ("ID", "PERSON", "SAID AT", "SEVERITY", "KIND", "STATE", "QUOTE")


async def list_events(person: str, state: State | None, place: Place, tell: Tell) -> Report:
    """List events, of everybody if no person is named.

    Raises:
        OmoideError: They can't be had.
    """
    async with _opened(place) as desk:
        events = await desk.events(person, state)
    if events:
        tell_table([_HEADINGS, *map(_row, events)], tell)
    else:
        tell("There is none.")
    return Report({**NOTHING["list"], "events": events})


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
    )


class _Desk(Protocol):
    """Where events are reviewed."""

    async def events(self, person: str, state: State | None) -> list[Row]:
        """Return events, oldest first."""

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
        self._events = store.safety
        self._clock = place.clock or SystemClock(place.config.server.timezone)

    async def events(self, person: str, state: State | None) -> list[Row]:
        found = await to_thread.run_sync(self._events.find, person or None, state)
        return [describe_event(event) for event in found]

    async def review(self, event_id: str, state: State, by: str, note: str) -> Row:
        looked = Review(state, by, self._clock.now(), note)
        event: SafetyEvent | None = await to_thread.run_sync(self._events.review, event_id, looked)
        if event is None:
            raise OmoideError(
                "event-unknown", f"There is no event {event_id}. See `omoide safety list`."
            )
        return describe_event(event)

    async def soap(self, person: str, since: datetime | None) -> Row:
        found = await to_thread.run_sync(self._events.find, person)
        chosen = [event for event in found if since is None or event.at >= since]
        return soap_of(person, chosen, self._clock.now())
