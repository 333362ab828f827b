"""What a conversation remembers of the turns before. In virtual time."""

import anyio
import pytest

from firmware_bridge.events import (
    SpeechStopped,
    TextSaid,
)
from tests.fakes import FakeDevice
from tests.talks import make_house, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def test_history_survives_a_reconnect_and_keeps_three_turns() -> None:
    house = make_house(["はい。"])
    for word in ("一", "二", "三", "四"):
        device = FakeDevice()
        async with talking(house, device):
            device.put(TextSaid(word))
            await until(lambda d=device: SpeechStopped() in d.commands())  # type: ignore[misc]
    said = [message.content for message in house.llm.prompts[-1].messages if message.role == "user"]
    assert said[:-1] == ["一", "二", "三"]
    assert said[-1].endswith("四")


async def test_history_is_left_out_after_ten_minutes_of_silence() -> None:
    house, device = make_house(["はい。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("一"))
        await anyio.sleep(601)
        device.put(TextSaid("二"))
        await until(lambda: len(device.times(SpeechStopped)) == 2)
    assert len(house.llm.prompts[1].messages) == 1


async def test_persons_do_not_share_history() -> None:
    house = make_house(["はい。"])
    for person in ("hana", "taro"):
        device = FakeDevice(person=person)
        async with talking(house, device):
            device.put(TextSaid("秘密"))
            await until(lambda d=device: SpeechStopped() in d.commands())  # type: ignore[misc]
    assert len(house.llm.prompts[1].messages) == 1
