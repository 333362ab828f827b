"""Safety events as an export has them: read and checked."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from server.memory.models import Origin
from server.memory.safety.models import Review, SafetyEvent, Severity, SignalKind, State

_FIRST, _LAST = 1900, 2200
"""Years in which somebody can have said something."""


def _lived(moment: datetime) -> datetime:
    if not _FIRST <= moment.year <= _LAST:
        raise ValueError(f"a year from {_FIRST} to {_LAST} is wanted")
    return moment


Moment = Annotated[AwareDatetime, AfterValidator(_lived)]
"""When something was said or done."""
_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Words = Annotated[str, Field(max_length=100_000)]


class ReviewRow(BaseModel):
    """That somebody looked at an event."""

    model_config = ConfigDict(extra="forbid")

    state: State
    by: _Words
    at: Moment
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
    at: Moment
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
