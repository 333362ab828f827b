"""Public fault reports, group 11, with the real detector and recogniser: noise is no turn, a short word is one."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from firmware_bridge.events import ListenStarted, ListenStopped, ShowTranscript
from server.asr import build as build_asr
from server.audio import LISTENING_RATE, Audio, Samples
from server.config import Config
from server.ports import Asr
from server.tts.openjtalk import tame
from server.vad.silero import SileroVad
from tests.fakes import FakeDevice, FakeHouse, silence
from tests.talks import make_house, stops, talking, with_engines
from tests.virtual_time import VIRTUAL_TIME, Backend

pytestmark = pytest.mark.model

CONFIG = Config()
SECONDS = 3.0


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@pytest.fixture(scope="module")
def vad(data: Path) -> SileroVad:
    return SileroVad(data, CONFIG.vad.gate_aggressiveness)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
async def asr(data: Path) -> AsyncIterator[Asr]:
    engine = build_asr(CONFIG, data)
    yield engine
    await engine.aclose()


def noise(seconds: float = SECONDS) -> NDArray[np.float64]:
    return np.random.default_rng(11).normal(0, 1, round(seconds * LISTENING_RATE))


def to_samples(wave: NDArray[np.floating[Any]]) -> Samples:
    samples: Samples = np.clip(wave, -32768, 32767).astype(np.int16)
    return samples


def tone(hertz: float) -> NDArray[np.float64]:
    return np.sin(2 * np.pi * hertz * np.arange(round(SECONDS * LISTENING_RATE)) / LISTENING_RATE)


def breath() -> Samples:
    """Return two breaths: soft air that swells and fades."""
    air = np.convolve(noise(), np.ones(8) / 8, "same")
    return to_samples(3000 * air * np.sin(np.linspace(0, 2 * np.pi, len(air))) ** 2)


def click() -> Samples:
    """Return a key being pressed: a short burst and its echo."""
    wave = np.zeros(round(SECONDS * LISTENING_RATE))
    for at in (8000, 24000):
        wave[at : at + 400] = 12000 * noise(0.025) * np.exp(-np.arange(400) / 80)
    return to_samples(wave)


NOISES: dict[str, Samples] = {
    "silence": silence(SECONDS),
    "hiss": to_samples(40 * noise()),
    "hum": to_samples(2000 * (tone(50) + tone(100) / 2 + tone(150) / 3)),
    "whistle": to_samples(3000 * tone(900)),
    "breath": breath(),
    "click": click(),
}


def house_with(vad: SileroVad, asr: Asr) -> FakeHouse:
    return with_engines(make_house(["はい。"]), vad=vad, asr=asr)


@pytest.mark.parametrize(
    ("sound", "mode"),
    [*((sound, "auto") for sound in NOISES), ("hum", "manual")],
)
async def test_nobody_is_answered_when_nobody_speaks(
    sound: str, mode: str, vad: SileroVad, asr: Asr
) -> None:
    """transformers#24512, willow-inference-server#46, whisperIME#57, pocketshell#452: "Thank you for watching"."""
    house, device = house_with(vad, asr), FakeDevice(mode="")
    async with talking(house, device):
        device.put(ListenStarted(mode))  # type: ignore[arg-type]
        await device.hear(silence(0.5), NOISES[sound], silence(1.0))
        device.put(ListenStopped())
        await device.hear(silence(1.0))
    assert device.sent == []
    assert house.llm.prompts == []


@pytest.mark.parametrize(
    ("said", "text"), [("はい。", "はい"), ("オーケー。", "OK"), ("ストップ。", "ストップ")]
)
async def test_a_short_word_with_the_language_fixed_stays_in_that_language(
    said: str, text: str, vad: SileroVad, asr: Asr
) -> None:
    """X#3246, SenseVoice#72 and #252."""
    import pyopenjtalk  # noqa: PLC0415 - only this test needs it

    wave, rate = pyopenjtalk.tts(said)
    sound = Audio(tame(wave, rate), rate).at(LISTENING_RATE).samples
    house, device = house_with(vad, asr), FakeDevice()
    device.language = "ja"
    async with talking(house, device):
        await device.hear(silence(0.5), sound, silence(1.0))
        await stops(device)
    [command] = device.commands(ShowTranscript)
    assert isinstance(command, ShowTranscript)
    assert command.text == text
    assert house.llm.prompts[0].language == "ja"
