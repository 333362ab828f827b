"""Hostile and broken input at the robots' door: it ends in a code and one line of log, and disturbs nobody else."""

import json
import os
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs
from structlog.types import EventDict
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from firmware_bridge import Hello
from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from tests.doors.premises import (
    Doors,
    ask,
    end_of,
    greet,
    keep_sending,
    open_doors,
)
from tests.patience import SECONDS, until

XIAOZHI_HELLO = XiaozhiDeviceCodec().send(Hello())[0]
NORMAL_FRAME = bytes([0x58, 0xFF, 0xFE])


@asynccontextmanager
async def bystander(doors: Doors) -> AsyncIterator[None]:
    """Keep a second robot in a talk around what happens, and see that it was not disturbed."""
    async with doors.robot(headers={"Device-Id": "bystander"}) as line:
        await greet(line)
        assert (await ask(line, {"type": "text", "text": "before"}))["text"] == "before"
        yield
        assert (await ask(line, {"type": "text", "text": "after"}))["text"] == "after"


@asynccontextmanager
async def watched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[tuple[Doors, Sequence[EventDict]]]:
    """Open the doors with a bystander inside; afterwards no log may hold a traceback or a warning of a library."""
    async with open_doors(tmp_path) as doors, bystander(doors):
        with capture_logs() as logs:
            yield doors, logs
            await until(lambda: bool(complaints(logs)))
        assert len(complaints(logs)) <= 2
        assert all("\n" not in str(value) for entry in logs for value in entry.values())
        assert not any("exc_info" in entry for entry in logs)
    assert [record for record in caplog.records if record.levelname != "DEBUG"] == []


def complaints(logs: Sequence[EventDict]) -> list[EventDict]:
    return [entry for entry in logs if entry["event"] != "device-arrived"]


async def end_code(logs: Sequence[EventDict]) -> int:
    """Wait until the log tells of the end; return its code."""
    await until(lambda: bool(logs) and logs[-1]["event"] == "device-left")
    code: int = logs[-1]["code"]
    assert type(code) is int  # not an enumeration, which reads badly in a log
    return code


async def greet_xiaozhi(line: ClientConnection) -> None:
    await line.send(XIAOZHI_HELLO)
    assert json.loads(await line.recv())["type"] == "hello"


async def still_answers(line: ClientConnection) -> bool:
    return bool((await ask(line, {"type": "ping"}))["type"] == "pong")


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00",
        b"\xff\xfe\xfd" * 100 + b"\r\n\r\n",
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"GET / HTTP/1.1\r\nX-" + b"a" * 20_000 + b": y\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{",
    ],
    ids=lambda raw: repr(raw[:16]),
)
async def test_bytes_that_are_no_request_are_closed_with_one_line_naming_the_http_port(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, raw: bytes
) -> None:
    async with watched(tmp_path, caplog) as (doors, logs):
        async with await anyio.connect_tcp("127.0.0.1", doors.device_port) as stream:
            await stream.send(raw)
            await stream.send_eof()
            with anyio.fail_after(SECONDS):
                try:
                    while True:
                        await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    pass
        await until(lambda: bool(logs))
        assert [entry["event"] for entry in logs] == ["no-websocket-request"]
        assert "8003" in logs[0]["hint"]


async def test_a_port_scan_leaves_no_trace(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, bystander(doors):
        with capture_logs() as logs:
            for _ in range(10):
                await (await anyio.connect_tcp("127.0.0.1", doors.device_port)).aclose()
            await anyio.sleep(0.1)
        assert logs == []


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x00",
        b"\xff",
        os.urandom(40),
        os.urandom(1275),
        os.urandom(60_000),
        struct.pack("!BBH", 0, 0, 3) + NORMAL_FRAME,  # framing 3 on a line of framing 1
        struct.pack("!BBH", 0, 0, 60_000) + NORMAL_FRAME,
        struct.pack("!HHIII", 2, 0, 0, 0, 3) + NORMAL_FRAME,
    ],
    ids=lambda frame: f"{len(frame)} bytes",
)
async def test_a_bad_packet_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, frame: bytes
) -> None:
    async with watched(tmp_path, caplog) as (doors, _), doors.robot("/xiaozhi/v1/") as line:
        await greet_xiaozhi(line)
        for _ in range(3):
            await line.send(frame)
        assert await still_answers(line)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"unheard-of"}',
        '{"type":5}',
        "{}",
        '{"type":"listen","state":"sideways"}',
        '{"type":"iot","descriptors":[]}',
        '{"type":"mcp","payload":"text"}',
        '{"type":"text"}',
        '{"type":"abort","reason":' + "9" * 300 + "}",
    ],
)
@pytest.mark.parametrize("path", ["/xiaozhi/v1/", "/pcm"])
async def test_an_unknown_message_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str, text: str
) -> None:
    async with watched(tmp_path, caplog) as (doors, _), doors.robot(path) as line:
        await line.send(XIAOZHI_HELLO)
        await line.recv()
        await line.send(text)
        assert await still_answers(line)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "hello", "{'type':'hello'}", "NaN", "[" * 50_000]
)
@pytest.mark.parametrize("path", ["/xiaozhi/v1/", "/pcm"])
async def test_text_that_is_no_json_object_ends_with_1002(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str, text: str
) -> None:
    async with watched(tmp_path, caplog) as (doors, _), doors.robot(path) as line:
        await line.send(text)
        code, reason = await end_of(line)
    assert code == 1002
    assert reason.startswith("text-not-")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("x" * 65_537, 1009),
        ("あ" * 30_000, 1009),
        ("x" * 1_000_000, 1009),
        (b"x" * 1_000_000, 1009),
    ],
    ids=["text over 64 KiB", "text over 64 KiB in UTF-8", "1 MB of text", "1 MB of bytes"],
)
@pytest.mark.parametrize("greeted", [True, False])
async def test_a_message_that_is_too_long_ends_with_1009(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, message: bytes | str, code: int, greeted: bool
) -> None:
    async with watched(tmp_path, caplog) as (doors, logs), doors.robot() as line:
        if greeted:
            await greet(line)
        try:
            await line.send(message)
        except Exception:  # the server may hang up while we still send
            assert line.close_code in (code, 1006, None)
        assert (await end_of(line))[0] in (code, 1006)
        assert await end_code(logs) == code


