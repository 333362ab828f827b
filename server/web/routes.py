"""The routes of the HTTP API."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict

from server.access import Access
from server.admission import Admission
from server.config_shown import show
from server.grants import Grant
from server.recording import describe
from server.registry import KnownDevice
from server.web import consent, forgetting, memory, ota, persona, safety
from server.web.docs_page import render_docs
from server.web.errors import add_error_answers
from server.web.guard import Guard
from server.web.host import WebHost, host_of
from server.web.permissions import check_owner, grant_of, reached

router = APIRouter()


class Acceptance(BaseModel):
    """What may be said when a device is accepted."""

    model_config = ConfigDict(extra="forbid")

    person: str = ""
    """Whose memory it shall speak with; empty to leave that as it is."""


def create_web(host: WebHost) -> FastAPI:
    """Build the ASGI application. It opens nothing and needs no start-up of its own."""
    web = FastAPI(
        title="Omoide",
        version=find_version(),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    web.state.host = host
    add_error_answers(web)
    web.add_middleware(Guard, access=host.access)
    web.include_router(router)
    web.include_router(ota.router)
    for of_persons in (consent, forgetting, memory, safety, persona):
        web.include_router(of_persons.router, dependencies=[Depends(check_owner)])
    return web


def find_version() -> str:
    """Return the version of the program; `unknown` if it runs without having been installed."""
    try:
        return version("omoide")
    except PackageNotFoundError:
        return "unknown"


@router.get("/health", tags=["server"], summary="Whether the server can do its work")
async def show_health(request: Request) -> dict[str, object]:
    """Say how the engines are, and whether what is said can be stored.

    `ok` is true once all are warm; `state` is `warming`, `ready` or `failing`. Callers who may not use the API are told
    nothing about the single engines.
    """
    host = host_of(request)
    state = _find_state(host)
    short: dict[str, object] = {"ok": state == "ready", "state": state, "version": find_version()}
    if not request.state.is_inside:
        return short
    engines = {stage: _describe_engine(host, stage) for stage in host.stages}
    return {**short, "engines": engines, "memory": _describe_memory(host)}


@router.get("/metrics", tags=["server"], summary="Figures for Prometheus", response_class=Response)
async def show_metrics(request: Request) -> Response:
    """Return turns, stages and connections in the text format of Prometheus."""
    metrics = host_of(request).metrics
    return Response(metrics.render(), media_type=metrics.media_type)


@router.get("/docs", include_in_schema=False)
async def show_docs(request: Request) -> HTMLResponse:
    """Return this description of the API as a page."""
    return HTMLResponse(render_docs(request.app.openapi()))


@router.get("/api/config", tags=["server"], summary="The configuration in force")
async def show_config(request: Request) -> dict[str, object]:
    """Return every setting as it stands; secrets are `***` where they are set."""
    return show(host_of(request).config)


@router.get("/api/turns", tags=["turns"], summary="The last turns, oldest first")
async def list_turns(
    request: Request,
    device: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> dict[str, object]:
    """Return what was said and answered, with the time of every stage; of those persons only whom the key names."""
    grant = grant_of(request)
    turns = [turn for turn in host_of(request).recent.list(device) if grant.allows(turn.person)]
    return {"turns": [describe(turn) for turn in turns[-limit:]]}


@router.get("/api/devices", tags=["devices"], summary="The devices that are known")
async def list_devices(request: Request) -> JSONResponse:
    """Return every device within reach; one with `guest` true claims a Device-Id that belongs to another."""
    access = host_of(request).access
    rows = await anyio.to_thread.run_sync(_describe_devices, access, grant_of(request))
    for row in rows:
        row["connected"] = row["id"] in access.presence
    # There may be thousands: other requests and robots do not wait until all are written down.
    return await anyio.to_thread.run_sync(JSONResponse, {"devices": rows})


@router.post(
    "/api/devices/{device_id}/accept",
    tags=["devices"],
    summary="Accept a device",
    dependencies=[Depends(check_owner)],
)
async def accept_device(
    request: Request, device_id: str, acceptance: Acceptance | None = None
) -> dict[str, object]:
    """Let a waiting device in, or take a guest for the real one. With a person, a connection is ended and comes back as theirs."""
    host = host_of(request)
    person = acceptance.person.strip() if acceptance else ""
    if person:
        grant_of(request).check_person(person)
    device = await anyio.to_thread.run_sync(host.access.accept, device_id, person)
    if device.is_guest or person:
        host.access.presence.dismiss(device.id, "accepted: come back as yourself")
    admission = await anyio.to_thread.run_sync(host.access.admission_of, device)
    return {
        **_describe_device(device, admission),
        "connected": device.id in host.access.presence,
    }


@router.post(
    "/api/devices/{device_id}/revoke",
    tags=["devices"],
    summary="Make the tokens of a device void",
    dependencies=[Depends(check_owner)],
)
async def revoke_device(request: Request, device_id: str) -> dict[str, object]:
    """End its connection, too. It stays known, with its person, and gets a new token when it asks OTA again."""
    host = host_of(request)
    device = await anyio.to_thread.run_sync(host.access.revoke, device_id)
    host.access.presence.dismiss(device.id, "its token was revoked")
    return {"revoked": device.id}


@router.delete(
    "/api/devices/{device_id}",
    tags=["devices"],
    summary="Forget a device",
    dependencies=[Depends(check_owner)],
)
async def forget_device(request: Request, device_id: str) -> dict[str, object]:
    """Make its tokens void and end its connection. Should it come again, it is a new device with a new person."""
    host = host_of(request)
    forgotten = await anyio.to_thread.run_sync(host.access.forget, device_id)
    for one in forgotten:
        host.access.presence.dismiss(one, "this device was removed")
    return {"forgotten": forgotten}


def _find_state(host: WebHost) -> str:
    if host.troubles or host.memory.trouble:
        return "failing"
    return "ready" if host.warm.is_set() else "warming"


def _describe_engine(host: WebHost, stage: str) -> dict[str, object]:
    trouble = host.troubles.get(stage)
    name = host.stages[stage].name
    if trouble is not None:
        return {"name": name, "state": "failed", "code": trouble.code, "message": str(trouble)}
    return {"name": name, "state": "warm" if host.warm.is_set() else "loading"}


def _describe_memory(host: WebHost) -> dict[str, object]:
    trouble = host.memory.trouble
    if trouble is None:
        return {"state": "ready"}
    return {"state": "failed", "code": trouble.code, "message": str(trouble)}


def _describe_devices(access: Access, grant: Grant) -> list[dict[str, Any]]:
    return [_describe_device(*one) for one in reached(access.snapshot(), grant)]


def _describe_device(device: KnownDevice, admission: Admission) -> dict[str, Any]:
    """Describe a device; whether it is connected only the event loop can say."""
    return {
        "id": device.id,
        "person": admission.person,
        "guest": admission.is_guest,
        "accepted": device.accepted,
        "has_token": device.issued,
        "connected": False,
        "board": device.board,
        "first_seen": device.first_seen.isoformat(),
        "last_seen": device.last_seen.isoformat(),
    }
