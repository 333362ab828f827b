"""Public fault reports, group 3: barge-in, abort, and replies that can't be finished. In virtual time."""

from collections.abc import AsyncGenerator

import anyio
import pytest

from firmware_bridge.events import (
    Aborted,
    PlayAudio,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    ToolReplied,
)
from server.audio import Audio
from server.errors import TtsError
from server.ports import Voice
from tests.fakes import FakeAsr, FakeDevice, FakeTts, silence, voice
from tests.talks import check_states, make_house, shown, stops, talking, until
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
