"""The persona as plain data, as the API and the command line show it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from server.memory.layers.fields import FIELDS, LayerName
from server.memory.layers.persona import Persona
from server.memory.layers.proposals import Proposal
from server.memory.layers.user import UserLayer


def describe_persona(
    agent: str, persona: Persona, proposals: Sequence[Proposal]
) -> dict[str, object]:
    """Return every field with its lines, its lock and where it comes from, and what is proposed."""
    layers: dict[str, dict[str, object]] = {}
    for layer in (LayerName.SOUL, LayerName.IDENTITY):
        fields = {
            FIELDS[key].name: {
                "lines": list(held.lines),
                "lock": str(held.lock),
                "origin": str(held.origin),
            }
            for key, held in persona.fields.items()
            if FIELDS[key].layer is layer
        }
        layers[layer] = {"fields": fields, "text": persona.free.get(layer, "")}
    return {
        "agent": agent,
        "layers": layers,
        "proposals": [describe_proposal(proposal) for proposal in proposals],
    }


def describe_proposal(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as plain data."""
    return {
        "id": proposal.id,
        "field": str(proposal.key),
        "lines": list(proposal.lines),
        "by": str(proposal.by),
        "person": proposal.occasion.person,
        "page": proposal.occasion.page,
        "at": proposal.at.isoformat(),
        "state": str(proposal.state),
    }


def describe_user(person: str, layer: UserLayer) -> Mapping[str, object]:
    """Return the User layer of a person as plain data."""
    return {"person": person, **asdict(layer)}
