"""What a turn notes of the memory that its prompt really held. In virtual time."""

from datetime import timedelta

import pytest

from firmware_bridge.events import TextSaid
from server.turn import Recalled, RecalledPage, Recollection
from tests.fakes import FakeClock, FakeDevice
from tests.talks import make_house, stops, talking
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def test_a_turn_notes_which_facts_and_pages_the_model_was_shown() -> None:
    """Row 82 of the memory cases: whatever was looked at counted as visited."""
    house, device, now = make_house(["はい。"]), FakeDevice(), FakeClock().now()
    lines = tuple(
        Recalled(f"事実{number}", now, 1.0, id=f"fact-{number}", sources=(f"page-{number}",))
        for number in range(5)
    )
    pages = tuple(
        RecalledPage(f"page-{number}", "質問", "答え", now - timedelta(days=1), 1.0)
        for number in (0, 9)
    )
    house.memory.recollection = Recollection(lines, pages)
    async with talking(house, device):
        device.put(TextSaid("一"))
        await stops(device)
    (turn,) = house.recent.list()
    assert turn.told == house.llm.prompts[0].told == ("fact-0", "fact-1", "fact-2", "page-9")


async def test_a_turn_that_never_asked_the_model_was_told_nothing() -> None:
    house, device = make_house(["はい。"]), FakeDevice()
    house.memory.recollection = Recollection((Recalled("事実", FakeClock().now(), 1.0, id="a"),))
    async with talking(house, device):
        device.put(TextSaid("、"))
        device.put(TextSaid("一"))
        await stops(device)
    first, *_, last = house.recent.list()
    assert first.told == ()
    assert last.told == ("a",)
