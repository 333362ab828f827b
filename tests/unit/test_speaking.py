"""Which voice reads a text, and how a reply reaches the device: frames, lead, what was heard."""

from collections.abc import AsyncIterator

import anyio
import numpy as np
import pytest

from firmware_bridge.events import PlayAudio, SpeechStarted, SpeechStopped
from server.config import PacingSection
from server.playback import Playback
from server.sentences import Sentence
from server.speaking import Part, spoken_language, written_language
from tests.fakes import FakeDevice, voice
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("東京大学", "ja", "ja"),
        ("東京大学", "zh", "zh"),
        ("東京大学", "en", "zh"),
        ("こんにちは。", "en", "ja"),
        ("OKです。", "ja", "ja"),
        ("Yes, OK.", "ja", "ja"),
        ("It is a fine day today.", "ja", "en"),
        ("3.5", "en", "en"),
        ("3.5", "ja", "ja"),
    ],
)
def test_the_script_decides_the_voice_where_the_language_can_not(
    text: str, expected: str, language: str
) -> None:
    assert spoken_language(text, expected) == language


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("Good morning!", "ja", "en"),
        ("Hello", "ja", "en"),
        ("OK", "ja", "ja"),
        ("おはよう", "en", "ja"),
        ("今日のTokyo Towerは？", "ja", "ja"),
        ("Guten Morgen", "de", "de"),
        ("東京", "ja", "ja"),
    ],
)
def test_typed_text_is_answered_in_its_own_language(
    text: str, expected: str, language: str
) -> None:
    assert written_language(text, expected) == language


@pytest.fixture
async def device() -> AsyncIterator[FakeDevice]:
    robot = FakeDevice()
    yield robot
    robot.close()


def part(text: str, seconds: float) -> Part:
    return Part(voice(seconds, rate=24_000), Sentence(text, text, None))


def playback(device: FakeDevice, **pacing: int) -> Playback:
    return Playback(device, PacingSection(**pacing))


async def test_frames_leave_at_most_the_lead_before_their_time(device: FakeDevice) -> None:
    playing = playback(device, lead_ms=300)
    await playing.play(part("あ" * 20, 2.0))
    await playing.finish()
    times = device.times(PlayAudio)
    assert times[:5] == [0.0] * 5
    for index, at in enumerate(times):
        assert at == pytest.approx(max(0.0, (index + 1) * 0.06 - 0.3), abs=1e-6)
    assert device.times(SpeechStopped) == [pytest.approx(len(times) * 0.06 + 0.12, abs=1e-6)]


async def test_lead_in_silence_comes_before_the_first_syllable(device: FakeDevice) -> None:
    playing = playback(device, lead_in_ms=180)
    await playing.play(part("あ", 0.6))
    await playing.finish()
    frames = [np.frombuffer(sent.pcm, "<i2") for sent in device.commands(PlayAudio)]  # type: ignore[union-attr]
    assert all(not frame.any() for frame in frames[:3])
    assert frames[3].any()


async def test_what_was_heard_is_cut_where_the_sound_was(device: FakeDevice) -> None:
    playing = playback(device)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(playing.play, part("one two three four five six", 4.0))
        await anyio.sleep(2.3)  # in the middle of "four"
        playing.stop()
        tasks.cancel_scope.cancel()
    assert playing.heard() == ["one two three"]
    await anyio.sleep(10)
    assert playing.heard() == ["one two three"], "what was never sent is not heard later either"


async def test_stopping_twice_tells_the_device_once(device: FakeDevice) -> None:
    playing = playback(device)
    await playing.play(part("あ", 0.1))
    playing.stop()
    playing.stop()
    await playing.finish()
    await playing.play(part("い", 0.1))
    assert device.commands(SpeechStarted, SpeechStopped) == [SpeechStarted(), SpeechStopped(True)]


async def test_a_playback_that_never_began_says_nothing(device: FakeDevice) -> None:
    playing = playback(device)
    playing.stop()
    await playing.finish()
    assert device.sent == []


async def test_a_device_that_ran_dry_is_not_flooded_afterwards(device: FakeDevice) -> None:
    playing = playback(device, lead_ms=300)
    await playing.play(part("あ", 0.6))
    await playing.pause()
    await anyio.sleep(5)
    late = len(device.times(PlayAudio))
    await playing.play(part("い", 2.0))
    times = device.times(PlayAudio)[late:]
    assert times[5] - times[0] == pytest.approx(0.06, abs=0.001)
