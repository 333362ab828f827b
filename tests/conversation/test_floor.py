"""Who has the floor when somebody makes a sound while the robot speaks. In virtual time.

What the robot was sent is reckoned with as the common firmware does: it plays all of it, whatever it is told meanwhile.
"""

import itertools
from dataclasses import replace
from typing import Any

import anyio
import numpy as np
import pytest

from firmware_bridge.events import (
    Aborted,
    ListenStopped,
    PlayAudio,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
)
from server.audio import Samples
from server.errors import AsrError, LlmError
from server.turn import Recollection
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, FakeMemory, silence, voice
from tests.talks import (
    check_states,
    frames,
    make_house,
    shown,
    sounding,
    stops,
    talking,
    until,
)
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


LIMIT = 0.12 + 1e-6
LONG = "あ" * 40 + "。"
"""A reply of 4.1 seconds."""


def house_that_hears(*texts: str | AsrError, seconds: float = 0.4, **config: Any) -> FakeHouse:
    hears = FakeAsr("話して", *texts, seconds=seconds)
    return make_house([LONG], ["わかりました。"], hears=hears, **config)


async def speaking(house: FakeHouse, device: FakeDevice, frames_played: int = 20) -> None:
    """Ask something, and wait until the answer is on its way."""
    await device.hear(voice(0.6), silence(0.9))
    await until(lambda: len(device.times(PlayAudio)) > frames_played)


def now(device: FakeDevice) -> float:
    return anyio.current_time() - device._began


def played(device: FakeDevice) -> Samples:
    return np.concatenate(frames(device.sent))


def silent_after(device: FakeDevice, moment: float) -> float:
    """Return how long after a moment the robot could be heard, before it paused for a fifth of a second or longer."""
    end = moment
    for begins, ends in sounding(device):
        if ends <= moment:
            continue
        if begins - end > 0.2:
            break
        end = ends
    return end - moment


RULES = [
    {},
    {"back_channels": False},
    {"false_start": "repeat"},
    {"false_start": "drop"},
    {"false_start": "drop", "back_channels": False},
]


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("phase", [0.0, 0.017, 0.031, 0.044, 0.0595])
@pytest.mark.parametrize("downlink", [0.0, 0.02, 0.04])
async def test_the_robot_is_silent_120_ms_after_a_voice_left_the_microphone(
    phase: float, downlink: float, rules: dict[str, Any]
) -> None:
    house = house_that_hears("止まって", barge_in=rules)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await anyio.sleep(downlink)
        onset = now(
            device
        )  # the first frame of `hear` leaves at once, with the first voiced sample in it
        await device.hear(silence(phase), voice(0.6), silence(1.0))
        await stops(device, 2)
    assert silent_after(device, onset) <= LIMIT
    check_states(device)
    assert device.commands(SpeechStopped) == [SpeechStopped(True), SpeechStopped(False)]


@pytest.mark.parametrize("echo_cancelled", [True, False])
async def test_who_can_be_talked_over_gets_less_ahead(echo_cancelled: bool) -> None:
    house = house_that_hears()
    device = FakeDevice(echo_cancelled=echo_cancelled)
    async with talking(house, device):
        await speaking(house, device, 0)
        await anyio.sleep(0.01)
        first = len(device.times(PlayAudio))
        await stops(device)
    assert first == (1 if echo_cancelled else 10)


async def test_words_end_a_reply_and_history_holds_what_was_heard() -> None:
    house = house_that_hears("止まって")
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device, 30)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device, 2)
    first, second = house.recent.list()
    heard_seconds = sounding(device)[0][1] - sounding(device)[0][0]
    assert first.interrupted
    assert len(first.heard) == pytest.approx(heard_seconds / 0.1, abs=1)
    assert house.llm.prompts[1].messages[-2].content == first.heard + "…"
    assert second.heard == "わかりました。"
    assert house.llm.open_streams == house.tts.open_streams == 0


