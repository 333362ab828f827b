"""Running the HTTP door inside our own task group, without touching the signals of the process."""

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps

import anyio
import h11
import structlog
import uvicorn
from anyio.abc import TaskStatus
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.failures import quieten
from server.listener import listen
from server.web.host import WebHost
from server.web.routes import create_web

log = structlog.get_logger(__name__)

_STOP_SECONDS = 3


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopping = anyio.Event()

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


class _Protocol(H11Protocol):
    """Refuses in JSON what is no HTTP."""

    def send_400_response(self, msg: str) -> None:
        """Answer and close."""
        body = dumps({"error": {"code": "http-invalid", "message": msg}}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        log.info("websocket-at-the-http-door", hint="robots connect to server.device_port")


async def serve_web(
    host: WebHost, *, task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Serve HTTP until cancelled; reports the port once the door is open.

    Raises:
        OmoideError: `port-unusable`.
    """
    quieten("uvicorn.error", "http-trouble")
    listener = listen(host.config.server.host, host.config.server.http_port)
    port = int(listener.getsockname()[1])
    host.access.callers.http_port = port
    config = uvicorn.Config(
        create_web(host),
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # who calls is decided by `callers`, and only there
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    server = _Server(config)

    async def run() -> None:
        with anyio.CancelScope(shield=True):  # cancelled, it would leave its sockets open
            await server.serve(sockets=[listener])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        task_status.started(port)
        log.info("http-door-open", port=port)
        try:
            await anyio.sleep_forever()
        finally:
            server.stop()
