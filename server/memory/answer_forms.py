"""What models are asked for: the parts of each kind of answer, as the reader knows them and as a JSON schema says them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from server.memory.answer_parts import (
    Draft,
    NoteDraft,
    PersonaDraft,
    ProfileDraft,
    TopicDraft,
    TraitDraft,
)
from server.turn import AnswerSchema


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of answer: a JSON object."""

    name: str
    parts: Mapping[str, Any]
    """The type of each part: a text, or a tuple of entries."""
    bare: str = ""
    """The part that the entries of a list without a key belong to; empty if to none."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The parts that are a text."""
        return tuple(name for name, kind in self.parts.items() if kind is str)

    def schema(self, dimensions: Sequence[str] = ()) -> AnswerSchema:
        """Return the schema of an answer; every part is in it, if only as an empty list.

        Args:
            dimensions: Those that a trait may be in.
        """
        return AnswerSchema(self.name, _object(self.parts, dimensions))


EXTRACT = Form(
    "extraction",
    {
        "facts": tuple[Draft, ...],
        "topics": tuple[TopicDraft, ...],
        "continues": tuple[int, ...],
        "chain": str,
        "profile": tuple[ProfileDraft, ...],
        "traits": tuple[TraitDraft, ...],
        "agent": tuple[Draft, ...],
        "notes": tuple[NoteDraft, ...],
        "persona": tuple[PersonaDraft, ...],
    },
    bare="facts",
)
PORTRAIT = Form("portrait", {part: EXTRACT.parts[part] for part in ("profile", "traits", "agent")})
LAYER = Form("layer", {"persona": EXTRACT.parts["persona"]}, bare="persona")
"""Of one layer of the persona alone."""
DAY = Form("day", {"summary": str, "follow_ups": tuple[str, ...]})


def _object(members: Mapping[str, Any], dimensions: Sequence[str]) -> dict[str, Any]:
    """Return the schema of an object that has all these members and no others: strict engines take nothing else."""
    return {
        "type": "object",
        "properties": {key: _value(key, kind, dimensions) for key, kind in members.items()},
        "required": [*members],
        "additionalProperties": False,
    }


def _value(key: str, kind: Any, dimensions: Sequence[str]) -> dict[str, Any]:
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return _object({field.name: hints[field.name] for field in fields(kind)}, dimensions)
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _value(key, get_args(kind)[0], dimensions)}
    if get_origin(kind) is Annotated:
        _, words = get_args(kind)
        return {"type": "string", "enum": [*map(str, words)]}
    if key == "dimension" and dimensions:
        return {"type": "string", "enum": [*dimensions]}
    return {"type": {str: "string", int: "integer"}[kind]}
