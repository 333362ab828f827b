"""The vectors of a question, or none if the embedder is too slow: nobody waits for it."""

from collections.abc import Sequence

import anyio
import structlog

from server.errors import OmoideError
from server.memory.store import Vector
from server.ports import Embedder

log = structlog.get_logger(__name__)


async def embed_in_time(
    embedder: Embedder, texts: Sequence[str], seconds: float
) -> Sequence[Vector | None]:
    """Embed a query and its parts; without an answer in time, search goes on by words and days alone."""
    try:
        with anyio.move_on_after(seconds):
            return list(await embedder.embed(texts, "query"))
        log.warning("recall-without-vectors", code="embedding-timeout")
    except OmoideError as error:
        log.warning("recall-without-vectors", code=error.code, reason=str(error))
    return [None] * len(texts)
