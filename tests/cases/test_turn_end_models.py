"""Public fault reports, group 4, with the real voice activity detector and recogniser: levels, noise, gaps."""

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray

from firmware_bridge import negotiate
from firmware_bridge.events import Audio as HeardAudio
from firmware_bridge.events import Hello, SpeechStopped
from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from server.asr import build as build_asr
from server.audio import (
    LISTENING_RATE,
    Audio,
    Samples,
    from_pcm,
    join,
    level_dbfs,
    read_audio,
    to_pcm,
)
from server.config import Config
from server.listening import Ear
from server.ports import Asr, Voice
from server.tts import build as build_tts
from server.utterance import Ending, Utterance
from server.vad.silero import SileroVad
from tests.fakes import FRAME, FakeAsr, FakeDevice, FakeTts, silence
from tests.talks import make_house, stops, talking, with_engines
from tests.virtual_time import VIRTUAL_TIME, Backend

pytestmark = pytest.mark.model

SAMPLES = Path(__file__).resolve().parents[2] / "recordings" / "samples"
CONFIG = Config()
WAKE_WORD = "Hi stack chan"
SLOW = "うん。"
"""At its own speed the voice takes 140 ms for it, a person 250."""


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


def sample(name: str) -> Samples:
    return read_audio(SAMPLES / f"{name}.wav").at(LISTENING_RATE).samples


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def vad(data: Path) -> SileroVad:
    return SileroVad(data, CONFIG.vad.gate_aggressiveness)


@pytest.fixture(scope="module")
async def asr(data: Path) -> AsyncIterator[Asr]:
    engine = build_asr(CONFIG, data)
    yield engine
    await engine.aclose()


PHRASES = {
    "en": (
        "one",
        "two",
        "three",
        "four",
        "Stop.",
        "No.",
        WAKE_WORD,
        f"{WAKE_WORD}, what time is it?",
    ),
    "ja": ("いち", "に", "さん", "よん", "止まって。", "はい。", SLOW),
}


@pytest.fixture(scope="module")
def spoken(data: Path) -> dict[str, Samples]:
    """All phrases, without the silence around them. Made in a loop with real time: Piper is another process."""
    with ThreadPoolExecutor(1) as thread:  # the loop of the tests may already live in this one
        return thread.submit(anyio.run, speak_all, data).result()


async def speak_all(data: Path) -> dict[str, Samples]:
    tts = build_tts(CONFIG, data)
    said = {}
    for language, phrases in PHRASES.items():
        for phrase in phrases:
            voice = Voice(language, speed=0.6 if phrase == SLOW else 1.0)
            async with aclosing(tts.synthesize(phrase, voice)) as pieces:
                parts: list[Audio] = [piece async for piece in pieces]
            samples = join(parts, parts[0].rate).at(LISTENING_RATE).samples
            loud = np.flatnonzero(np.abs(samples) > 300)
            said[phrase] = samples[loud[0] : loud[-1]]
    await tts.aclose()
    return said


def to_samples(wave: NDArray[np.floating[Any]]) -> Samples:
    samples: Samples = np.clip(np.rint(wave), -32768, 32767).astype(np.int16)
    return samples


def at_level(samples: Samples, dbfs: float) -> Samples:
    """Make a sound as loud as asked on average, its pauses left out."""
    spoken = samples[np.abs(samples) > 300]
    gain = 10 ** ((dbfs - level_dbfs(spoken)) / 20)
    return to_samples(samples * gain)


def fan(seconds: float, dbfs: float) -> Samples:
    """Return the noise of a fan: rushing air, most of it low, and the hum of blades."""
    count = round(seconds * LISTENING_RATE)
    air = np.convolve(np.random.default_rng(5).normal(0, 1, count), np.ones(6) / 6, "same")
    times = np.arange(count) / LISTENING_RATE
    hum = np.sum([np.sin(2 * np.pi * 118 * n * times) / n for n in (1, 2, 3)], axis=0)
    noise = air / air.std() + 0.5 * hum / hum.std()
    return to_samples(noise / noise.std() * 32768 * 10 ** (dbfs / 20))


def over(sound: Samples, noise: Samples) -> Samples:
    return to_samples(sound.astype(np.float64) + noise[: len(sound)])


def hear(vad: SileroVad, sound: Samples, **endpointing: float) -> list[Utterance]:
    config = Config(endpointing=endpointing)
    ear = Ear(vad.session(), vad.frame_samples, config.vad, config.endpointing)
    begun = []
    for start in range(0, len(sound), FRAME):
        begun += ear.hear(sound[start : start + FRAME])
    return begun


