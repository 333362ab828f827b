"""A model in this process: loaded at the first use, one calculation at a time, in threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from server.embedding.checking import check
from server.embedding.texts import clean
from server.errors import OmoideError
from server.ports import EmbeddingError, TextKind, Vectors
from server.threads import Lazy, OneAtATime


class Network(Protocol):
    """What does the calculating."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Sequence[ArrayLike]:
        """Return a vector for each text. Blocks. May raise anything."""


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of a model before it is loaded."""

    name: str
    """For people."""
    identity: str
    """See `ports.Embedder.model`."""
    dimensions: int
    texts_at_once: int
    """So many that a query which comes in between does not wait for long."""


class LocalEmbedder:
    """An embedding model in this process. Long lists leave gaps in which a query can slip in."""

    def __init__(self, model: Model, load: Callable[[], Network]) -> None:
        """Remember how to load; `load` raises `EngineMissing` if it can't."""
        self._own = model
        self._network = Lazy[Network](load)
        self._turns = OneAtATime()
        self.name = model.name
        self.model = model.identity
        self.dimensions = model.dimensions

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Return one vector for each text; see `ports.Embedder`."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        network = await self._network.get()
        pieces: list[Vectors] = []
        for start in range(0, len(texts), self._own.texts_at_once):
            piece = texts[start : start + self._own.texts_at_once]
            computed = await self._turns.run(partial(self._encode, network, piece, start, kind))
            pieces.append(computed.value)
        return np.concatenate(pieces)

    async def warm_up(self) -> None:
        """Load the model and embed a word."""
        await self.embed(["こんにちは"], "query")

    async def aclose(self) -> None:
        """Let go of the model; its memory is free when the last call has ended."""
        self._network.drop()

    def _encode(
        self, network: Network, texts: Sequence[str], start: int, kind: TextKind
    ) -> Vectors:
        try:
            rows = network.encode([clean(text) for text in texts], kind)
            return check(rows, len(texts), self.dimensions, self.name)
        except EmbeddingError as error:
            raise EmbeddingError(
                error.code,
                str(error),
                positions=[start + position for position in error.positions],
            ) from None
        except OmoideError:
            raise
        except Exception as error:  # whatever the package or the native code behind it raises
            raise EmbeddingError(
                "embedding-failed", f"{self.name} failed ({type(error).__name__}). See the log."
            ) from error
