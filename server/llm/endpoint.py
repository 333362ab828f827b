"""The HTTP client for a model endpoint that is not trusted further than it must be."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import httpx2
from anyio.lowlevel import checkpoint

from server.errors import LlmError

MOST_ANSWER_BYTES = 8 << 20
"""Longest answer, unpacked. A model that thinks for a minute at full speed, one event for each token, fills half of it."""
_SLICE_BYTES = 16_384
"""How much is read at once. Unpacked pieces may be a megabyte, and nobody else gets on while their lines are read."""
_KEEP_ALIVE_SECONDS = 120.0
"""Long enough that the next turn of a talk need not shake hands again."""


def open_client(timeout_seconds: float) -> httpx2.AsyncClient:
    """Return a client for one endpoint; close it with `aclose`.

    It follows no redirect: what was said, and the key, go to the configured address or nowhere. It asks for answers that
    are not compressed, and raises `LlmError` when one grows beyond `MOST_ANSWER_BYTES`: a kilobyte can unpack to
    a megabyte.
    """
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout_seconds),
        limits=httpx2.Limits(keepalive_expiry=_KEEP_ALIVE_SECONDS),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        event_hooks={"response": [_bound]},
    )


async def _bound(response: httpx2.Response) -> None:
    """Limit the body, however it is read: as a stream or at once."""
    response.aiter_bytes = _bounded(response.aiter_bytes)  # type: ignore[method-assign]


def _bounded(
    read: Callable[[int | None], AsyncGenerator[bytes, None]],
) -> Callable[..., AsyncGenerator[bytes, None]]:
    async def read_some(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        received = 0
        async with aclosing(read(chunk_size)) as pieces:
            async for piece in pieces:
                received += len(piece)
                if received > MOST_ANSWER_BYTES:
                    raise LlmError(
                        "llm-failed",
                        f"The language model sent more than {MOST_ANSWER_BYTES >> 20} MB for one answer. Check that "
                        "llm.openai.base_url is the address of a model server.",
                    )
                for start in range(0, len(piece), _SLICE_BYTES):
                    yield piece[start : start + _SLICE_BYTES]
                    await checkpoint()

    return read_some
