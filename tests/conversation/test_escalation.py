"""Urgent signs change the reply: a fixed line is said, and no model is asked."""

import anyio
import pytest

from firmware_bridge.events import SpeechStopped, TextSaid
from server.config import Config
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, FakeLlm, FakeTts, FakeWatch
from tests.talks import shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend

LINE = "すぐに人を呼んでください。"


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def house(watch: FakeWatch) -> FakeHouse:
    return FakeHouse(
        FakeAsr(), FakeLlm(["はい、どうも。"], ["元気です。"]), FakeTts(), Config(), watch=watch
    )


async def test_to_an_urgent_sign_the_line_is_said_and_the_model_is_not_asked() -> None:
    home, device = house(FakeWatch("胸が痛い", LINE)), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("胸が痛いの"))
        await stops(device)
        device.put(TextSaid("ありがとう"))
        await stops(device, 2)
    assert shown(device) == [LINE, "はい、どうも。"]
    first, second = home.recent.list()
    assert first.heard == LINE
    assert [query for _, query, _ in home.memory.asked] == ["ありがとう"]
    assert home.memory.pages[0].heard == LINE
    assert second.heard == "はい、どうも。"


async def test_every_turn_is_heeded_even_one_that_is_cut_off_before_its_answer() -> None:
    home, device = house(FakeWatch("胸が痛い", LINE)), FakeDevice()
    async with talking(home, device):
        device.put(TextSaid("胸が痛いの"))
        device.put(TextSaid("ねえ"))
        await until(lambda: SpeechStopped() in device.commands())
        await anyio.sleep(1)
    assert home.watch.heeded == ["胸が痛いの", "ねえ"]
    assert shown(device)[-1] == LINE  # what was cut off is answered with what followed
