"""A model endpoint that is not trusted further than it must be: the HTTP client for it, and what may be told of it."""

import ipaddress
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from urllib.parse import urljoin, urlsplit

import httpx2
import openai
from anyio.lowlevel import checkpoint

from server.errors import OmoideError

MOST_ANSWER_BYTES = 8 << 20
"""Longest answer, unpacked. A model that thinks for a minute at full speed, one event for each token, fills half of it."""
_SLICE_BYTES = 16_384
"""How much is read at once. Unpacked pieces may be a megabyte, and nobody else gets on while their lines are read."""
_KEEP_ALIVE_SECONDS = 120.0
"""Long enough that the next turn of a talk need not shake hands again."""
_SLUG = re.compile(r"[A-Za-z0-9_.-]{1,60}")
_NEAR_NAMES = (".local", ".localhost", ".lan", ".home", ".internal", ".home.arpa")
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]{1,100}")


def open_client(
    timeout_seconds: float,
    complain: Callable[[str], OmoideError],
    most_bytes: int = MOST_ANSWER_BYTES,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> httpx2.AsyncClient:
    """Return a client for one endpoint; close it with `aclose`.

    It follows no redirect: what was said, and the key, go to the configured address or nowhere. It asks for answers that
    are not compressed, and breaks off when one grows beyond `most_bytes`: a kilobyte can unpack to a megabyte.

    Args:
        timeout_seconds: For every step of a request.
        complain: Makes the error that is raised for too long an answer out of what the endpoint did.
        most_bytes: Longest answer, unpacked.
        transport: What carries requests, instead of the network.
    """

    async def bound(response: httpx2.Response) -> None:
        """Limit the body, however it is read: as a stream or at once."""
        response.aiter_bytes = _bounded(  # type: ignore[method-assign]
            response.aiter_bytes, most_bytes, complain
        )

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout_seconds),
        limits=httpx2.Limits(keepalive_expiry=_KEEP_ALIVE_SECONDS),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        event_hooks={"response": [bound]},
        transport=transport,
    )


def is_near(url: str) -> bool:
    """Say whether an address is in the house: this machine, a private network, or a name that only such a network knows."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_NEAR_NAMES)


def redirect_of(response: httpx2.Response) -> str:
    """Return scheme and host of the address that an answer redirects to; empty if it is no redirect."""
    if not 300 <= response.status_code < 400:
        return ""
    try:
        target = urlsplit(urljoin(str(response.url), response.headers.get("location", "")))
    except ValueError:
        return "another address"
    host = target.netloc.rpartition("@")[2]
    return f"{target.scheme}://{host}" if _HOST.fullmatch(host) else "another address"


def short_code(error: openai.APIError) -> str:
    """Return the error's short code in brackets, if it is one and no sentence. Some servers send a number."""
    code = str(error.code or error.type or "")
    return f" ({code})" if _SLUG.fullmatch(code) else ""


def without_secrets(url: str) -> str:
    """Return a URL without the user, password or query that may be part of it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _bounded(
    read: Callable[[int | None], AsyncGenerator[bytes, None]],
    most_bytes: int,
    complain: Callable[[str], OmoideError],
) -> Callable[..., AsyncGenerator[bytes, None]]:
    async def read_some(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        received = 0
        async with aclosing(read(chunk_size)) as pieces:
            async for piece in pieces:
                received += len(piece)
                if received > most_bytes:
                    raise complain(f"sent more than {most_bytes >> 20} MB for one answer.")
                for start in range(0, len(piece), _SLICE_BYTES):
                    yield piece[start : start + _SLICE_BYTES]
                    await checkpoint()

    return read_some
