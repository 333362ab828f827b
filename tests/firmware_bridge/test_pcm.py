"""Our own protocol, in its own words."""

import json

import pytest

from firmware_bridge.codec import Codec, DeviceCodec, ProtocolError
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
from firmware_bridge.pcm import PcmCodec, PcmDeviceCodec

CLIENT: list[tuple[str | bytes, DeviceEvent]] = [
    (
        '{"type":"hello","rate":24000,"features":["aec"]}',
        Hello(audio_rate=24_000, features=frozenset({"aec"})),
    ),
    ('{"type":"listen","state":"start","mode":"realtime"}', ListenStarted("realtime")),
    ('{"type":"listen","state":"start","mode":"manual"}', ListenStarted("manual")),
    ('{"type":"listen","state":"start"}', ListenStarted("auto")),
    (b"\x01\x00\x02\x00\x03", Audio(b"\x01\x00\x02\x00", 24_000)),
    ('{"type":"listen","state":"stop"}', ListenStopped()),
    ('{"type":"text","text":"こんにちは"}', TextSaid("こんにちは")),
    ('{"type":"wake","text":"hey"}', WakeWord("hey")),
    ('{"type":"wake"}', WakeWord("")),
    ('{"type":"abort"}', Aborted()),
    ('{"type":"abort","reason":"touch"}', Aborted("touch")),
    ('{"type":"tool","payload":{"id":1}}', ToolReplied({"id": 1})),
    ('{"type":"ping"}', Pinged()),
    ('{"type":"bye"}', Closed()),
]
SERVER: list[tuple[DeviceCommand, dict[str, object] | bytes]] = [
    (
        Welcome("s1", 24_000, 60),
        {"type": "welcome", "session_id": "s1", "rate": 24_000, "frame_ms": 60},
    ),
    (ShowTranscript("はい"), {"type": "transcript", "text": "はい"}),
    (ShowEmotion("happy", "🙂"), {"type": "emotion", "emotion": "happy", "emoji": "🙂"}),
    (SpeechStarted(), {"type": "speech", "state": "start"}),
    (SentenceStarted("a"), {"type": "sentence", "text": "a"}),
    (PlayAudio(b"\x01\x00", 24_000), b"\x01\x00"),
    (SpeechStopped(), {"type": "speech", "state": "stop", "interrupted": False}),
    (SpeechStopped(interrupted=True), {"type": "speech", "state": "stop", "interrupted": True}),
    (Alert("a", "b", "c"), {"type": "alert", "status": "a", "message": "b", "emotion": "c"}),
    (CallTool({"id": 1}), {"type": "tool", "payload": {"id": 1}}),
    (Pong(), {"type": "pong"}),
]


def test_a_client_is_understood() -> None:
    codec = PcmCodec()
    heard = [codec.receive(message) for message, _ in CLIENT]
    assert heard == [[event] for _, event in CLIENT]
    assert codec.ignored == 0


def test_the_server_speaks_as_documented() -> None:
    codec = PcmCodec()
    sent = [message for command, _ in SERVER for message in codec.send(command)]
    read = [json.loads(message) if isinstance(message, str) else message for message in sent]
    assert read == [message for _, message in SERVER]


@pytest.mark.parametrize(
    "message",
    [
        '{"type":"dance"}',
        "{}",
        '{"type":"listen"}',
        '{"type":"text"}',
        '{"type":"text","text":" "}',
        '{"type":"tool","payload":[]}',
        b"",
        b"\x01",
    ],
)
def test_what_means_nothing_is_counted(message: str | bytes) -> None:
    codec = PcmCodec()
    assert codec.receive(message) == []
    assert codec.ignored == 1


@pytest.mark.parametrize(
    "message", ['{"type":"speech"}', '{"type":"tool"}', '{"type":"x"}', b"\x01"]
)
def test_a_client_counts_what_means_nothing(message: str | bytes) -> None:
    codec = PcmDeviceCodec()
    assert codec.receive(message) == []
    assert codec.ignored == 1


@pytest.mark.parametrize("rate", ["0", "7999", "48001", '"16000"', "16000.5", "null", "true", "-1"])
def test_a_rate_out_of_range_is_refused(rate: str) -> None:
    with pytest.raises(ProtocolError) as error:
        PcmCodec().receive(f'{{"type":"hello","rate":{rate}}}')
    assert error.value.code == "rate-invalid"
    with pytest.raises(ProtocolError):
        PcmDeviceCodec().receive(f'{{"type":"welcome","rate":{rate}}}')


def test_a_rate_that_is_not_said_is_16_khz() -> None:
    codec = PcmCodec()
    assert codec.receive(b"\x00\x00") == [Audio(b"\x00\x00", 16_000)]
    assert codec.receive('{"type":"hello"}') == [Hello(audio_rate=16_000)]


def serves(codec: Codec, device: DeviceCodec) -> None:
    """Let the type checker compare the classes with the contract."""


serves(PcmCodec(), PcmDeviceCodec())
