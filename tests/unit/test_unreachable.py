"""Whoever asks with the wrong scheme is told so, by the errors of a real port."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from anyio.abc import SocketAttribute, SocketStream

from server.commands.api import Api
from server.errors import OmoideError
from server.unreachable import why_unreachable


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[int]:
    """Take connections, answer each with these bytes, and hang up."""

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            if answer:
                await stream.send(answer)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield listener.extra(SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


async def told(url: str) -> str:
    with pytest.raises(OmoideError) as refused:
        await Api(url).ask("GET", "/health")
    assert refused.value.code == "server-unreachable"
    return str(refused.value)


async def test_plain_http_to_a_port_that_hangs_up_is_told_of_https() -> None:
    async with answering(b"") as port:
        assert f"write https://127.0.0.1:{port}" in await told(f"http://127.0.0.1:{port}")


async def test_tls_to_a_plain_port_is_told_of_http() -> None:
    async with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert f"write http://127.0.0.1:{port}" in await told(f"https://127.0.0.1:{port}")


async def test_where_nobody_listens_it_is_asked_whether_a_server_runs() -> None:
    async with answering(b"") as port:
        pass
    assert "Is `omoide serve` running" in await told(f"http://127.0.0.1:{port}")


def test_a_certificate_that_is_not_trusted_is_told_of_ssl_cert_file() -> None:
    error = httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed")
    error.__cause__ = ssl.SSLCertVerificationError()
    assert "SSL_CERT_FILE" in why_unreachable("https://omoide.lan:8003", error)
