"""A talk in memory, in virtual time, and what a robot was sent in it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import numpy as np

from firmware_bridge.events import PlayAudio, SentenceStarted, SpeechStarted, SpeechStopped
from server.audio import Samples
from server.config import Config
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, FakeLlm, FakeTts, Sent


@asynccontextmanager
async def talking(house: FakeHouse, device: FakeDevice) -> AsyncIterator[None]:
    """Run the conversation around the block, then hang up."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.conversation(device).converse)
        yield
        device.hang_up()
    device.close()


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.01)


async def stops(device: FakeDevice, number: int = 1) -> None:
    """Wait until so many replies have ended."""
    await until(lambda: len(device.times(SpeechStopped)) >= number)


def make_house(
    *replies: list[Any], hears: FakeAsr | None = None, voice: FakeTts | None = None, **config: Any
) -> FakeHouse:
    """Return a house whose recogniser hears one, two, three, four; its configuration may be changed by section."""
    asr = hears or FakeAsr("一", "二", "三", "四")
    return FakeHouse(asr, FakeLlm(*replies), voice or FakeTts(), Config(**config))


def with_engines(house: FakeHouse, **engines: Any) -> FakeHouse:
    """Replace some of the fake engines by real ones."""
    house.house = replace(house.house, engines=replace(house.house.engines, **engines))
    return house


def shown(device: FakeDevice) -> list[str]:
    """Return the sentences that the robot was told to show."""
    return [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]


def frames(sent: list[Sent]) -> list[Samples]:
    return [np.frombuffer(s.command.pcm, "<i2") for s in sent if isinstance(s.command, PlayAudio)]


def sounding(device: FakeDevice) -> list[tuple[float, float]]:
    """Return from when to when a robot was audible that plays all that it was sent, whatever it is told meanwhile."""
    heard: list[tuple[float, float]] = []
    for sent in device.sent:
        if isinstance(sent.command, PlayAudio):
            seconds = len(sent.command.pcm) / 2 / sent.command.rate
            begins = max(sent.at, heard[-1][1]) if heard else sent.at
            if heard and begins - heard[-1][1] < 1e-6:
                heard[-1] = (heard[-1][0], begins + seconds)
            else:
                heard.append((begins, begins + seconds))
    return heard


def check_states(device: FakeDevice) -> None:
    """Check that every start has its one stop, and that all sound lies between the two."""
    speaking = False
    for sent in device.sent:
        match sent.command:
            case SpeechStarted():
                assert not speaking, "started twice"
                speaking = True
            case SpeechStopped():
                speaking = False
            case PlayAudio():
                assert speaking, f"sound at {sent.at:.2f} s, outside of a reply"
    assert not speaking, "the robot is stuck in speaking"


def pitch(samples: Samples, rate: int) -> float:
    """Return the strongest frequency in hertz."""
    spectrum = np.abs(np.fft.rfft(samples.astype(np.float64) * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate / len(samples))