@pytest.mark.parametrize("name", ["ja-weather", "ja-tired", "en-name", "en-tired"])
@pytest.mark.parametrize("dbfs", range(-50, -9, 10))
async def test_speech_of_any_level_is_one_utterance_that_ends(
    dbfs: int, name: str, vad: SileroVad
) -> None:
    """rhasspy/wyoming-satellite#20 and #195: silence was not detected, or too eagerly."""
    speech = at_level(sample(name), dbfs)
    begun = hear(vad, np.concatenate([silence(1.0), speech, silence(1.5)]))
    assert [utterance.ending for utterance in begun] == [Ending.SILENCE]
    assert begun[0].sound().seconds > 0.8 * len(speech) / LISTENING_RATE


@pytest.mark.parametrize("dbfs", [-45, -35, -30])
@pytest.mark.parametrize("name", ["ja-weather", "en-name"])
async def test_a_fan_does_not_hold_an_utterance_open(name: str, dbfs: int, vad: SileroVad) -> None:
    """HA#122177: with a fan running, every command lasted 15 s."""
    speech = at_level(sample(name), -20)
    sound = np.concatenate([silence(2.0), speech, silence(3.0)])
    begun = hear(vad, over(sound, fan(12, dbfs)))
    assert [utterance.ending for utterance in begun] == [Ending.SILENCE]
    assert begun[0].sound().seconds < len(speech) / LISTENING_RATE + 1.4


async def test_a_fan_alone_says_nothing(vad: SileroVad) -> None:
    """HA#122177."""
    assert hear(vad, fan(10, -35)) == []


@pytest.mark.parametrize(
    "words", [("one", "two", "three", "four"), ("いち", "に", "さん", "よん")], ids="-".join
)
async def test_counting_with_gaps_of_600_ms_is_one_question(
    words: tuple[str, ...], vad: SileroVad, spoken: dict[str, Samples]
) -> None:
    """wilbowes/EchoMuse#343: such a count was split, and its beginning was lost."""
    sound = [piece for word in words for piece in (spoken[word], silence(0.6))]
    pieces = [str(number) for number in range(1, 9)]
    house = make_house(["はい。"], hears=FakeAsr(*pieces, seconds=0.3), voice=FakeTts(0.3))
    with_engines(house, vad=vad)
    device = FakeDevice()
    async with talking(house, device):
        await device.hear(silence(1.0), *sound, silence(1.0))
        await stops(device)
    [*_, turn] = house.recent.list()
    assert len(device.times(SpeechStopped)) == 1
    assert turn.question is not None
    assert turn.question.text.replace(" ", "") == "".join(pieces[: len(house.asr.heard)])
    heard = sum(len(piece) for piece in house.asr.heard)
    assert heard > sum(len(spoken[word]) for word in words)


@pytest.mark.parametrize("word", ["Stop.", "No.", "止まって。", "はい。", SLOW])
async def test_a_single_short_word_is_heard(
    word: str, vad: SileroVad, spoken: dict[str, Samples]
) -> None:
    """jxlarrea/voice-satellite-card-integration#146: a short "stop" was missed."""
    begun = hear(vad, np.concatenate([silence(1.0), spoken[word], silence(1.0)]))
    assert [utterance.ending for utterance in begun] == [Ending.SILENCE]


async def test_the_first_word_forty_milliseconds_after_opening_is_recognised(
    vad: SileroVad, asr: Asr
) -> None:
    """X#289, X PR#338."""
    [utterance] = hear(vad, np.concatenate([silence(0.04), sample("ja-weather"), silence(1.0)]))
    transcript = await asr.transcribe(utterance, "ja")
    assert transcript.text.startswith("明日の天気")


async def test_a_command_in_one_breath_with_the_wake_word_is_recognised(
    vad: SileroVad, asr: Asr, spoken: dict[str, Samples]
) -> None:
    """X#1917, X#1833: "Hi StackChan what time is it", without a pause."""
    breath = spoken[f"{WAKE_WORD}, what time is it?"]
    wake = len(spoken[WAKE_WORD])
    ear = Ear(vad.session(), vad.frame_samples, CONFIG.vad, CONFIG.endpointing)
    ear.hear(breath[: wake - 1600])
    ear.forget()  # the robot has recognised its wake word, and begins to stream
    [utterance] = ear.hear(np.concatenate([breath[wake - 1600 :], silence(1.0)]))
    transcript = await asr.transcribe(utterance, "en")
    assert "time is it" in transcript.text.lower()