@pytest.mark.parametrize(
    "said", ["うん", "はい。", "ええ", "Uh-huh.", "Right, okay.", "嗯嗯", "うんうん"]
)
async def test_a_back_channel_ends_nothing_and_leaves_nothing(said: str) -> None:
    house = house_that_hears(said)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.25), silence(1.0))
        await stops(device)
        await anyio.sleep(3)
    check_states(device)
    assert device.commands(SpeechStopped) == [SpeechStopped(False)]
    [turn] = house.recent.list()
    assert (turn.heard, turn.interrupted) == (LONG, False)
    assert len(house.llm.prompts) == 1
    assert [page.said for page in house.memory.pages] == ["話して"]
    assert "held" in [str(event.happening) for event in turn.events]
    undisturbed = FakeDevice(mode="realtime")
    async with talking(house_that_hears(), undisturbed):
        await speaking(house, undisturbed)
        await stops(undisturbed)
    np.testing.assert_array_equal(played(device), played(undisturbed))


async def test_a_back_channel_to_a_question_is_an_answer() -> None:
    question = "コーヒーと紅茶とココアとお水を全部飲みますか？"
    house = make_house([question], ["わかりました。"], hears=FakeAsr("話して", "はい"))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device, 30)
        await device.hear(voice(0.25), silence(1.0))
        await stops(device, 2)
    assert shown(device)[-1] == "わかりました。"
    assert [page.said for page in house.memory.pages] == ["話して", "はい"]


async def test_when_back_channels_do_not_count_the_same_word_is_a_turn() -> None:
    house = house_that_hears("うん", barge_in={"back_channels": False})
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.25), silence(1.0))
        await stops(device, 2)
    assert [turn.heard for turn in house.recent.list()][1] == "わかりました。"


@pytest.mark.parametrize(
    ("false_start", "seconds", "interrupted"),
    [("resume", 4.1, False), ("repeat", 5.3, False), ("drop", 1.3, True)],
)
async def test_after_a_cough_a_reply_goes_on_begins_its_sentence_again_or_is_over(
    false_start: str, seconds: float, interrupted: bool
) -> None:
    house = house_that_hears("", barge_in={"false_start": false_start})
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.25), silence(1.0))
        await stops(device)
        await anyio.sleep(3)
    check_states(device)
    [turn] = house.recent.list()
    assert len(played(device)) / device.playback_rate == pytest.approx(seconds, abs=0.13)
    assert turn.interrupted == interrupted
    assert (turn.heard == LONG) != interrupted
    assert len(device.times(SpeechStopped)) == 1


async def test_what_is_said_again_is_heard_once_as_far_as_history_goes() -> None:
    house = house_that_hears("", "止まって", barge_in={"false_start": "repeat"})
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.25), silence(1.0))
        await until(lambda: len(device.times(PlayAudio)) > 50)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device, 2)
    again_seconds = sounding(device)[1][1] - sounding(device)[1][0]
    heard = house.recent.list()[0].heard
    assert len(heard) == pytest.approx(again_seconds / 0.1, abs=1.5)


async def test_what_was_heard_the_first_time_is_not_forgotten_when_it_is_said_again() -> None:
    house = house_that_hears("", "止まって", barge_in={"false_start": "repeat"})
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device, 30)
        await device.hear(voice(0.25), silence(1.0))
        first = len(device.times(PlayAudio))
        await until(lambda: len(device.times(PlayAudio)) > first + 5)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device, 2)
    first_seconds = sounding(device)[0][1] - sounding(device)[0][0]
    heard = house.recent.list()[0].heard
    assert len(heard) == pytest.approx(first_seconds / 0.1, abs=1.5)


async def test_a_click_that_is_no_utterance_costs_a_moment() -> None:
    house = house_that_hears()
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.03), silence(1.0))
        await stops(device)
    gaps = [second[0] - first[1] for first, second in itertools.pairwise(sounding(device))]
    assert sum(gaps) < 0.2
    assert house.recent.list()[0].heard == LONG
    assert len(house.asr.heard) == 1


