"""Public fault reports, group 9: the real OpenAI-compatible client, through a whole turn, against a bad server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from firmware_bridge.events import PlayAudio, SentenceStarted, SpeechStarted, TextSaid
from server.app import App, open_app
from server.config import Config
from server.conversation import Engines
from server.llm import build as build_llm
from tests.fakes import FakeAsr, FakeDevice, FakeEmbedder, FakeTts, FakeVad
from tests.patience import SECONDS
from tests.ports.openai_stand_in import (
    Behaviour,
    StandIn,
    drop,
    reply,
    stall,
    stand_in,
    status,
)
from tests.talks import check_states, shown, stops

KEY = "sk-very-secret"
MODELS = status(404)
"""The answer to the list of models, which the client asks for once at the start."""


@asynccontextmanager
async def talking_with(
    url: str, data: Path, model: str = "tiny", **settings: Any
) -> AsyncIterator[tuple[App, FakeDevice]]:
    """Run an app whose model is at `url`, and a robot that talks to it."""
    patience = dict.fromkeys(("first_token_seconds", "idle_seconds", "total_seconds"), SECONDS)
    llm: dict[str, Any] = {**patience, **settings}
    openai = {"base_url": url, "model": model, "api_key": KEY}
    config = Config(
        llm={"engine": "openai", "openai": openai, **llm},
        pacing={"filler_after_seconds": 0.2, "tail_ms": 0},
        extraction={"engine": "rules"},
    )
    engines = Engines(FakeVad(), FakeAsr(), build_llm(config, data), FakeTts(0.0, 0.003))
    async with (
        open_app(config, data, engines, FakeEmbedder()) as app,
        anyio.create_task_group() as tasks,
    ):
        await app.warm.wait()
        device = FakeDevice()
        tasks.start_soon(app.converse, device)
        yield app, device
        device.hang_up()
    device.close()


def asked(server: StandIn) -> list[list[str]]:
    """Return what was asked, by request."""
    requests = [request for request in server.requests if "messages" in request]
    return [[message["content"] for message in request["messages"][1:]] for request in requests]


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "429": (status(429, "slow down"), "llm-rate-limited"),
    "500": (status(500), "llm-failed"),
    "401": (status(401), "llm-refused"),
    "404": (status(404), "llm-failed"),
    "no-head": (stall(begin=False), "llm-timeout"),
    "no-first-token": (stall(), "llm-timeout"),
    "nothing": (reply(), "llm-failed"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_model_that_fails_is_excused_aloud_and_forgotten(
    fault: str, tmp_path: Path
) -> None:
    """speech-to-speech#461 and PR#471, LK PR#5793, vortex PR#198, X#2787: dead silence."""
    behaviour, code = FAULTS[fault]
    patience = 3.0 if code == "llm-timeout" else SECONDS
    async with (
        stand_in(MODELS, behaviour) as server,
        talking_with(server.url, tmp_path, first_token_seconds=patience) as (app, device),
    ):
        device.put(TextSaid("私の猫はミソです"))
        await stops(device, 1)
        server.play(reply("はい。"))
        device.put(TextSaid("もしもし"))
        await stops(device, 2)
        failed, good = app.recent.list()
        questions = asked(server)
    check_states(device)
    assert (failed.error, failed.heard) == (code, "")
    assert [text for text in shown(device) if text.startswith("ごめんなさい")] != []
    assert (good.error, good.heard) == ("", "はい。")
    assert len(questions[-1]) == 1, "a failed turn is no history"
    assert "ミソ" not in "".join(questions[-1])
    assert KEY not in str(failed)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"])
async def test_a_model_that_is_not_there_is_excused_aloud(url: str, tmp_path: Path) -> None:
    """speech-to-speech#461: refused connection, DNS error."""
    async with talking_with(url, tmp_path) as (app, device):
        device.put(TextSaid("話して"))
        await stops(device)
        [failed] = app.recent.list()
    check_states(device)
    assert failed.error == "llm-unreachable"
    assert shown(device)[-1].endswith("つながりません。")


async def test_a_model_that_is_not_set_up_is_said_aloud(tmp_path: Path) -> None:
    async with talking_with("http://127.0.0.1:9/v1", tmp_path, model="") as (app, device):
        device.put(TextSaid("話して"))
        await stops(device)
        [failed] = app.recent.list()
    assert failed.error == "llm-unconfigured"
    assert "設定されていません" in shown(device)[-1]


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (stall("一つ目の文です。二つ"), "llm-timeout"),
        (drop("一つ目の文です。二つ"), "llm-unreachable"),
    ],
    ids=["stall", "hang-up"],
)
async def test_a_model_that_breaks_off_is_excused_after_what_it_said(
    behaviour: Behaviour, code: str, tmp_path: Path
) -> None:
    """X#2787: a long wait, then nothing."""
    async with (
        stand_in(MODELS, behaviour) as server,
        talking_with(server.url, tmp_path, idle_seconds=0.5) as (app, device),
    ):
        device.put(TextSaid("話して"))
        await stops(device)
        [turn] = app.recent.list()
    check_states(device)
    assert turn.error == code
    assert shown(device)[0] == "一つ目の文です。"
    assert shown(device)[-1].startswith("ごめんなさい")
    assert len(device.times(SpeechStarted)) == 1


async def test_the_wait_is_filled_once_and_ended_by_the_answer(tmp_path: Path) -> None:
    """openai-agents-python#1763: awkward silences."""

    async def hesitate(line: Any, request: dict[str, Any]) -> None:
        await anyio.sleep(0.7)
        await reply("はい。", "そうです。")(line, request)

    async with (
        stand_in(MODELS, hesitate) as server,
        talking_with(server.url, tmp_path) as (_, device),
    ):
        device.put(TextSaid("話して"))
        await stops(device)
    check_states(device)
    assert shown(device) == ["ええと、少し待ってくださいね。", "はい。", "そうです。"]
    assert device.times(PlayAudio)[0] < device.times(SentenceStarted)[1], "heard before the answer"
