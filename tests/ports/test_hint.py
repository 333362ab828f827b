"""The hint of a voice that has finished: on a real network that is tiny, and beside a recogniser."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from server.asr import build
from server.asr.hinted import HintedAsr
from server.asr.smart_turn import SmartTurn, SmartTurnNetwork
from server.audio import LISTENING_RATE, Samples
from server.clock import SystemClock
from server.config import Config
from server.endpointing import TurnEnds
from server.errors import AsrError, EngineMissing, OmoideError
from server.threads import Lazy
from server.trace import Turns
from server.turn import Transcript
from server.utterance import Ending, Utterance
from tests.fakes import FakeAsr, FakeEngine, silence, voice
from tests.ports.said import Said
from tests.ports.tiny_onnx import write_network

pytestmark = pytest.mark.model
FRAME = 512


class FakeHint(FakeEngine):
    """Gives the scripted probability, or fails."""

    def __init__(self, probability: float | Exception = 0.9) -> None:
        super().__init__()
        self.answer = probability
        self.asked: list[int] = []

    async def probability(self, samples: Samples) -> float:
        self.asked.append(len(samples))
        await anyio.lowlevel.checkpoint()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return write_network(tmp_path / "tiny.onnx")


@pytest.mark.parametrize("seconds", [0.0, 0.3, 8.0, 20.0])
async def test_a_network_is_shown_the_last_eight_seconds(network: Path, seconds: float) -> None:
    loaded = SmartTurnNetwork(network)
    sound = voice(seconds)
    features = loaded.features(sound)
    assert features.shape == (1, 80, 800)
    assert np.isfinite(features).all()
    expected = 1 / (1 + np.exp(-features.mean()))
    assert loaded.probability(sound) == pytest.approx(expected, abs=1e-5)


def test_the_end_of_a_sound_is_the_end_of_what_the_network_is_shown(network: Path) -> None:
    loud = SmartTurnNetwork(network).features(np.concatenate([silence(5), voice(1.0)]))[0]
    assert loud[:, -90:].mean() > loud[:, :600].mean() + 0.1


async def test_the_engine_loads_the_configured_file(network: Path, tmp_path: Path) -> None:
    engine = SmartTurn(str(network), tmp_path)
    await engine.warm_up()
    assert 0 <= await engine.probability(voice(1.0)) <= 1
    await engine.aclose()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda folder: folder / "none.onnx", "engine-missing"),
        (lambda folder: write_network(folder / "other.onnx", name="sound"), "weights-damaged"),
    ],
)
async def test_a_file_that_is_no_such_network_is_named(
    make: Callable[[Path], Path], code: str, tmp_path: Path
) -> None:
    path = make(tmp_path)
    with pytest.raises(EngineMissing, match=path.name) as raised:
        await SmartTurn(str(path), tmp_path).warm_up()
    assert raised.value.code == code


async def test_what_is_no_probability_is_an_error(tmp_path: Path) -> None:
    network = SmartTurnNetwork(write_network(tmp_path / "tiny.onnx", operator="Floor"))
    with pytest.raises(AsrError, match="answered"):
        network.probability(silence(1.0))


def test_the_configuration_puts_it_beside_the_recogniser(network: Path, tmp_path: Path) -> None:
    config = Config(endpointing={"hint": "smart-turn", "hint_path": str(network)})
    assert "smart-turn" in build(config, tmp_path).name
    assert "smart-turn" not in build(Config(), tmp_path).name


async def test_each_pause_is_judged_once() -> None:
    hint = FakeHint(0.7)
    speech = Said(np.concatenate([voice(1.0), silence(0.6)]), trailing_silence=9600)
    await HintedAsr(FakeAsr("はい", seconds=0.01), hint, 200).transcribe(speech, "ja")
    [(probability, samples)] = speech.hints
    assert probability == 0.7
    assert hint.asked == [samples]
    assert LISTENING_RATE + 3200 <= samples <= LISTENING_RATE + 3200 + FRAME


class SlowNetwork:
    """Judges when it is told to."""

    def __init__(self) -> None:
        self.may_judge = threading.Event()

    def probability(self, samples: Samples) -> float:
        self.may_judge.wait(30)
        return 0.5


async def test_robots_that_pause_at_once_overtake_nobody_but_themselves(tmp_path: Path) -> None:
    network, engine = SlowNetwork(), SmartTurn("", tmp_path)
    engine._model = Lazy[Any](lambda: network)
    ended: list[str] = []

    async def pause(device: str) -> None:
        with Turns(SystemClock("UTC")).record(device, "person"):
            try:
                await engine.probability(silence(0.5))
            except AsrError as error:
                ended.append(f"{device} {error.code}")

    async with anyio.create_task_group() as tasks:
        for device in [*map(str, range(8)), *["often"] * 6]:
            tasks.start_soon(pause, device)
            await anyio.wait_all_tasks_blocked()
        network.may_judge.set()
    assert ended == ["often hint-overtaken"] * 2


@pytest.mark.parametrize("error", [EngineMissing("x"), ValueError("x")])
async def test_a_hint_that_fails_changes_nothing(error: Exception) -> None:
    speech = Said(np.concatenate([voice(1.0), silence(0.6)]), trailing_silence=9600)
    asr = HintedAsr(FakeAsr("はい", seconds=0.01), FakeHint(error), 200)
    assert (await asr.transcribe(speech, "ja")).text == "はい"
    assert speech.hints == []


async def test_an_error_of_the_recogniser_comes_out_as_it_is() -> None:
    asr = HintedAsr(FakeAsr(AsrError("asr-failed", "x"), seconds=0.01), FakeHint(), 200)
    with pytest.raises(OmoideError, match="x"):
        await asr.transcribe(Said(voice(0.5)), "ja")


async def test_a_hint_that_comes_after_the_voice_is_back_is_ignored() -> None:
    utterance = Utterance(TurnEnds(Config().endpointing).begin(0))
    utterance.grow(voice(0.5), voiced=True, silent=False)
    utterance.grow(silence(0.25), voiced=False, silent=True)
    heard = utterance.samples
    utterance.grow(voice(0.5), voiced=True, silent=False)
    utterance.grow(silence(0.5), voiced=False, silent=True)
    utterance.take_hint(0.99, heard)
    utterance.read_text(Transcript("昨日食べた", "ja"), utterance.samples)
    assert utterance.ending is None
    utterance.take_hint(0.99, utterance.samples)
    assert utterance.ending is Ending.SILENCE


async def test_both_listen_to_the_same_growing_utterance() -> None:
    utterance, hint, asr = Utterance(), FakeHint(), FakeAsr("はい", seconds=0.01)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(HintedAsr(asr, hint, 200).transcribe, utterance, "ja")
        for voiced in (True, True, False, False):
            sound = voice(0.25) if voiced else silence(0.25)
            utterance.grow(sound, voiced=voiced, silent=not voiced)
            await anyio.wait_all_tasks_blocked()
        utterance.end(Ending.SILENCE)
    assert hint.asked == [12_000]
    assert len(asr.heard[0]) == LISTENING_RATE
