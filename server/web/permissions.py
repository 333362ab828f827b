"""What a route asks of a key: how much it may do, and whose memory it reaches. A path that is not named here is the server's."""

from fastapi import Request

from server.errors import OmoideError
from server.grants import Grant, Scope
from server.web.host import host_of

_OF_PERSONS = ("/api/memory", "/api/turns", "/api/debug/extract")
"""What is somebody's: whoever holds a key for them may come here. The routes leave out what is of others."""
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
    """Refuse a path that names a person, or what is of a person, out of the caller's reach. For all routes of a router.

    A fact or an event of somebody else is answered as one that does not exist.

    Raises:
        AccessError: `person-forbidden`.
        OmoideError: `fact-unknown`, `event-unknown`.
    """
    grant = grant_of(request)
    if grant.is_for_everybody:
        return
    if (person := request.path_params.get("person")) is not None:
        grant.check_person(person)
    if (fact_id := request.path_params.get("fact_id")) is not None:
        fact = await host_of(request).memory.archive.fact(fact_id)
        if fact is None or not grant.allows(fact.person):
            raise unknown_fact(fact_id)
    if (event_id := request.path_params.get("event_id")) is not None:
        event = await host_of(request).memory.desk.get(event_id)
        if event is None or not grant.allows(event.person):
            raise unknown_event(event_id)


def unknown_fact(fact_id: str) -> OmoideError:
    """Return the error for a fact that does not exist."""
    return OmoideError("fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`.")


def unknown_event(event_id: str) -> OmoideError:
    """Return the error for a danger sign that does not exist."""
    return OmoideError("event-unknown", f"There is no event {event_id}. See `omoide safety list`.")
