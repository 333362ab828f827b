"""Safety events as an export has them: read and checked."""

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from server.memory.models import Origin
from server.memory.safety.models import Review, SafetyEvent, Severity, SignalKind, State

_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Words = Annotated[str, Field(max_length=100_000)]


class ReviewRow(BaseModel):
    """That somebody looked at an event."""

    model_config = ConfigDict(extra="forbid")

    state: State
    by: _Words
    at: AwareDatetime
    note: _Words


class EventRow(BaseModel):
    """An event as `server.memory.safety.described` writes it."""

    model_config = ConfigDict(extra="forbid")

    id: _Id
    person: _Words
    device: _Words
    kind: SignalKind
    severity: Severity
    quote: _Words
    page: _Id
    language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    at: AwareDatetime
    origin: Origin
    state: State
    """Follows from the reviews."""
    reviews: list[ReviewRow] = []

    def as_event(self, person: str) -> SafetyEvent:
        """Return it as an event of a person."""
        return SafetyEvent(
            self.id,
            person,
            self.device,
            self.kind,
            self.severity,
            self.quote,
            self.page,
            self.language,
            self.at,
            self.origin,
            tuple(Review(one.state, one.by, one.at, one.note) for one in self.reviews),
        )
