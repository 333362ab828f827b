"""The routes of the persona: showing it, changing it, and deciding about what is proposed. The locks are in the layers."""

from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from server.config_persona import Lock
from server.memory.layers.drawing import draw_layer
from server.memory.layers.fields import LayerName
from server.memory.layers.proposals import By
from server.memory.layers.user import user_layer
from server.memory.traits import load_dimensions
from server.web.host import host_of
from server.web.permissions import grant_of
from server.web.persona_described import describe_persona, describe_proposal, describe_user
from server.web.segments import SegmentRoute

router = APIRouter(route_class=SegmentRoute)

_MOST_PAGES = 20
"""Exchanges that a layer is drawn from, the newest."""

Line = Annotated[str, Field(max_length=1000)]


class Value(BaseModel):
    """What shall stand in a field."""

    model_config = ConfigDict(extra="forbid")

    value: Line | Annotated[list[Line], Field(max_length=20)]
    """A text, or several lines; nothing brings back what the file says."""


class Locking(BaseModel):
    """Who may change a field."""

    model_config = ConfigDict(extra="forbid")

    lock: Lock


class Drawing(BaseModel):
    """Which layer is drawn, and from whose talk."""

    model_config = ConfigDict(extra="forbid")

    layer: LayerName
    person: Annotated[str, Field(min_length=1, max_length=200)]


@router.get("/api/persona", tags=["persona"], summary="Who the robot is, and what is proposed")
async def show(request: Request) -> dict[str, object]:
    """Return every field of Soul and Identity with its lock, and the proposals that wait."""
    layers = host_of(request).layers
    proposals = await anyio.to_thread.run_sync(layers.proposals)
    allows = grant_of(request).allows
    seen = [one for one in proposals if not one.occasion.person or allows(one.occasion.person)]
    return describe_persona(layers.agent, layers.persona(), seen)


@router.put("/api/persona", tags=["persona"], summary="Take over an exported persona")
async def take_over(request: Request) -> dict[str, object]:
    """Write each field of a container as `GET /api/persona/container` returns it; say what became of each.

    What is locked stays as it is, and no lock is loosened.
    """
    text = (await request.body()).decode("utf-8", "replace")
    return {"fields": await host_of(request).layers.take_over(text)}


@router.get("/api/persona/container", tags=["persona"], summary="What was set by hand")
async def export(request: Request) -> Response:
    """Return the container with its version."""
    return Response(host_of(request).layers.container, media_type="application/json")


@router.put("/api/persona/{layer}/{field}", tags=["persona"], summary="Change a field")
async def write(request: Request, layer: str, field: str, value: Value) -> dict[str, object]:
    """Put lines into a field that is not locked."""
    outcome = await host_of(request).layers.write(layer, field, value.value, By.OWNER)
    return {"outcome": outcome}


@router.post("/api/persona/{layer}/{field}/propose", tags=["persona"], summary="Propose a value")
async def propose(request: Request, layer: str, field: str, value: Value) -> dict[str, object]:
    """Propose lines for a field; they hold once they are accepted."""
    outcome = await host_of(request).layers.propose(layer, field, value.value, By.OWNER)
    return {"outcome": outcome}


@router.put("/api/persona/{layer}/{field}/lock", tags=["persona"], summary="Lock or unlock a field")
async def set_lock(request: Request, layer: str, field: str, locking: Locking) -> dict[str, object]:
    """Say who may change a field from now on."""
    await host_of(request).layers.set_lock(layer, field, locking.lock)
    return {"lock": locking.lock}


@router.post(
    "/api/persona/proposals/{proposal_id}/accept", tags=["persona"], summary="Accept a proposal"
)
async def accept(request: Request, proposal_id: str) -> dict[str, object]:
    """Let what was proposed hold."""
    return describe_proposal(await host_of(request).layers.accept(proposal_id))


@router.post(
    "/api/persona/proposals/{proposal_id}/reject", tags=["persona"], summary="Reject a proposal"
)
async def reject(request: Request, proposal_id: str) -> dict[str, object]:
    """Turn a proposal down."""
    return describe_proposal(await host_of(request).layers.reject(proposal_id))


@router.post("/api/persona/draw", tags=["persona"], summary="Draw one layer from a talk")
async def draw(request: Request, drawing: Drawing) -> dict[str, object]:
    """Let the language model read the last exchanges of a person for one layer; say what became of what was asked for."""
    grant_of(request).check_person(drawing.person)
    host = host_of(request)
    pages = (await host.memory.archive.pages(drawing.person))[-_MOST_PAGES:]
    if not pages or drawing.layer is LayerName.USER:
        return {"asked": []}
    became = await draw_layer(drawing.layer, pages, host.engines.llm, host.prompts, host.layers)
    return {
        "asked": [
            {"field": str(asked.key), "value": asked.value, "outcome": outcome}
            for asked, outcome in became
        ]
    }


@router.get("/api/memory/{person}/user", tags=["persona"], summary="The User layer of a person")
async def show_user(
    request: Request,
    person: str,
    language: Annotated[str, Query(pattern="^[a-z]{2}$")] = "en",
) -> Any:
    """Return name, traits, preferences, goals and facts: a view, which is changed by correcting and forgetting facts."""
    host = host_of(request)
    known = await host.memory.archive.dossier(person)
    layer = await anyio.to_thread.run_sync(
        user_layer,
        known.profile,
        known.traits,
        known.facts,
        load_dimensions(host.prompts),
        language,
        host.clock.now().date(),
    )
    return describe_user(person, layer)
