"""How the HTTP door opens and closes, and what it does about callers who are slow, too many, or gone."""

import json
import signal
import threading
import time
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream
from structlog.testing import capture_logs

from server.admission import Admission
from server.errors import OmoideError
from server.registry import KnownDevice
from server.web import create_web, serve_web
from tests.doors.premises import (
    Doors,
    FakeApp,
    exchange,
    open_doors,
)
from tests.patience import SECONDS, until

HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
IMPATIENT = {"http_patience_seconds": 0.1}


def read_refusal(answer: bytes) -> tuple[bytes, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.split(b" ")[1], json.loads(body)["error"]["code"]


async def read_on(stream: SocketStream) -> bytes:
    received = b""
    with anyio.fail_after(SECONDS):
        while True:
            try:
                received += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return received


async def connect(doors: Doors, opened: AsyncExitStack) -> SocketStream:
    return await opened.enter_async_context(await anyio.connect_tcp("127.0.0.1", doors.http_port))


async def is_served(stream: SocketStream) -> bool:
    await stream.send(HEAD + b"\r\n")
    with anyio.fail_after(SECONDS):
        return (await stream.receive()).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "raw",
    [
        HEAD,
        b"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
        HEAD + b"\r\n" + HEAD,
    ],
    ids=["headers", "body", "second request"],
)
async def test_a_request_that_does_not_arrive_is_given_up(tmp_path: Path, raw: bytes) -> None:
    async with open_doors(tmp_path, http=True, limits=IMPATIENT) as doors:
        answer = await exchange(doors.http_port, raw)
        assert read_refusal(answer[answer.rindex(b"HTTP/1.1 ") :]) == (b"408", "request-too-slow")


async def test_bytes_that_trickle_in_buy_no_time(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True, limits=IMPATIENT) as doors, AsyncExitStack() as kept:
        stream = await connect(doors, kept)
        await stream.send(HEAD)

        async def trickle() -> None:
            while True:
                await stream.send(b"X: y\r\n")
                await anyio.sleep(0.02)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(trickle)
            with anyio.fail_after(SECONDS):
                assert read_refusal(await stream.receive()) == (b"408", "request-too-slow")
            tasks.cancel_scope.cancel()


async def test_a_connection_on_which_nothing_is_said_is_closed_without_a_word(
    tmp_path: Path,
) -> None:
    async with open_doors(tmp_path, http=True, limits=IMPATIENT) as doors:
        assert await exchange(doors.http_port, b"") == b""


async def test_who_does_not_take_the_answer_loses_it(tmp_path: Path) -> None:
    (tmp_path / "firmware").mkdir()
    size = 20_000_000  # more than the system keeps for a reader
    (tmp_path / "firmware" / "a_1.0.bin").write_bytes(bytes(size))
    request = b"GET /xiaozhi/ota/download/a_1.0.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with open_doors(tmp_path, http=True, limits=IMPATIENT) as doors, AsyncExitStack() as kept:
        with capture_logs() as logs:
            stream = await connect(doors, kept)
            await stream.send(request)
            await anyio.sleep(0.5)
            assert len(await read_on(stream)) < size
        assert logs == []


async def test_an_answer_may_take_longer_than_a_request(tmp_path: Path) -> None:
    (tmp_path / "firmware").mkdir()
    size = 20_000_000
    (tmp_path / "firmware" / "a_1.0.bin").write_bytes(bytes(size))
    limits = {"http_patience_seconds": 0.5}
    async with open_doors(tmp_path, http=True, limits=limits) as doors, doors.web() as web:
        received = 0
        async with web.stream("GET", "/xiaozhi/ota/download/a_1.0.bin") as answer:
            async for piece in answer.aiter_bytes(500_000):
                received += len(piece)
                await anyio.sleep(0.03)
        assert received == size


async def test_the_program_may_take_its_time_for_an_answer(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True, limits=IMPATIENT) as doors, doors.web() as web:

        def look_slowly() -> list[tuple[KnownDevice, Admission]]:
            time.sleep(0.4)
            return []

        doors.app.access.snapshot = look_slowly  # type: ignore[method-assign]
        assert (await web.get("/api/devices")).json() == {"devices": []}


