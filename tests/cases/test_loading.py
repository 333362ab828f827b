"""Public fault reports X#2727 and X#2683: engines that load, and devices that wait for each other. In virtual time."""

import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from firmware_bridge.events import PlayAudio, SpeechStarted, TextSaid
from server.app import App, open_app
from server.audio import Audio
from server.config import Config
from server.conversation import Engines
from server.ports import LlmEvent, Speech, Voice
from server.turn import Prompt, Transcript
from tests.fakes import FakeAsr, FakeDevice, FakeEmbedder, FakeLlm, FakeTts, FakeVad, silence, voice
from tests.talks import check_states, shown, stops
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


LOADING_SECONDS = 8.0


class Model:
    """Loads when it is first needed, for all callers at once."""

    def __init__(self) -> None:
        self.is_loading = False
        self.loaded = anyio.Event()

    async def get(self) -> None:
        if not self.is_loading:
            self.is_loading = True
            await anyio.sleep(LOADING_SECONDS)
            self.loaded.set()
        await self.loaded.wait()


class LoadingLlm(FakeLlm):
    def __init__(self) -> None:
        super().__init__(["はい、元気です。"])
        self.model = Model()

    async def warm_up(self) -> None:
        await self.model.get()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        await self.model.get()
        async for event in super().stream(prompt):
            yield event


class LoadingAsr(FakeAsr):
    def __init__(self) -> None:
        super().__init__("元気ですか")
        self.model = Model()

    async def warm_up(self) -> None:
        await self.model.get()

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        transcript = await super().transcribe(speech, language)
        await self.model.get()
        return transcript


class LoadingTts(FakeTts):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()

    async def warm_up(self) -> None:
        await self.model.get()

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        await self.model.get()
        async for piece in super().synthesize(text, voice_):
            yield piece


def ready() -> Engines:
    return Engines(FakeVad(), FakeAsr("元気ですか"), FakeLlm(["はい、元気です。"]), FakeTts())


@asynccontextmanager
async def talking_to(app: App, device: FakeDevice) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(app.converse, device)
        yield
        device.hang_up()
    device.close()


@pytest.mark.parametrize(
    "slow",
    [
        lambda engines: replace(engines, asr=LoadingAsr()),
        lambda engines: replace(engines, llm=LoadingLlm()),
        lambda engines: replace(engines, tts=LoadingTts()),
        lambda engines: replace(engines, asr=LoadingAsr(), llm=LoadingLlm(), tts=LoadingTts()),
    ],
    ids=["asr", "llm", "tts", "all"],
)
async def test_a_turn_while_models_load_waits_and_does_not_fail(
    slow: Callable[[Engines], Engines], tmp_path: Path
) -> None:
    """X#2727: loading took longer than the robot waits, and the session was closed."""
    async with open_app(Config(), tmp_path, slow(ready()), FakeEmbedder()) as app:
        device = FakeDevice()
        async with talking_to(app, device):
            await device.hear(silence(0.3), voice(0.6), silence(1.0))
            await stops(device)
        check_states(device)
        [turn] = app.recent.list()
        assert (turn.heard, turn.error) == ("はい、元気です。", "")
        assert 7.0 < device.times(PlayAudio)[-1] < 14.0


async def test_while_the_language_model_loads_the_silence_is_filled(tmp_path: Path) -> None:
    """X#2727."""
    async with open_app(
        Config(), tmp_path, replace(ready(), llm=LoadingLlm()), FakeEmbedder()
    ) as app:
        device = FakeDevice()
        async with talking_to(app, device):
            await device.hear(silence(0.3), voice(0.6), silence(1.0))
            await stops(device)
        assert shown(device) == ["ええと、少し待ってくださいね。", "はい、元気です。"]
        assert device.times(SpeechStarted)[0] < 7.0


class SlowForSome(FakeLlm):
    """Needs ten seconds for one question, and none for any other."""

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        if "遅い" in prompt.messages[-1].content:
            await anyio.sleep(10)
        async for event in super().stream(prompt):
            yield event


class BlockingTts(FakeTts):
    """Computes in a thread, as real voices do."""

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        await to_thread.run_sync(time.sleep, 0.02)
        async for piece in super().synthesize(text, voice_):
            yield piece


async def test_a_second_robot_does_not_wait_until_the_first_has_finished(tmp_path: Path) -> None:
    """X#2683."""
    engines = replace(ready(), llm=SlowForSome(["はい、元気です。"]), tts=BlockingTts())
    async with open_app(Config(), tmp_path, engines, FakeEmbedder()) as app:
        await app.warm.wait()
        first, second = FakeDevice(person="hana"), FakeDevice(person="taro")
        second.id = "aa:bb:cc:00:11:33"
        async with talking_to(app, first), talking_to(app, second):
            first.put(TextSaid("遅い質問"))
            second.put(TextSaid("速い質問"))
            await stops(second)
            assert second.times(PlayAudio)[0] < 1.0
            assert shown(first) == []
            await stops(first)
        assert {turn.device: turn.error for turn in app.recent.list()} == {
            first.id: "",
            second.id: "",
        }


async def test_what_computes_in_the_background_lets_go_of_the_interpreter_soon(
    tmp_path: Path,
) -> None:
    """By Python's own rule a thread that is waited for goes on for 5 ms, at every hop of a turn."""
    before = sys.getswitchinterval()
    async with open_app(Config(), tmp_path, ready(), FakeEmbedder()):
        assert sys.getswitchinterval() <= 0.001 < before
    assert sys.getswitchinterval() == before
