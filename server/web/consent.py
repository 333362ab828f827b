"""The routes of consent: whether a person is remembered, what of private matters, and what waits for an answer."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from server.config import Policy
from server.memory.consenting import Consenting, Standing
from server.memory.consents import Remembering
from server.memory.keeping import storable
from server.memory.private import Category
from server.short_ids import whole_id
from server.web.described import describe_pending, describe_rule
from server.web.host import host_of
from server.web.segments import SegmentRoute

router = APIRouter(route_class=SegmentRoute)
ACTOR = "api"


class Decision(BaseModel):
    """What is decided for a person; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    memory: Remembering | None = None
    policies: dict[Category, Policy] = Field(default_factory=dict)
    accept: Annotated[list[str], Field(max_length=1000)] = []
    """Ids of sentences that wait: they are stored as said when they were said."""
    reject: Annotated[list[str], Field(max_length=1000)] = []
    """Of those that are deleted, and of rules that hold no longer."""


@router.get(
    "/api/memory/{person}/consent", tags=["memory"], summary="Whether a person is remembered"
)
async def show_consent(request: Request, person: str) -> dict[str, object]:
    """Return whether a person is remembered, what is done with private matters, and the sentences that wait for that."""
    name = storable(person)
    return describe_standing(name, await host_of(request).memory.consenting.standing(name))


@router.put("/api/memory/{person}/consent", tags=["memory"], summary="Decide about it")
async def decide(request: Request, person: str, decision: Decision) -> dict[str, object]:
    """Carry a decision out, and return how it stands then. What is stored already stays: to erase it is another matter."""
    consenting, name = host_of(request).memory.consenting, storable(person)
    await carry_out(consenting, name, decision, ACTOR)
    return describe_standing(name, await consenting.standing(name))


async def carry_out(consenting: Consenting, person: str, decision: Decision, actor: str) -> None:
    """Carry a decision out.

    Raises:
        StoreError: It can't be stored; what came before in it is.
        OmoideError: ``id-ambiguous``.
    """
    if decision.memory is not None:
        await consenting.set(person, decision.memory, actor)
    for category, policy in decision.policies.items():
        await consenting.choose(person, category, policy, actor)
    standing = await consenting.standing(person)
    ids = [*(one.id for one in standing.pending), *(rule.id for rule in standing.rules)]
    for typed, accept in ((decision.accept, True), (decision.reject, False)):
        meant = [whole_id(one, ids) or one for one in typed]
        await consenting.settle(person, meant, actor, accept=accept)


def describe_standing(person: str, standing: Standing) -> dict[str, object]:
    """Return how it stands with a person as JSON has it."""
    return {
        "person": person,
        "memory": str(standing.state),
        "policies": {str(category): str(policy) for category, policy in standing.policies.items()},
        "pending": [describe_pending(one) for one in standing.pending],
        "rules": [describe_rule(rule) for rule in standing.rules],
    }
