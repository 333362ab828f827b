"""The three ways in which xiaozhi robots pack an Opus packet into a binary message.

All integers are big-endian.

| version | header | |
| --- | --- | --- |
| 1 | none | the message is the packet |
| 2 | `u16 version, u16 type, u32 reserved, u32 timestamp_ms, u32 size` | type 0 Opus, 1 JSON |
| 3 | `u8 type, u8 reserved, u16 size` | type 0 Opus |

A robot uses one version in both directions and does not check the size it reads, so it must never be sent a wrong one.
"""

import struct
from dataclasses import dataclass
from typing import Literal, TypeAlias

FramingVersion: TypeAlias = Literal[1, 2, 3]

FRAMING_VERSIONS: dict[int, FramingVersion] = {1: 1, 2: 2, 3: 3}
"""From a number that arrived to a version that is known."""

_HEADER_2 = struct.Struct("!HHIII")
_HEADER_3 = struct.Struct("!BBH")
_OPUS, _JSON = 0, 1
_TIMESTAMP_WRAP = 1 << 32


@dataclass(frozen=True, slots=True)
class Frame:
    """What one binary message carried."""

    payload: bytes
    timestamp_ms: int = 0
    """The stamp of framing 2; 0 in the others, and where the sender had none."""
    is_json: bool = False


def wrap(payload: bytes, version: FramingVersion, timestamp_ms: int = 0) -> bytes:
    """Pack one Opus packet. The stamp counts modulo 2**32 and only travels in framing 2."""
    match version:
        case 1:
            return payload
        case 2:
            stamp = timestamp_ms % _TIMESTAMP_WRAP
            return _HEADER_2.pack(version, _OPUS, 0, stamp, len(payload)) + payload
        case 3:
            return _HEADER_3.pack(_OPUS, 0, len(payload)) + payload


def unwrap(message: bytes, version: FramingVersion) -> Frame | None:
    """Unpack one binary message; None if it is empty, cut short, or contradicts its own header."""
    match version:
        case 1:
            # A robot that frames without having said so: as a packet its header would decode to a crackle.
            is_framed = _unwrap_2(message) or _unwrap_3(message)
            frame = None if is_framed else Frame(message)
        case 2:
            frame = _unwrap_2(message)
        case 3:
            frame = _unwrap_3(message)
    return frame if frame and frame.payload else None


def _unwrap_2(message: bytes) -> Frame | None:
    if len(message) < _HEADER_2.size:
        return None
    version, kind, _, timestamp_ms, size = _HEADER_2.unpack_from(message)
    payload = message[_HEADER_2.size :]
    if version != 2 or kind not in (_OPUS, _JSON) or size != len(payload):
        return None
    return Frame(payload, timestamp_ms, is_json=kind == _JSON)


def _unwrap_3(message: bytes) -> Frame | None:
    if len(message) < _HEADER_3.size:
        return None
    kind, _, size = _HEADER_3.unpack_from(message)
    payload = message[_HEADER_3.size :]
    return Frame(payload) if kind == _OPUS and size == len(payload) else None
