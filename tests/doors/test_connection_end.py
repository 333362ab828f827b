import json
import sys
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from firmware_bridge import (
    ShowTranscript,
    TextSaid,
)
from server.errors import LlmError
from server.ports import Device
from tests.doors.premises import (
    HELLO,
    ROBOT,
    Doors,
    ask,
    end_of,
    frames,
    greet,
    hear,
    keep_sending,
    listen_for_ever,
    open_doors,
    say,
)
from tests.patience import SECONDS, until

ENDPOINT_QUIET = {"idle_close_seconds": 0.3}


@pytest.mark.parametrize("code", [1000, 1001, 3000])
async def test_when_the_robot_hangs_up_the_conversation_ends(tmp_path: Path, code: int) -> None:
    ended = anyio.Event()

    async def talk(device: Device) -> None:
        try:
            await listen_for_ever(device)
        finally:
            ended.set()

    async with open_doors(tmp_path, talk) as doors, doors.robot() as line:
        await greet(line)
        with capture_logs() as logs:
            await line.close(code, "what the person said")
            await ended.wait()
            await until(lambda: bool(logs))
    assert (logs[0]["code"], logs[0]["reason"]) == (code, "the robot hung up")


async def test_without_a_hello_the_connection_ends(tmp_path: Path) -> None:
    limits = {"hello_timeout_seconds": 0.1}
    async with open_doors(tmp_path, limits=limits) as doors, doors.robot() as line:
        await line.send(json.dumps({"type": "listen", "state": "start"}))
        assert await end_of(line) == (1002, "no hello within 0.1 s")
        assert doors.app.devices == []


async def test_a_silent_connection_is_closed_with_a_reason_and_a_line_in_the_log(
    tmp_path: Path,
) -> None:
    """X#777: a silent connection was never closed."""
    async with open_doors(tmp_path, limits=ENDPOINT_QUIET) as doors, doors.robot() as line:
        await greet(line)
        with capture_logs() as logs:
            assert await end_of(line) == (1000, "idle")
            await until(lambda: bool(logs))
        assert [(entry["event"], entry["reason"]) for entry in logs] == [("device-left", "idle")]


async def test_an_open_microphone_alone_does_not_keep_a_connection(tmp_path: Path) -> None:
    async with open_doors(tmp_path, limits=ENDPOINT_QUIET) as doors, doors.robot() as line:
        await greet(line)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_sending, line, bytes(640))
            assert await end_of(line) == (1000, "idle")
            tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    "message",
    [
        {"type": "text", "text": "hi"},
        {"type": "wake", "text": "hey"},
        {"type": "listen", "state": "start"},
    ],
)
async def test_a_robot_that_is_talked_to_stays(tmp_path: Path, message: dict[str, str]) -> None:
    limits = {"idle_close_seconds": 1.5}
    async with open_doors(tmp_path, limits=limits) as doors, doors.robot() as line:
        await greet(line)
        for _ in range(8):
            await line.send(json.dumps(message))
            await anyio.sleep(0.3)
        assert await ask(line, {"type": "ping"})
        assert ROBOT in doors.app.access.presence


async def test_the_silence_is_not_counted_while_the_robot_speaks(tmp_path: Path) -> None:
    async def speak(device: Device) -> None:
        for frame in frames(30):
            device.send(frame)
            await anyio.sleep(0.06)
        await listen_for_ever(device)

    limits = {"idle_close_seconds": 1.5}
    async with open_doors(tmp_path, speak, limits=limits) as doors, doors.robot() as line:
        await greet(line)
        heard = 0
        with anyio.fail_after(SECONDS):
            while heard < 30:
                heard += isinstance(await line.recv(), bytes)
        assert await end_of(line) == (1000, "idle")


async def test_a_returning_robot_takes_its_place_back(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as dead:
        await greet(dead)
        async with doors.robot() as line:
            await greet(line)
            assert (await end_of(dead))[0] == 4000
            assert await say(line, "hi") == "hi"
            assert ROBOT in doors.app.access.presence
        await until(lambda: ROBOT not in doors.app.access.presence)
        assert {device.id for device in doors.app.devices} == {ROBOT}


async def test_a_robot_whose_line_is_dead_is_not_locked_out(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot() as dead:
        await greet(dead)
        dead.transport.pause_reading()
        async with doors.robot() as line:
            await greet(line)
            assert await say(line, "hi") == "hi"
        dead.transport.abort()


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (RuntimeError("what the person said"), "unexpected"),
        (LlmError("llm-failed", "what the person said"), "llm-failed"),
        (ExceptionGroup("g", [LlmError("llm-failed", "what the person said")]), "llm-failed"),
    ],
)
async def test_a_conversation_that_fails_ends_alone_in_one_line_without_what_was_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, failure: Exception, code: str
) -> None:
    async def talk(device: Device) -> None:
        async for event in device.events():
            if event == TextSaid("crash"):
                raise failure
            if isinstance(event, TextSaid):
                device.send(ShowTranscript(event.text))

    async with (
        open_doors(tmp_path, talk) as doors,
        doors.robot() as line,
        doors.robot(headers={"Device-Id": "other"}) as other,
    ):
        await greet(line)
        await greet(other)
        with capture_logs() as logs:
            await line.send(json.dumps({"type": "text", "text": "crash"}))
            assert await end_of(line) == (1011, code)
            await until(lambda: len(logs) > 1)
        assert await say(other, "still here") == "still here"
    assert [entry["event"] for entry in logs] == ["conversation-failed", "device-left"]
    assert (logs[0]["code"], logs[0]["device"]) == (code, ROBOT)
    assert "person said" not in repr(logs) + caplog.text
    assert "Traceback" not in repr(logs) + caplog.text


async def test_a_robot_that_is_hung_up_on_hears_of_it_while_its_last_words_are_still_recognised(
    tmp_path: Path,
) -> None:
    is_kept = anyio.Event()

    async def talk(device: Device) -> None:
        async for _ in device.events():
            pass
        with anyio.CancelScope(shield=True):
            await is_kept.wait()

    async with open_doors(tmp_path, talk) as doors, doors.robot() as line:
        await line.send(HELLO)
        await hear(line)
        await line.send("{not json")
        try:
            assert await end_of(line) == (1002, "text-not-json")
        finally:
            is_kept.set()


async def test_a_conversation_that_blocks_does_not_hold_another_up(tmp_path: Path) -> None:
    async def talk(device: Device) -> None:
        if device.id == ROBOT:
            await anyio.sleep_forever()
        async for event in device.events():
            if isinstance(event, TextSaid):
                device.send(ShowTranscript(event.text))

    other_id = {"Device-Id": "other"}
    async with (
        open_doors(tmp_path, talk) as doors,
        doors.robot() as line,
        doors.robot(headers=other_id) as other,
    ):
        await greet(line)
        await greet(other)
        assert await say(other, "hi") == "hi"


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
async def test_many_connections_leave_nothing_behind(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        await come_and_go(doors, 5)
        before = count_open_files()
        await come_and_go(doors, 100)
        assert count_open_files() <= before
        assert len(doors.app.access.devices()) == 1


def count_open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def come_and_go(doors: Doors, times: int) -> None:
    for _ in range(times):
        async with doors.robot() as line:
            await greet(line)
        await until(lambda: ROBOT not in doors.app.access.presence)