async def test_who_goes_on_speaking_has_the_floor_before_it_is_known_what_they_say() -> None:
    house = house_that_hears("とても長い話")
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        onset = now(device)
        await device.hear(voice(2.5), silence(1.0))
        await stops(device, 2)
    assert device.times(SpeechStopped)[0] - onset == pytest.approx(1.0, abs=0.1)


async def test_two_interruptions_in_a_row_make_one_question_and_one_stop() -> None:
    house = house_that_hears("待って", "今何時", seconds=1.5)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        onset = now(device)
        await device.hear(voice(0.3), silence(0.7), voice(0.6), silence(1.0))
        await stops(device, 2)
    check_states(device)
    assert silent_after(device, onset) <= LIMIT
    assert len(device.times(SpeechStarted)) == 2
    assert house.llm.prompts[-1].messages[-1].content.endswith("待って今何時")


async def test_a_cough_and_then_words_end_the_reply_and_a_cough_alone_does_not_let_it_go_on() -> (
    None
):
    house = house_that_hears("", "今何時", seconds=1.5)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        onset = now(device)
        await device.hear(voice(0.3), silence(0.7), voice(0.6), silence(1.0))
        await stops(device, 2)
    assert len(sounding(device)) == 2, "nothing of the old reply between the cough and the answer"
    assert silent_after(device, onset) <= LIMIT


@pytest.mark.parametrize("gap", [1.14, 1.16, 1.18, 1.2, 1.22, 1.24, 1.26])
async def test_a_reply_does_not_go_on_while_somebody_begins_to_speak_again(gap: float) -> None:
    """The cough is over, and known to be one, at the moment at which a voice is noticed that is no utterance yet."""
    house = house_that_hears("", "今何時")
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        onset = now(device)
        await device.hear(voice(0.3), silence(gap - 0.3), voice(0.6), silence(1.0))
        await stops(device, 2)
    # It is known 1.34 s after the first onset that there was nothing.
    assert silent_after(device, onset + gap) <= LIMIT
    went_on = [begins for begins, _ in sounding(device) if onset + gap - 0.06 < begins < onset + 2]
    assert not went_on


async def test_words_and_then_a_cough_end_the_reply() -> None:
    house = house_that_hears("今何時", "", seconds=1.5)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.6), silence(0.7), voice(0.3), silence(1.0))
        await stops(device, 2)
    assert house.llm.prompts[-1].messages[-1].content.endswith("今何時")
    assert len(sounding(device)) == 2


@pytest.mark.parametrize("sign", [Aborted(), WakeWord("Hi StackChan"), TextSaid("別の話")], ids=str)
async def test_while_a_reply_waits_what_can_not_be_a_mistake_ends_it(sign: Any) -> None:
    house = house_that_hears("うん")
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.3))
        before = len(device.sent)
        device.put(sign)
        await anyio.sleep(0.05)
        assert [sent.command for sent in device.sent[before:]][:1] == [SpeechStopped(True)]
        await device.hear(silence(1.0))
        await anyio.sleep(5)
    check_states(device)
    assert device.commands(SpeechStopped)[:1] == [SpeechStopped(True)]
    assert len(device.times(SpeechStopped)) == (2 if isinstance(sign, TextSaid) else 1)


async def test_a_voice_that_can_not_be_recognised_ends_the_reply_with_an_apology() -> None:
    house = house_that_hears(AsrError("asr-failed", "no"))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device, 2)
    check_states(device)
    assert shown(device)[-1].startswith("ごめんなさい")


async def test_an_apology_can_be_interrupted_and_goes_on_after_a_back_channel() -> None:
    hears = FakeAsr("話して", "うん", "もういい")
    fails = [LlmError("llm-unreachable", "no")]
    house = make_house(fails, ["わかりました。"], hears=hears)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device, 5)
        await device.hear(voice(0.25), silence(1.0))
        await until(lambda: len(sounding(device)) == 2)
        onset = now(device)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device, 2)
    check_states(device)
    assert silent_after(device, onset) <= LIMIT
    assert [turn.error for turn in house.recent.list()] == ["llm-unreachable", ""]
    assert shown(device)[-1] == "わかりました。"


