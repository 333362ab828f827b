"""Engines that could not be loaded at the start are tried again, ever more seldom, until they can be."""

from itertools import pairwise

import anyio
import pytest

from server.errors import TtsError
from server.warming import Warming
from tests.fakes import FakeTts
from tests.virtual_time import VIRTUAL_TIME, Backend


class Shaky(FakeTts):
    """Can be loaded, and heard, only after so many attempts."""

    def __init__(self, attempts: int) -> None:
        super().__init__()
        self.attempts = attempts
        self.tried_at: list[float] = []

    async def warm_up(self) -> None:
        self.tried_at.append(anyio.current_time())
        if len(self.tried_at) < self.attempts:
            raise TtsError("tts-stalled", "The voice does not answer.")


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def housekeep(warming: Warming, minutes: int) -> None:
    for _ in range(minutes):
        await anyio.sleep(60)
        await warming.try_again()


async def test_an_engine_that_comes_back_is_ready_again() -> None:
    settled: list[str] = []

    async def settle() -> None:
        settled.append("tts")

    voice = Shaky(attempts=3)
    warming = Warming({"tts": voice, "vad": FakeTts()}, {"tts": settle})
    assert not await warming.warm("tts")
    assert await warming.warm("vad")
    assert warming.troubles["tts"].code == "tts-stalled"
    await housekeep(warming, 1)
    assert (set(warming.troubles), settled) == ({"tts"}, [])
    await housekeep(warming, 1)
    assert (dict(warming.troubles), settled) == ({}, ["tts"])
    await housekeep(warming, 10)
    assert len(voice.tried_at) == 3


async def test_what_stays_missing_is_tried_ever_more_seldom() -> None:
    voice = Shaky(attempts=10_000)
    warming = Warming({"tts": voice}, {})
    await warming.warm("tts")
    await housekeep(warming, 24 * 60)
    waits = [later - sooner for sooner, later in pairwise(voice.tried_at)]
    assert len(voice.tried_at) < 40
    assert waits == sorted(waits)
    assert max(waits) <= 3600 + 60


async def test_a_stage_is_in_trouble_until_all_of_it_is_ready() -> None:
    """Its voice is heard, but the phrases can't be spoken yet."""
    fails = [TtsError("tts-stalled", "Busy."), OSError("no memory")]

    async def settle() -> None:
        if fails:
            raise fails.pop()

    warming = Warming({"tts": FakeTts()}, {"tts": settle})
    await warming.warm("tts")
    assert not await warming.settle("tts")
    assert warming.troubles["tts"].code == "internal-error"
    await housekeep(warming, 1)
    assert warming.troubles["tts"].code == "tts-stalled"
    await housekeep(warming, 1)
    assert warming.troubles == {}
