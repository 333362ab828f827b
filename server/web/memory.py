"""The routes of memory: list, search, show, forget, export, and drawing facts at once."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, BaseModel, ConfigDict

from server.config import FadingSection
from server.memory.fading import fades_at
from server.memory.keeping import storable
from server.memory.models import Candidate, Fact, Page
from server.memory.recall import as_scores
from server.web.errors import refuse
from server.web.host import host_of
from server.web.segments import SegmentRoute

router = APIRouter(route_class=SegmentRoute)


class ExtractRequest(BaseModel):
    """Whose exchanges facts are drawn from."""

    model_config = ConfigDict(extra="forbid")

    person: str = ""
    """Empty for everybody."""


@router.post("/api/debug/extract", tags=["memory"], summary="Draw facts now")
async def extract(request: Request, wanted: ExtractRequest | None = None) -> dict[str, object]:
    """Draw facts from every exchange that waits, without waiting for silence.

    Return what was stored, how many exchanges wait all the same, and whether that is because somebody began to talk.
    """
    person = storable(wanted.person).strip() if wanted else ""
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
    """Return the names of all persons with a memory."""
    return {"persons": await host_of(request).memory.archive.persons()}


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
    at: AwareDatetime | None = None,
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
    """Return all facts and all exchanges of a person."""
    host = host_of(request)
    archive = host.memory.archive
    facts, pages = await archive.facts(person), await archive.pages(person)
    return {
        "person": person,
        "facts": [describe_fact(fact, host.config.fading) for fact in facts],
        "pages": [describe_page(page) for page in pages],
    }


@router.post("/api/memory/{person}/reindex", tags=["memory"], summary="Make the vectors anew")
async def reindex(request: Request, person: str) -> dict[str, object]:
    """Throw the vector index of a person away and fill it again from the store."""
    return {"embedded": await host_of(request).memory.archive.reindex(person)}


@router.get("/api/memory/facts/{fact_id}", tags=["memory"], summary="One fact")
async def show_fact(request: Request, fact_id: str) -> Any:
    """Return a fact."""
    host = host_of(request)
    fact = await host.memory.archive.fact(fact_id)
    return _unknown(fact_id) if fact is None else describe_fact(fact, host.config.fading)


@router.delete("/api/memory/facts/{fact_id}", tags=["memory"], summary="Forget a fact")
async def forget_fact(request: Request, fact_id: str) -> Any:
    """Delete a fact and its words, wherever it was said or told."""
    forgotten = await host_of(request).forgetting.forget_facts([fact_id])
    return {"forgotten": forgotten} if forgotten else _unknown(fact_id)


@router.delete("/api/memory/{person}", tags=["memory"], summary="Forget a person")
async def forget_person(request: Request, person: str) -> dict[str, object]:
    """Delete everything about a person."""
    return {"forgotten": await host_of(request).forgetting.forget_person(person)}


def _unknown(fact_id: str) -> JSONResponse:
    return refuse(404, "fact-unknown", f"There is no fact {fact_id}. See `omoide memory list`.")


def describe_fact(fact: Fact, fading: FadingSection) -> dict[str, Any]:
    """Return a fact as plain data, as in the API and in exports."""
    faded = fades_at(fact, fading)
    return {
        "id": fact.id,
        "person": fact.person,
        "text": fact.text,
        "language": fact.language,
        "kind": str(fact.kind),
        "importance": str(fact.importance),
        "about": fact.about,
        "said_at": fact.said_at.isoformat(),
        "event_from": fact.event_from.isoformat() if fact.event_from else None,
        "event_to": fact.event_to.isoformat() if fact.event_to else None,
        "quote": fact.quote,
        "origin": str(fact.origin),
        "sources": list(fact.sources),
        "fades_at": faded.astimezone(fact.said_at.tzinfo).isoformat() if faded else None,
        "superseded_by": fact.superseded_by or None,
        "superseded_at": fact.superseded_at.isoformat() if fact.superseded_at else None,
    }


def describe_candidate(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data: the fact, every score, and why it passed or not."""
    return {
        "id": candidate.fact.id,
        "text": candidate.fact.text,
        "said_at": candidate.fact.said_at.isoformat(),
        "scores": dict(as_scores(candidate)),
        "signs": {name: round(value, 3) for name, value in candidate.signs.items() if value},
        "passed": candidate.passed,
        "reason": candidate.reason,
    }


def describe_page(page: Page) -> dict[str, Any]:
    """Return an exchange as plain data."""
    return {
        "id": page.id,
        "at": page.at.isoformat(),
        "device": page.device,
        "said": page.said,
        "heard": page.heard,
        "language": page.language,
        "interrupted": page.interrupted,
    }
