"""The xiaozhi OTA request, by which a robot asks at boot where its server is, and the answer.

A robot keeps the WebSocket address it is given until the next good answer, so a wrong one lasts. It prefers MQTT whenever the
answer has an `mqtt` section and asks for a code whenever it has `activation`: this server sends neither.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from firmware_bridge.codec import ProtocolError
from firmware_bridge.framing import FRAMING_VERSIONS, FramingVersion
from firmware_bridge.wire import (
    NAME_CHARACTERS,
    read_choice,
    read_mapping,
    read_object,
    read_text,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Robots read each part with std::stoi and restart on anything that is no number of 32 bits.
_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,7}")
_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9_])?\.?")
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^\]]*\]|[^:]*)(:[0-9]{0,5})?")


@dataclass(frozen=True, slots=True)
class OtaRequest:
    """Who asks. Every field is what the robot claims, at most 128 characters, empty if it said nothing."""

    device_id: str
    """The MAC address; the name by which a robot is known."""
    client_id: str = ""
    """A UUID that lives as long as the robot's settings."""
    serial_number: str = ""
    board: str = ""
    version: str = ""
    """Version of the firmware that runs; empty unless it is dotted integers."""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Firmware:
    """A firmware file that robots may fetch."""

    version: str
    url: str


@dataclass(frozen=True, slots=True)
class OtaAnswer:
    """What a robot understands of an answer; empty, None or False for what it does not say."""

    websocket_url: str = ""
    token: str = ""
    protocol_version: FramingVersion = 1
    timestamp_ms: int | None = None
    timezone_offset_minutes: int | None = None
    firmware_version: str = ""
    firmware_url: str = ""
    prefers_mqtt: bool = False
    activation_code: str = ""


def parse_request(headers: Mapping[str, str], body: bytes | str = b"") -> OtaRequest:
    """Read a request. Headers come before the body; a missing or broken body is no error.

    Args:
        headers: Names in any case.
        body: The system information in JSON, or nothing (some boards send GET).
    """
    told = {name.lower(): value.strip()[:NAME_CHARACTERS] for name, value in headers.items()}
    info = _read_body(body)
    application = read_mapping(info, "application") or {}
    board = read_mapping(info, "board") or {}
    agent_board, _, agent_version = told.get("user-agent", "").rpartition("/")
    running = (read_text(application, "version"), agent_version)
    return OtaRequest(
        device_id=told.get("device-id") or read_text(info, "mac_address"),
        client_id=told.get("client-id") or read_text(info, "uuid"),
        serial_number=told.get("serial-number", ""),
        board=read_text(board, "type") or agent_board,
        version=next(filter(_VERSION.fullmatch, running), ""),
        language=told.get("accept-language") or read_text(info, "language"),
    )


def build_answer(
    request: OtaRequest,
    *,
    websocket_url: str,
    token: str,
    protocol_version: FramingVersion,
    now: datetime,
    firmware: Firmware | None = None,
) -> dict[str, object]:
    """Return the answer, ready to be sent as JSON with status 200.

    The robot has no time zone of its own: it shows UTC plus the offset that `now` has, so `now` must be in the zone
    where the robot stands. It is told to update only if `firmware` is newer than what it runs; else its own version comes
    back without an address, or no `firmware` at all if the version it named is not dotted integers.

    Args:
        request: Who asks.
        websocket_url: As `websocket_url()` returns it.
        token: Sent by the robot as `Authorization: Bearer …`; may be empty.
        protocol_version: Binary framing that the robot shall use.
        now: The time, with its zone.
        firmware: The file to offer, if there is one for this robot.

    Raises:
        ValueError: `now` has no zone.
    """
    offset = now.utcoffset()
    if offset is None:
        raise ValueError("The time must have a zone: the robot's clock depends on its offset.")
    answer: dict[str, object] = {
        "server_time": {
            "timestamp": (now - _EPOCH) // timedelta(milliseconds=1),
            "timezone_offset": offset // timedelta(minutes=1),
        },
        "websocket": {"url": websocket_url, "token": token, "version": protocol_version},
    }
    if _VERSION.fullmatch(request.version):
        answer["firmware"] = _offer_firmware(request.version, firmware)
    return answer


