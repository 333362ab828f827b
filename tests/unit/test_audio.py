"""Mono PCM: records, rates, levels, files."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from server.audio import (
    Audio,
    Resampler,
    Samples,
    from_pcm,
    join,
    level_dbfs,
    read_audio,
    to_pcm,
    write_wav,
)
from server.errors import AudioError

RATES = st.sampled_from([8_000, 16_000, 22_050, 24_000, 44_100, 48_000])


def tone(seconds: float, rate: int, hertz: float = 440.0, level: float = 0.5) -> Audio:
    times = np.arange(round(seconds * rate)) / rate
    return Audio((np.sin(2 * np.pi * hertz * times) * level * 32767).astype(np.int16), rate)


def pitch(audio: Audio) -> float:
    """Return the loudest frequency in hertz."""
    spectrum = np.abs(np.fft.rfft(audio.samples * np.hanning(len(audio.samples))))
    return float(np.argmax(spectrum)) * audio.rate / len(audio.samples)


def in_pieces(samples: Samples, sizes: list[int]) -> list[Samples]:
    ends = np.cumsum(sizes)
    return np.split(samples, ends[ends < len(samples)])


# -- bytes -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-32768, 32767)))
def test_samples_survive_the_way_through_bytes(values: list[int]) -> None:
    assert from_pcm(to_pcm(np.array(values, np.int16))).tolist() == values


def test_bytes_are_little_endian() -> None:
    assert to_pcm(np.array([1, -2], np.int16)) == b"\x01\x00\xfe\xff"


@given(st.binary())
def test_an_odd_last_byte_is_dropped(pcm: bytes) -> None:
    assert to_pcm(from_pcm(pcm)) == pcm[: len(pcm) // 2 * 2]


# -- rates -------------------------------------------------------------------------------------------------------------


@given(RATES, RATES)
def test_another_rate_keeps_pitch_and_length(rate_in: int, rate_out: int) -> None:
    audio = tone(1.0, rate_in).at(rate_out)

    assert audio.rate == rate_out
    assert audio.seconds == pytest.approx(1.0, abs=0.001)
    assert pitch(audio) == pytest.approx(440, abs=2)


def test_the_same_rate_changes_nothing() -> None:
    audio = tone(0.1, 16_000)

    assert audio.at(16_000).samples is audio.samples


def test_no_sound_has_any_rate() -> None:
    audio = Audio(np.zeros(0, np.int16), 16_000).at(24_000)

    assert audio.rate == 24_000
    assert len(audio.samples) == 0


@given(RATES, RATES, st.lists(st.integers(0, 4000), max_size=20))
def test_a_stream_in_pieces_sounds_like_the_whole(
    rate_in: int, rate_out: int, sizes: list[int]
) -> None:
    whole = tone(0.5, rate_in)
    resampler = Resampler(rate_in, rate_out)

    pieces = [resampler.push(piece) for piece in in_pieces(whole.samples, sizes)]
    streamed = np.concatenate([*pieces, resampler.flush()])

    expected = whole.at(rate_out).samples
    assert abs(len(streamed) - len(expected)) <= 1
    length = min(len(streamed), len(expected))
    difference = streamed[:length].astype(int) - expected[:length].astype(int)
    assert np.abs(difference).max() <= 2


def test_loud_sound_is_clipped_and_does_not_wrap_around() -> None:
    square = np.where(np.arange(1600) % 40 < 20, 32767, -32768).astype(np.int16)

    samples = Audio(square, 16_000).at(48_000).samples.astype(int)

    assert np.abs(np.diff(samples)).max() < 45_000  # a wrapped sample jumps by 65,535


def test_joined_pieces_have_one_rate() -> None:
    joined = join([tone(0.5, 16_000), tone(0.25, 48_000)], 24_000)

    assert joined.rate == 24_000
    assert joined.seconds == pytest.approx(0.75, abs=0.001)


def test_nothing_joined_is_silence() -> None:
    assert join([], 16_000).seconds == 0


# -- level -------------------------------------------------------------------------------------------------------------


def test_level_of_a_full_sine_is_minus_three() -> None:
    assert level_dbfs(tone(1.0, 16_000, level=1.0).samples) == pytest.approx(-3.01, abs=0.02)


def test_half_the_amplitude_is_six_decibels_less() -> None:
    loud = level_dbfs(tone(1.0, 16_000, level=0.5).samples)
    soft = level_dbfs(tone(1.0, 16_000, level=0.25).samples)

    assert loud - soft == pytest.approx(6.02, abs=0.02)


@pytest.mark.parametrize("length", [0, 1, 1600])
def test_silence_has_the_lowest_level(length: int) -> None:
    assert level_dbfs(np.zeros(length, np.int16)) == -120


def test_the_loudest_sample_does_not_overflow() -> None:
    assert level_dbfs(np.full(100, -32768, np.int16)) == pytest.approx(0.0)


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_written_file_is_read_back_the_same(tmp_path: Path) -> None:
    audio = tone(0.2, 24_000)
    path = tmp_path / "new" / "folder" / "a.wav"

    write_wav(path, audio)

    again = read_audio(path)
    assert again.rate == 24_000
    assert np.abs(again.samples.astype(int) - audio.samples.astype(int)).max() <= 1


def test_the_bytes_of_a_file_are_read_like_the_file(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", tone(0.1, 16_000))

    read = read_audio((tmp_path / "a.wav").read_bytes())

    assert np.array_equal(read.samples, read_audio(tmp_path / "a.wav").samples)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "FLOAT"])
@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_stereo_of_any_kind_is_mixed_down(tmp_path: Path, rate: int, subtype: str) -> None:
    left = tone(0.2, rate, level=0.6).samples / 32768
    soundfile.write(
        tmp_path / "a.wav", np.stack([left, np.zeros_like(left)], axis=1), rate, subtype=subtype
    )

    audio = read_audio(tmp_path / "a.wav")

    assert audio.rate == rate
    assert np.abs(audio.samples).max() == pytest.approx(0.3 * 32767, rel=0.03)


def test_a_flac_file_is_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.flac", tone(0.2, 16_000).samples, 16_000)

    assert read_audio(tmp_path / "a.flac").seconds == pytest.approx(0.2)


def test_floats_beyond_full_scale_are_clipped(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.array([2.0, -2.0, 0.5]), 16_000, subtype="FLOAT")

    assert read_audio(tmp_path / "a.wav").samples.tolist() == [32767, -32767, 16383]


@pytest.mark.parametrize(
    "content", [b"", b"RIFF", b"no sound at all" * 100, b"RIFF\xff\xff\xff\xffWAVEfmt "]
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.wav"
    path.write_bytes(content)

    with pytest.raises(AudioError, match=r"broken\.wav") as raised:
        read_audio(path)

    assert raised.value.code == "audio-unreadable"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"missing\.wav"):
        read_audio(tmp_path / "missing.wav")


def test_a_folder_is_no_sound(tmp_path: Path) -> None:
    with pytest.raises(AudioError):
        read_audio(tmp_path)


def test_a_file_without_a_sample_is_named(tmp_path: Path) -> None:
    write_wav(tmp_path / "empty.wav", Audio(np.zeros(0, np.int16), 16_000))

    with pytest.raises(AudioError, match=r"empty\.wav") as raised:
        read_audio(tmp_path / "empty.wav")

    assert raised.value.code == "audio-empty"


@given(st.binary(max_size=300))
def test_no_bytes_do_anything_but_read_or_be_refused(content: bytes) -> None:
    with suppress(AudioError):
        assert read_audio(content).rate > 0
