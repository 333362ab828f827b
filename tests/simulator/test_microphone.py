import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.audio import LISTENING_RATE, Audio, Samples
from server.simulator.microphone import Microphone, cut_frames, last_voiced_sample, mix
from tests.simulator.fake_server import tone


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * LISTENING_RATE), np.int16)


def noise(seconds: float, level: float) -> Samples:
    random = np.random.default_rng(7)
    return (random.standard_normal(round(seconds * LISTENING_RATE)) * level).astype(np.int16)


def test_a_sound_is_cut_into_frames_and_the_last_one_is_filled_up() -> None:
    microphone = Microphone(60)
    sound = microphone.hear(Audio(np.full(1000, 9, np.int16), LISTENING_RATE))
    first, second, third = (microphone.next_frame(n * 0.06) for n in range(3))
    assert np.array_equal(first, np.full(960, 9))
    assert np.array_equal(second, np.concatenate([np.full(40, 9), np.zeros(920)]))
    assert not third.any()
    assert sound.ended


def test_a_sound_of_another_rate_keeps_its_length_and_pitch() -> None:
    microphone = Microphone(20)
    microphone.hear(Audio(tone(0.5, 44_100), 44_100))
    heard = np.concatenate([microphone.next_frame(0.0) for _ in range(25)])
    assert len(heard) == LISTENING_RATE // 2
    spectrum = np.abs(np.fft.rfft(heard))
    assert np.argmax(spectrum) * 2 == pytest.approx(440, abs=2)


def test_sounds_follow_each_other_and_each_knows_when_its_voice_ended() -> None:
    microphone = Microphone(60)
    first = microphone.hear(Audio(tone(0.06, LISTENING_RATE), LISTENING_RATE))
    voice_then_silence = np.concatenate([tone(0.12, LISTENING_RATE), silence(0.06)])
    second = microphone.hear(Audio(voice_then_silence, LISTENING_RATE))
    assert second.voiced_until is None
    frames = [microphone.next_frame(100 + count * 0.06) for count in range(4)]
    assert np.array_equal(np.concatenate(frames[1:]), voice_then_silence)
    assert first.voiced_until == pytest.approx(100.06)
    assert second.voiced_until == pytest.approx(100.18)


@pytest.mark.parametrize(
    "background", [silence(3.0), noise(3.0, 60), noise(3.0, 300)], ids=["none", "low", "fan"]
)
def test_the_last_voiced_sample_is_found_over_background_noise(background: Samples) -> None:
    sound = background.copy()
    start, end = LISTENING_RATE, 2 * LISTENING_RATE
    sound[start:end] += tone(1.0, LISTENING_RATE)
    assert last_voiced_sample(sound) == pytest.approx(end, abs=160)


def test_a_click_after_the_voice_is_not_taken_for_voice() -> None:
    sound = np.concatenate([tone(0.5, LISTENING_RATE), silence(0.5)])
    sound[-3000:-2900] = 20_000
    assert last_voiced_sample(sound) == pytest.approx(LISTENING_RATE // 2, abs=160)


def test_silence_and_nothing_hold_no_voice() -> None:
    assert last_voiced_sample(silence(1.0)) == 0
    assert last_voiced_sample(silence(0.0)) == 0


@given(st.integers(0, 5000), st.sampled_from([320, 640, 960]))
def test_frames_hold_all_of_the_sound_and_nothing_else(length: int, frame_samples: int) -> None:
    samples = np.arange(1, length + 1, dtype=np.int16)
    frames = cut_frames(Audio(samples, LISTENING_RATE), frame_samples)
    assert all(len(frame) == frame_samples for frame in frames)
    joined = np.concatenate([*frames, silence(0.0)])
    assert np.array_equal(joined[:length], samples)
    assert not joined[length:].any()


def test_an_echo_is_as_much_softer_as_asked_and_does_not_wrap_around() -> None:
    quiet = np.zeros(4, np.int16)
    assert list(mix(quiet, np.array([1000, -1000, 0, 500], np.int16), -20)) == [100, -100, 0, 50]
    loud = np.full(4, 30_000, np.int16)
    assert list(mix(loud, loud, 0)) == [32_767] * 4