def read_answer(answer: Mapping[str, object]) -> OtaAnswer:
    """Read an answer as a robot does: whatever is missing or odd counts as not said."""
    websocket = read_mapping(answer, "websocket") or {}
    time = read_mapping(answer, "server_time") or {}
    firmware = read_mapping(answer, "firmware") or {}
    activation = read_mapping(answer, "activation") or {}
    return OtaAnswer(
        websocket_url=read_text(websocket, "url", limit=None),
        token=read_text(websocket, "token", limit=None),
        protocol_version=FRAMING_VERSIONS[read_choice(websocket, "version", FRAMING_VERSIONS, 1)],
        timestamp_ms=_read_whole(time, "timestamp"),
        timezone_offset_minutes=_read_whole(time, "timezone_offset"),
        firmware_version=read_text(firmware, "version"),
        firmware_url=read_text(firmware, "url", limit=None),
        prefers_mqtt="mqtt" in answer,
        activation_code=read_text(activation, "code"),
    )


def websocket_url(
    public_url: str | None, host_header: str, port: int, path: str, secure: bool
) -> str:
    """Return the address of the WebSocket to give to a robot.

    Args:
        public_url: Configured address under which robots reach this server, if any: `https` and `wss` become `wss`, `http` and `ws`
            become `ws`. Its port is kept; without one, `https` means 443 (a proxy stands there) and `http` means
            `port`. A path in it goes before `path`.
        host_header: `Host` of the OTA request, that is, the address that is known to work for this robot; used if
            there is no public URL. Its port belongs to HTTP and is replaced.
        port: Where the WebSocket listens.
        path: Path of the protocol, e.g. `/xiaozhi/v1/`.
        secure: Whether the OTA request came over TLS.

    Raises:
        ValueError: Neither address names a host.
    """
    if not public_url:
        host = _read_host(host_header)
        return f"{'wss' if secure else 'ws'}://{host}:{port}{path}"
    parts = urlsplit(public_url if "://" in public_url else f"//{public_url}")
    is_secure = parts.scheme in ("https", "wss") or (not parts.scheme and secure)
    host = _read_host(parts.hostname or "")
    public_port = parts.port or (None if is_secure else port)
    address = host if public_port is None else f"{host}:{public_port}"
    prefix = parts.path.rstrip("/").removesuffix(path.rstrip("/"))
    return f"{'wss' if is_secure else 'ws'}://{address}{prefix}{path}"


def _read_body(body: bytes | str) -> dict[str, object]:
    try:
        return read_object(body.decode() if isinstance(body, bytes) else body)
    except (UnicodeDecodeError, ProtocolError):
        return {}


def _offer_firmware(running: str, offered: Firmware | None) -> dict[str, object]:
    is_newer = (
        offered is not None
        and _VERSION.fullmatch(offered.version) is not None
        and _split_version(offered.version) > _split_version(running)
    )
    if offered is not None and is_newer:
        return {"version": offered.version, "url": offered.url}
    return {"version": running, "url": ""}


def _split_version(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _read_whole(fields: Mapping[str, object], key: str) -> int | None:
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return int(value)
    except (ValueError, OverflowError):  # not a number, or infinite
        return None


def _read_host(host_header: str) -> str:
    """Return the host without its port, an IPv6 address in brackets."""
    text = host_header.strip()
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"  # an address without its brackets
    match = _HOST_AND_PORT.fullmatch(text)
    host = match["host"] if match else ""
    if host.startswith("["):
        address = IPv6Address(
            host[1:-1].partition("%")[0]
        )  # a zone means something only over there
        return f"[{address.compressed}]"
    if not _HOST_NAME.fullmatch(host):
        raise ValueError("The request does not say which host it was for; set the public URL.")
    return host
