"""One HTTP connection: whether there is room for it, how long it may take, and what is told to what is no HTTP."""

import asyncio
from http import HTTPStatus
from json import dumps
from typing import Any

import h11
import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.callers import Caller
from server.crowd import Crowd
from server.security_headers import SECURITY_HEADERS

log = structlog.get_logger(__name__)


class HttpConnection(H11Protocol):
    """Ends itself when a request does not arrive, or an answer is not taken, in the time there is."""

    def __init__(
        self, *, crowd: Crowd["HttpConnection"], patience_seconds: float, **options: Any
    ) -> None:
        """Take a place in `crowd` once the connection stands. `options` are those of uvicorn."""
        super().__init__(**options)
        self._crowd = crowd
        self._patience_seconds = patience_seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._address = ""
        self._household = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection from the event loop."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._household = Caller(self._address, is_local=False).household
        self._start_waiting()
        superfluous = self._crowd.enter(self._household, self)
        if superfluous is not None:
            superfluous.turn_away()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection from the event loop."""
        super().connection_lost(exc)
        self._crowd.leave(self._household, self)
        if self._deadline is not None:
            self._deadline.cancel()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the event loop."""
        if self.timeout_keep_alive_task is not None:  # these are the first ones of another request
            self._start_waiting()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Go on with the next request, of which some may have come already."""
        self._start_waiting()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Take from the event loop that the other side is slow to read."""
        self._start_waiting()
        super().pause_writing()

    def turn_away(self) -> None:
        """End the connection because others need its place."""
        # The text without the address is the same each time, so a flood of them stays one line in the log.
        self.logger.warning("Too many connections, the most from %s.", self._address)
        self._refuse(503, "too-many-connections", "Every place is taken; try again in a minute.")

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, and close."""
        self._refuse(400, "http-invalid", msg)

    def _unsupported_upgrade_warning(self) -> None:
        log.info("websocket-at-the-http-door", hint="robots connect to server.device_port")

    def _start_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(self._patience_seconds, self._stop_waiting)

    def _stop_waiting(self) -> None:
        """End what has come to a standstill; while the program works on its answer, nothing has."""
        self._start_waiting()
        is_receiving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        is_silent = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if self.transport.is_closing() or self.flow.write_paused:
            self.transport.abort()
        elif is_silent:  # browsers open connections in advance
            self.transport.close()
        elif is_receiving:
            self._refuse(408, "request-too-slow", "The request took too long to arrive.")

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Say so if no answer has begun yet, and close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(self._render(status, code, message))
        if self.cycle is not None:  # whatever works on an answer is too late
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def _render(self, status: int, code: str, message: str) -> bytes:
        body = dumps({"error": {"code": code, "message": message}}).encode()
        headers = (
            *self.server_state.default_headers,
            *((name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        )
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
        return b"".join((head, *(b"%b: %b\r\n" % header for header in headers), b"\r\n", body))
