"""The routes of forgetting and of its reverse: what would go, letting it go, the record of that, and reading an export back."""

from datetime import date
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from server.errors import OmoideError
from server.grants import EVERYBODY
from server.memory.audit import Actor
from server.memory.importing import dossier_from
from server.memory.keeping import storable
from server.memory.selecting import LONGEST_WORDS, Selector
from server.web.described import describe_audit, describe_erasure, describe_imported
from server.web.host import host_of
from server.web.permissions import grant_of
from server.web.segments import SegmentRoute

router = APIRouter(route_class=SegmentRoute)

_Words = Annotated[str, Field(max_length=LONGEST_WORDS)]


class ForgetRequest(BaseModel):
    """What is to be forgotten: one of fact, page, day, topic and words, with a person or without; or a person alone."""

    model_config = ConfigDict(extra="forbid")

    person: _Words = ""
    facts: Annotated[list[str], Field(max_length=1000)] = []
    page: _Words = ""
    day: date | None = None
    topic: _Words = ""
    words: _Words = ""
    language: Annotated[str, Field(pattern="^([a-z]{2})?$")] = ""
    dry_run: bool = False
    """Only say what would go."""


@router.post("/api/memory/forget", tags=["memory"], summary="Forget something of a person")
async def forget(request: Request, wanted: ForgetRequest) -> dict[str, object]:
    """Delete what is named with everything that was made of it, or with `dry_run` only say how much that is.

    A key for one person means that person where none is named; one for several has to say which. `examples` is filled with `dry_run` only.
    """
    grant, forgetting = grant_of(request), host_of(request).forgetting
    person = grant.choose(wanted.person, "")
    if not grant.is_for_everybody and not await forgetting.knows(person):
        raise OmoideError("person-unknown", f"Nothing is remembered of {person}.")  # nor of whom
    selector = Selector(
        person,
        tuple(wanted.facts),
        wanted.page,
        wanted.day,
        wanted.topic,
        wanted.words,
        wanted.language,
    )
    if wanted.dry_run:
        selected, erased = await forgetting.look(selector)
        return {"dry_run": True, **describe_erasure(selector.kind, erased, selected)}
    erased = await forgetting.forget(selector, Actor.API)
    return {"dry_run": False, **describe_erasure(selector.kind, erased)}


@router.get("/api/memory/audit", tags=["memory"], summary="What was erased, by numbers")
async def show_audit(
    request: Request, limit: Annotated[int, Query(ge=1, le=10_000)] = 100
) -> dict[str, object]:
    """Return the last entries of the record, oldest first: when, by which way, what kind and how much.

    It does not say of whom: it takes a key for everybody.
    """
    grant_of(request).check_person(EVERYBODY)
    entries = await host_of(request).memory.archive.audit(limit)
    return {"entries": [describe_audit(entry) for entry in entries]}


@router.post("/api/memory/{person}/import", tags=["memory"], summary="Read an export back")
async def bring_in(
    request: Request,
    person: str,
    exported: Annotated[dict[str, Any], Body()],
    forgotten: bool = False,
) -> dict[str, object]:
    """Store what an export of one person holds and is not there yet, as that person's.

    What was forgotten here is left out and counted, unless `forgotten` is true. Nothing is stored if anything is wrong.
    """
    name = storable(person)
    dossier = await to_thread.run_sync(dossier_from, exported, "", name)
    host = host_of(request)
    imported = await host.memory.archive.bring_in(
        dossier, Actor.API, host.clock.now(), is_asked=forgotten
    )
    return describe_imported(imported)