async def test_one_address_gets_no_more_than_its_share_of_places(tmp_path: Path) -> None:
    limits = {"http_connections_per_address": 2}
    async with open_doors(tmp_path, http=True, limits=limits) as doors, AsyncExitStack() as kept:
        inside = [await connect(doors, kept) for _ in range(2)]
        refused = await exchange(doors.http_port, b"")
        assert read_refusal(refused) == (b"503", "too-many-connections")
        assert [await is_served(stream) for stream in inside] == [True, True]
        await inside[0].aclose()
        await anyio.sleep(0.05)
        assert await is_served(await connect(doors, kept))


async def test_a_flood_of_connections_is_one_line_in_the_log(tmp_path: Path) -> None:
    limits = {"http_connections": 1}
    async with open_doors(tmp_path, http=True, limits=limits) as doors, AsyncExitStack() as kept:
        await connect(doors, kept)
        with capture_logs() as logs:
            for _ in range(20):
                await exchange(doors.http_port, b"")
        assert [entry["event"] for entry in logs] == ["http-trouble"]


async def test_who_leaves_in_the_middle_of_a_request_is_no_trouble(tmp_path: Path) -> None:
    raw = b"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
    async with open_doors(tmp_path, http=True) as doors:
        with capture_logs() as logs:
            async with await anyio.connect_tcp("127.0.0.1", doors.http_port) as stream:
                await stream.send(raw)
                await anyio.sleep(0.05)
            await until(lambda: bool(logs))
        assert [(entry["event"], entry["log_level"]) for entry in logs] == [
            ("caller-left", "debug")
        ]


async def test_garbage_after_an_answer_ends_the_connection_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"POST /api/nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
    async with open_doors(tmp_path, http=True) as doors, AsyncExitStack() as kept:
        stream = await connect(doors, kept)
        await stream.send(head + b"\r\n1\r\nx\r\n")
        await stream.receive()
        await stream.send(b"zzzz\r\n\r\n")
        assert await read_on(stream) == b""
    assert [record for record in caplog.records if record.name == "asyncio"] == []


@pytest.mark.parametrize("digits", ["2000000", "99999999999", "9" * 20])
async def test_a_length_that_is_too_long_is_said_so_however_many_digits_it_has(
    tmp_path: Path, digits: str
) -> None:
    raw = f"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {digits}\r\n\r\n"
    async with open_doors(tmp_path, http=True) as doors:
        answer = await exchange(doors.http_port, raw.encode())
        assert read_refusal(answer) == (b"413", "body-too-long")


async def test_head_tells_what_get_would_without_the_body(tmp_path: Path) -> None:
    (tmp_path / "firmware").mkdir()
    (tmp_path / "firmware" / "a_1.0.bin").write_bytes(bytes(9))
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for path in ("/health", "/metrics", "/api/devices", "/xiaozhi/ota/download/a_1.0.bin"):
            answer = await web.head(path)
            assert (path, answer.status_code, answer.content) == (path, 200, b"")
            assert int(answer.headers["content-length"]) > 0
        assert (await web.head("/nothing")).status_code == 404


async def test_no_browser_may_guess_what_an_answer_is(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for path in ("/health", "/docs", "/nothing"):
            assert (await web.get(path)).headers["x-content-type-options"] == "nosniff"
        for raw in (b"garbage\r\n\r\n", b"GET /health HTTP/1.0\r\nHost: evil.example\r\n\r\n"):
            answer = await exchange(doors.http_port, raw)
            assert b"x-content-type-options: nosniff\r\n" in answer


async def test_serving_leaves_the_signals_of_the_process_alone(tmp_path: Path) -> None:
    assert threading.current_thread() is threading.main_thread()
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        await web.get("/health")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_the_door_closes_even_while_somebody_is_connected(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        stream = await anyio.connect_tcp("127.0.0.1", doors.http_port)
        await stream.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await stream.receive()
    with pytest.raises(anyio.EndOfStream):
        await stream.receive()
    await stream.aclose()
    with pytest.raises(OSError, match="attempts failed"):
        await anyio.connect_tcp("127.0.0.1", doors.http_port)


async def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        taken = {"host": "127.0.0.1", "http_port": doors.http_port}
        other = FakeApp(type(doors.app.config)(server=taken), tmp_path)
        with pytest.raises(OmoideError, match=str(doors.http_port)):
            await serve_web(other)


async def test_building_the_application_opens_nothing(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        assert create_web(doors.app).openapi()["info"]["title"] == "Omoide"
