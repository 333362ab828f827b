"""Whatever arrives, a codec answers with events or with ProtocolError, and bad packets do not end a talk."""

import json
import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firmware_bridge.codec import Codec, DeviceCodec, ProtocolError
from firmware_bridge.events import Audio, Hello, TextSaid, ToolReplied
from firmware_bridge.framing import FramingVersion, wrap
from firmware_bridge.opus import OpusEncoder
from firmware_bridge.pcm import PcmCodec, PcmDeviceCodec
from firmware_bridge.xiaozhi import XiaozhiCodec, XiaozhiDeviceCodec
from tests.firmware_bridge.sounds import cut, make_tone

MAKERS: list[Callable[[], Codec | DeviceCodec]] = [
    partial(XiaozhiCodec, 1),
    partial(XiaozhiCodec, 2),
    partial(XiaozhiCodec, 3),
    XiaozhiDeviceCodec,
    PcmCodec,
    PcmDeviceCodec,
]
WORDS = st.sampled_from(
    [
        "type",
        "state",
        "text",
        "mode",
        "payload",
        "features",
        "version",
        "audio_params",
        "rate",
        "hello",
        "listen",
        "detect",
        "start",
        "mcp",
        "abort",
        "tts",
        "llm",
        "alert",
        "tool",
        "wake",
        "speech",
        "sentence",
        "welcome",
        "transport",
        "websocket",
        "sample_rate",
        "frame_duration",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=9,
)
HALF_PAIR = json.dumps("\ud83d")
BOMBS = [
    "[" * 100_000,
    '{"type":' * 50_000,
    '{"type":"mcp","payload":' + '{"a":' * 100_000 + "1" + "}" * 100_001,
    '{"type":"hello","version":' + "9" * 5_000 + "}",
    '{"type":"hello","version":1e999}',
    '{"type":"hello","version":NaN}',
    '{"type":"mcp","payload":{"x":-Infinity}}',
    "",
    "\x00",
    "null",
    "[]",
    '"hello"',
    "1",
    "hello",
    "\ufeff{}",
    '{"type":"listen","state":"detect","text":"say "hi""}',
]


def feed(codec: Codec | DeviceCodec, message: bytes | str) -> None:
    refusal: ProtocolError | None = None
    try:
        codec.receive(message)
    except ProtocolError as error:
        refusal = error
    if refusal:
        assert isinstance(message, str), "binary never ends a connection"
        assert refusal.code
        assert len(str(refusal)) < 200, "what arrived is not repeated"


@pytest.mark.parametrize("make", MAKERS)
@given(messages=st.lists(st.binary(max_size=120) | st.text(max_size=60), max_size=6))
def test_random_messages(
    make: Callable[[], Codec | DeviceCodec], messages: list[bytes | str]
) -> None:
    codec = make()
    for message in messages:
        feed(codec, message)


@pytest.mark.parametrize("make", MAKERS)
@given(fields=st.dictionaries(WORDS, VALUES, max_size=6), kind=WORDS, is_framed=st.booleans())
def test_known_words_in_unknown_order(
    make: Callable[[], Codec | DeviceCodec], fields: dict[str, object], kind: str, is_framed: bool
) -> None:
    text = json.dumps({"type": kind, **fields})
    payload = text.encode()
    head = bytes.fromhex("00020001 00000000 00000000") + len(payload).to_bytes(4, "big")
    feed(make(), head + payload if is_framed else text)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("text", BOMBS, ids=lambda text: text[:20])
def test_a_text_that_is_no_json_object_is_refused(
    make: Callable[[], Codec | DeviceCodec], text: str
) -> None:
    with pytest.raises(ProtocolError) as error:
        make().receive(text)
    assert error.value.code in ("text-not-json", "text-not-object")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_bad_packets_between_good_ones_are_counted_and_the_good_ones_heard(
    version: FramingVersion,
) -> None:
    dice = random.Random(7)
    codec, encoder = XiaozhiCodec(version), OpusEncoder(16_000, 60)
    other: FramingVersion = 3 if version == 1 else 2 if version == 3 else 1
    heard = 0
    for frame in cut(make_tone(440, 16_000, 1.2), encoder.frame_bytes):
        packet = encoder.encode(frame)
        good = wrap(packet, version)
        for bad in (b"", b"\xff", dice.randbytes(200), wrap(packet, other), wrap(b"\xff", version)):
            codec.receive(bad)
        heard += [len(e.pcm) for e in codec.receive(good) if isinstance(e, Audio)] == [1_920]
    assert heard == 20
    assert codec.ignored >= 60


def test_a_framing_3_message_on_a_framing_1_line_is_dropped() -> None:
    codec, encoder = XiaozhiCodec(1), OpusEncoder(16_000, 60)
    packet = encoder.encode(make_tone(440, 16_000, 0.06))
    assert codec.receive(wrap(packet, 3)) == []
    assert codec.receive(wrap(packet, 2)) == []
    assert codec.ignored == 2


def test_json_inside_a_binary_message_is_understood_or_dropped() -> None:
    codec = XiaozhiCodec(2)

    def pack(text: bytes) -> bytes:
        return bytes.fromhex("00020001 00000000 00000000") + len(text).to_bytes(4, "big") + text

    assert codec.receive(pack(b'{"type":"listen","state":"detect","text":"x"}')) == [TextSaid("x")]
    assert codec.receive(pack(b'{"type":')) == []
    assert codec.receive(pack(b"\xff\xfe")) == []
    assert codec.receive(pack(b"[" * 100_000)) == []
    assert codec.ignored == 3


@pytest.mark.parametrize("make", [XiaozhiCodec, PcmCodec])
def test_half_a_surrogate_pair_can_be_written_anywhere(make: Callable[[], Codec]) -> None:
    codec = make()
    kind = "mcp" if isinstance(codec, XiaozhiCodec) else "tool"
    (event,) = codec.receive(f'{{"type":"{kind}","payload":{{{HALF_PAIR}:[{HALF_PAIR}]}}}}')
    assert isinstance(event, ToolReplied)
    assert event.payload == {"?": ["?"]}


def test_a_whole_surrogate_pair_stays_what_it_is() -> None:
    text = json.dumps({"type": "text", "text": "🙂"})
    assert "\\ud" in text
    assert PcmCodec().receive(text) == [TextSaid("🙂")]


@pytest.mark.parametrize("make", [XiaozhiCodec, PcmCodec])
def test_names_are_cut_and_lists_of_features_are_short(make: Callable[[], Codec]) -> None:
    features = {f"f{number}": True for number in range(500)} | {"x" * 129: True, "y": False}
    codec = make()
    (hello,) = codec.receive(json.dumps({"type": "hello", "features": features}))
    assert isinstance(hello, Hello)
    assert len(hello.features) == 32
    assert max(map(len, hello.features)) <= 128
    (aborted,) = codec.receive(json.dumps({"type": "abort", "reason": "r" * 9_999}))
    assert len(getattr(aborted, "reason", "")) == 128


def test_a_robot_does_not_trust_the_size_of_a_session_id() -> None:
    device = XiaozhiDeviceCodec()
    device.receive(
        json.dumps({"type": "hello", "transport": "websocket", "session_id": "s" * 99_999})
    )
    (text,) = device.send(TextSaid("x"))
    assert len(text) < 300


@given(text=st.text(max_size=40))
@example(text='{"type":"hello"')
def test_an_error_says_nothing_of_what_was_said(text: str) -> None:
    secret = "my secret " + text
    with pytest.raises(ProtocolError) as error:
        PcmCodec().receive(secret)
    assert "secret" not in str(error.value)
