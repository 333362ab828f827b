"""How Whisper starts early, what it throws away, and how long speech is cut; on a network that is none."""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from server.asr import build
from server.asr.speed import Speed
from server.asr.whisper import WhisperAsr
from server.asr.whisper_model import Recognised, split_at_pauses, without_loops
from server.audio import LISTENING_RATE, Samples
from server.config import AsrSection, Config, WhisperSection
from server.errors import AsrError, EngineMissing
from server.ports import SpeechChunk
from server.trace import Turns
from server.turn import Stage, Transcript, Turn
from tests.ports.said import FRAME, Said

PAUSE = 7 * FRAME
"""A little more than the 200 ms of `early_start_ms`."""


class Growing:
    """An utterance that the test extends."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[SpeechChunk](100)
        self.told: list[tuple[str | None, int] | str] = []

    def speak(self, frames: int = 10) -> None:
        self._send.send_nowait(SpeechChunk(np.full(frames * FRAME, 1000, np.int16), 0))

    def pause(self) -> None:
        self._send.send_nowait(SpeechChunk(np.zeros(PAUSE, np.int16), PAUSE))

    def end(self) -> None:
        self._send.close()

    async def chunks(self) -> AsyncIterator[SpeechChunk]:
        async with self._receive:
            async for chunk in self._receive:
                yield chunk

    def expect_text(self) -> None:
        self.told.append("expected")

    def read_text(self, text: Transcript | None, samples: int) -> None:
        self.told.append((text.text if text else None, samples))

    def take_hint(self, probability: float, samples: int) -> None:
        raise AssertionError("Whisper gives no hints.")


class FakeNetwork:
    """Says how many samples it got. Blocks until `go_on`, if told so."""

    def __init__(
        self, *, blocking: bool = False, no_speech: float = 0.0, sure: float = -0.2, text: str = ""
    ) -> None:
        self.heard: list[int] = []
        self.blocking = blocking
        self.no_speech = no_speech
        self.sure = sure
        self.text = text
        self.error: AsrError | None = None
        self._entered = threading.Semaphore(0)
        self._leave = threading.Semaphore(0)

    def recognise(
        self, samples: Samples, language: str | None, languages: Sequence[str]
    ) -> Recognised:
        self.heard.append(len(samples))
        self._entered.release()
        if self.blocking:
            self._leave.acquire(timeout=30)
        if self.error is not None:
            raise self.error
        text = self.text or f"{len(samples)} samples"
        return Recognised(text, language or languages[0], self.no_speech, self.sure)

    async def wait_until_asked(self) -> None:
        await anyio.to_thread.run_sync(self._entered.acquire)

    def go_on(self, times: int = 1) -> None:
        self._leave.release(times)


def whisper_on(network: FakeNetwork, config: AsrSection | None = None) -> WhisperAsr:
    return WhisperAsr(config or AsrSection(), Path("unused"), lambda: network)


class WallClock:
    def now(self) -> datetime:
        return datetime(2026, 5, 3, tzinfo=UTC)


async def test_recognition_starts_at_a_pause_and_its_result_is_used() -> None:
    network = FakeNetwork()
    speech = Growing()
    texts: list[str] = []

    async def transcribe() -> None:
        texts.append((await whisper_on(network).transcribe(speech, None)).text)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transcribe)
        speech.speak()
        speech.pause()
        await network.wait_until_asked()
        speech.pause()
        speech.end()
    assert network.heard == [10 * FRAME + PAUSE]
    assert texts == [f"{10 * FRAME + PAUSE} samples"]


async def test_who_goes_on_after_a_pause_is_heard_in_full() -> None:
    network = FakeNetwork()
    speech = Growing()
    texts: list[str] = []

    async def transcribe() -> None:
        texts.append((await whisper_on(network).transcribe(speech, None)).text)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transcribe)
        speech.speak()
        speech.pause()
        await network.wait_until_asked()
        speech.speak()
        speech.end()
    assert texts == [f"{20 * FRAME + PAUSE} samples"]


@pytest.mark.parametrize(("error", "text"), [(None, "here"), (AsrError("asr-failed", "x"), None)])
async def test_the_text_of_a_pause_is_told_before_the_utterance_has_ended(
    error: AsrError | None, text: str | None
) -> None:
    network = FakeNetwork(text="here")
    network.error = error
    speech = Growing()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(swallowing, whisper_on(network).transcribe, speech)
        speech.speak()
        speech.pause()
        await network.wait_until_asked()
        while len(speech.told) < 2:
            await anyio.sleep(0.001)
        assert speech.told == ["expected", (text, 10 * FRAME + PAUSE)]
        speech.end()


async def swallowing(
    transcribe: Callable[[Growing, None], Awaitable[Transcript]], speech: Growing
) -> None:
    with suppress(AsrError):
        await transcribe(speech, None)


async def test_nobody_waits_for_the_text_of_a_network_that_is_slower_than_speech() -> None:
    network = FakeNetwork(text="here")
    engine = whisper_on(network)
    assert engine.keeps_up
    engine._speed.took(seconds=3.0, sound_seconds=1.0)
    speech = Growing()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.transcribe, speech, None)
        speech.speak()
        speech.pause()
        await network.wait_until_asked()
        while not speech.told:
            await anyio.sleep(0.001)
        speech.end()
    assert speech.told == [("here", 10 * FRAME + PAUSE)]


async def test_a_dry_run_at_the_start_does_not_count_as_slow() -> None:
    class Slow(FakeNetwork):
        def recognise(
            self, samples: Samples, language: str | None, languages: Sequence[str]
        ) -> Recognised:
            engine._speed.took(seconds=60.0, sound_seconds=1.0)
            return super().recognise(samples, language, languages)

    engine = whisper_on(Slow())
    await engine.warm_up()
    assert engine.keeps_up


def test_a_recogniser_that_has_become_quick_again_is_waited_for_again() -> None:
    speed = Speed()
    speed.took(9.0, 1.0)
    assert not speed.keeps_up
    for _ in range(8):
        speed.took(0.5, 2.0)
    assert speed.keeps_up


async def test_abandoned_runs_do_not_pile_up() -> None:
    network = FakeNetwork(blocking=True)
    speech = Growing()
    engine = whisper_on(network)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.transcribe, speech, None)
        speech.speak()
        speech.pause()
        await network.wait_until_asked()
        for _ in range(5):
            speech.speak()
            speech.pause()
            await anyio.wait_all_tasks_blocked()
        speech.speak()
        await anyio.wait_all_tasks_blocked()
        speech.end()
        network.go_on(20)
    assert len(network.heard) == 2
    assert network.heard[-1] == 10 * FRAME * 7 + PAUSE * 6


@pytest.mark.parametrize("early_start_ms", [0, 400])
async def test_a_shorter_pause_than_configured_starts_nothing(early_start_ms: int) -> None:
    network = FakeNetwork()
    config = AsrSection(whisper=WhisperSection(early_start_ms=early_start_ms))
    speech = Growing()
    speech.speak()
    speech.pause()
    speech.speak()
    speech.end()
    await whisper_on(network, config).transcribe(speech, None)
    assert network.heard == [20 * FRAME + PAUSE]


async def test_silence_alone_starts_nothing_early() -> None:
    network = FakeNetwork()
    speech = Growing()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(whisper_on(network).transcribe, speech, None)
        speech.pause()
        await anyio.sleep(0.1)
        assert network.heard == []
        speech.speak()
        speech.end()
    assert network.heard == [10 * FRAME + PAUSE]


async def test_an_error_of_the_early_run_is_raised_as_it_is() -> None:
    network = FakeNetwork()
    network.error = AsrError("asr-failed", "broken")
    with pytest.raises(AsrError, match="broken"):
        await whisper_on(network).transcribe(Said(np.ones(20000, np.int16), PAUSE), None)


async def test_a_cancelled_transcription_leaves_at_once() -> None:
    network = FakeNetwork(blocking=True)
    engine = whisper_on(network)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.transcribe, Said(np.ones(20000, np.int16), PAUSE), None)
        await network.wait_until_asked()
        tasks.cancel_scope.cancel()
    network.go_on(2)
    network.blocking = False
    assert (await engine.transcribe(Said(np.ones(9000, np.int16)), None)).text == "9000 samples"


async def test_waiting_for_the_network_is_a_stage_of_its_own() -> None:
    network = FakeNetwork(blocking=True)
    engine = whisper_on(network)
    turns: list[Turn] = []

    async def transcribe() -> None:
        with Turns(WallClock()).record("device", "person") as turn:
            await engine.transcribe(Said(np.ones(9000, np.int16)), None)
        turns.append(turn)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transcribe)
        await network.wait_until_asked()
        tasks.start_soon(transcribe)
        await anyio.wait_all_tasks_blocked()
        await anyio.sleep(0.05)
        network.go_on(2)
    assert all(Stage.ASR in turn.stages_ms for turn in turns)
    waited = [turn.stages_ms.get(Stage.ASR_QUEUE, 0) for turn in turns]
    assert sorted(wait >= 40 for wait in waited) == [False, True]


async def test_a_device_that_says_more_than_can_be_recognised_only_hurts_itself() -> None:
    network = FakeNetwork(blocking=True)
    engine = whisper_on(network)
    ended: list[str] = []

    async def transcribe(device: str, samples: int) -> None:
        with Turns(WallClock()).record(device, "person"):
            try:
                said = await engine.transcribe(Said(np.ones(samples, np.int16)), None)
                ended.append(f"{device}: {said.text}")
            except AsrError as error:
                ended.append(f"{device}: {error.code}")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transcribe, "greedy", 1)
        await network.wait_until_asked()
        for device, samples in (
            ("greedy", 2),
            ("greedy", 3),
            ("modest", 4),
            ("greedy", 5),
        ):
            tasks.start_soon(transcribe, device, samples)
            await anyio.wait_all_tasks_blocked()
        network.go_on(4)
    assert ended == [
        "greedy: asr-overtaken",
        "greedy: 1 samples",
        "modest: 4 samples",
        "greedy: 3 samples",
        "greedy: 5 samples",
    ]


async def test_time_before_the_end_of_the_utterance_is_not_counted() -> None:
    network = FakeNetwork(blocking=True)
    engine = whisper_on(network)
    speech = Growing()
    turns: list[Turn] = []

    async def transcribe() -> None:
        with Turns(WallClock()).record("device", "person") as turn:
            await engine.transcribe(speech, None)
        turns.append(turn)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.transcribe, Said(np.ones(9000, np.int16)), None)
        await network.wait_until_asked()
        tasks.start_soon(transcribe)
        speech.speak()
        speech.pause()
        await anyio.sleep(0.2)
        network.go_on(2)
        await network.wait_until_asked()
        await anyio.sleep(0.5)
        speech.end()
    assert turns[0].stages_ms[Stage.ASR] < 400
    assert Stage.ASR_QUEUE not in turns[0].stages_ms


@pytest.mark.parametrize(
    ("text", "no_speech", "sure", "kept"),
    [
        ("I'm sorry", 0.7, -2.0, False),
        ("ご視聴ありがとうございました", 0.1, -0.1, True),
        ("I'm not sure", 0.45, -2.1, False),
        ("Stop", 0.05, -1.5, True),
        ("。", 0.1, -0.1, False),
        ("はい", 0.2, -2.0, True),
        ("a long talk with pauses", 0.7, -0.2, True),
    ],
)
async def test_what_is_invented_on_noise_is_dropped(
    text: str, no_speech: float, sure: float, kept: bool
) -> None:
    network = FakeNetwork(text=text, no_speech=no_speech, sure=sure)
    transcript = await whisper_on(network).transcribe(Said(np.ones(9000, np.int16)), None)
    assert bool(transcript) is kept


@pytest.mark.parametrize(("unsure", "kept"), [(-1.0, False), (-3.0, True)])
async def test_how_unsure_words_may_be_is_configured(unsure: float, kept: bool) -> None:
    config = AsrSection(whisper=WhisperSection(unsure_log_probability=unsure))
    network = FakeNetwork(text="I'm sorry", no_speech=0.7, sure=-1.5)
    heard = await whisper_on(network, config).transcribe(Said(np.ones(9000, np.int16)), None)
    assert bool(heard) is kept


async def test_the_fixed_language_of_the_configuration_is_used() -> None:
    network = FakeNetwork()
    engine = whisper_on(network, AsrSection(language="zh"))
    assert (await engine.transcribe(Said(np.ones(9000, np.int16)), None)).language == "zh"
    assert (await engine.transcribe(Said(np.ones(9000, np.int16)), "ja")).language == "ja"


async def test_an_utterance_without_sound_is_empty() -> None:
    network = FakeNetwork(text="。")
    transcript = await whisper_on(network).transcribe(Said(np.zeros(0, np.int16)), None)
    assert not transcript


@given(
    arrays.arrays(np.int16, st.integers(0, 3000), elements=st.integers(-3000, 3000)),
    st.integers(100, 1000),
)
def test_cutting_loses_nothing_and_keeps_the_limit(samples: Samples, longest: int) -> None:
    pieces = list(split_at_pauses(samples, longest))
    assert np.array_equal(np.concatenate(pieces), samples)
    assert all(len(piece) <= longest for piece in pieces)
    assert all(len(piece) for piece in pieces[:-1])


def test_long_speech_is_cut_in_its_pause() -> None:
    noise = np.random.default_rng(1).integers(-9000, 9000, 30 * LISTENING_RATE).astype(np.int16)
    pause = slice(20 * LISTENING_RATE, 21 * LISTENING_RATE)
    noise[pause] = 0
    first, _ = split_at_pauses(noise, 27 * LISTENING_RATE)
    assert pause.start < len(first) < pause.stop


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("スタッフのスタッフのスタッフのスタッフのスタッフの", "スタッフの"),
        ("I like it. no no no no no no", "I like it. no"),
        ("もしもし、もしもし", "もしもし、もしもし"),
        ("bye bye bye", "bye bye bye"),
        ("はははは", "はははは"),
        ("はぁぁぁぁぁぁぁぁぁぁぁぁぁぁぁぁ", "はぁ"),
        ("明日の天気は", "明日の天気は"),
    ],
)
def test_a_network_in_a_circle_is_stopped(text: str, expected: str) -> None:
    assert without_loops(text) == expected


async def test_a_missing_model_folder_is_explained(tmp_path: Path) -> None:
    config = Config(asr={"whisper": {"model_path": str(tmp_path)}})
    with pytest.raises(EngineMissing, match=r"asr\.whisper\.model_path"):
        await build(config, tmp_path).warm_up()


async def test_a_file_that_is_no_model_is_explained(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"nonsense" * 100)
    config = Config(asr={"whisper": {"model_path": str(tmp_path)}})
    with pytest.raises(EngineMissing, match="can't be loaded"):
        await build(config, tmp_path).warm_up()
