"""What every voice activity detector must do, and what the gate of Silero must not do."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from server.audio import LISTENING_RATE, Samples, level_dbfs
from server.config import Config
from server.ports import Vad, VadSession
from server.vad import build
from server.vad.silero import SileroVad

ENGINES = ("silero", "webrtc")


@pytest.fixture(params=ENGINES)
def vad(request: pytest.FixtureRequest, models: Path) -> Vad:
    return build(Config(vad={"engine": request.param}), models)


def test_the_gate_hears_as_loud_as_configured(models: Path) -> None:
    vad = build(Config(vad={"gate_gain": 7}), models)
    assert isinstance(vad, SileroVad)
    gate = vad.session()._gate
    assert gate is not None
    assert gate._gain == 7


def silence(seconds: float) -> Samples:
    return np.zeros(int(seconds * LISTENING_RATE), np.int16)


def at_level(samples: Samples, dbfs: float) -> Samples:
    gain = 10 ** ((dbfs - level_dbfs(samples)) / 20)
    louder: Samples = np.clip(samples * gain, -32768, 32767).astype(np.int16)
    return louder


def with_noise(samples: Samples, dbfs: float) -> Samples:
    noise = np.random.default_rng(7).normal(0, 32768 * 10 ** (dbfs / 20), len(samples))
    return np.clip(samples + noise, -32768, 32767).astype(np.int16)


def scores(session: VadSession, samples: Samples, frame_samples: int) -> list[float]:
    ends = range(frame_samples, len(samples) + 1, frame_samples)
    return [session.speech_probability(samples[end - frame_samples : end]) for end in ends]


def endpoints(probabilities: list[float]) -> list[int]:
    """The frames at which an utterance starts or ends, by the default thresholds."""
    found: list[int] = []
    voiced = silent = 0
    for index, probability in enumerate(probabilities):
        speaking = len(found) % 2 == 1
        voiced = voiced + 1 if probability >= 0.5 else 0
        silent = silent + 1 if probability < 0.35 else 0
        if (not speaking and voiced == 3) or (speaking and silent >= 19):
            found.append(index)
            voiced = silent = 0
    return found


@pytest.mark.model
async def test_speech_scores_high_and_silence_low(vad: Vad, japanese: Samples) -> None:
    await vad.warm_up()
    around = np.concatenate((silence(1), japanese, silence(1)))
    heard = scores(vad.session(), around, vad.frame_samples)
    second = LISTENING_RATE // vad.frame_samples
    spoken = heard[second + 8 : -second - 8]
    assert max(heard[: second - 2]) < 0.35
    assert sum(score >= 0.5 for score in spoken) > 0.7 * len(spoken)
    assert max(heard[-second + 16 :]) < 0.35
    assert all(0.0 <= score <= 1.0 for score in heard)
    await vad.aclose()


@pytest.mark.model
async def test_quiet_speech_is_heard(vad: Vad, english: Samples) -> None:
    around = np.concatenate((silence(0.5), at_level(english, -50), silence(0.5)))
    heard = scores(vad.session(), around, vad.frame_samples)
    assert sum(score >= 0.5 for score in heard) > 0.4 * len(heard)


@pytest.mark.model
async def test_sessions_do_not_disturb_each_other(vad: Vad, japanese: Samples) -> None:
    alone = scores(vad.session(), japanese, vad.frame_samples)
    first, second = vad.session(), vad.session()
    interleaved = []
    for end in range(vad.frame_samples, len(japanese) + 1, vad.frame_samples):
        interleaved.append(first.speech_probability(japanese[end - vad.frame_samples : end]))
        second.speech_probability(np.zeros(vad.frame_samples, np.int16))
    assert interleaved == alone


@pytest.mark.model
async def test_reset_forgets_the_sound_before(vad: Vad, japanese: Samples) -> None:
    session = vad.session()
    fresh = scores(session, japanese, vad.frame_samples)
    session.reset()
    assert scores(session, japanese, vad.frame_samples) == fresh


@pytest.mark.model
async def test_works_again_after_closing(vad: Vad) -> None:
    await vad.warm_up()
    await vad.aclose()
    assert vad.session().speech_probability(np.zeros(vad.frame_samples, np.int16)) < 0.5


NOISES: dict[str, Samples] = {
    "hiss": with_noise(silence(2), -40),
    "loud-hiss": with_noise(silence(2), -15),
    "hum": (3000 * np.sin(np.arange(32000) * 2 * np.pi * 50 / LISTENING_RATE)).astype(np.int16),
    "tone": (3000 * np.sin(np.arange(32000) * 2 * np.pi * 440 / LISTENING_RATE)).astype(np.int16),
    "breath": (
        np.convolve(with_noise(silence(2), -26), np.ones(8) / 8, "same") * np.hanning(32000)
    ).astype(np.int16),
    "click": np.concatenate([np.zeros(8000), [32767], np.zeros(16000)]).astype(np.int16),
}


@pytest.mark.model
@pytest.mark.parametrize("noise", NOISES)
async def test_silero_takes_no_noise_for_speech(noise: str, models: Path) -> None:
    session = SileroVad(models, 1).session()
    assert max(scores(session, NOISES[noise], 512)) < 0.35


GATE_CASES: dict[str, Callable[[Samples], Samples]] = {
    "plain": lambda speech: speech,
    "whispered": lambda speech: at_level(speech, -50),
    "whispered-in-faint-noise": lambda speech: with_noise(at_level(speech, -50), -75),
    "at-the-edge-of-hearing": lambda speech: with_noise(at_level(speech, -63), -75),
    "in-room-noise": lambda speech: with_noise(at_level(speech, -25), -50),
}


@pytest.mark.model
@pytest.mark.parametrize("case", GATE_CASES)
async def test_the_gate_of_silero_moves_no_endpoint(
    case: str, models: Path, japanese: Samples, english: Samples
) -> None:
    # The long silence is where a network that was not shown the silent frames would be out of step.
    talk = np.concatenate(
        (silence(1.3), japanese, silence(9), english, silence(0.7), japanese[:12000], silence(1))
    )
    talk = GATE_CASES[case](talk)
    gated = scores(SileroVad(models, 1).session(), talk, 512)
    free = scores(SileroVad(models, 1, gated=False).session(), talk, 512)
    assert len(endpoints(free)) >= 4
    # The voice of the samples is never quite the same: a frame may lie on the very threshold.
    assert endpoints(gated) == pytest.approx(endpoints(free), abs=1)
    skipped = [score == 0.0 for score in gated]
    assert all(
        skip or a == pytest.approx(b) for skip, a, b in zip(skipped, gated, free, strict=True)
    )


@pytest.mark.model
async def test_the_gate_skips_silence(models: Path) -> None:
    class CountingNetwork:
        def __init__(self, network: object) -> None:
            self.network = network
            self.frames: list[int] = []

        def run(self, names: object, feed: dict[str, Samples]) -> object:
            self.frames.append(len(feed["input"]))
            return self.network.run(names, feed)  # type: ignore[attr-defined]

    vad = SileroVad(models, 1)
    await vad.warm_up()
    network = vad._network = CountingNetwork(vad._network)
    session = vad.session()
    heard = scores(session, silence(10), 512)
    assert set(heard[10:]) == {0.0}
    assert len(network.frames) < len(heard) / 10
    assert max(network.frames) <= 32
