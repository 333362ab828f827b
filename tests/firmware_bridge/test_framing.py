"""Binary framing 1, 2 and 3, byte by byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.framing import Frame, FramingVersion, unwrap, wrap

VERSIONS = st.sampled_from([1, 2, 3])
PAYLOADS = st.binary(min_size=1, max_size=300).filter(lambda payload: payload[0] != 0)


def test_the_bytes_are_those_of_the_protocol() -> None:
    assert wrap(b"\x58ab", 1, 7) == b"\x58ab"
    assert wrap(b"\x58ab", 2, 0x01020304) == bytes.fromhex(
        "0002 0000 00000000 01020304 00000003 586162"
    )
    assert wrap(b"\x58ab", 3, 7) == bytes.fromhex("00 00 0003 586162")


def test_json_in_a_binary_message_is_told_from_sound() -> None:
    message = bytes.fromhex("0002 0001 00000000 00000000 00000002 7b7d")
    assert unwrap(message, 2) == Frame(b"{}", is_json=True)


@given(payload=PAYLOADS, version=VERSIONS, stamp=st.integers(0, 2**34))
def test_what_was_wrapped_comes_out(payload: bytes, version: FramingVersion, stamp: int) -> None:
    expected = stamp % 2**32 if version == 2 else 0
    assert unwrap(wrap(payload, version, stamp), version) == Frame(payload, expected)


@given(payload=PAYLOADS, version=st.sampled_from([2, 3]), data=st.data())
def test_a_message_cut_short_or_drawn_out_is_dropped(
    payload: bytes, version: FramingVersion, data: st.DataObject
) -> None:
    message = wrap(payload, version)
    end = data.draw(st.integers(0, len(message) - 1))
    assert unwrap(message[:end], version) is None
    assert unwrap(message + b"x", version) is None


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("message", [b"", bytes(4), bytes.fromhex("0002" + "00" * 14)])
def test_a_frame_without_payload_is_dropped(version: FramingVersion, message: bytes) -> None:
    assert unwrap(message, version) is None


@given(payload=PAYLOADS, sent=VERSIONS, expected=VERSIONS)
def test_a_frame_of_another_version_is_dropped(
    payload: bytes, sent: FramingVersion, expected: FramingVersion
) -> None:
    frame = unwrap(wrap(payload, sent), expected)
    assert frame == (Frame(payload) if sent == expected else None)


@pytest.mark.parametrize(
    "message",
    [
        "0003 0000 00000000 00000000 00000001 58",  # a version of its own
        "0002 0002 00000000 00000000 00000001 58",  # an unknown type
    ],
)
def test_an_unknown_head_of_framing_2_is_dropped(message: str) -> None:
    assert unwrap(bytes.fromhex(message), 2) is None


def test_an_unknown_type_of_framing_3_is_dropped() -> None:
    assert unwrap(bytes.fromhex("05 00 0001 58"), 3) is None


@given(message=st.binary(max_size=64), version=VERSIONS)
def test_any_bytes_are_a_frame_or_nothing(message: bytes, version: FramingVersion) -> None:
    frame = unwrap(message, version)
    assert frame is None or message.endswith(frame.payload)
