"""Public fault reports, group 1: the connection, its keepalive, and coming back. A whole server on loopback."""

import asyncio
import gc
import json
import sys
from pathlib import Path

import anyio
import httpx2
import pytest
from websockets.asyncio.client import connect

from server.audio import LISTENING_RATE, Audio
from server.conversation import Engines
from server.simulator import Habits, Identity, open_robot
from server.simulator.robot import State
from tests.end_to_end.running import Running, running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad, voice
from tests.patience import SECONDS

ROBOT = Identity("aa:bb:cc:00:11:22")


def engines(*texts: str, reply: str = "はい。") -> Engines:
    """Return engines that give this reply, and after that a short one."""
    llm = FakeLlm([reply], ["はい。"])
    return Engines(FakeVad(), FakeAsr(*texts, seconds=0.05), llm, FakeTts(0.02, 0.05))


def prompts(house: Engines) -> list[list[str]]:
    assert isinstance(house.llm, FakeLlm)
    return [[message.content for message in prompt.messages] for prompt in house.llm.prompts]


async def test_a_long_reply_does_not_count_as_silence(tmp_path: Path) -> None:
    """X#975: the line was cut after a reply that was longer than the time without a voice."""
    limits = {"idle_close_seconds": 3.0}
    long = engines(reply="あ" * 64 + "。")
    async with (
        running(tmp_path, long, limits=limits) as server,
        open_robot(server.http_url, ROBOT) as robot,
    ):
        first = await robot.write("長い話をして")
        await anyio.sleep(1.0)
        second = await robot.write("もう一度")
    assert first.audio.seconds > 3.1
    assert (first.error, second.error, robot.closed) == (None, None, None)
    assert second.reply == "はい。"


async def test_after_the_wake_word_the_robot_goes_on_listening(tmp_path: Path) -> None:
    """F#1757: the server said good-bye straight after the wake word."""
    wake = Habits(wake_word="Hi StackChan", wake_sound=Audio(voice(1.2), LISTENING_RATE))
    async with (
        running(tmp_path, engines("何時ですか")) as server,
        open_robot(server.http_url, ROBOT, wake) as robot,
    ):
        await anyio.sleep(0.6)
        assert (robot.state, robot.closed) == (State.LISTENING, None)
        answer = await robot.say(Audio(voice(0.5), LISTENING_RATE))
    assert answer.error is None
    assert answer.transcript == "何時ですか"
    assert answer.stops == 1


async def test_a_robot_comes_back_after_a_restart_of_the_server(tmp_path: Path) -> None:
    """LVA#48. It is the same person with the same token; what was said before is gone until there is a memory."""
    async with running(tmp_path, engines()) as server:
        ports = {"device_port": server.device_port, "http_port": server.http_port}
        token = await ask_for_token(server)
        async with open_robot(server.xiaozhi_url, ROBOT, token=token) as robot:
            await robot.write("私の名前は花です")
            [before] = server.app.recent.list()
    restarted = engines()
    async with running(tmp_path, restarted, server=ports) as server:
        async with open_robot(server.xiaozhi_url, ROBOT, token=token) as robot:
            answer = await robot.write("私の名前は？")
        [after] = server.app.recent.list()
        assert await ask_for_token(server) == token
    assert (answer.error, answer.reply) == (None, "はい。")
    assert (after.device, after.person) == (before.device, before.person)


async def ask_for_token(server: Running) -> str:
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as web:
        answer = await web.post(f"{server.http_url}/xiaozhi/ota/", json={}, headers=ROBOT.headers())
    token: str = answer.json()["websocket"]["token"]
    return token


async def test_a_talk_goes_on_after_the_line_was_lost_in_mid_reply(tmp_path: Path) -> None:
    """F#565, X#1261: after a reconnect the robot had forgotten the talk."""
    house = engines(reply="あ" * 20 + "。")
    async with running(tmp_path, house) as server:
        async with open_robot(server.http_url, ROBOT, Habits(drop_after_ms=400)) as robot:
            lost = await robot.write("私の名前は花です")
        async with open_robot(server.http_url, ROBOT) as robot:
            await robot.write("私の名前は？")
    assert lost.error is not None
    said, heard, _ = prompts(house)[1]
    assert said == "私の名前は花です"
    assert heard.endswith("…")


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
async def test_many_short_visits_leave_no_file_task_or_conversation_behind(tmp_path: Path) -> None:
    """X#3000: memory and TCP states piled up over 500 reconnects."""
    async with running(tmp_path, engines()) as server:
        await visit(server, 3)
        before = count()
        await visit(server, 40)
        with anyio.fail_after(60):  # a busy machine lets go slowly
            while count() > before:
                await anyio.sleep(0.02)
        assert len(server.app.access.devices()) == 1


async def visit(server: Running, times: int) -> None:
    """Connect, say hello, ask something, and leave in every way there is."""
    hello = {"type": "hello", "version": 1, "transport": "websocket"}
    for number in range(times):
        async with connect(
            server.xiaozhi_url, additional_headers=ROBOT.headers(), proxy=None, close_timeout=1
        ) as line:
            await line.send(json.dumps(hello))
            await line.recv()
            detected = {"type": "listen", "state": "detect", "text": "おはよう"}
            await line.send(json.dumps(detected))
            if number % 2:
                await line.recv()
            if number % 3 == 0:
                line.transport.abort()
    with anyio.fail_after(60):  # a busy machine lets go slowly
        while server.app.access.presence._connections:
            await anyio.sleep(0.005)


def count() -> tuple[int, int, int]:
    """Return the numbers of open files, tasks and conversations.

    What the store has open does not count: its pool of connections grows to its bound when it is asked for.
    """
    gc.collect()
    conversations = sum(type(thing).__name__ == "Conversation" for thing in gc.get_objects())
    files = [
        file for file in map(opened, Path("/proc/self/fd").iterdir()) if "memory.db" not in file
    ]
    return len(files), len(asyncio.all_tasks()), conversations


def opened(descriptor: Path) -> str:
    """Return what a descriptor has open; nothing if it was closed meanwhile, as the one of the listing is."""
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""
