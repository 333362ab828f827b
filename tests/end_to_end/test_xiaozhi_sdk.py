"""The public client `xiaozhi-sdk` against a running server: three turns, an abort, a reconnect, the OTA way."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from xiaozhi_sdk import XiaoZhiWebsocket

from server.audio import Samples, to_pcm
from server.conversation import Engines
from tests.end_to_end.running import Running, running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad, silence, voice
from tests.patience import until

MAC = "AA:BB:CC:00:11:22"
FRAME = 960


class Client:
    """The SDK, with what it was told."""

    def __init__(self, mode: str, **options: Any) -> None:
        self.messages: list[dict[str, Any]] = []
        self.sdk = XiaoZhiWebsocket(self._take, audio_sample_rate=16_000, **options)
        self.sdk.mode = mode

    async def _take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def hear(self, *sounds: Samples) -> None:
        samples = np.concatenate(sounds)
        padded = np.concatenate([samples, np.zeros(-len(samples) % FRAME, np.int16)])
        for start in range(0, len(padded), FRAME):
            assert await self.sdk.send_audio(to_pcm(padded[start : start + FRAME]))
            await anyio.sleep(0.02)  # faster than life: only samples may count

    def said(self, kind: str, state: str = "") -> list[dict[str, Any]]:
        return [
            message
            for message in self.messages
            if message["type"] == kind and (not state or message.get("state") == state)
        ]

    def played_seconds(self) -> float:
        return sum(len(row) for row in self.sdk.output_audio_queue) / 16_000


@asynccontextmanager
async def connected(server: Running, mode: str = "auto", **options: Any) -> AsyncIterator[Client]:
    client = Client(mode, **(options or {"url": server.xiaozhi_url}))
    assert await client.sdk.init_connection(MAC)
    try:
        yield client
    finally:
        await client.sdk.close()


def engines(*texts: str, reply: list[Any] | None = None) -> Engines:
    script = reply or ["[happy]はい、", "わかりました。", "ほかには？"]
    return Engines(FakeVad(), FakeAsr(*texts, seconds=0.05), FakeLlm(script), FakeTts(0.02, 0.05))


@pytest.fixture(autouse=True)
def _quiet_sdk() -> None:
    logging.getLogger("xiaozhi_sdk").setLevel(logging.ERROR)


@pytest.mark.parametrize("mode", ["auto", "realtime"])
async def test_xiaozhi_sdk_holds_three_turns(tmp_path: Path, mode: str) -> None:
    texts = ("おはよう", "元気ですか", "ありがとう")
    async with running(tmp_path, engines(*texts)) as server, connected(server, mode) as client:
        for number, text in enumerate(texts, start=1):
            await client.hear(silence(0.3), voice(0.8), silence(1.0))
            await until(lambda n=number: len(client.said("tts", "stop")) == n)  # type: ignore[misc]
            assert client.said("stt")[-1]["text"] == text
            await anyio.sleep(0.3)
        assert len(client.said("tts", "start")) == 3
        assert [message["emotion"] for message in client.said("llm")] == ["happy"] * 3
        assert client.said("tts", "sentence_start")[0]["text"] == "はい、わかりました。"
        assert len(client.sdk.output_audio_queue) > 0


async def test_xiaozhi_sdk_aborts_and_goes_on(tmp_path: Path) -> None:
    long_reply = engines("長い話をして", reply=["あ" * 100 + "。"])
    async with running(tmp_path, long_reply) as server, connected(server) as client:
        await client.sdk.send_text("長い話をして")
        await until(lambda: bool(client.said("tts", "sentence_start")))
        await anyio.sleep(0.3)
        await client.sdk.send_abort()
        await until(lambda: bool(client.said("tts", "stop")))
        frames = len(client.sdk.output_audio_queue)
        await anyio.sleep(0.5)
        assert len(client.sdk.output_audio_queue) == frames
        assert len(client.said("tts", "stop")) == 1
        await client.sdk.send_text("もう一度")
        await until(lambda: len(client.said("tts", "start")) == 2)


async def test_xiaozhi_sdk_comes_back_to_the_same_talk(tmp_path: Path) -> None:
    house = engines()
    async with running(tmp_path, house) as server:
        async with connected(server) as client:
            await client.sdk.send_text("私の名前は花です")
            await until(lambda: bool(client.said("tts", "stop")))
        async with connected(server) as client:
            await client.sdk.send_text("私の名前は？")
            await until(lambda: bool(client.said("tts", "stop")))
    assert isinstance(house.llm, FakeLlm)
    assert house.llm.prompts[1].messages[0].content == "私の名前は花です"


async def test_xiaozhi_sdk_finds_the_server_by_ota(tmp_path: Path) -> None:
    async with (
        running(tmp_path, engines()) as server,
        connected(server, ota_url=f"{server.http_url}/xiaozhi/ota") as client,
    ):
        assert client.sdk.url == server.xiaozhi_url
        assert client.sdk.websocket_token
        await client.sdk.send_text("こんにちは")
        await until(lambda: bool(client.said("tts", "stop")))
