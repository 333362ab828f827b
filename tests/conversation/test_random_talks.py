"""Talks in which anything happens at any moment: whatever it is, the robot is neither stuck nor out of step. In virtual time."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.events import (
    Aborted,
    ListenStarted,
    ListenStopped,
    PlayAudio,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
)
from server.audio import Audio
from server.conversation import Conversation
from server.errors import AsrError, LlmError, TtsError
from server.ports import Speech, Voice
from server.turn import Transcript
from tests.fakes import FakeAsr, FakeDevice, FakeHouse, FakeTts, silence, voice
from tests.talks import check_states, make_house
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


SETTLED = 100.0
"""Seconds after which whatever was begun is over: longer than any patience."""

Heard = tuple[str | None, float]
"""What a recogniser makes of an utterance (None: it fails), and how long that takes."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that happens, so long after the one before."""

    after: float
    what: str
    seconds: float = 0.0


class SlowAsr(FakeAsr):
    """Takes a time of its own for each utterance."""

    def __init__(self, heard: list[Heard]) -> None:
        super().__init__()
        self.script = heard
        self.said: list[str] = []
        self.running = 0

    async def transcribe(self, speech: Speech, language: str | None) -> Transcript:
        text, seconds = self.script.pop(0) if self.script else ("", 0.2)
        self.running += 1
        try:
            async for _ in speech.chunks():
                pass
            await anyio.sleep(seconds)
        finally:
            self.running -= 1
        if text is None:
            raise AsrError("asr-failed", "no")
        if text == "問":
            text = f"問{len(self.said)}番"
            self.said.append(text)
        return Transcript(text, language or "ja")


class FaultyTts(FakeTts):
    """Takes a time of its own for each sentence, and fails in some."""

    def __init__(self, script: list[float | None]) -> None:
        super().__init__()
        self.script = script

    async def synthesize(self, text: str, voice_: Voice) -> AsyncGenerator[Audio, None]:
        seconds = self.script.pop(0) if self.script else 0.1
        self.fails = lambda _: TtsError("tts-failed", "no") if seconds is None else None
        self.seconds = seconds or 0.1
        async for piece in super().synthesize(text, voice_):
            yield piece


delays = st.one_of(
    st.sampled_from([0.0, 0.001, 0.06, 0.32, 0.66, 0.75, 1.0]),
    st.floats(0, 5).map(lambda x: round(x, 3)),
)
deeds = st.builds(
    Deed,
    delays,
    st.sampled_from([*["voice"] * 6, "click", "abort", "wake", "text", "start", "stop", "noise"]),
    st.sampled_from([0.1, 0.3, 0.6, 1.6]),
)
heard = st.lists(
    st.tuples(
        st.sampled_from(["問", "問", "", "", "うん", None]),
        st.sampled_from([0.0, 0.2, 0.4, 1.5, 4.0, 8.0, 30.0]),
    ),
    min_size=2,
    max_size=8,
)
steps: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([0.3, 3.0, 40.0]),
    st.sampled_from(["あ。", "いいいいいいいいいい。", "うううう、", "、"]),
    st.just(LlmError("llm-failed", "no")),
)
replies = st.lists(st.lists(steps, max_size=4), min_size=1, max_size=4)
voices = st.lists(st.sampled_from([0.0, 0.1, 0.1, 2.0, 15.0, None]), max_size=8)


async def happen(device: FakeDevice, deed: Deed, mode: str) -> None:
    """Let something happen; sound goes on meanwhile, as a microphone is always open."""
    await device.hear(silence(max(deed.after, 0.0)))
    match deed.what:
        case "voice":
            await device.hear(voice(deed.seconds))
        case "click":
            await device.hear(voice(0.03))
        case "noise":
            await device.hear(np.random.default_rng(0).normal(0, 3000, 8000).astype(np.int16))
        case "abort":
            device.put(Aborted())
        case "wake":
            device.put(WakeWord("Hi StackChan"))
        case "text":
            device.put(TextSaid("書"))
        case "start":
            device.put(ListenStarted(mode))  # type: ignore[arg-type]
        case _:
            device.put(ListenStopped())


