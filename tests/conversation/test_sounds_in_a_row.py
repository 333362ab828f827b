"""Two sounds in a row over one reply, and a recogniser that takes its time over either. In virtual time."""

import pytest

from firmware_bridge.events import PlayAudio, SpeechStopped
from tests.conversation.test_random_talks import SlowAsr
from tests.fakes import FakeDevice, FakeHouse, silence, voice
from tests.talks import check_states, make_house, shown, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


LONG = "あ" * 60 + "。"
"""A reply of 6.1 seconds."""
TIMES = [(0.2, 6.0), (3.0, 0.1), (6.0, 6.0)]
"""How long the recogniser takes for the first sound, and for the second."""


async def twice_interrupted(
    second: str, times: tuple[float, float]
) -> tuple[FakeHouse, FakeDevice]:
    """Cough over a reply, and a moment later make another sound."""
    hears = SlowAsr([("話して", 0.2), ("", times[0]), (second, times[1])])
    house = make_house([LONG], ["わかりました。"], hears=hears)
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        await device.hear(voice(0.3), silence(0.75), voice(0.3), silence(30.0))
    return house, device


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("second", ["", "うん"])
async def test_a_reply_goes_on_after_two_sounds_that_were_nothing(
    second: str, times: tuple[float, float]
) -> None:
    """Once the first was known to be none, a filler for the second began over the reply that was held."""
    house, device = await twice_interrupted(second, times)
    check_states(device)
    assert device.commands(SpeechStopped) == [SpeechStopped(False)]
    assert shown(device) == [LONG]
    [turn] = house.recent.list()
    assert (turn.heard, turn.interrupted) == (LONG, False)


@pytest.mark.parametrize("times", TIMES)
async def test_words_after_a_cough_are_answered_when_the_reply_before_is_over(
    times: tuple[float, float],
) -> None:
    house, device = await twice_interrupted("今何時", times)
    check_states(device)
    assert device.commands(SpeechStopped) == [SpeechStopped(True), SpeechStopped(False)]
    first, second = house.recent.list()
    assert first.interrupted
    assert 0 < len(first.heard) < len(LONG)
    assert second.heard == "わかりました。"
    told = [message.content for message in house.llm.prompts[-1].messages]
    assert told[:-1] == ["話して", first.heard + "…"]
    assert told[-1].endswith("今何時")
