"""An embedding endpoint for tests, and the client of it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from server.config import OpenAiEmbeddingSection
from server.embedding.openai import OpenAiEmbedder
from tests.ports.openai_stand_in import Behaviour, Line, StandIn, stand_in, status

DIMENSIONS = 16


def letters(text: str) -> list[float]:
    """Return a vector that depends on the text, as an endpoint might answer."""
    numbers = [0.01] * DIMENSIONS
    for character in text:
        numbers[ord(character) % DIMENSIONS] += 1
    return numbers


def vectors(answer: Callable[[str], object] = letters, *, backwards: bool = False) -> Behaviour:
    """Answer every text by `answer`, in the order of the texts or not."""

    async def behave(line: Line, request: dict[str, Any]) -> None:
        items = [
            {"object": "embedding", "index": index, "embedding": answer(text)}
            for index, text in enumerate(request["input"])
        ]
        if backwards:
            items.reverse()
        await line.send_status(200, {"object": "list", "model": "m", "data": items})

    return behave


def refusing(word: str, code: int = 400) -> Behaviour:
    """Refuse every request that holds `word`."""
    refuse, answer = status(code, "no"), vectors()

    async def behave(line: Line, request: dict[str, Any]) -> None:
        bad = any(word in text for text in request["input"])
        await (refuse if bad else answer)(line, request)

    return behave


def embedder_at(server: StandIn, **settings: Any) -> OpenAiEmbedder:
    section = OpenAiEmbeddingSection(
        base_url=server.url, model="m", dimensions=DIMENSIONS, **settings
    )
    return OpenAiEmbedder(section)


@asynccontextmanager
async def remote(
    *behaviours: Behaviour, **settings: Any
) -> AsyncIterator[tuple[OpenAiEmbedder, StandIn]]:
    async with stand_in(*behaviours) as server:
        embedder = embedder_at(server, **settings)
        yield embedder, server
        await embedder.aclose()
