"""The routes of memory: list, search, show, forget, export, and drawing facts at once."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from server.clock import within_reach
from server.memory.correcting import correct
from server.memory.keeping import storable
from server.web.described import describe_candidate, describe_dossier, describe_fact
from server.web.host import host_of
from server.web.permissions import grant_of, unknown_fact
from server.web.segments import SegmentRoute


def _no_number(text: str) -> str:
    """Refuse what would be taken for seconds since 1970: nobody means that by a year."""
    if text.strip().isdigit():
        raise ValueError("write it as 2026-09-27T18:00:00Z")
    return text


Moment = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(within_reach)]

router = APIRouter(route_class=SegmentRoute)


class ExtractRequest(BaseModel):
    """Whose exchanges facts are drawn from."""

    model_config = ConfigDict(extra="forbid")

    person: str = ""
    """Empty for everybody."""


class Correction(BaseModel):
    """What is right instead."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=240)]
    """A sentence in the language of the fact, as the person would say it, or one that calls them "you"."""


@router.post("/api/debug/extract", tags=["memory"], summary="Draw facts now")
async def extract(request: Request, wanted: ExtractRequest | None = None) -> dict[str, object]:
    """Draw facts from every exchange that waits, without waiting for silence.

    Return what was stored, how many exchanges wait all the same, and whether that is because somebody began to talk.
    """
    person = storable(wanted.person).strip() if wanted else ""
    person = grant_of(request).choose(person, "")
    host = host_of(request)
    memory = host.memory
    stored = await memory.extract(person or None, put_off=True)
    return {
        "stored": [describe_fact(fact, host.config.fading) for fact in stored],
        "interrupted": memory.consolidator.gave_way,
        "waiting": await memory.archive.waiting(person or None),
    }


@router.get("/api/memory/persons", tags=["memory"], summary="Of whom anything is stored")
async def list_persons(request: Request) -> dict[str, object]:
    """Return the names of all persons with a memory, as far as the key reaches."""
    persons = await host_of(request).memory.archive.persons()
    return {"persons": [person for person in persons if grant_of(request).allows(person)]}


@router.get("/api/memory/{person}/facts", tags=["memory"], summary="What is known of a person")
async def list_facts(request: Request, person: str, superseded: bool = False) -> dict[str, object]:
    """Return the facts in the order in which they were said, faded ones too; with `superseded`, those that were replaced.

    `waiting` says how many exchanges facts have still to be drawn from.
    """
    host = host_of(request)
    archive, fading = host.memory.archive, host.config.fading
    facts = await archive.facts(person)
    return {
        "facts": [describe_fact(fact, fading) for fact in facts if superseded or fact.current],
        "waiting": await archive.waiting(person),
    }


@router.get(
    "/api/memory/{person}/search",
    tags=["memory"],
    summary="What a question would recall, and why",
)
async def search(
    request: Request,
    person: str,
    q: Annotated[str, Query(min_length=1, max_length=1000)],
    language: Annotated[str, Query(pattern="^[a-z]{2}$")] = "ja",
    at: Moment | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
) -> dict[str, object]:
    """Return the facts that were looked at, best first, each with its scores and whether it passed.

    With `at`, memory is looked at as it was then.
    """
    found = await host_of(request).memory.search(person, q, language, at)
    return {"candidates": [describe_candidate(candidate) for candidate in found[:limit]]}


@router.get(
    "/api/memory/{person}/export",
    tags=["memory"],
    summary="Everything that is stored of a person",
)
async def export(request: Request, person: str) -> dict[str, object]:
    """Return all facts and exchanges of a person, and what was made of them: topics, profile, traits, notes, summaries of days."""
    host = host_of(request)
    return describe_dossier(await host.memory.archive.dossier(person), host.config.fading)


@router.post("/api/memory/{person}/reindex", tags=["memory"], summary="Make the vectors anew")
async def reindex(request: Request, person: str) -> dict[str, object]:
    """Throw the vector index of a person away and fill it again from the store."""
    return {"embedded": await host_of(request).memory.archive.reindex(person)}


@router.get("/api/memory/facts/{fact_id}", tags=["memory"], summary="One fact")
async def show_fact(request: Request, fact_id: str) -> dict[str, Any]:
    """Return a fact."""
    host = host_of(request)
    fact = await host.memory.archive.fact(fact_id)
    if fact is None:
        raise unknown_fact(fact_id)
    return describe_fact(fact, host.config.fading)


@router.put("/api/memory/facts/{fact_id}", tags=["memory"], summary="Correct a fact")
async def correct_fact(request: Request, fact_id: str, correction: Correction) -> dict[str, Any]:
    """Put a sentence in the place of a fact; return the new one. What was said stays in the exchanges."""
    host = host_of(request)
    fact = await correct(
        host.memory,
        fact_id,
        storable(correction.text),
        host.clock.now(),
        host.config.retrieval.week_start,
    )
    if fact is None:
        raise unknown_fact(fact_id)
    return describe_fact(fact, host.config.fading)


@router.delete("/api/memory/facts/{fact_id}", tags=["memory"], summary="Forget a fact")
async def forget_fact(request: Request, fact_id: str) -> dict[str, Any]:
    """Delete a fact and its words, wherever it was said or told."""
    forgotten = await host_of(request).forgetting.forget_facts([fact_id])
    if not forgotten:
        raise unknown_fact(fact_id)
    return {"forgotten": forgotten}


@router.delete("/api/memory/{person}", tags=["memory"], summary="Forget a person")
async def forget_person(request: Request, person: str) -> dict[str, object]:
    """Delete everything about a person."""
    return {"forgotten": await host_of(request).forgetting.forget_person(person)}
