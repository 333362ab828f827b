"""What a route asks of a key: how much it may do, and whose memory it reaches. A path that is not named here is the server's."""

from collections.abc import Sequence

import anyio.to_thread
from fastapi import Request

from server.admission import Admission
from server.claims import tidy_device_id, unknown_device
from server.errors import OmoideError
from server.grants import Grant, Scope
from server.registry import KnownDevice
from server.web.host import host_of

_OF_PERSONS = ("/api/memory", "/api/turns", "/api/debug/extract")
"""What is somebody's: whoever holds a key for them may come here. `check_owner` and the routes leave out what is of others."""
_DESCRIPTION = ("/docs", "/openapi.json")
_READING = ("GET", "HEAD", "OPTIONS")


def scope_of(method: str, path: str) -> Scope:
    """Return the scope that a request takes."""
    is_read = method in _READING
    if any(path == one or path.startswith(f"{one}/") for one in _OF_PERSONS):
        return Scope.READ if is_read else Scope.WRITE
    return Scope.READ if is_read and path in _DESCRIPTION else Scope.ADMIN


def grant_of(request: Request) -> Grant:
    """Return what the caller may do, as the guard has found out."""
    grant: Grant = request.state.grant
    return grant


async def check_owner(request: Request) -> None:
    """Refuse a path that names a person, or something of a person, out of the caller's reach. For all routes of a router.

    What is somebody else's is answered as if it did not exist.

    Raises:
        AccessError: `person-forbidden`, `device-unknown`.
        OmoideError: `fact-unknown`, `event-unknown`.
    """
    grant = grant_of(request)
    if grant.is_for_everybody:
        return
    named, memory = request.path_params, host_of(request).memory
    if (person := named.get("person")) is not None:
        grant.check_person(person)
    if (fact_id := named.get("fact_id")) is not None:
        fact = await memory.archive.fact(fact_id)
        if fact is None or not grant.allows(fact.person):
            raise unknown_fact(fact_id)
    if (device_id := named.get("device_id")) is not None:
        await _check_device(request, device_id)
    if (event_id := named.get("event_id")) is not None:
        event = await memory.desk.get(event_id)
        if event is None or not grant.allows(event.person):
            raise unknown_event(event_id)


async def _check_device(request: Request, device_id: str) -> None:
    known = await anyio.to_thread.run_sync(host_of(request).access.snapshot)
    within = {device.id for device, _ in reached(known, grant_of(request))}
    if tidy_device_id(device_id) not in within:
        raise unknown_device(device_id)


def reached(
    known: Sequence[tuple[KnownDevice, Admission]], grant: Grant
) -> list[tuple[KnownDevice, Admission]]:
    """Return those devices, of all that are known, that a caller may see and decide about.

    A robot that somebody out of reach talks with is theirs, and so is who claims its Device-Id: accepted, they would get
    its memory. One that nobody has talked with yet is anybody's.
    """
    theirs = {
        device.id
        for device, admission in known
        if not device.is_guest and device.established and not grant.allows(admission.person)
    }
    return [(device, admission) for device, admission in known if device.device not in theirs]


def unknown_fact(fact_id: str) -> OmoideError:
    """Return the error for a fact that does not exist."""
    return OmoideError("fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`.")


def unknown_event(event_id: str) -> OmoideError:
    """Return the error for a danger sign that does not exist."""
    return OmoideError("event-unknown", f"There is no event {event_id}. See `omoide safety list`.")
