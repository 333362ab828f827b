"""What one side says the other side hears, for every word of both protocols and all three framings."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.codec import Codec, DeviceCodec
from firmware_bridge.events import (
    Aborted,
    Alert,
    Audio,
    CallTool,
    Closed,
    DeviceCommand,
    DeviceEvent,
    Hello,
    ListenStarted,
    ListenStopped,
    Pinged,
    PlayAudio,
    Pong,
    Reboot,
    SentenceStarted,
    ShowEmotion,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    ToolReplied,
    WakeWord,
    Welcome,
)
from firmware_bridge.framing import FramingVersion
from firmware_bridge.opus import OPUS_RATES
from firmware_bridge.pcm import PcmCodec, PcmDeviceCodec
from firmware_bridge.xiaozhi import XiaozhiCodec, XiaozhiDeviceCodec
from tests.firmware_bridge.sounds import cut, find_pitch, make_silence, make_tone

NAMES = st.text(max_size=128)
TEXTS = st.text(max_size=300)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
PAYLOADS = st.dictionaries(st.text(max_size=9), JSON, max_size=4)
FEATURES = st.frozensets(st.text(min_size=1, max_size=20), max_size=9)

EVENTS: st.SearchStrategy[DeviceEvent] = st.one_of(
    st.builds(ListenStarted, st.sampled_from(["auto", "manual", "realtime"])),
    st.just(ListenStopped()),
    st.builds(TextSaid, TEXTS.filter(str.strip).map("{}: 何時？".format)),
    st.builds(WakeWord, st.sampled_from(["Hi StackChan", "你好小智", ""])),
    st.builds(Aborted, NAMES),
    st.builds(ToolReplied, PAYLOADS),
    st.builds(Closed, NAMES),
    st.just(Pinged()),
)
COMMANDS: st.SearchStrategy[DeviceCommand] = st.one_of(
    st.builds(ShowTranscript, TEXTS),
    st.just(SpeechStarted()),
    st.builds(SentenceStarted, TEXTS),
    st.just(SpeechStopped()),
    st.builds(ShowEmotion, NAMES, NAMES),
    st.builds(CallTool, PAYLOADS),
    st.builds(Alert, TEXTS, TEXTS, TEXTS),
    st.just(Pong()),
)


def to_server(event: DeviceEvent, device: DeviceCodec, server: Codec) -> list[DeviceEvent]:
    return [heard for message in device.send(event) for heard in server.receive(message)]


def to_device(command: DeviceCommand, server: Codec, device: DeviceCodec) -> list[DeviceCommand]:
    return [heard for message in server.send(command) for heard in device.receive(message)]


@given(event=EVENTS, version=st.sampled_from([1, 2, 3]))
def test_xiaozhi_events_arrive(event: DeviceEvent, version: FramingVersion) -> None:
    assert to_server(event, XiaozhiDeviceCodec(), XiaozhiCodec(version)) == [event]


@given(command=COMMANDS | st.just(Reboot()))
def test_xiaozhi_commands_arrive(command: DeviceCommand) -> None:
    assert to_device(command, XiaozhiCodec(), XiaozhiDeviceCodec()) == [command]


@given(event=EVENTS | st.builds(WakeWord, NAMES))
def test_pcm_events_arrive(event: DeviceEvent) -> None:
    assert to_server(event, PcmDeviceCodec(), PcmCodec()) == [event]


@given(command=COMMANDS | st.just(SpeechStopped(interrupted=True)))
def test_pcm_commands_arrive(command: DeviceCommand) -> None:
    assert to_device(command, PcmCodec(), PcmDeviceCodec()) == [command]


def test_pcm_has_no_word_for_reboot() -> None:
    assert PcmCodec().send(Reboot()) == []


@given(
    announced=st.sampled_from([1, 2, 3]),
    version=st.sampled_from([1, 2, 3]),
    features=FEATURES,
    rate=st.sampled_from(OPUS_RATES),
    frame_ms=st.sampled_from([20, 40, 60]),
)
def test_xiaozhi_greetings_arrive(
    announced: FramingVersion, version: int, features: frozenset[str], rate: int, frame_ms: int
) -> None:
    server, device = XiaozhiCodec(announced), XiaozhiDeviceCodec()
    hello = Hello(version, features, rate, frame_ms)
    assert to_server(hello, device, server) == [hello]
    welcome = Welcome("session", rate, frame_ms)
    assert to_device(welcome, server, device) == [welcome]


@given(features=FEATURES, rate=st.integers(8_000, 48_000), frame_ms=st.integers(1, 1_000))
def test_pcm_greetings_arrive(features: frozenset[str], rate: int, frame_ms: int) -> None:
    server, device = PcmCodec(), PcmDeviceCodec()
    hello = Hello(features=features, audio_rate=rate)
    assert to_server(hello, device, server) == [hello]
    welcome = Welcome("session", rate, frame_ms)
    assert to_device(welcome, server, device) == [welcome]


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("frame_ms", [20, 40, 60])
@pytest.mark.parametrize("rate", OPUS_RATES)
def test_xiaozhi_sound_arrives_in_both_directions(version: int, frame_ms: int, rate: int) -> None:
    server, device = XiaozhiCodec(), XiaozhiDeviceCodec()
    to_server(Hello(version, audio_rate=rate, frame_ms=frame_ms), device, server)
    to_device(Welcome("s", rate, frame_ms), server, device)
    to_device(SpeechStarted(), server, device)
    frames = cut(make_tone(600, rate, 0.96), 2 * rate * frame_ms // 1_000)
    up = [event for frame in frames for event in to_server(Audio(frame, rate), device, server)]
    down = [item for frame in frames for item in to_device(PlayAudio(frame, rate), server, device)]
    for heard in (up, down):
        assert len(heard) == len(frames)
        assert all(isinstance(sound, Audio | PlayAudio) and sound.rate == rate for sound in heard)
        pcm = b"".join(sound.pcm for sound in heard if isinstance(sound, Audio | PlayAudio))
        assert len(pcm) == sum(map(len, frames))
        assert find_pitch(pcm[rate // 2 :], rate) == pytest.approx(600, abs=3)


def test_every_speech_begins_a_new_stream_on_both_sides() -> None:
    server, device = XiaozhiCodec(), XiaozhiDeviceCodec()
    to_device(Welcome("s"), server, device)
    frames = cut(make_tone(600, 24_000, 0.3), 2_880)
    speeches: list[list[DeviceCommand]] = []
    packets: list[list[bytes | str]] = []
    for _ in range(2):
        to_device(SpeechStarted(), server, device)
        packets.append([message for f in frames for message in server.send(PlayAudio(f, 24_000))])
        speeches.append([heard for packet in packets[-1] for heard in device.receive(packet)])
    assert packets[0] == packets[1]
    assert speeches[0] == speeches[1]


def test_the_pauses_of_a_robot_are_sound_of_the_same_length() -> None:
    server, device = XiaozhiCodec(), XiaozhiDeviceCodec()
    pcm = make_tone(300, 16_000, 0.3) + make_silence(16_000, 1.2)
    messages = [m for frame in cut(pcm, 1_920) for m in device.send(Audio(frame, 16_000))]
    assert min(map(len, messages)) == 1
    events = [event for message in messages for event in server.receive(message)]
    assert [len(event.pcm) for event in events if isinstance(event, Audio)] == [1_920] * 25
    assert server.ignored == 0


@given(stamp=st.integers(1, 2**32 - 1))
def test_framing_2_carries_the_stamp_of_what_the_robot_was_playing(stamp: int) -> None:
    server, device = XiaozhiCodec(), XiaozhiDeviceCodec()
    to_server(Hello(version=2), device, server)
    (event,) = to_server(Audio(make_tone(300, 16_000, 0.06), 16_000, stamp), device, server)
    assert isinstance(event, Audio)
    assert event.timestamp_ms == stamp


def test_framing_2_stamps_every_frame_that_is_sent() -> None:
    server = XiaozhiCodec(2)
    server.send(Welcome("s", 24_000, 60))
    messages = [server.send(PlayAudio(bytes(2_880), 24_000))[0] for _ in range(3)]
    stamps = [
        struct.unpack_from("!HHIII", bytes(m, "ascii") if isinstance(m, str) else m)[3]
        for m in messages
    ]
    assert stamps == [60, 120, 180]


def test_no_stamp_arrives_as_none() -> None:
    server, device = XiaozhiCodec(2), XiaozhiDeviceCodec()
    to_server(Hello(version=2), device, server)
    (event,) = to_server(Audio(make_tone(300, 16_000, 0.06), 16_000), device, server)
    assert isinstance(event, Audio)
    assert event.timestamp_ms is None


@given(pcm=st.binary(min_size=2, max_size=999), rate=st.integers(8_000, 48_000))
def test_pcm_sound_arrives_untouched_without_half_a_sample(pcm: bytes, rate: int) -> None:
    server, device = PcmCodec(), PcmDeviceCodec()
    to_server(Hello(audio_rate=rate), device, server)
    to_device(Welcome("s", rate), server, device)
    whole = pcm[: len(pcm) // 2 * 2]
    assert to_server(Audio(pcm, rate), device, server) == [Audio(whole, rate)]
    assert to_device(PlayAudio(pcm, rate), server, device) == [PlayAudio(whole, rate)]


@pytest.mark.parametrize("codec", [XiaozhiCodec(), PcmCodec()], ids=["xiaozhi", "pcm"])
def test_half_a_surrogate_pair_does_not_reach_the_wire(codec: Codec) -> None:
    (text,) = codec.send(SentenceStarted("smile \ud83d!"))
    assert isinstance(text, str)
    assert "smile ?!" in text


@pytest.mark.parametrize("codec", [XiaozhiCodec(), PcmCodec()], ids=["xiaozhi", "pcm"])
def test_sound_before_the_welcome_or_at_another_rate_is_a_mistake(codec: Codec) -> None:
    with pytest.raises(ValueError, match="Welcome"):
        codec.send(PlayAudio(bytes(2_880), 24_000))
    codec.send(Welcome("s", 24_000, 60))
    with pytest.raises(ValueError, match="24000 Hz"):
        codec.send(PlayAudio(bytes(1_920), 16_000))


@pytest.mark.parametrize("device", [XiaozhiDeviceCodec(), PcmDeviceCodec()], ids=["xiaozhi", "pcm"])
def test_a_microphone_at_another_rate_than_announced_is_a_mistake(device: DeviceCodec) -> None:
    with pytest.raises(ValueError, match="16000 Hz"):
        device.send(Audio(bytes(2_880), 24_000))


def test_a_framing_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="framing"):
        XiaozhiDeviceCodec().send(Hello(version=4))


def test_raw_samples_in_place_of_opus_are_understood() -> None:
    server = XiaozhiCodec()
    server.receive('{"type":"hello","audio_params":{"format":"pcm","sample_rate":24000}}')
    tone = make_tone(300, 24_000, 0.06)
    assert server.receive(tone + b"\x01") == [Audio(tone, 24_000)]
    assert server.receive(b"\x01") == []
    assert server.ignored == 1
