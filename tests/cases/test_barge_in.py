"""Public fault reports, group 3: barge-in, abort, and replies that can't be finished. In virtual time."""

import random
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import numpy as np
import pytest

from firmware_bridge.events import (
    Aborted,
    ListenStarted,
    PlayAudio,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    ToolReplied,
    WakeWord,
)
from server.audio import Audio
from server.errors import AsrError, LlmError, OmoideError, TtsError
from server.ports import Voice
from tests.fakes import FakeAsr, FakeDevice, FakeTts, silence, voice
from tests.talks import check_states, frames, make_house, pitch, shown, stops, talking, until
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


STAGES = [
    ("recognition", 1.25, False),
    ("before the first token", 1.75, False),
    ("in the first sentence", 2.05, False),
    ("before the first sound", 2.35, False),
    ("playing", 3.2, True),
    ("last frame", 4.2, True),
]
"""Name, when the person speaks again, and whether anything was heard by then."""


@pytest.mark.parametrize(("stage", "at", "was_heard"), STAGES)
async def test_who_interrupts_at_any_stage_gets_a_whole_answer_and_a_true_history(
    stage: str, at: float, was_heard: bool
) -> None:
    """PC#3191, PC#1391, PC#984, KoljaB/RealtimeVoiceChat#25 and #31."""
    house = make_house([0.5, "ああああ", 0.3, "ああああああ。", "いいいいいい。"], ["はい。"])
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(at - 0.6), voice(0.6), silence(1.0))
        await stops(device, 2 if was_heard else 1)
        await anyio.sleep(5)
    check_states(device)
    last = house.recent.list()[-1]
    assert last.heard == last.reply != ""
    assert not last.interrupted
    told = [message.content for message in house.llm.prompts[-1].messages]
    if was_heard:
        first = house.recent.list()[0]
        assert first.interrupted
        assert told[:-1] == ["一", first.heard + "…"]
        assert device.commands(ShowTranscript)[-1] == ShowTranscript("二")
    else:
        assert len(told) == 1
        assert device.commands(ShowTranscript)[-1] == ShowTranscript("一二")
    assert house.llm.open_streams == house.tts.open_streams == 0


