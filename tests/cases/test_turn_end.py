"""Public fault reports, group 4: where an utterance begins and ends. In virtual time, without models."""

import anyio
import numpy as np
import pytest

from firmware_bridge.events import ListenStarted, ListenStopped, ShowTranscript, WakeWord
from server.audio import Samples
from server.ports import Speech
from server.telemetry import Metrics
from server.turn import Happening, Stage, Transcript
from tests.fakes import FakeAsr, FakeDevice, FakeTts, silence, voice
from tests.talks import check_states, make_house, stops, talking
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class ReadingAsr(FakeAsr):
    """Also tells at every pause of 200 ms, a moment later, what was said before it."""

    def __init__(self, *texts: str, said: list[str], seconds: float = 0.1) -> None:
        super().__init__(*texts, seconds=seconds)
        self.said = list(said)

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._read, speech)
            transcript = await super().transcribe(speech, language)
        return transcript  # noqa: RET504 - a group of tasks may swallow an error, so a return in it is none to mypy

    async def _read(self, speech: Speech) -> None:
        heard, is_told = 0, False
        async for chunk in speech.chunks():
            heard += len(chunk.samples)
            is_pause = chunk.silence_samples >= 3200
            if is_pause and not is_told and self.said:
                speech.expect_text()
                samples, text = heard, Transcript(self.said.pop(0), "ja")
                await anyio.sleep(0.1)
                speech.read_text(text, samples)
            is_told = is_pause


def voiced_seconds(samples: Samples) -> float:
    return np.count_nonzero(samples) / 16_000


async def test_a_word_forty_milliseconds_after_the_microphone_opens_is_not_lost() -> None:
    """X#289, X PR#338."""
    house, device = make_house(["はい。"]), FakeDevice()
    sound = [silence(0.04), voice(0.8), silence(1.0)]
    async with talking(house, device):
        await device.hear(*sound)
        await stops(device)
    assert voiced_seconds(house.asr.heard[0]) == voiced_seconds(np.concatenate(sound))


async def test_a_command_in_one_breath_with_the_wake_word_is_the_first_turn() -> None:
    """X#1917, X#1833: what followed the wake word without a gap was ignored."""
    house, device = make_house(["三時です。"], hears=FakeAsr("何時ですか")), FakeDevice(mode="")
    async with talking(house, device):
        await device.hear(voice(1.2), burst=20)
        device.put(WakeWord("Hi StackChan"))
        device.put(ListenStarted("auto"))
        await device.hear(voice(1.0), silence(1.0))
        await stops(device)
    check_states(device)
    assert device.commands(ShowTranscript) == [ShowTranscript("何時ですか")]
    assert len(house.asr.heard) == 1
    assert 0.99 < voiced_seconds(house.asr.heard[0]) <= 1.0, "the command and nothing else"


@pytest.mark.parametrize(("mode", "asr_seconds"), [("auto", 0.4), ("realtime", 0.05)])
async def test_a_thinking_pause_of_900_ms_loses_nothing_of_the_question(
    mode: str, asr_seconds: float
) -> None:
    """HA#132433: cut off too early. The two halves are joined if the second begins before the answer is audible."""
    house = make_house(
        ["はい。"], hears=FakeAsr("明日の", "予定は何", seconds=asr_seconds), voice=FakeTts(0.3)
    )
    device = FakeDevice(mode=mode)
    async with talking(house, device):
        await device.hear(voice(0.8), silence(0.9), voice(0.8), silence(1.0))
        await stops(device)
    check_states(device)
    assert house.recent.list()[-1].question.text == "明日の予定は何"  # type: ignore[union-attr]


async def test_a_longer_silence_can_be_configured_for_people_who_think_longer() -> None:
    """HA#132433: then even engines that answer at once do not talk over the second half."""
    asr = FakeAsr("明日の予定は何", seconds=0.0)
    house = make_house(["はい。"], hears=asr, voice=FakeTts(0.0), endpointing={"silence_ms": 1000})
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.8), silence(0.9), voice(0.8), silence(1.2))
        await stops(device)
    assert len(asr.heard) == 1
    assert voiced_seconds(asr.heard[0]) > 1.59


