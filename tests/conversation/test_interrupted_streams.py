"""Two hundred interrupted turns leave nothing open: with the real client of a model, and with the process of a voice."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from pydantic import SecretStr

from firmware_bridge.events import Aborted, SpeechStarted, SpeechStopped, TextSaid
from server.config import LlmSection, OpenAiLlmSection, TtsSection
from server.llm.openai import OpenAiLlm
from server.tts.piper import Piper
from tests.fakes import FakeDevice, FakeHouse, FakeTts
from tests.ports.openai_stand_in import StandIn, endless, reply, stall, stand_in
from tests.talks import check_states, make_house, talking, until, with_engines

TURNS = 200
FAKE_PIPER = Path(__file__).parents[1] / "ports" / "fake_piper.py"
DELAYS = (0.0, 0.002, 0.01, 0.03, 0.06)
"""Seconds after which a turn is cut: before the first token, while sentences come, while they are spoken, while they are played."""


@dataclass
class Open:
    """What a process has open."""

    tasks: int = field(default_factory=lambda: len(asyncio.all_tasks()))
    threads: int = field(default_factory=threading.active_count)
    files: int = field(default_factory=lambda: len(list(Path("/proc/self").glob("fd/*"))))
    """Where the system tells."""


async def interrupt(device: FakeDevice, turns: int) -> None:
    """Have turns begun and cut off, by a touch or by the next one in turn."""
    for number in range(turns):
        device.put(TextSaid(f"question {number}"))
        await anyio.sleep(DELAYS[number % len(DELAYS)])
        if number % 2:
            device.put(Aborted())
            await anyio.lowlevel.checkpoint()
    device.put(Aborted())


@asynccontextmanager
async def nothing_left(settled: Callable[[], bool]) -> AsyncIterator[None]:
    """Check that as much is open after the block as before it, once what was cut has had a moment to end."""
    before = Open()
    yield
    await until(settled, 10)
    with anyio.move_on_after(10):
        while Open().tasks > before.tasks:
            await anyio.sleep(0.01)
    gc.collect()
    after = Open()
    assert after.tasks <= before.tasks
    # A pool may have grown by a thread, and a connection may be kept for the next turn.
    assert after.threads <= before.threads + 2
    assert after.files <= before.files + 2


def remote(server: StandIn) -> OpenAiLlm:
    own = OpenAiLlmSection(base_url=server.url, model="m", api_key=SecretStr("k"))
    return OpenAiLlm(LlmSection(openai=own))


async def answer_whole(house: FakeHouse, device: FakeDevice) -> None:
    before = len(device.times(SpeechStopped))
    device.put(TextSaid("the last one"))
    await until(lambda: len(device.times(SpeechStopped)) > before, 20)
    assert house.recent.list()[-1].heard == house.recent.list()[-1].reply != ""


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", ["endless", "stalled", "silent"])
async def test_the_connections_of_a_remote_model_are_closed(behaviour: str) -> None:
    cut = {
        "endless": endless("はい、そうですね。"),
        "stalled": stall("はい、", "そう"),
        "silent": stall(begin=False),
    }[behaviour]
    async with stand_in(reply("はい。")) as server:
        llm = remote(server)
        house = with_engines(make_house(["-"], voice=FakeTts(seconds=0.01)), llm=llm)
        device = FakeDevice(mode="realtime")
        async with talking(house, device):
            await answer_whole(house, device)
            server.play(cut)
            async with nothing_left(lambda: server.open_connections <= 1):
                await interrupt(device, TURNS)
            assert server.connections > TURNS / 4, "or nothing was ever cut off"
            assert house.tts.open_streams == 0
            server.play(reply("はい。"))
            await answer_whole(house, device)
        await llm.aclose()
    check_states_after_aborts(device)


class EnglishVoice(Piper):
    """Piper as the only voice."""

    def languages(self) -> tuple[str, ...]:
        return ("en",)


def english_voice(folder: Path) -> EnglishVoice:
    path = folder / "voice.onnx"
    path.write_bytes(b"")
    Path(f"{path}.json").write_text('{"language": {"family": "en"}}')
    return EnglishVoice(TtsSection(piper_voice=str(path)), folder, FAKE_PIPER)


@pytest.mark.slow
async def test_the_process_of_a_voice_is_kept_and_is_the_only_one(tmp_path: Path) -> None:
    voice = english_voice(tmp_path)
    house = with_engines(make_house(["Yes, ", "I see. ", 0.01, "That is so."]), tts=voice)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await answer_whole(house, device)
        assert voice._process is not None
        process = voice._process._process.pid
        async with nothing_left(lambda: house.llm.open_streams == 0):
            await interrupt(device, TURNS)
        await answer_whole(house, device)
        assert voice._process is not None
        assert voice._process._process.pid == process
    await voice.aclose()
    check_states_after_aborts(device)


def check_states_after_aborts(device: FakeDevice) -> None:
    """As `check_states`, where a touch in silence is answered with a stop of its own."""
    assert len(device.times(SpeechStopped)) >= len(device.times(SpeechStarted))
    check_states(device)
