"""Stands in for an engine that is not installed, where work goes on without vectors."""

from collections.abc import Sequence
from typing import NoReturn

from server.errors import EngineMissing
from server.ports import TextKind


class AbsentEmbedder:
    """An `Embedder` that has no vector for anything: facts are found by their words."""

    name = "absent"
    model = "absent"
    dimensions = 8

    def __init__(self, missing: EngineMissing) -> None:
        """Take what is raised whenever a vector is asked for."""
        self._missing = missing

    async def warm_up(self) -> None:
        """Load nothing."""

    async def embed(self, texts: Sequence[str], kind: TextKind) -> NoReturn:
        """Raise what is missing."""
        raise self._missing

    async def aclose(self) -> None:
        """Close nothing."""
