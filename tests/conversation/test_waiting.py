"""Waits in a turn: what fills the silence, and what stalls in the middle of a reply. In virtual time."""

import anyio
import pytest

from firmware_bridge.events import (
    Aborted,
    ListenStopped,
    PlayAudio,
    SentenceStarted,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
)
from server.errors import AsrError
from server.ports import Speech
from server.turn import Transcript
from tests.fakes import FakeAsr, FakeDevice, silence, voice
from tests.talks import check_states, make_house, shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def test_a_long_wait_is_filled_once_and_joined_by_the_answer() -> None:
    house, device = make_house([20.0, "はい。"]), FakeDevice()
    await house.phrasebook.prepare(("ja",))
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    texts = [command.text for command in device.commands(SentenceStarted)]  # type: ignore[union-attr]
    assert texts == ["ええと、少し待ってくださいね。", "はい。"]
    assert len(device.times(SpeechStarted)) == 1
    assert house.recent.list()[0].heard == "はい。"


async def test_the_wait_counts_from_the_end_of_the_voice_recognition_included() -> None:
    house = make_house([20.0, "はい。"], hears=FakeAsr("話して", seconds=3.0))
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: bool(device.times(SpeechStarted)))
    assert device.times(SpeechStarted)[0] == pytest.approx(0.6 + 4.0, abs=0.1)


async def test_a_model_that_stalls_in_mid_reply_causes_no_stop_and_start() -> None:
    house, device = make_house(["一つ目の文です。", 8.0, "二つ目。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: SpeechStopped() in device.commands())
    assert len(device.times(SpeechStarted)) == len(device.times(SpeechStopped)) == 1
    assert len(device.commands(SentenceStarted)) == 2


async def test_a_stalled_stream_without_a_sentence_end_is_spoken_as_far_as_it_came() -> None:
    house, device = make_house(["今日はとても いい天気で", 15.0, "すね。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: bool(device.times(PlayAudio)))
        assert device.times(PlayAudio)[0] < 5
        await until(lambda: SpeechStopped() in device.commands())


async def test_a_slow_recogniser_is_covered_by_the_filler_before_its_text_is_there() -> None:
    house = make_house(["はい。"], hears=FakeAsr("話して", seconds=9.0))
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: bool(device.times(SpeechStarted)))
        assert not device.commands(ShowTranscript)
        await stops(device)
    assert device.times(SpeechStarted) == [pytest.approx(0.6 + 4.0, abs=0.1)]
    assert shown(device) == ["ええと、少し待ってくださいね。", "はい。"]
    check_states(device)
    [turn] = house.recent.list()
    assert "filler" in [str(event.happening) for event in turn.events]
    assert turn.heard == "はい。"


@pytest.mark.parametrize("text", ["", AsrError("asr-failed", "no")], ids=["noise", "failure"])
async def test_a_filler_that_no_answer_follows_ends_like_any_speech(text: str | AsrError) -> None:
    house = make_house(["はい。"], hears=FakeAsr(text, seconds=9.0))
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await stops(device)
        await anyio.sleep(10)
    check_states(device)
    assert device.commands(SpeechStopped) == [SpeechStopped(interrupted=False)]
    assert shown(device)[0].startswith("ええと")


async def test_nobody_is_asked_to_wait_who_is_still_speaking() -> None:
    house = make_house(["はい。"])
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(12.0), silence(1.0))
        await stops(device)
    assert shown(device) == ["はい。"]


async def test_a_turn_that_was_aborted_fills_no_silence() -> None:
    house = make_house(["はい。"], hears=FakeAsr("一", seconds=9.0))
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        device.put(Aborted())
        await anyio.sleep(20)
    assert device.commands() == [SpeechStopped(interrupted=True)]
    assert "filler" not in [str(event.happening) for event in house.recent.list()[0].events]


async def test_a_reply_that_has_begun_is_not_filled() -> None:
    house = make_house([3.0, "とても長い返事です。" * 3])
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    assert set(shown(device)) == {"とても長い返事です。"}


async def test_turns_that_are_over_wait_for_nothing() -> None:
    house = make_house(["はい。"], pacing={"filler_after_seconds": 1e6})
    device = FakeDevice()
    async with talking(house, device):
        await anyio.sleep(0.1)
        before = len(anyio.get_running_tasks())
        for number in range(1, 6):
            device.put(TextSaid("話して"))
            await stops(device, number)
        await anyio.sleep(0.1)
        assert len(anyio.get_running_tasks()) == before


class HangingAsr(FakeAsr):
    """Takes everything in and never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = 0

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        async for _ in speech.chunks():
            pass
        self.waiting += 1
        try:
            await anyio.sleep_forever()
        finally:
            self.waiting -= 1
        raise AssertionError


async def test_typed_text_does_not_wait_for_a_recogniser_that_hangs() -> None:
    asr = HangingAsr()
    house, device = make_house(["はい。"], hears=asr), FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0), voice(0.6), silence(1.0))
        assert asr.waiting == 2
        device.put(TextSaid("今何時"))
        asked = anyio.current_time()
        await until(lambda: bool(device.times(SpeechStarted)))
        assert anyio.current_time() - asked < 1
        await stops(device)
        await anyio.sleep(house.config.asr.timeout_seconds)
        assert asr.waiting == 0, "memory has no use for it any more"
    assert device.commands(ShowTranscript) == [ShowTranscript("今何時")]
    assert [turn.error for turn in house.recent.list()] == [""]


async def test_what_was_recognised_before_somebody_typed_is_still_asked() -> None:
    house = make_house([2.0, "はい。"], hears=FakeAsr("明日の", seconds=0.1))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.5))
        device.put(TextSaid("予定は"))
        await stops(device)
    assert device.commands(ShowTranscript)[-1] == ShowTranscript("明日の予定は")


async def test_a_button_that_was_held_in_silence_asks_no_recogniser() -> None:
    house, device = make_house(["はい。"]), FakeDevice(mode="manual")
    async with talking(house, device):
        await device.hear(silence(3.0))
        device.put(ListenStopped())
        await anyio.sleep(10)
    assert house.asr.heard == []
    assert device.sent == []


async def test_the_shortest_word_while_a_button_is_held_is_recognised_whole() -> None:
    house, device = make_house(["はい。"]), FakeDevice(mode="manual")
    async with talking(house, device):
        await device.hear(silence(0.96), voice(0.12), silence(0.96))
        device.put(ListenStopped())
        await stops(device)
    [heard] = house.asr.heard
    assert len(heard) == pytest.approx(2.04 * 16_000, abs=960)
    assert device.commands(ShowTranscript) == [ShowTranscript("一")]


async def test_what_turns_out_to_be_the_wake_word_is_not_recognised() -> None:
    asr = HangingAsr()
    house, device = make_house(["はい。"], hears=asr), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.6))
        device.put(WakeWord("Hi StackChan"))
        await anyio.sleep(1)
        assert asr.waiting == 0
    assert device.sent == []