async def test_what_tools_answer_after_an_abort_does_not_start_a_reply() -> None:
    """F#1024: the late answer of a tool opened the speaking state again."""
    house, device = make_house(["あ" * 30 + "。"]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await until(lambda: len(device.times(PlayAudio)) > 5)
        device.put(Aborted())
        await anyio.sleep(0.01)
        before = len(device.sent)
        device.put(ToolReplied({"jsonrpc": "2.0", "id": 1, "result": {}}))
        await anyio.sleep(10)
        assert len(device.sent) == before
    check_states(device)


async def test_who_asks_again_and_again_while_the_model_stalls_is_answered_in_the_end() -> None:
    """PC#5842: each "hello?" cancelled the answer, so that none ever came."""
    asr = FakeAsr("明日の天気は", "もしもし", "もしもし")
    house, device = make_house([5.0, "晴れです。"], hears=asr), FakeDevice()
    async with talking(house, device):
        for _ in range(3):
            await device.hear(voice(0.6), silence(2.4))
        await stops(device)
    assert house.recent.list()[-1].heard == "晴れです。"
    assert "明日の天気は" in house.llm.prompts[-1].messages[-1].content
    check_states(device)


class FaultyTts(FakeTts):
    """Gives for a sentence with the word "最後" only these pieces, and then fails, or not."""

    def __init__(self, pieces: list[Audio], error: Exception | None) -> None:
        super().__init__()
        self.pieces = pieces
        self.error = error

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        if "最後" not in text:
            async for piece in super().synthesize(text, voice_):
                yield piece
            return
        await anyio.sleep(3)
        for piece in self.pieces:
            yield piece
        if self.error is not None:
            raise self.error


SOME_SOUND = Audio(voice(0.2, rate=48_000), 48_000)
NO_SOUND = Audio(voice(0, rate=48_000), 48_000)


@pytest.mark.parametrize("place", ["only", "last"])
@pytest.mark.parametrize(
    ("pieces", "error", "code"),
    [
        ([], None, "tts-silent"),
        ([NO_SOUND], None, "tts-silent"),
        ([], TtsError("tts-timeout", "It took too long."), "tts-timeout"),
        ([SOME_SOUND], TtsError("tts-failed", "Internal Server Error"), "tts-failed"),
        ([], ZeroDivisionError(), "tts-failed"),
    ],
    ids=["nothing", "no-samples", "timeout", "status-500", "bug"],
)
async def test_a_voice_that_fails_in_the_last_sentence_does_not_leave_the_robot_speaking(
    pieces: list[Audio], error: Exception | None, code: str, place: str
) -> None:
    """X#272, X#557: one sentence timed out, was empty or refused, and the robot spoke for ever."""
    before = ["一つ目の文。"] if place == "last" else []
    house = make_house([*before, "最後の文。"], voice=FaultyTts(pieces, error))
    device = FakeDevice()
    await house.phrasebook.prepare(("ja",))
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
        device.put(TextSaid("もう一度"))
        await stops(device, 2)
    check_states(device)
    assert len(device.times(SpeechStarted)) == len(device.times(SpeechStopped)) == 2
    assert shown(device)[: len(before)] == before
    assert shown(device)[-1].startswith("ごめんなさい"), "never silence"
    assert [turn.error for turn in house.recent.list()] == [code, code]


@pytest.mark.parametrize("reply", ["…!?", "😀", "！", "。。。", "[happy]", "(^_^)", " "])
async def test_a_reply_of_signs_alone_ends_like_any_other(reply: str) -> None:
    """J PR#14: a sentence of only symbols threw, and the end was never sent."""
    house, device = make_house([reply]), FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    check_states(device)
    assert len(shown(device)) == 1, "an apology"
    assert house.recent.list()[0].error == "llm-empty"
    assert reply.strip() not in [text for text, _ in house.tts.spoken]


async def test_signs_between_sentences_are_passed_over() -> None:
    """J PR#14, in the middle of a reply."""
    house = make_house(["はい。", "…!?", "\n", "😀", "\n", "またね。", "！"])
    device = FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await stops(device)
    check_states(device)
    assert all(any(map(str.isalnum, text)) for text, _ in house.tts.spoken)
    assert "またね" in "".join(text for text, _ in house.tts.spoken)
    assert house.recent.list()[0].error == ""


@pytest.mark.parametrize("how", ["abort", "voice"])
async def test_one_long_sound_can_be_interrupted_like_any_other(how: str) -> None:
    """X#3034, X#1643: music and stories came by a way of their own, which nothing could stop."""
    house = make_house(
        ["長いお話。"], ["はい。"], hears=FakeAsr("話して", "やめて"), voice=FakeTts(0.1, 12.0)
    )
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        await device.hear(voice(0.6), silence(1.0))
        await until(lambda: len(device.times(PlayAudio)) > 100)
        cut_at = device.sent[-1].at
        if how == "abort":
            device.put(Aborted())
            await anyio.sleep(5)
            assert max(device.times(PlayAudio)) <= cut_at + 0.001
        else:
            await device.hear(voice(0.6), silence(1.0))
            await until(lambda: len(device.times(SpeechStarted)) == 2)
            before = [at for at in device.times(PlayAudio) if at < device.times(SpeechStarted)[1]]
            assert max(before) < cut_at + 0.18
    check_states(device)
    assert house.tts.open_streams == 0


class StubbornTts(FakeTts):
    """Can't be stopped in the middle of its work, and delivers it whoever has left meanwhile."""

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(1.0)
        yield Audio(voice(1.0, 880.0 if "新" in text else 220.0, 48_000), 48_000)


async def test_a_piece_of_sound_that_comes_late_is_not_taken_for_the_new_answer() -> None:
    """uezo/aiavatarkit#184: a chunk of the old transaction was played after the stop."""
    house = make_house(["古い答え。", "古い続き。"], ["新しい答え。"], voice=StubbornTts())
    device = FakeDevice()
    async with talking(house, device):
        device.put(TextSaid("話して"))
        await anyio.sleep(0.5)
        device.put(TextSaid("別の話"))
        await stops(device)
        await anyio.sleep(5)
    check_states(device)
    heard = np.concatenate(frames(device.sent))
    assert pitch(heard, device.playback_rate) == pytest.approx(880, rel=0.01)
    assert len(heard) / device.playback_rate < 1.1


async def test_after_twenty_interruptions_by_voice_an_answer_is_whole() -> None:
    """X#1695: a stream of the voice that was used again lost letters and hung."""
    house = make_house(["あ" * 30 + "。"], hears=FakeAsr(*["話して"] * 30, seconds=0.2))
    device = FakeDevice(mode="realtime")
    async with talking(house, device):
        for number in range(20):
            await device.hear(voice(0.4), silence(0.8 + 0.06 * number))
        await anyio.sleep(10)
    check_states(device)
    last = house.recent.list()[-1]
    assert last.heard == last.reply == "あ" * 30 + "。"
    assert house.llm.open_streams == house.tts.open_streams == 0


@pytest.mark.parametrize("seed", range(24))
async def test_whatever_is_said_and_pressed_nobody_is_left_waiting(seed: int) -> None:
    """KoljaB/RealtimeVoiceChat#25, X PR#1640: a robot that hung, or talked on, after a certain order of events."""
    chance = random.Random(seed)
    words: list[str | OmoideError] = [
        "",
        "うん",
        "止まって",
        "明日の天気は",
        AsrError("asr-failed", "no"),
    ]
    hears = FakeAsr(*chance.choices(words, k=40), seconds=chance.choice([0.1, 0.4, 1.5]))
    replies: list[list[Any]] = [
        ["あ" * 25 + "。", 0.3, "いい？"],
        [0.6, "うう。"],
        [LlmError("llm-failed", "no")],
    ]
    house = make_house(
        *chance.choices(replies, k=30),
        hears=hears,
        barge_in={"false_start": chance.choice(["resume", "repeat", "drop"])},
    )
    await house.phrasebook.prepare(("ja",))
    device = FakeDevice(mode="realtime")
    conversation = house.conversation(device)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(conversation.converse)
        for _ in range(25):
            match chance.choice(["voice"] * 5 + ["abort", "wake", "text", "listen"]):
                case "voice":
                    await device.hear(voice(chance.uniform(0.03, 1.6)))
                case "abort":
                    device.put(Aborted())
                case "wake":
                    device.put(WakeWord("Hi StackChan"))
                case "text":
                    device.put(TextSaid("話して"))
                case _:
                    device.put(ListenStarted("realtime"))
            await device.hear(silence(chance.choice([0.06, 0.3, 0.8, 2.0])))
        await device.hear(silence(2.0))
        await anyio.sleep(90)
        assert conversation.floor._replies == []
        device.put(TextSaid("最後"))
        before = len(device.times(SpeechStopped))
        await stops(device, before + 1)
        device.hang_up()
    device.close()
    check_states(device)
    assert house.llm.open_streams == house.tts.open_streams == 0
