"""What a route asks of a key: how much it may do, and whose memory it reaches. A path that is not named here is the server's."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import anyio.to_thread
from fastapi import Request

from server.admission import Admission
from server.claims import tidy_device_id, unknown_device
from server.errors import OmoideError
from server.grants import Grant, Scope
from server.memory.layers.refusals import is_no_proposal
from server.registry import KnownDevice
from server.short_ids import whole_id
from server.web.host import WebHost, host_of

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

    What is somebody else's is answered as if it did not exist. An id may be typed in part: the route is given the whole one
    that was meant, of those within reach.

    Raises:
        AccessError: `person-forbidden`, `device-unknown`.
        OmoideError: `fact-unknown`, `event-unknown`, `proposal-unknown`, `id-ambiguous`.
    """
    grant, named = grant_of(request), request.path_params
    if (person := named.get("person")) is not None and not grant.is_for_everybody:
        grant.check_person(person)
    for part, (whose, unknown) in _STORED.items():
        if (typed := named.get(part)) is not None:
            found = await whose(host_of(request), typed)
            within = [id_ for id_, person in found.items() if not person or grant.allows(person)]
            named[part] = _known(typed, within, unknown, grant)
    if (typed := named.get("device_id")) is not None:
        known = await anyio.to_thread.run_sync(host_of(request).access.snapshot)
        devices = [device.id for device, _ in reached(known, grant)]
        named["device_id"] = _known(tidy_device_id(typed), devices, unknown_device, grant)


def _known(
    typed: str, ids: Iterable[str], unknown: Callable[[str], OmoideError], grant: Grant
) -> str:
    meant = whole_id(typed, ids)
    if meant is None and not grant.is_for_everybody:  # else the route says so itself
        raise unknown(typed)
    return meant or typed


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


async def _facts(host: WebHost, typed: str) -> Mapping[str, str]:
    return await host.memory.archive.facts_beginning(typed)


async def _events(host: WebHost, typed: str) -> Mapping[str, str]:
    return await host.memory.desk.beginning(typed)


async def _proposals(host: WebHost, typed: str) -> Mapping[str, str]:
    waiting = await anyio.to_thread.run_sync(host.layers.proposals)
    return {one.id: one.occasion.person for one in waiting if one.id.startswith(typed)}


def unknown_fact(fact_id: str) -> OmoideError:
    """Return the error for a fact that does not exist."""
    return OmoideError("fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`.")


def unknown_event(event_id: str) -> OmoideError:
    """Return the error for a danger sign that does not exist."""
    return OmoideError("event-unknown", f"There is no event {event_id}. See `omoide safety list`.")


_STORED = {
    "fact_id": (_facts, unknown_fact),
    "event_id": (_events, unknown_event),
    "proposal_id": (_proposals, is_no_proposal),
}
"""The parts of a path that name something in the store: what may be meant, with whose it is, and the error if nothing is."""
