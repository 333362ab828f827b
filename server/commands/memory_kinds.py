"""What the commands ask of a memory, wherever it is, and what they get."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from server.memory.selecting import Selector

Row: TypeAlias = dict[str, Any]
"""A fact, an exchange or a candidate as the API describes it."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for in a memory."""

    text: str
    language: str
    at: datetime | None
    """None for now, with all that is known."""
    limit: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What is known of a person."""

    facts: list[Row]
    waiting: int
    """Exchanges that facts have still to be drawn from."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came of drawing facts."""

    stored: list[Row]
    waiting: int
    """Exchanges that wait all the same."""
    interrupted: bool
    """Whether it ended early because somebody began to talk."""


class MemoryAccess(Protocol):
    """What the commands need of a memory. Every method raises `OmoideError` if it can't be had."""

    async def persons(self) -> list[str]:
        """Return everybody of whom anything is stored."""

    async def facts(self, person: str, *, superseded: bool) -> Listing:
        """Return the facts of a person, with those that were replaced or without."""

    async def fact(self, fact_id: str) -> Row:
        """Return one fact."""

    async def search(self, person: str, search: Search) -> list[Row]:
        """Return the facts that were looked at, best first, with their scores."""

    async def export(self, person: str) -> Row:
        """Return everything of a person."""

    async def correct(self, fact_id: str, text: str) -> Row:
        """Put a sentence in the place of a fact; return the new one."""

    async def forget(self, selector: Selector, *, dry_run: bool = False) -> Row:
        """Delete what a selector stands for, or only say what that is; return how much goes."""

    async def bring_in(self, text: str, person: str, *, forgotten: bool) -> Row:
        """Store what an export holds of a person; return how much that was."""

    async def audit(self, last: int) -> list[Row]:
        """Return the last entries of the record of erasures, oldest first."""

    async def reindex(self, person: str) -> int:
        """Make the vector index of a person anew; return how many facts were embedded."""

    async def extract(self, person: str) -> Drawn:
        """Draw facts from what waits, of everybody if no person is named."""