def check_order(device: FakeDevice, aborts: int) -> None:
    """Check that every start has its one stop; an abort while nothing sounds gets a stop of its own."""
    check_states(device)
    starts = len(device.times(SpeechStarted))
    assert starts <= len(device.times(SpeechStopped)) <= starts + aborts


@dataclass(frozen=True, slots=True)
class Course:
    """How a talk goes."""

    mode: str
    deeds: list[Deed]
    heard: list[Heard]
    replies: list[list[Any]]
    voices: list[float | None]
    barge_in: dict[str, Any]
    speaks: bool
    """Whether the robot tells something long when it begins."""
    hangs_up: bool
    """Whether the robot hangs up right after the last deed."""


courses = st.builds(
    Course,
    mode=st.sampled_from(["realtime", "realtime", "auto", "manual"]),
    deeds=st.lists(deeds, min_size=2, max_size=8),
    heard=heard,
    replies=replies,
    voices=voices,
    barge_in=st.fixed_dictionaries(
        {
            "false_start": st.sampled_from(["resume", "repeat", "drop"]),
            "back_channels": st.booleans(),
        }
    ),
    speaks=st.booleans(),
    hangs_up=st.integers(0, 3).map(lambda one: one == 3),
)


@given(courses)
@settings(max_examples=100)
async def test_whatever_happens_the_robot_answers_the_next_question_and_nothing_is_left(
    course: Course,
) -> None:
    asr, tts = SlowAsr(list(course.heard)), FaultyTts([])
    scripts = [list(script) for script in course.replies]
    house = make_house(*scripts, hears=asr, voice=tts, barge_in=course.barge_in)
    await house.phrasebook.prepare(("ja",))
    tts.script = list(course.voices)
    device = FakeDevice(mode=course.mode)
    async with anyio.create_task_group() as tasks:
        conversation = house.conversation(device)
        tasks.start_soon(conversation.converse)
        if course.speaks:
            house.llm.scripts.insert(0, ["え" * 80 + "。"])
            tts.script.insert(0, 0.1)
            device.put(TextSaid("話して"))
            await device.hear(silence(1.5))
        for deed in course.deeds:
            await happen(device, deed, course.mode)
        if not course.hangs_up:
            await settle(device, conversation, house, tts)
        device.hang_up()
    device.close()
    assert house.llm.open_streams == tts.open_streams == asr.running == 0
    assert house.house.listening == set()
    assert not conversation.floor._replies
    if not course.hangs_up:
        check_order(device, sum(deed.what == "abort" for deed in course.deeds))
        check_history(house, asr)


async def settle(
    device: FakeDevice, conversation: Conversation, house: FakeHouse, tts: FaultyTts
) -> None:
    """Wait until everything is over, and ask something that is answered in peace."""
    device.put(ListenStopped())
    await device.hear(silence(3))
    await anyio.sleep(SETTLED)
    assert not conversation.floor._replies, "a turn never ends"
    assert not conversation.floor.is_taken, "the microphone stays closed"
    house.llm.scripts[:] = [["おわり。"]]
    tts.script = []
    before = len(device.times(PlayAudio))
    device.put(TextSaid("最後"))
    await anyio.sleep(10)
    assert house.recent.list()[-1].heard == "おわり。"
    assert len(device.times(PlayAudio)) > before


def check_history(house: FakeHouse, asr: SlowAsr) -> None:
    """Check that no question is answered twice."""
    answered: set[str] = set()
    for turn in house.recent.list():
        said = turn.asked.text if turn.asked else ""
        for question in asr.said:
            if question in said and turn.heard and not turn.error:
                assert question not in answered, f"{question} is answered twice"
                answered.add(question)