async def test_an_endless_message_in_small_pieces_is_cut_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield bytes(1000)

    async with watched(tmp_path, caplog) as (doors, logs), doors.robot() as line:
        await greet(line)
        with pytest.raises(ConnectionClosed):
            await line.send(pieces())
        assert await end_code(logs) == 1009


MASK = bytes(4)
PING, PONG = b"\x89\xfd" + MASK + bytes(125), b"\x8a\x80" + MASK
BEGINNING, EMPTY_PIECE = b"\x02\x81" + MASK + b"a", b"\x00\x80" + MASK


@pytest.mark.parametrize(
    ("first", "frame"),
    [(b"", PING), (b"", PONG), (BEGINNING, EMPTY_PIECE)],
    ids=["pings", "pongs", "pieces of a message"],
)
async def test_frames_that_are_no_messages_count_as_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, first: bytes, frame: bytes
) -> None:
    async with watched(tmp_path, caplog) as (doors, logs), doors.robot() as line:
        await greet(line)
        line.transport.write(first + frame * 3500)
        assert await end_of(line) == (1008, "too many messages a second")
        assert await end_code(logs) == 1008


async def test_a_client_that_never_stops_is_cut_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        watched(tmp_path, caplog) as (doors, logs),
        doors.robot() as polite,
        await anyio.connect_tcp("127.0.0.1", doors.device_port) as stream,
    ):
        await greet(polite)
        await stream.send(handshake())
        assert b" 101 " in await stream.receive()
        with anyio.fail_after(SECONDS), suppress(anyio.BrokenResourceError):
            while True:
                await stream.send(PONG * 1000)
        assert await end_code(logs) == 1008


async def test_more_bytes_than_sound_could_have_end_with_1008(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched(tmp_path, caplog) as (doors, logs), doors.robot() as line:
        await greet(line)
        async with anyio.create_task_group() as tasks:
            nonsense = json.dumps({"type": "unheard-of", "x": "x" * 60_000})
            tasks.start_soon(keep_sending, line, nonsense, 0.0)
            assert await end_of(line) == (1008, "too many bytes a second")
            tasks.cancel_scope.cancel()
        assert await end_code(logs) == 1008


async def test_a_client_that_does_not_read_its_pongs_is_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limits = {"messages_per_second": 1_000_000, "sound_burst_seconds": 10_000}
    async with open_doors(tmp_path, limits=limits) as doors, doors.robot() as line:
        await greet(line)
        with capture_logs() as logs:
            line.transport.pause_reading()
            line.transport.write(PING * 200_000)
            assert await end_code(logs) == 1013
        line.transport.abort()


def handshake() -> bytes:
    lines = (
        "GET /pcm HTTP/1.1",
        "Host: 127.0.0.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13",
        "Device-Id: restless",
        "Client-Id: restless",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


async def test_text_that_is_no_utf8_ends_with_1007(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched(tmp_path, caplog) as (doors, _), doors.robot() as line:
        await greet(line)
        await line.send(b"\xff\xfe", text=True)
        assert (await end_of(line))[0] == 1007


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff" * 16,
        b"\x82\x05hello",
        b"\xc2\x80\x00\x00\x00\x00",
        b"\x83\x80\x00\x00\x00\x00",
        b"\x89\xfe\x00\x7e" + bytes(130),
    ],
    ids=["random", "not masked", "compressed", "unknown opcode", "long ping"],
)
async def test_broken_websocket_frames_end_with_1002(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, raw: bytes
) -> None:
    async with watched(tmp_path, caplog) as (doors, logs), doors.robot() as line:
        await greet(line)
        line.transport.write(raw)
        assert (await end_of(line))[0] == 1002
        assert await end_code(logs) == 1002
        assert logs[-1]["reason"] != "the robot hung up"


async def test_a_line_that_is_cut_ends_with_1006_and_frees_the_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched(tmp_path, caplog) as (doors, logs), doors.robot() as line:
        await greet(line)
        line.transport.abort()
        assert await end_code(logs) == 1006


@pytest.mark.parametrize("break_codec", ["receive", "send"])
async def test_a_codec_with_a_bug_costs_one_connection(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    break_codec: str,
) -> None:
    def fail(*_: object) -> list[object]:
        raise RuntimeError("what the person said")

    async with watched(tmp_path, caplog) as (doors, logs):
        monkeypatch.setattr(f"firmware_bridge.xiaozhi.XiaozhiCodec.{break_codec}", fail)
        async with doors.robot("/xiaozhi/v1/", {"Device-Id": "x"}) as line:
            await line.send(XIAOZHI_HELLO)
            assert (await end_of(line))[0] == 1011
        assert await end_code(logs) == 1011
        assert [entry["event"] for entry in complaints(logs)] == [
            "connection-failed",
            "device-left",
        ]
        assert "person said" not in repr(logs)
