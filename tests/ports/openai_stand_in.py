"""A server that speaks the OpenAI chat protocol on loopback and does, per request, what the test has scripted."""

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio
from anyio.abc import SocketAttribute, SocketStream

from tests.patience import SECONDS

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many"}


class Hangup(Exception):  # noqa: N818 - it is a wish
    """The script wants the connection closed now."""


@dataclass
class Line:
    """The server's end of one connection."""

    stream: SocketStream

    async def send_status(self, status: int, body: object, **headers: str) -> None:
        payload = body if isinstance(body, str) else json.dumps(body)
        kind = "text/html" if isinstance(body, str) else "application/json"
        await self._send_head(
            status, {"content-type": kind, "content-length": str(len(payload.encode())), **headers}
        )
        await self.stream.send(payload.encode())

    async def begin(self, **headers: str) -> None:
        usual = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        await self._send_head(200, {**usual, **headers})

    async def send_data(self, data: str) -> None:
        await self.send_bytes(f"data: {data}\n\n".encode())

    async def send_bytes(self, payload: bytes) -> None:
        await self.stream.send(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")

    async def send_event(self, **fields: Any) -> None:
        await self.send_data(
            json.dumps(
                {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", **fields}
            )
        )

    async def send_text(self, text: str | None, **delta: Any) -> None:
        await self.send_event(
            choices=[{"index": 0, "delta": {"content": text, **delta}, "finish_reason": None}]
        )

    async def send_usage(self) -> None:
        usage = {
            "prompt_tokens": 20,
            "completion_tokens": 2,
            "total_tokens": 22,
            "prompt_tokens_details": {"cached_tokens": 15},
        }
        await self.send_event(choices=[], usage=usage)

    async def end(self) -> None:
        await self.send_data("[DONE]")
        await self.stream.send(b"0\r\n\r\n")

    async def _send_head(self, status: int, headers: dict[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.stream.send("\r\n".join([*lines, "", ""]).encode())


Behaviour: TypeAlias = Callable[[Line, dict[str, Any]], Coroutine[Any, Any, None]]


def reply(*texts: str, usage: bool = True) -> Behaviour:
    """Answer with these pieces; the usage only if it was asked for."""

    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        await line.send_text("", role="assistant")
        for text in texts:
            await line.send_text(text)
        if usage and (request.get("stream_options") or {}).get("include_usage"):
            await line.send_usage()
        await line.end()

    return behave


def status(code: int, message: str = "no", **headers: str) -> Behaviour:
    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.send_status(
            code, {"error": {"message": message, "code": None, "type": "some_error"}}, **headers
        )

    return behave


def stall(*texts: str, begin: bool = True) -> Behaviour:
    """Send these pieces, then nothing, and keep the connection open."""

    async def behave(line: Line, request: dict[str, Any]) -> None:
        if begin:
            await line.begin()
        for text in texts:
            await line.send_text(text)
        await anyio.sleep_forever()

    return behave


def endless(text: str) -> Behaviour:
    """Never stop talking."""

    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        while True:
            await line.send_text(text)
            await anyio.sleep(0.01)

    return behave


def drop(*texts: str) -> Behaviour:
    """Send these pieces, then close the connection in the middle of the answer."""

    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        for text in texts:
            await line.send_text(text)
        raise Hangup

    return behave


def raw(*datas: str) -> Behaviour:
    """Send these as the data of events, whatever they are."""

    async def behave(line: Line, request: dict[str, Any]) -> None:
        await line.begin()
        for data in datas:
            await line.send_data(data)
        await line.end()

    return behave


@dataclass
class StandIn:
    """The running server."""

    url: str
    script: list[Behaviour] = field(default_factory=list)
    """What it does with the next requests; the last entry stays."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open_connections: int = 0
    connections: int = 0

    def play(self, *behaviours: Behaviour) -> None:
        self.script = list(behaviours)

    async def wait_for_connections(self, number: int) -> None:
        """Wait until so many connections are open."""
        with anyio.fail_after(SECONDS):
            while self.open_connections != number:
                await anyio.sleep(0.005)

    async def serve_line(self, stream: SocketStream) -> None:
        self.open_connections += 1
        self.connections += 1
        try:
            async with stream, anyio.create_task_group() as tasks:
                await self._serve(stream, tasks)
        except* (Hangup, anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            pass
        finally:
            self.open_connections -= 1

    async def _serve(self, stream: SocketStream, tasks: anyio.abc.TaskGroup) -> None:
        """Read requests all the time, so that a client that hangs up in the middle of an answer is noticed."""
        while True:
            request = await self._read_request(stream)
            behave = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            tasks.start_soon(behave, Line(stream), request)

    async def _read_request(self, stream: SocketStream) -> dict[str, Any]:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive()
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")[1:]
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
        }
        while len(body) < int(headers.get("content-length", 0)):
            body += await stream.receive()
        request: dict[str, Any] = json.loads(body) if body else {}
        self.requests.append(request)
        self.headers.append(headers)
        return request


@asynccontextmanager
async def stand_in(*behaviours: Behaviour) -> AsyncIterator[StandIn]:
    """Serve on a free port of loopback until the block ends."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(SocketAttribute.local_port)
    server = StandIn(f"http://127.0.0.1:{port}/v1", list(behaviours))
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve_line)
        yield server
        tasks.cancel_scope.cancel()


def texts(events: Iterable[object]) -> str:
    """Join the text of what a model streamed."""
    return "".join(getattr(event, "text", "") for event in events)
