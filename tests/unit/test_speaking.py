"""Which voice reads a text, and how a reply reaches the device: frames, lead, what was heard."""

from collections.abc import AsyncIterator

import anyio
import numpy as np
import pytest

from firmware_bridge.events import PlayAudio, SpeechStarted, SpeechStopped
from server.config import PacingSection
from server.languages import spoken_language, written_language
from server.playback import Playback
from server.sentences import Sentence
from server.speaking import Part
from server.spoken import Length
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


@pytest.mark.parametrize(
    ("text", "expected", "talked", "language"),
    [
        ("Yes.", "ja", "en", "en"),
        ("No", "ja", "zh", "zh"),
        ("OK", "en", "ja", "ja"),
        ("好的。", "ja", "zh", "zh"),
        ("可以", "en", "zh", "zh"),
        ("東京", "ja", "en", "ja"),
        ("我慢", "ja", "", "ja"),
        ("Good morning!", "ja", "ja", "en"),
        ("はい", "en", "en", "ja"),
        ("Guten Morgen", "de", "en", "de"),
    ],
)
def test_what_leaves_its_language_open_is_in_that_of_the_talk(
    text: str, expected: str, talked: str, language: str
) -> None:
    assert written_language(text, expected, talked) == language


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


@pytest.mark.parametrize("lead_ms", [0, 59])
async def test_a_lead_of_less_than_a_frame_is_one_frame(device: FakeDevice, lead_ms: int) -> None:
    playing = Playback(device, PacingSection(lead_ms=lead_ms))
    with anyio.move_on_after(10):
        await playing.play(part("あ" * 20, 0.6))
    assert device.times(PlayAudio) == [pytest.approx(0.06 * n, abs=1e-6) for n in range(10)]


@pytest.mark.parametrize(("late", "behind"), [(0.02, 0.002), (0.001, 0.001), (0.1, 0.1)])
async def test_little_delays_do_not_add_up(device: FakeDevice, late: float, behind: float) -> None:
    """Or a robot with one frame in hand would run dry at every one of them."""
    playing = Playback(device, PacingSection(lead_ms=60))
    await playing.play(part("あ", 0.06))
    await anyio.sleep(0.06 + late)
    await playing.play(part("い", 0.3))
    first, second, *others = device.times(PlayAudio)
    assert second - first == pytest.approx(0.06 + late, abs=1e-6)
    assert others == [pytest.approx(first + 0.06 * n + behind, abs=1e-6) for n in range(2, 6)]


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


async def test_what_is_held_reaches_the_device_when_it_goes_on_and_not_before(
    device: FakeDevice,
) -> None:
    playing = Playback(device, PacingSection(), lead_ms=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(playing.play, part("あ" * 20, 2.0))
        await anyio.sleep(0.5)
        playing.hold()
        before = len(device.times(PlayAudio))
        await anyio.sleep(3)
        assert len(device.times(PlayAudio)) == before
        assert len("".join(playing.heard())) == pytest.approx(before * 0.06 / 0.1, abs=1)
        playing.go_on()
        await anyio.sleep(0.01)
        assert len(device.times(PlayAudio)) == before + 1
    await playing.finish()
    assert playing.heard() == ["あ" * 20]
    assert len(device.times(PlayAudio)) == 34
    assert device.commands(SpeechStarted, SpeechStopped) == [SpeechStarted(), SpeechStopped()]


async def test_what_begins_while_it_is_held_waits(device: FakeDevice) -> None:
    playing = playback(device)
    playing.hold()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(playing.play, part("あ", 0.6))
        await anyio.sleep(1)
        assert device.sent == []
        playing.go_on()
    assert device.times(PlayAudio)[0] == pytest.approx(1.0)


async def test_what_is_held_can_be_stopped(device: FakeDevice) -> None:
    playing = playback(device, lead_ms=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(playing.play, part("あ" * 20, 2.0))
        await anyio.sleep(0.5)
        playing.hold()
        await anyio.sleep(0.5)
        before = len(device.times(PlayAudio))
        playing.stop()
    assert len(device.times(PlayAudio)) == before
    assert device.commands(SpeechStopped) == [SpeechStopped(True)]
    playing.hold()
    await playing.play(part("い", 0.1))


async def test_a_sentence_is_said_again_from_its_own_beginning(device: FakeDevice) -> None:
    playing = playback(device, lead_ms=60)
    await playing.play(part("い" * 6, 0.6))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(playing.play, part("あ" * 20, 1.8))
        await anyio.sleep(0.6)
        playing.hold()
        await anyio.sleep(1)
        before = len(device.times(PlayAudio))
        assert playing.saying() == "あ" * 20
        playing.go_on(again=True)
    assert len(device.times(PlayAudio)) == 10 + 30 + (before - 10)
    await playing.finish()
    assert playing.heard() == ["い" * 6, "あ" * 20]


async def test_a_device_that_ran_dry_has_not_played_on(device: FakeDevice) -> None:
    """Between the pieces of a sentence nothing is heard, however long the voice takes."""
    length = Length(48_000, is_whole=True)
    sentence = Sentence("あ" * 20, "あ" * 20, None)
    playing = playback(device)
    await playing.play(Part(voice(0.6, rate=24_000), sentence, length=length))
    await playing.pause()
    await anyio.sleep(30)
    playing.stop()
    assert playing.heard() == ["あ" * 6]
