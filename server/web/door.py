"""Running the HTTP door inside our own task group, without touching the signals of the process."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import anyio
import structlog
import uvicorn
from anyio.abc import TaskStatus

from server.crowd import Crowd
from server.failures import quieten
from server.listener import listen
from server.tls import keep_renewed, server_context
from server.web.connection import HttpConnection
from server.web.host import WebHost
from server.web.routes import create_web

log = structlog.get_logger(__name__)

_BACKLOG = 128
"""Connections that wait to be accepted, and how many are accepted in one go."""
_STOP_SECONDS = 3


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, patience_seconds: float) -> None:
        super().__init__(config)
        self._stopping = anyio.Event()
        self._patience_seconds = patience_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen. A handshake has no more time than a request: until it is over, nobody counts the connection."""
        config, loop = self.config, asyncio.get_running_loop()

        def connect() -> asyncio.Protocol:
            made: asyncio.Protocol = config.http_protocol_class(  # type: ignore[call-arg]
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return made

        patience = self._patience_seconds if config.ssl else None
        self.servers = [
            await loop.create_server(
                connect,
                sock=each,
                ssl=config.ssl,
                ssl_handshake_timeout=patience,
                backlog=config.backlog,
            )
            for each in sockets or ()
        ]
        self.started = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to whoever runs the program."""
        yield

    async def main_loop(self) -> None:
        """Renew the date in the answers once a second, instead of waking up ten times a second to look around."""
        while not await self.on_tick(0):
            with anyio.move_on_after(1):
                await self._stopping.wait()

    def stop(self) -> None:
        """Let `serve` come to its end."""
        self.should_exit = True
        self._stopping.set()


async def serve_web(
    host: WebHost, *, task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Serve HTTP until cancelled; reports the port once the door is open.

    Raises:
        OmoideError: `port-unusable`.
    """
    quieten("uvicorn.error", "http-trouble")
    tls = host.config.server.tls
    context = server_context(tls)
    listener = listen(host.config.server.host, host.config.server.http_port)
    port = int(listener.getsockname()[1])
    host.access.callers.http_port = port
    server = _Server(_configure(host, context), host.config.limits.http_patience_seconds)

    async def run() -> None:
        with anyio.CancelScope(shield=True):  # cancelled, it would leave its sockets open
            await server.serve(sockets=[listener])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        if context is not None:
            tasks.start_soon(keep_renewed, context, tls)
        task_status.started(port)
        log.info("http-door-open", port=port)
        try:
            await anyio.sleep_forever()
        finally:
            server.stop()


def _configure(host: WebHost, tls: ssl.SSLContext | None) -> uvicorn.Config:
    limits = host.config.limits
    crowd = Crowd[HttpConnection](limits.http_connections, limits.http_connections_per_address)
    connect = partial(HttpConnection, crowd=crowd, patience_seconds=limits.http_patience_seconds)
    return uvicorn.Config(
        create_web(host),
        http=connect,  # type: ignore[arg-type]  # any factory will do
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # who calls is decided by `callers`, and only there
        server_header=False,
        ssl_context_factory=(lambda *_: tls) if tls is not None else None,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
