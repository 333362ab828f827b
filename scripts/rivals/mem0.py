"""Driver of mem0: every exchange is added with the ids of its turns as metadata, which its memories carry.

A memory that says word for word what one of the two turns says comes from that one; any other comes from both.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from scripts.rivals.protocol import (
    PASSAGE,
    QUERY,
    SCRIPTED,
    Exchange,
    Settings,
    first,
    narrow,
    serve,
)

_PERSON = "somebody"
_MEMORIES_PER_TURN = 5
"""So many more memories are asked for than turns: several come from one turn."""


class Mem0:
    """mem0 with the local Qdrant that is its default, in the folder that it is given."""

    def __init__(self, settings: Settings) -> None:
        folder = Path(settings.folder)
        # Both are read when the package is imported.
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "home"))
        endpoint = {"api_key": "none", "openai_base_url": settings.base_url}
        self._memory: Any = import_module("mem0").Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"model": SCRIPTED, **endpoint}},
                "embedder": {"provider": "openai", "config": {"model": PASSAGE, **endpoint}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": str(folder / "qdrant"),
                        "on_disk": True,
                        "embedding_model_dims": settings.dimensions,
                    },
                },
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.vector_store._bm25_encoder = _keyword_encoder(folder)  # noqa: SLF001
        self._texts: dict[str, str] = {}

    def add(self, exchange: Exchange) -> None:
        """Let mem0 draw facts from an exchange and keep them."""
        self._texts |= {turn.id: turn.text for turn in exchange.turns}
        self._memory.add(
            [{"role": turn.role, "content": turn.text} for turn in exchange.turns],
            user_id=_PERSON,
            metadata={"turns": [turn.id for turn in exchange.turns], "said_at": exchange.at},
        )

    def settle(self) -> None:
        """Everything was written as it came."""

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the turns that the found memories come from."""
        embedder = self._memory.embedding_model.config
        embedder.model = QUERY
        try:
            found = self._memory.search(
                question, top_k=limit * _MEMORIES_PER_TURN, filters={"user_id": _PERSON}
            )
        finally:
            embedder.model = PASSAGE
        return first(
            (
                turn
                for one in found["results"]
                for turn in narrow(one["memory"], one["metadata"]["turns"], self._texts)
            ),
            limit,
        )


def _keyword_encoder(folder: Path) -> Any:
    """Return what mem0 finds keywords with. Left to itself it would fetch the stop words from a model hub."""
    return import_module("fastembed").SparseTextEmbedding(
        model_name="Qdrant/bm25",
        specific_model_path=str(folder),
        stopwords=set(import_module("bm25s.stopwords").STOPWORDS_EN_PLUS),
    )


if __name__ == "__main__":
    serve("mem0ai", Mem0)
