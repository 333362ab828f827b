"""What every recogniser must do, how Whisper starts early, and how its text is cleaned."""

import threading
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from server.asr import build
from server.asr.whisper import WhisperAsr
from server.asr.whisper_model import Recognised, split_at_pauses, without_loops
from server.audio import LISTENING_RATE, Samples
from server.config import AsrSection, Config, WhisperSection
from server.errors import AsrError, EngineMissing
from server.ports import Asr, SpeechChunk
from server.trace import Turns
from server.turn import Stage, Turn

FRAME = 512
PAUSE = 7 * FRAME
"""A little more than the 200 ms of `early_start_ms`."""


class Said:
    """An utterance that is there already, with the silence at its end measured as the endpointer does."""

    def __init__(self, samples: Samples, trailing_silence: int = 0) -> None:
        self.samples = samples
        self.trailing_silence = trailing_silence

    async def chunks(self) -> AsyncIterator[SpeechChunk]:
        for start in range(0, len(self.samples), FRAME):
            piece = self.samples[start : start + FRAME]
            left = len(self.samples) - start - len(piece)
            yield SpeechChunk(piece, max(0, self.trailing_silence - left))


class Growing:
    """An utterance that the test extends."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[SpeechChunk](100)

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


class FakeNetwork:
    """Says how many samples it got. Blocks until `go_on`, if told so."""

    def __init__(self, *, blocking: bool = False, no_speech: float = 0.0, text: str = "") -> None:
        self.heard: list[int] = []
        self.blocking = blocking
        self.no_speech = no_speech
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
        return Recognised(text, language or languages[0], 0.9, self.no_speech)

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
    speech.pause()
    speech.speak()
    speech.end()
    await whisper_on(network).transcribe(speech, None)
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
    assert Stage.ASR in turns[0].stages_ms
    assert turns[1].stages_ms[Stage.ASR_QUEUE] >= 40


async def test_time_before_the_end_of_the_utterance_is_not_counted() -> None:
    network = FakeNetwork()
    speech = Growing()
    turns: list[Turn] = []

    async def transcribe() -> None:
        with Turns(WallClock()).record("device", "person") as turn:
            await whisper_on(network).transcribe(speech, None)
        turns.append(turn)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transcribe)
        speech.speak()
        speech.pause()
        await network.wait_until_asked()
        await anyio.sleep(0.5)
        speech.end()
    assert turns[0].stages_ms[Stage.ASR] < 400
    assert Stage.ASR_QUEUE not in turns[0].stages_ms


@pytest.mark.parametrize(
    ("text", "no_speech"), [("thank you", 0.7), ("ご視聴ありがとうございました", 0.1), ("。", 0.1)]
)
async def test_what_is_invented_on_noise_is_dropped(text: str, no_speech: float) -> None:
    network = FakeNetwork(text=text, no_speech=no_speech)
    transcript = await whisper_on(network).transcribe(Said(np.ones(9000, np.int16)), None)
    assert not transcript


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


ENGINES = ("whisper",)


@pytest.fixture(scope="module", params=ENGINES)
def asr(request: pytest.FixtureRequest, models: Path) -> Asr:
    return build(Config(asr={"engine": request.param}), models)


@pytest.mark.model
async def test_recognises_and_detects_japanese(asr: Asr, japanese: Samples) -> None:
    transcript = await asr.transcribe(Said(japanese), None)
    assert transcript.text.rstrip("。") == "明日の天気を教えてください"
    assert transcript.language == "ja"
    assert transcript.language_probability > 0.8
    assert transcript.speech_seconds == pytest.approx(len(japanese) / LISTENING_RATE)


@pytest.mark.model
async def test_recognises_and_detects_english(asr: Asr, english: Samples) -> None:
    transcript = await asr.transcribe(Said(english), None)
    assert "weather going to be like tomorrow" in transcript.text
    assert transcript.language == "en"


@pytest.mark.model
async def test_a_given_language_is_kept(asr: Asr, japanese: Samples) -> None:
    assert (await asr.transcribe(Said(japanese), "ja")).language == "ja"
    assert (await asr.transcribe(Said(japanese), "en")).language == "en"


NOISES: dict[str, Samples] = {
    "silence": np.zeros(2 * LISTENING_RATE, np.int16),
    "hiss": np.random.default_rng(3).normal(0, 300, 2 * LISTENING_RATE).astype(np.int16),
    "loud-hiss": np.random.default_rng(4).normal(0, 6000, 2 * LISTENING_RATE).astype(np.int16),
    "hum": (3000 * np.sin(np.arange(2 * LISTENING_RATE) * 2 * np.pi * 50 / LISTENING_RATE)).astype(
        np.int16
    ),
    "click": np.concatenate([np.zeros(8000), [32767], np.zeros(16000)]).astype(np.int16),
    "nothing": np.zeros(0, np.int16),
    "an-instant": np.ones(100, np.int16),
}


@pytest.mark.model
@pytest.mark.parametrize("noise", NOISES)
async def test_nobody_is_heard_in_noise(noise: str, asr: Asr) -> None:
    transcript = await asr.transcribe(Said(NOISES[noise]), None)
    assert not transcript, transcript.text


@pytest.mark.model
@pytest.mark.parametrize("level", [1.0, 0.02])
async def test_the_silence_at_the_end_does_not_matter(
    level: float, asr: Asr, japanese: Samples
) -> None:
    quiet = (japanese * level).astype(np.int16)
    spoken = np.concatenate((quiet, np.zeros(10000, np.int16)))
    transcript = await asr.transcribe(Said(spoken, 10000), None)
    assert transcript.text.rstrip("。") == "明日の天気を教えてください"


@pytest.mark.model
async def test_speech_longer_than_a_window_is_heard_to_its_end(
    asr: Asr, japanese: Samples, english: Samples
) -> None:
    gap = np.zeros(LISTENING_RATE // 2, np.int16)
    sentences = [piece for _ in range(12) for piece in (english, gap)]
    transcript = await asr.transcribe(Said(np.concatenate(sentences)), "en")
    assert transcript.text.lower().count("weather") >= 11
    assert transcript.speech_seconds > 30


@pytest.mark.model
async def test_speakers_at_the_same_time_get_their_own_words(
    asr: Asr, japanese: Samples, english: Samples
) -> None:
    texts: dict[str, str] = {}

    async def transcribe(language: str, samples: Samples) -> None:
        texts[language] = (await asr.transcribe(Said(samples), None)).text

    async with anyio.create_task_group() as speakers:
        speakers.start_soon(transcribe, "ja", japanese)
        speakers.start_soon(transcribe, "en", english)
    assert "天気" in texts["ja"]
    assert "weather" in texts["en"]


@pytest.mark.model
async def test_warming_up_while_in_use_and_closing(models: Path, japanese: Samples) -> None:
    engine = build(Config(), models)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(engine.warm_up)
        assert await engine.transcribe(Said(japanese), None)
    await engine.aclose()
