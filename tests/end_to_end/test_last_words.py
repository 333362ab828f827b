"""What a robot sends right before it leaves, however it leaves, is kept. A whole server on loopback, by both protocols."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect

from server.audio import LISTENING_RATE, Audio, to_pcm
from server.conversation import Engines
from server.memory import Page
from server.simulator import Identity, open_robot
from tests.end_to_end.running import Running, running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad, silence, voice
from tests.patience import SECONDS, until

ROBOT = Identity("aa:bb:cc:00:11:22", "hana")
PROTOCOLS = {
    "/xiaozhi/v1/": ({"type": "hello", "version": 1}, {"type": "listen", "state": "detect"}),
    "/pcm": ({"type": "hello", "rate": LISTENING_RATE}, {"type": "text"}),
}


def engines(*texts: str, seconds: float = 0.05) -> Engines:
    """Return engines of which the model takes its time."""
    return Engines(FakeVad(), FakeAsr(*texts, seconds=seconds), FakeLlm([0.5, "はい。"]), FakeTts())


async def greet(line: ClientConnection, path: str) -> None:
    await line.send(json.dumps(PROTOCOLS[path][0]))
    await line.recv()


async def write(line: ClientConnection, path: str, text: str) -> None:
    await line.send(json.dumps({**PROTOCOLS[path][1], "text": text}))


async def leave(line: ClientConnection, how: str) -> None:
    match how:
        case "close":
            await line.close()
        case "bye":
            await line.send(json.dumps({"type": "bye"}))
            await line.close()
        case "end of stream":
            line.transport.write_eof()


async def kept(server: Running, number: int) -> Sequence[Page]:
    """Return what is stored of the person, once it is as much as that."""
    with anyio.fail_after(SECONDS):
        while len(await server.app.memory.archive.pages("hana")) < number:
            await anyio.sleep(0.01)
    return await server.app.memory.archive.pages("hana")


@pytest.mark.parametrize("how", ["close", "bye", "end of stream"])
@pytest.mark.parametrize("path", PROTOCOLS)
@pytest.mark.parametrize("pause", [0.0, 0.02])
async def test_what_was_typed_right_before_the_robot_left_is_stored(
    tmp_path: Path, path: str, how: str, pause: float
) -> None:
    said = [f"{number}番目の話です" for number in range(12)]
    async with running(tmp_path, engines()) as server:
        url = f"ws://127.0.0.1:{server.device_port}{path}"
        for start in range(0, len(said), 3):
            async with connect(
                url, additional_headers=ROBOT.headers(), proxy=None, close_timeout=1
            ) as line:
                await greet(line, path)
                for text in said[start : start + 3]:
                    await write(line, path, text)
                    await anyio.sleep(pause)
                await leave(line, how)
        pages = await kept(server, len(said))
    assert [page.said for page in pages] == said


async def test_what_was_being_recognised_when_the_robot_left_is_stored(tmp_path: Path) -> None:
    async with running(tmp_path, engines("猫を飼った", seconds=1.0)) as server:
        url = f"ws://127.0.0.1:{server.device_port}/pcm"
        async with connect(url, additional_headers=ROBOT.headers(), proxy=None) as line:
            await greet(line, "/pcm")
            await line.send(json.dumps({"type": "listen", "state": "start", "mode": "manual"}))
            await line.send(to_pcm(voice(0.9)))
            await line.send(json.dumps({"type": "listen", "state": "stop"}))
        [page] = await kept(server, 1)
        assert page.said == "猫を飼った"
        assert server.app.recent.list()[0].heard == ""


async def test_a_server_that_stops_keeps_what_it_is_recognising(tmp_path: Path) -> None:
    sound = Audio(voice(0.9), LISTENING_RATE)
    asr = FakeAsr("猫を飼った", seconds=1.0)
    async with (
        running(tmp_path, replace(engines(), asr=asr)) as server,
        anyio.create_task_group() as tasks,
        open_robot(server.http_url, ROBOT) as robot,
    ):
        tasks.start_soon(robot.say, sound)
        await until(lambda: asr.heard)
        tasks.cancel_scope.cancel()
    async with running(tmp_path, engines()) as again:
        assert [page.said for page in await kept(again, 1)] == ["猫を飼った"]


async def test_a_recogniser_that_hangs_does_not_keep_the_server_from_stopping(
    tmp_path: Path,
) -> None:
    asr = FakeAsr("猫を飼った", seconds=1000.0)
    async with running(tmp_path, replace(engines(), asr=asr)) as server:
        url = f"ws://127.0.0.1:{server.device_port}/pcm"
        line = await connect(url, additional_headers=ROBOT.headers(), proxy=None)
        await greet(line, "/pcm")
        await line.send(json.dumps({"type": "listen", "state": "start", "mode": "auto"}))
        await line.send(to_pcm(voice(0.9)) + to_pcm(silence(0.9)))
        await until(lambda: asr.heard)
        began = anyio.current_time()
    assert anyio.current_time() - began < 30
    await line.close()
