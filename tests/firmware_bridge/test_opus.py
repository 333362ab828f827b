"""Opus: what goes in comes out, exactly as long, whatever the packets look like."""

import itertools

import av
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firmware_bridge.opus import (
    FRAME_DURATIONS_MS,
    OPUS_RATES,
    OpusDecoder,
    OpusEncoder,
    OpusError,
    measure_packet,
)
from tests.firmware_bridge.sounds import cut, find_pitch, make_silence, make_tone, measure_rms


@pytest.mark.parametrize("rate", OPUS_RATES)
@pytest.mark.parametrize("frame_ms", FRAME_DURATIONS_MS)
def test_every_frame_becomes_one_packet_that_decodes_to_exactly_one_frame(
    rate: int, frame_ms: int
) -> None:
    encoder, decoder = OpusEncoder(rate, frame_ms), OpusDecoder(rate)
    frames = cut(make_tone(440, rate, 0.6), encoder.frame_bytes)
    packets = [encoder.encode(frame) for frame in frames]
    assert len(packets) == 600 // frame_ms
    assert [len(decoder.decode(packet)) for packet in packets] == list(map(len, frames))


@pytest.mark.parametrize("application", ["audio", "voip"])
@pytest.mark.parametrize("encoder_rate", OPUS_RATES)
@pytest.mark.parametrize("decoder_rate", OPUS_RATES)
def test_a_tone_keeps_its_pitch_and_level(
    application: str, encoder_rate: int, decoder_rate: int
) -> None:
    encoder = OpusEncoder(
        encoder_rate, 60, application="voip" if application == "voip" else "audio"
    )
    decoder = OpusDecoder(decoder_rate)
    tone = make_tone(1_000, encoder_rate, 1.2)
    heard = b"".join(decoder.decode(encoder.encode(f)) for f in cut(tone, encoder.frame_bytes))
    assert len(heard) == 2 * decoder_rate * 12 // 10
    settled = heard[2 * decoder_rate // 5 :]
    assert find_pitch(settled, decoder_rate) == pytest.approx(1_000, abs=3)
    assert measure_rms(settled) == pytest.approx(measure_rms(tone), rel=0.2)


@pytest.mark.parametrize("frame_ms", [20, 40, 60])
def test_lowering_the_rate_leaves_no_seam_between_packets(frame_ms: int) -> None:
    encoder, decoder = OpusEncoder(48_000, frame_ms, bitrate=256_000), OpusDecoder(16_000)
    tone = make_tone(50, 48_000, 1.2)
    heard = b"".join(decoder.decode(encoder.encode(f)) for f in cut(tone, encoder.frame_bytes))
    samples = memoryview(heard[16_000:]).cast("h")
    largest_step = max(abs(b - a) for a, b in itertools.pairwise(samples))
    # The steepest step of the sine itself is 2 pi 50 / 16000 of its height, 193.
    assert largest_step < 300


def test_sound_above_the_new_band_is_removed_not_folded_down() -> None:
    encoder, decoder = OpusEncoder(48_000, 20, bitrate=128_000), OpusDecoder(16_000)
    tone = make_tone(11_000, 48_000, 0.6)
    heard = b"".join(decoder.decode(encoder.encode(f)) for f in cut(tone, encoder.frame_bytes))
    assert measure_rms(heard[6_400:]) < measure_rms(tone) / 300


@pytest.mark.parametrize("frame_ms", [20, 40, 60])
def test_silence_is_sent_as_tiny_packets_with_a_refresh_and_sound_ends_it(frame_ms: int) -> None:
    encoder, decoder = OpusEncoder(16_000, frame_ms, application="voip", dtx=True), OpusDecoder()
    speech = cut(make_tone(300, 16_000, 0.24), encoder.frame_bytes)
    pause = cut(make_silence(16_000, 1.2), encoder.frame_bytes)
    packets = [encoder.encode(frame) for frame in [*speech, *pause, *speech]]
    spoken, paused, resumed = (
        packets[: len(speech)],
        packets[len(speech) : -len(speech)],
        packets[-len(speech) :],
    )
    assert all(len(packet) > 3 for packet in spoken + resumed)
    tiny = [len(packet) <= 3 for packet in paused]
    assert not any(tiny[: 200 // frame_ms]), "the pause begins with whole packets"
    assert sum(tiny) * frame_ms >= 840
    last_whole = max(index for index, is_tiny in enumerate(tiny) if not is_tiny)
    assert last_whole * frame_ms > 400, "the noise is refreshed in the pause"
    heard = [decoder.decode(packet) for packet in packets]
    assert {len(pcm) for pcm in heard} == {encoder.frame_bytes}
    assert measure_rms(heard[len(speech) + len(paused) - 2]) < 100


def test_a_pause_in_packets_of_several_frames_keeps_its_length() -> None:
    encoder, decoder = OpusEncoder(24_000, 60, dtx=True), OpusDecoder(24_000)
    frames = cut(make_tone(300, 24_000, 0.12) + make_silence(24_000, 0.6), encoder.frame_bytes)
    packets = [encoder.encode(frame) for frame in frames]
    assert len(packets[-1]) == 2
    assert {len(decoder.decode(packet)) for packet in packets} == {encoder.frame_bytes}


def test_without_dtx_silence_stays_whole_packets() -> None:
    encoder = OpusEncoder(16_000, 60)
    packets = [encoder.encode(f) for f in cut(make_silence(16_000, 1.2), encoder.frame_bytes)]
    assert measure_packet(packets[-1], 16_000) == 960
    assert len(packets) == 20


@pytest.mark.parametrize(
    ("packet", "milliseconds"),
    [
        (b"\x08", 20),  # SILK narrow, one frame
        (b"\x18", 60),
        (b"\x58", 60),
        (b"\x58\x00", 60),
        (b"\x58\x00\x00", 60),
        (b"\x50", 40),
        (b"\x48", 20),
        (b"\x49", 40),  # two frames of 20 ms
        (b"\x6b\x03", 60),  # three hybrid frames of 20 ms
        (b"\xf8", 20),  # CELT
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_dtx_packet_stands_for_its_duration(
    packet: bytes, milliseconds: int, is_first: bool
) -> None:
    decoder = OpusDecoder(16_000)
    if not is_first:
        decoder.decode(OpusEncoder(16_000, 60).encode(make_tone(300, 16_000, 0.06)))
    assert len(decoder.decode(packet)) == 32 * milliseconds
    if is_first:
        assert measure_rms(decoder.decode(packet)) < 100


@pytest.mark.parametrize(
    ("packet", "samples"),
    [
        (b"\x80", 40),  # CELT 2.5 ms at 16 kHz
        (b"\x88", 80),
        (b"\x68", 320),
        (b"\x60", 160),
        (b"\xfb\x06", 1_920),  # the longest
    ],
)
def test_the_length_of_a_packet_is_read_from_its_head(packet: bytes, samples: int) -> None:
    assert measure_packet(packet, 16_000) == samples


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\xff",  # several frames, but not how many
        b"\xfb\x00",  # no frames
        b"\xfb\x07",  # 140 ms
        b"\x1b\x03",  # 180 ms
        b"\x01\x01",  # two frames of equal length can't share one byte
        bytes(70_000),
    ],
)
def test_what_is_not_opus_is_refused_and_the_decoder_goes_on(packet: bytes) -> None:
    encoder, decoder = OpusEncoder(16_000, 60), OpusDecoder(16_000)
    frames = cut(make_tone(440, 16_000, 0.6), encoder.frame_bytes)
    heard = []
    for frame in frames:
        with pytest.raises(OpusError):
            decoder.decode(packet)
        heard.append(decoder.decode(encoder.encode(frame)))
    assert find_pitch(b"".join(heard), 16_000) == pytest.approx(440, abs=3)


@pytest.mark.parametrize("packet", [b"", b"\xff", b"\xfb\x00", b"\xfb\x07", b"\x1b\x03"])
def test_a_head_without_a_legal_length_is_refused(packet: bytes) -> None:
    with pytest.raises(OpusError):
        measure_packet(packet, 16_000)


@given(packets=st.lists(st.binary(max_size=200), max_size=8), rate=st.sampled_from(OPUS_RATES))
@example(packets=[b"\x00" * 4, b"\xff" * 200], rate=8_000)
def test_random_bytes_decode_to_what_they_say_or_are_refused(
    packets: list[bytes], rate: int
) -> None:
    decoder = OpusDecoder(rate)
    for packet in packets:
        try:
            pcm = decoder.decode(packet)
        except OpusError:
            continue
        assert len(pcm) == 2 * measure_packet(packet, rate)


def test_a_reset_encoder_and_decoder_begin_as_new() -> None:
    frames = cut(make_tone(440, 24_000, 0.3), 2_880)
    encoder, decoder = OpusEncoder(24_000, 60), OpusDecoder(24_000)
    packets = [encoder.encode(frame) for frame in frames]
    heard = [decoder.decode(packet) for packet in packets]
    encoder.reset()
    decoder.reset()
    assert [encoder.encode(frame) for frame in frames] == packets
    assert [decoder.decode(packet) for packet in packets] == heard


def test_the_bitrate_is_kept() -> None:
    encoder = OpusEncoder(24_000, 60, bitrate=16_000)
    packets = [encoder.encode(f) for f in cut(make_tone(300, 24_000, 3), encoder.frame_bytes)]
    assert sum(map(len, packets)) * 8 / 3 == pytest.approx(16_000, rel=0.25)


@pytest.mark.parametrize("size", [0, 1, 2_878, 2_882, 5_760])
def test_a_frame_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="2880 bytes"):
        OpusEncoder(24_000, 60).encode(bytes(size))


@pytest.mark.parametrize("rate", [0, 11_025, 22_050, 44_100])
def test_a_rate_that_opus_has_not_is_refused(rate: int) -> None:
    with pytest.raises(ValueError, match="Hz"):
        OpusEncoder(rate, 60)
    with pytest.raises(ValueError, match="Hz"):
        OpusDecoder(rate)


@pytest.mark.parametrize("frame_ms", [0, 15, 30, 61, 1_000])
def test_a_frame_that_opus_has_not_is_refused(frame_ms: int) -> None:
    with pytest.raises(ValueError, match="ms"):
        OpusEncoder(24_000, frame_ms)


def test_ffmpeg_complains_to_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    decoder = OpusDecoder()
    with pytest.raises(OpusError):
        decoder.decode(b"\x01\x01")
    OpusEncoder(8_000, 60, bitrate=6_000)
    assert capfd.readouterr() == ("", "")


def test_libopus_is_part_of_the_installed_av() -> None:
    assert "libopus" in av.codec.codecs_available
