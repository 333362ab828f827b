"""From a device's events to utterances: starts, ends, pre-roll, modes, and what must not count as speech."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from firmware_bridge.events import Aborted, Audio, ListenStarted, ListenStopped, TextSaid, WakeWord
from server.audio import LISTENING_RATE, Samples, to_pcm
from server.config import Config
from server.listening import Ear, Heard, VoiceLost, VoiceNoticed, listen
from server.listening import _Listener as Listener
from server.utterance import Ending, Utterance
from tests.fakes import FRAME, FakeDevice, FakeVad, silence, voice
from tests.virtual_time import VIRTUAL_TIME, Backend

FRAME_MS = 32


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@asynccontextmanager
async def listening(
    device: FakeDevice, *, speaking: Callable[[], bool] = lambda: False, **endpointing: float
) -> AsyncIterator[list[Heard]]:
    heard: list[Heard] = []  # without signs of what may come
    config = Config(endpointing=endpointing)

    async def collect() -> None:
        signs = (ListenStarted, VoiceNoticed, VoiceLost)
        ear = listen(device, FakeVad(), config.vad, config.endpointing, speaking, 32)
        async with aclosing(ear):
            async for said in ear:
                heard.extend([] if isinstance(said, signs) else [said])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect)
        yield heard
        device.hang_up()
    device.close()


def utterances(heard: list[Heard]) -> list[Utterance]:
    return [said for said in heard if isinstance(said, Utterance)]


def signs_of(sound: Samples) -> list[type]:
    """Return what is told of while a sound is heard, frame by frame."""
    device = FakeDevice()
    listener = ear()
    noticing = Listener(listener, device, lambda: False, 512)
    noticing.take(ListenStarted("realtime"))
    told = []
    for start in range(0, len(sound), FRAME):
        told += noticing.take(Audio(to_pcm(sound[start : start + FRAME]), LISTENING_RATE))
    device.close()
    return [type(sign) for sign in told]


async def test_a_sound_is_told_of_before_it_is_known_whether_it_is_an_utterance() -> None:
    assert signs_of(np.concatenate([silence(0.6), voice(0.5)])) == [VoiceNoticed, Utterance]


async def test_a_sound_that_is_no_utterance_is_taken_back_after_two_silent_frames() -> None:
    assert signs_of(np.concatenate([silence(0.6), voice(0.04), silence(0.12)])) == [
        VoiceNoticed,
        VoiceLost,
    ]


class DoubtfulSession:
    """Never sure whether loud sound is a voice."""

    def speech_probability(self, frame: Samples) -> float:
        return 0.4 if np.abs(frame).max() > 100 else 0.02

    def reset(self) -> None:
        pass


async def test_a_noise_that_never_becomes_an_utterance_is_told_of_once_and_soon_taken_back() -> (
    None
):
    config, device = Config(), FakeDevice()
    doubtful = Ear(DoubtfulSession(), 512, config.vad, config.endpointing)
    noticing = Listener(doubtful, device, lambda: False, 512)
    noticing.take(ListenStarted("realtime"))
    told: list[tuple[float, type]] = []
    sound = np.concatenate([silence(0.6), voice(6.0), silence(0.6)])
    for start in range(0, len(sound), FRAME):
        heard = noticing.take(Audio(to_pcm(sound[start : start + FRAME]), LISTENING_RATE))
        told += [(start / LISTENING_RATE, type(sign)) for sign in heard]
    device.close()
    assert [sign for _, sign in told] == [VoiceNoticed, VoiceLost]
    assert told[1][0] - told[0][0] < 0.6


def ear(**endpointing: float) -> Ear:
    config = Config(endpointing=endpointing)
    return Ear(FakeVad().session(), FakeVad.frame_samples, config.vad, config.endpointing)


def hear_all(listener: Ear, samples: Samples, piece: int) -> list[Utterance]:
    begun = []
    for start in range(0, len(samples), piece):
        begun += listener.hear(samples[start : start + piece])
    return begun


@pytest.mark.parametrize("piece", [160, 320, 960, 1600, 40 * 960])
async def test_bursts_and_odd_packets_end_at_the_same_sample(piece: int) -> None:
    sound = np.concatenate([silence(0.5), voice(1.0), silence(2.0)])
    [utterance] = hear_all(ear(), sound, piece)
    [even] = hear_all(ear(), sound, 512)
    assert utterance.ending is Ending.SILENCE
    assert utterance.samples == even.samples


async def test_the_first_syllable_is_kept_by_the_preroll() -> None:
    sound = np.concatenate([silence(1.0), voice(1.0), silence(1.0)])
    [utterance] = hear_all(ear(), sound, FRAME)
    voiced = np.abs(utterance.sound().samples) > 100
    assert voiced.sum() >= 0.98 * LISTENING_RATE * 0.98
    assert np.argmax(voiced) >= 0.2 * LISTENING_RATE, "some silence before the first syllable"


async def test_a_quarter_of_a_second_is_an_utterance() -> None:
    assert len(hear_all(ear(), np.concatenate([silence(1), voice(0.25), silence(1)]), FRAME)) == 1


async def test_a_click_is_none() -> None:
    sound = np.concatenate([silence(1), voice(0.03), silence(1), voice(0.03), silence(1)])
    assert hear_all(ear(), sound, FRAME) == []


async def test_a_pause_shorter_than_the_endpoint_does_not_split() -> None:
    sound = np.concatenate(
        [voice(0.4), silence(0.5), voice(0.4), silence(0.5), voice(0.4), silence(1)]
    )
    assert len(hear_all(ear(silence_ms=600), sound, FRAME)) == 1
    assert len(hear_all(ear(silence_ms=400), sound, FRAME)) == 3


async def test_nothing_ends_in_the_middle_of_a_voice_however_short_the_silence_may_be() -> None:
    [utterance] = hear_all(ear(silence_ms=0), np.concatenate([voice(1.0), silence(1)]), FRAME)
    assert utterance.voiced_samples >= 0.9 * LISTENING_RATE


async def test_endless_noise_is_cut_at_the_longest_utterance() -> None:
    begun = hear_all(ear(max_utterance_seconds=5), voice(12), FRAME)
    assert [utterance.ending for utterance in begun] == [Ending.LENGTH, Ending.LENGTH, None]
    assert begun[0].samples <= 5 * LISTENING_RATE + 512


async def test_trailing_silence_is_told_with_every_chunk() -> None:
    [utterance] = hear_all(ear(silence_ms=600), np.concatenate([voice(0.5), silence(1)]), FRAME)
    chunks = [chunk async for chunk in utterance.chunks()]
    assert chunks[-1].silence_samples >= 0.6 * LISTENING_RATE
    assert chunks[0].silence_samples == 0
    assert np.array_equal(np.concatenate([c.samples for c in chunks]), utterance.sound().samples)


async def test_an_utterance_is_yielded_while_it_is_spoken() -> None:
    device = FakeDevice()
    async with listening(device) as heard:
        await device.hear(silence(0.3), voice(0.3))
        assert len(heard) == 1
        assert utterances(heard)[0].ending is None


async def test_push_to_talk_lasts_from_button_to_button() -> None:
    device = FakeDevice(mode="manual")
    async with listening(device) as heard:
        await device.hear(silence(0.6), voice(0.6), silence(3.0), voice(0.3))
        device.put(ListenStopped())
        await anyio.sleep(0.1)
        await device.hear(voice(1.0))  # nobody holds the button
    [utterance] = utterances(heard)
    assert utterance.ending is Ending.BUTTON
    assert utterance.sound().seconds == pytest.approx(4.5, abs=0.06)


async def test_push_to_talk_longer_than_the_longest_utterance_is_cut_and_nothing_lost() -> None:
    device = FakeDevice(mode="manual")
    async with listening(device, max_utterance_seconds=5) as heard:
        await device.hear(voice(8))
        device.put(ListenStopped())
    assert [utterance.ending for utterance in utterances(heard)] == [Ending.LENGTH, Ending.BUTTON]
    assert sum(utterance.samples for utterance in utterances(heard)) == 8 * LISTENING_RATE


async def test_push_to_talk_goes_on_after_the_line_stood_still() -> None:
    device = FakeDevice(mode="manual")
    async with listening(device, stall_seconds=2) as heard:
        await device.hear(voice(0.6))
        await anyio.sleep(3)
        await device.hear(voice(0.6))
        device.put(ListenStopped())
    assert [utterance.ending for utterance in utterances(heard)] == [Ending.STALL, Ending.BUTTON]


async def test_doubtful_frames_neither_count_as_silence_nor_start_it_anew() -> None:
    class Doubtful:
        def __init__(self) -> None:
            self.frames = 0

        def speech_probability(self, frame: Samples) -> float:
            self.frames += 1
            if self.frames < 20:
                return 0.9
            return 0.4 if self.frames % 10 == 0 else 0.05

        def reset(self) -> None:
            pass

    config = Config()
    listener = Ear(Doubtful(), 512, config.vad, config.endpointing)
    [utterance] = hear_all(listener, silence(4), 512)
    assert utterance.ending is Ending.SILENCE
    assert utterance.samples < 2 * LISTENING_RATE


async def test_traces_of_a_voice_before_a_reply_do_not_count_after_it() -> None:
    device = FakeDevice(mode="auto")
    async with listening(device) as heard:
        await device.hear(silence(0.3), voice(0.06))
        await anyio.sleep(3)  # the robot speaks, its microphone is shut
        device.put(ListenStarted("auto"))
        await device.hear(voice(0.06), silence(1.0))
    assert utterances(heard) == []


async def test_an_abort_ends_what_was_being_said_and_the_rest_is_something_new() -> None:
    device = FakeDevice(mode="auto")
    async with listening(device) as heard:
        await device.hear(voice(0.6))
        device.put(Aborted("wake_word_detected"))
        device.put(ListenStarted("auto"))
        await device.hear(voice(0.8), silence(1.0))
    first, second = utterances(heard)
    assert first.ending is Ending.DISCARDED
    assert second.ending is Ending.SILENCE
    assert second.voiced_samples >= 0.7 * LISTENING_RATE


async def test_who_types_has_finished_speaking() -> None:
    device = FakeDevice(mode="auto")
    async with listening(device) as heard:
        await device.hear(voice(0.6))
        device.put(TextSaid("やあ"))
        await anyio.lowlevel.checkpoint()
        assert utterances(heard)[0].ending is Ending.BUTTON


async def test_sound_before_the_listening_state_is_not_lost() -> None:
    device = FakeDevice(mode="")
    async with listening(device) as heard:
        await device.hear(voice(0.4), burst=10)
        device.put(ListenStarted("auto"))
        await device.hear(voice(0.4), silence(1.0))
    [utterance] = utterances(heard)
    assert utterance.voiced_samples >= 0.75 * LISTENING_RATE


async def test_the_wake_word_itself_is_no_utterance() -> None:
    device = FakeDevice(mode="")
    async with listening(device) as heard:
        await device.hear(voice(1.5), burst=30)
        device.put(WakeWord("Hi StackChan"))
        device.put(ListenStarted("auto"))
        await device.hear(silence(0.1), voice(0.5), silence(1.0))
    [utterance] = utterances(heard)
    assert utterance.voiced_samples <= 0.6 * LISTENING_RATE


async def test_a_command_right_after_the_wake_word_is_heard() -> None:
    device = FakeDevice(mode="")
    async with listening(device) as heard:
        await device.hear(voice(1.0), burst=20)
        device.put(WakeWord("Hi StackChan"))
        device.put(ListenStarted("auto"))
        await device.hear(voice(0.8), silence(1.0))
    assert utterances(heard)[0].voiced_samples >= 0.75 * LISTENING_RATE


async def test_repeated_listen_start_does_not_break_an_utterance() -> None:
    device = FakeDevice(mode="realtime")
    async with listening(device) as heard:
        await device.hear(voice(0.5))
        device.put(ListenStarted("realtime"))
        await device.hear(voice(0.5), silence(1.0))
    [utterance] = utterances(heard)
    assert utterance.voiced_samples >= 0.95 * LISTENING_RATE


@pytest.mark.parametrize(
    ("mode", "echo_cancelled", "hears"),
    [("auto", False, 0), ("auto", True, 1), ("realtime", False, 1)],
)
async def test_the_microphone_is_deaf_while_the_robot_speaks_unless_it_cancels_its_echo(
    mode: str, echo_cancelled: bool, hears: int
) -> None:
    device = FakeDevice(mode=mode, echo_cancelled=echo_cancelled)
    async with listening(device, speaking=lambda: True) as heard:
        await device.hear(voice(0.6), silence(1.0))
    assert len(utterances(heard)) == hears


async def test_half_an_utterance_before_the_robot_speaks_is_discarded() -> None:
    speaking = False
    device = FakeDevice()
    async with listening(device, speaking=lambda: speaking) as heard:
        await device.hear(voice(0.4))
        speaking = True
        await device.hear(voice(0.4))
    assert utterances(heard)[0].ending is Ending.DISCARDED


async def test_a_device_that_goes_silent_on_the_wire_does_not_hold_the_turn_open() -> None:
    device = FakeDevice()
    async with listening(device, stall_seconds=2) as heard:
        await device.hear(voice(0.6))
        await anyio.sleep(2.5)
        assert utterances(heard)[0].ending is Ending.STALL
        await device.hear(voice(0.6), silence(1.0))
    assert len(utterances(heard)) == 2


async def test_hanging_up_ends_the_open_utterance() -> None:
    device = FakeDevice()
    async with listening(device) as heard:
        await device.hear(voice(0.6))
    assert utterances(heard)[0].ending is Ending.STALL


async def test_text_and_aborts_pass_through() -> None:
    device = FakeDevice()
    async with listening(device) as heard:
        device.put(TextSaid("やあ"))
        device.put(Aborted("button"))
        await anyio.sleep(0.1)
    assert heard == [TextSaid("やあ"), Aborted("button")]