async def test_a_filler_can_be_interrupted_and_its_question_is_not_lost() -> None:
    hears = FakeAsr("明日の天気は", "大阪の")
    house = make_house([20.0, "晴れ。"], ["晴れです。"], hears=hears)
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device, 5)
        onset = now(device)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device, 2)
    assert silent_after(device, onset) <= LIMIT
    assert house.llm.prompts[-1].messages[-1].content.endswith("明日の天気は大阪の")


async def test_a_reply_that_is_ready_while_somebody_begins_to_speak_does_not_begin() -> None:
    house = make_house([0.5, LONG], ["はい。"], hears=FakeAsr("明日の", "天気は", seconds=0.1))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.6))
        await until(lambda: house.llm.open_streams > 0)
        await device.hear(silence(0.55), voice(0.6), silence(1.0))
        await stops(device)
    assert len(device.times(SpeechStarted)) == 1
    assert house.llm.prompts[-1].messages[-1].content.endswith("明日の天気は")


class HangingMemory(FakeMemory):
    """Does not come to an end the first time that it is asked: a tool would be waited for in the same way."""

    waiting = 0

    async def recall(self, person: str, query: str, language: str) -> Recollection:
        self.asked.append((person, query, language))
        self.waiting += 1
        try:
            await anyio.sleep(30 if len(self.asked) == 1 else 0)
        finally:
            self.waiting -= 1
        return self.recollection


@pytest.mark.parametrize("at", [0.1, 2.0])
async def test_whatever_a_reply_waits_for_is_given_up_by_an_abort(at: float) -> None:
    house = house_that_hears()
    memory = HangingMemory(house.config)
    house.house = replace(house.house, memory=memory)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: memory.waiting > 0)
        await anyio.sleep(at)
        before = len(device.sent)
        device.put(Aborted())
        await anyio.sleep(0.01)
        assert memory.waiting == 0
        await anyio.sleep(40)
        assert [sent.command for sent in device.sent[before:]] == [SpeechStopped(True)]


@pytest.mark.parametrize("at", [0.1, 2.0])
async def test_whatever_a_reply_waits_for_is_given_up_for_who_speaks(at: float) -> None:
    house = house_that_hears("別の話")
    memory = HangingMemory(house.config)
    house.house = replace(house.house, memory=memory)
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(0.9))
        await until(lambda: memory.waiting > 0)
        await anyio.sleep(at)
        await device.hear(voice(0.6), silence(1.0))
        await stops(device)
        await anyio.sleep(40)
    check_states(device)
    assert house.llm.prompts[-1].messages[-1].content.endswith("話して別の話")
    assert len(device.times(SpeechStopped)) == 1


async def test_a_button_that_is_pressed_while_the_robot_speaks_means_it() -> None:
    house = house_that_hears("うん")
    device = FakeDevice(mode="manual")
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 20)
        onset = now(device)
        await device.hear(voice(0.3))
        assert device.times(SpeechStopped)[0] - onset < 0.01
    check_states(device)


@pytest.mark.parametrize("end", ["line", "microphone"])
async def test_a_reply_is_not_held_for_ever_by_a_microphone_that_falls_silent(end: str) -> None:
    """The sound stops in the moment in which a voice was noticed, and nothing more is heard of it."""
    house = house_that_hears()
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await speaking(house, device)
        await device.hear(voice(0.06))
        if end == "microphone":
            device.put(ListenStopped())
        await stops(device)
    check_states(device)
    assert house.recent.list()[0].heard == LONG
    gaps = [second[0] - first[1] for first, second in itertools.pairwise(sounding(device))]
    assert gaps or end == "microphone", "or it was not held"
    assert sum(gaps) < (0.2 if end == "microphone" else 2.2)