@pytest.mark.parametrize("below_db", [10, 20])
async def test_a_television_does_not_hold_an_utterance_open(below_db: int, vad: SileroVad) -> None:
    """HA#122177: another voice is a voice, too, but it was there before, and is not so near."""
    speech = at_level(sample("ja-weather"), -20)
    shows = np.tile(at_level(sample("en-tired"), -20 - below_db), 10)
    sound = np.concatenate([silence(3.0), speech, silence(5.0)])
    begun = hear(vad, over(sound, shows[: len(sound)]))
    ended = 3.0 + len(speech) / LISTENING_RATE
    heard = sum(utterance.samples for utterance in begun[:1]) / LISTENING_RATE
    assert begun[0].ending is Ending.SILENCE
    assert ended - 0.5 < heard < ended + 1.2


@pytest.mark.parametrize("below_db", [10, 20])
async def test_a_television_begins_no_turn_and_hides_no_second_question(
    below_db: int, vad: SileroVad
) -> None:
    first, second = (at_level(sample(name), -20) for name in ("ja-weather", "ja-name"))
    sound = np.concatenate([silence(3.0), first, silence(5.0), second, silence(3.0)])
    shows = np.tile(at_level(sample("en-tired"), -20 - below_db), 20)
    begun = hear(vad, over(sound, shows[: len(sound)]))
    assert [utterance.ending for utterance in begun] == [Ending.SILENCE, Ending.SILENCE]
    in_quiet = hear(vad, sound)[1]
    assert abs(begun[1].sound().seconds - in_quiet.sound().seconds) < 0.35, (
        "less than is kept from before"
    )


@pytest.mark.parametrize("name", ["ja-weather", "en-tired"])
async def test_an_end_that_is_twenty_decibels_lower_is_kept(name: str, vad: SileroVad) -> None:
    speech = at_level(sample(name), -20)
    falling = np.ones(len(speech))
    falling[-len(speech) // 3 :] = 0.1
    sound = np.concatenate([silence(1.0), to_samples(speech * falling), silence(1.5)])
    [loud] = hear(vad, np.concatenate([silence(1.0), speech, silence(1.5)]))
    [soft] = hear(vad, sound)
    assert abs(soft.samples - loud.samples) <= 4 * 512


async def test_the_end_is_at_the_same_place_with_and_without_dtx(vad: SileroVad) -> None:
    """X#2116: whether a robot sends its silence or only says that it is silent."""
    sound = np.concatenate([silence(1.0), sample("ja-weather"), silence(3.0)])
    [even] = hear(vad, over_the_air(sound, dtx=False))
    [sparse] = hear(vad, over_the_air(sound, dtx=True))
    assert abs(even.endpoint_samples - sparse.endpoint_samples) <= 2 * 512


def over_the_air(sound: Samples, *, dtx: bool) -> Samples:
    """Return what arrives of a sound that a robot sends as Opus."""
    robot, server = XiaozhiDeviceCodec(dtx=dtx), negotiate("/xiaozhi/v1/", {}, {})
    server.receive(str(robot.send(Hello())[0]))
    arrived = [
        from_pcm(event.pcm)  # type: ignore[union-attr]
        for start in range(0, len(sound) - FRAME + 1, FRAME)
        for packet in robot.send(HeardAudio(to_pcm(sound[start : start + FRAME]), LISTENING_RATE))
        for event in server.receive(packet)
    ]
    return np.concatenate(arrived)


async def test_the_end_is_found_behind_packets_of_one_byte(vad: SileroVad) -> None:
    """X#2116: the one-byte packets of Opus DTX were taken for voice."""
    robot, server = XiaozhiDeviceCodec(dtx=True), negotiate("/xiaozhi/v1/", {}, {})
    server.receive(str(robot.send(Hello())[0]))
    sound = np.concatenate([silence(1.0), sample("ja-weather"), silence(3.0)])
    packets = [
        packet
        for start in range(0, len(sound) - FRAME + 1, FRAME)
        for packet in robot.send(HeardAudio(to_pcm(sound[start : start + FRAME]), LISTENING_RATE))
    ]
    assert sum(len(packet) <= 2 for packet in packets) > 20
    arrived = [from_pcm(event.pcm) for packet in packets for event in server.receive(packet)]  # type: ignore[union-attr]
    [utterance] = hear(vad, np.concatenate(arrived))
    assert utterance.ending is Ending.SILENCE
