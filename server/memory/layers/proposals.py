"""What is proposed for the persona and waits for a person's word, and who writes to it."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from server.memory.layers.fields import FieldKey

_NAMESPACE = uuid.UUID("5b8f5e0e-3a5d-4b0e-9d5d-64c1d1f6b7a4")


class By(StrEnum):
    """Who writes."""

    OWNER = "owner"
    """Whoever runs the server, through the API or the command line."""
    IMPORT = "import"
    """A file that they handed in."""
    VOICE = "voice"
    """Somebody in a talk, in a sure form (`server.memory.layers.requests`)."""
    MODEL = "model"
    """A language model that read a talk."""

    @property
    def may_set(self) -> bool:
        """Whether it is somebody whose word counts for a field that is changed on request."""
        return self in (By.OWNER, By.IMPORT)


class State(StrEnum):
    """What became of a proposal."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Occasion:
    """Where something was asked for."""

    person: str = ""
    page: str = ""
    """Id of the exchange; what is proposed goes with it."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """New lines for a field; they are added where it holds several."""

    id: str
    key: FieldKey
    lines: tuple[str, ...]
    by: By
    occasion: Occasion
    at: datetime
    state: State = State.PENDING
    decided_at: datetime | None = None


def make_proposal(
    agent: str, key: FieldKey, lines: tuple[str, ...], by: By, occasion: Occasion, at: datetime
) -> Proposal:
    """Return a proposal; the same lines from the same exchange always get the same id, whoever found them."""
    named = "\n".join((agent, key, occasion.page or at.isoformat(), *lines))
    return Proposal(uuid.uuid5(_NAMESPACE, named).hex[:12], key, lines, by, occasion, at)