@pytest.mark.parametrize("mode", ["auto", "realtime"])
async def test_who_has_not_finished_the_sentence_may_think_for_900_ms(mode: str) -> None:
    """HA#132433: with what was said before the pause, it is one utterance, not two that are joined."""
    asr = ReadingAsr("明日の予定は何ですか", said=["明日の", "明日の予定は何ですか"])
    house, device = make_house(["はい。"], hears=asr), FakeDevice(mode=mode)
    async with talking(house, device):
        await device.hear(voice(0.8), silence(0.9), voice(0.8), silence(1.0))
        await stops(device)
    assert len(asr.heard) == 1
    assert voiced_seconds(asr.heard[0]) > 1.55
    [turn] = house.recent.list()
    happened = [event.happening for event in turn.events]
    assert happened.count(Happening.PROVISIONAL_TEXT) == 2
    metrics = Metrics()
    metrics.turn_finished(turn)
    assert "omoide_provisional_texts_total 2.0" in metrics.render().decode()


async def test_who_has_finished_the_sentence_is_answered_after_a_third_of_a_second() -> None:
    """home-assistant/android#4847: a long silence before anything happened."""
    house = make_house(["はい。"], hears=ReadingAsr("何時ですか", said=["何時ですか"]))
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.8), silence(1.0))
        await stops(device)
    [turn] = house.recent.list()
    assert 320 <= turn.stages_ms[Stage.ENDPOINT] <= 400


async def test_counting_with_gaps_of_600_ms_is_one_utterance() -> None:
    """wilbowes/EchoMuse#343: it was split in two."""
    asr = ReadingAsr("一二三四", said=["一", "一二", "一二三", "一二三四"])
    house, device = make_house(["はい。"], hears=asr), FakeDevice()
    async with talking(house, device):
        for _ in range(4):
            await device.hear(voice(0.4), silence(0.7))
        await device.hear(silence(1.0))
        await stops(device)
    assert len(asr.heard) == 1


async def test_a_television_behind_the_speaker_does_not_hold_the_turn_open() -> None:
    """HA#122177: the turn always ran to its limit."""
    house, device = make_house(["はい。"], hears=FakeAsr("何時ですか")), FakeDevice(mode="realtime")
    television = (voice(12.0) * 0.12).astype(np.int16)
    speech = np.concatenate([silence(3.0), voice(1.5), silence(7.5)])
    async with talking(house, device):
        await device.hear(television + speech)
        await stops(device)
    assert house.asr.heard[0].size < 6.5 * 16_000


@pytest.mark.parametrize("mode", ["auto", "manual", "realtime"])
async def test_three_turns_in_a_row_are_heard_in_every_mode(mode: str) -> None:
    """LVA#114, VPE#510, VPE#602: stopped listening at once, or did not listen at all."""
    house = make_house(["はい、そうですね。"])
    device = FakeDevice(mode="")
    async with talking(house, device):
        for number in (1, 2, 3):
            device.put(ListenStarted(mode))  # type: ignore[arg-type]
            await device.hear(silence(0.3), voice(0.7), silence(0.2))
            if mode == "manual":
                device.put(ListenStopped())
            else:
                await device.hear(silence(0.8))
            await stops(device, number)
            await device.hear(silence(0.6)) if mode != "manual" else None
    check_states(device)
    shown = [command.text for command in device.commands(ShowTranscript)]  # type: ignore[union-attr]
    assert shown == ["一", "二", "三"]
    assert [turn.heard for turn in house.recent.list()] == ["はい、そうですね。"] * 3


async def test_a_short_stop_is_heard() -> None:
    """jxlarrea/voice-satellite-card-integration#146: 250 ms."""
    house, device = make_house(["はい。"], hears=FakeAsr("ストップ")), FakeDevice()
    async with talking(house, device):
        await device.hear(silence(1.0), voice(0.25), silence(1.0))
        await stops(device)
    assert device.commands(ShowTranscript) == [ShowTranscript("ストップ")]


async def test_the_delay_until_the_endpoint_is_told_with_every_turn() -> None:
    """home-assistant/android#4847: a long silence before anything happened, and no figure."""
    house, device = make_house(["はい。"]), FakeDevice()
    async with talking(house, device):
        await device.hear(voice(0.8), silence(1.0))
        await stops(device)
    [turn] = house.recent.list()
    assert 600 <= turn.stages_ms[Stage.ENDPOINT] <= 700
    assert turn.first_audio_ms is not None
    assert turn.first_audio_ms > turn.stages_ms[Stage.ENDPOINT]
