"""Two models as one: the cosine of the joined vectors is the weighted mean of both cosines.

On short facts the two err differently: multilingual e5 orders questions and answers better, the universal encoder tells
like from unlike more clearly.
"""

import math
from collections.abc import Sequence

import anyio
import numpy as np

from server.ports import Embedder, TextKind, Vectors


class BlendEmbedder:
    """Asks two embedders side by side and joins their vectors."""

    def __init__(self, first: Embedder, second: Embedder, first_share: float) -> None:
        """Blend two embedders, which this one closes.

        Args:
            first: One of them.
            second: The other.
            first_share: Weight of the first one's cosine, from 0 to 1.
        """
        self._first = first
        self._second = second
        self._scales = (math.sqrt(first_share), math.sqrt(1 - first_share))
        self.name = f"{first.name} + {second.name}"
        self.model = f"blend({first_share:g} {first.model}, {second.model})"
        self.dimensions = first.dimensions + second.dimensions

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Return one vector for each text; see `ports.Embedder`."""
        results: dict[int, Vectors] = {}
        errors: list[Exception] = []

        async def ask(place: int, embedder: Embedder) -> None:
            try:
                results[place] = await embedder.embed(texts, kind)
            except Exception as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, 0, self._first)
            tasks.start_soon(ask, 1, self._second)
        if errors:
            raise errors[0]
        joined = [results[place] * scale for place, scale in enumerate(self._scales)]
        return np.concatenate(joined, axis=1).astype(np.float32)

    async def warm_up(self) -> None:
        """Load both."""
        await self._first.warm_up()
        await self._second.warm_up()

    async def aclose(self) -> None:
        """Close both."""
        await self._first.aclose()
        await self._second.aclose()
