"""The line from a robot to its server: finding the server by OTA, connecting, messages both ways, and losing it."""

import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import anyio
import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import Frame, Opcode

from firmware_bridge.codec import DeviceCodec, ProtocolError
from firmware_bridge.events import DeviceCommand, DeviceEvent
from firmware_bridge.ota import read_answer
from firmware_bridge.pcm import PcmDeviceCodec
from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from server.errors import OmoideError
from server.simulator.habits import Habits, LinkStalls, ProtocolName
from server.tls import client_context
from server.unreachable import why_unreachable

OTA_PATH = "/xiaozhi/ota/"
PATHS: dict[ProtocolName, str] = {"xiaozhi": "/xiaozhi/v1/", "pcm": "/pcm"}
FIRMWARE = "omoide-simulator/0.1.0"

_CONNECT_SECONDS = 10.0


class LineError(OmoideError):
    """The server can't be reached, won't let the robot in, or hung up."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the robot says it is."""

    device: str
    """The Device-Id, in most cases a MAC address."""
    person: str = ""
    """Who speaks; empty for the server's choice."""

    @property
    def client(self) -> str:
        """The Client-Id: always the same for the same device, as if kept in its flash memory."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"omoide-simulator:{self.device}"))

    def headers(self) -> dict[str, str]:
        """Return the headers that name it, for HTTP and WebSocket; a name of any script is percent-encoded."""
        named = {"Device-Id": self.device, "Client-Id": self.client}
        return {**named, "Omoide-Person": quote(self.person)} if self.person else named


@dataclass(frozen=True, slots=True)
class Door:
    """Where to connect to, and what opens it."""

    url: str
    """Of the WebSocket."""
    token: str = ""


async def find_door(url: str, identity: Identity, protocol: ProtocolName) -> Door:
    """Find out where the server's WebSocket is.

    Args:
        url: Either a WebSocket (``ws``, ``wss``; a path that is missing is added), or the HTTP side of a server
            (``http``, ``https``), which is asked as a robot asks when it is switched on.
        identity: Who asks.
        protocol: What will be spoken.

    Raises:
        LineError: The server does not answer, or not as a robot needs it.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss", "http", "https") or not parts.hostname:
        raise LineError(
            "url-invalid", f"{url} is no address of a server. Write e.g. http://192.168.1.10:8003."
        )
    if parts.scheme in ("ws", "wss"):
        return Door(url if parts.path.strip("/") else _with_path(url, PATHS[protocol]))
    return await _ask_ota(url, identity, protocol)


async def _ask_ota(url: str, identity: Identity, protocol: ProtocolName) -> Door:
    ota_url = url if urlsplit(url).path.strip("/") else _with_path(url, OTA_PATH)
    answer = read_answer(await _post_ota(ota_url, identity))
    if not answer.websocket_url:
        raise LineError("ota-useless", f"{ota_url} answered without the address of a WebSocket.")
    if protocol == "xiaozhi":
        return Door(answer.websocket_url, answer.token)
    return Door(_with_path(answer.websocket_url, PATHS[protocol]), answer.token)


async def _post_ota(url: str, identity: Identity) -> dict[str, object]:
    body = {
        "version": 2,
        "language": "ja-JP",
        "mac_address": identity.device,
        "uuid": identity.client,
        "application": {"name": "omoide-simulator", "version": FIRMWARE.partition("/")[2]},
        "board": {"type": "omoide-simulator", "name": "omoide-simulator"},
    }
    headers = {**identity.headers(), "User-Agent": FIRMWARE, "Activation-Version": "1"}
    try:
        # Robots know no proxies, so neither does this client.
        async with httpx2.AsyncClient(
            trust_env=False, timeout=_CONNECT_SECONDS, verify=client_context()
        ) as client:
            response = await client.post(url, json=body, headers=headers)
            answer = response.json() if response.status_code == 200 else None
    except (httpx2.HTTPError, ValueError) as error:
        raise _unreachable(url, error) from error
    if not isinstance(answer, dict):
        raise LineError(
            "ota-failed", f"{url} answered {response.status_code} and nothing that a robot can use."
        )
    return answer


class _NeverPongs(ClientConnection):
    """A client that leaves pings without an answer, as some robots do."""

    def __init__(self, protocol: ClientProtocol, **options: Any) -> None:
        super().__init__(protocol, **options)
        send_frame = protocol.send_frame

        def send_all_but_pongs(frame: Frame) -> None:
            if frame.opcode is not Opcode.PONG:
                send_frame(frame)

        protocol.send_frame = send_all_but_pongs  # type: ignore[method-assign]


class Line:
    """An open connection. Commands in, events out; made by `open_line`."""

    def __init__(
        self, socket: ClientConnection, codec: DeviceCodec, stalls: LinkStalls | None
    ) -> None:
        self._socket = socket
        self._codec = codec
        self._stalls = stalls
        self._opened_at = anyio.current_time()

    async def send(self, *events: DeviceEvent) -> None:
        """Send events, in order. On a dead line nothing happens: the reading side finds out."""
        messages = [message for event in events for message in self._codec.send(event)]
        await self._wait_for_link()
        try:
            for message in messages:
                await self._socket.send(message)
        except ConnectionClosed:
            return

    async def receive(self) -> list[DeviceCommand]:
        """Wait for the next message and return what it means, often one command.

        Raises:
            LineError: The connection has ended, or the server does not speak the protocol; the message says how.
        """
        try:
            message = await self._socket.recv()
        except ConnectionClosed as closed:
            raise _explain_close(closed) from closed
        await self._wait_for_link()
        try:
            return self._codec.receive(message)
        except ProtocolError as error:
            self.drop()
            raise LineError(error.code, f"The server broke the protocol: {error}") from error

    def drop(self) -> None:
        """Lose the connection as if the radio had failed: no good-bye, no close frame."""
        self._socket.transport.abort()

    async def _wait_for_link(self) -> None:
        if self._stalls is not None:
            await anyio.sleep(self._stalls.seconds_left(anyio.current_time() - self._opened_at))


@asynccontextmanager
async def open_line(door: Door, identity: Identity, habits: Habits) -> AsyncIterator[Line]:
    """Connect. The block owns the connection and closes it politely.

    Raises:
        LineError: Nobody answers, or the server refuses; the message says with which status.
    """
    headers = identity.headers()
    if door.token:
        headers["Authorization"] = f"Bearer {door.token}"
    codec: DeviceCodec = PcmDeviceCodec()
    if habits.protocol == "xiaozhi":
        headers["Protocol-Version"] = str(habits.framing)
        codec = XiaozhiDeviceCodec(dtx=habits.dtx)
    socket = await _connect(door.url, headers, pongs=habits.pongs)
    try:
        yield Line(socket, codec, habits.stalls)
    finally:
        with anyio.CancelScope(shield=True):
            await socket.close()


async def _connect(url: str, headers: dict[str, str], *, pongs: bool) -> ClientConnection:
    try:
        return await connect(
            url,
            additional_headers=headers,
            user_agent_header=FIRMWARE,
            create_connection=ClientConnection if pongs else _NeverPongs,
            compression=None,
            proxy=None,
            open_timeout=_CONNECT_SECONDS,
            close_timeout=2,
            ping_interval=None,
            max_size=None,
            max_queue=None,  # a robot takes what comes; what it can't keep is for the play queue to count
        )
    except InvalidStatus as refusal:
        raise _explain_refusal(url, refusal) from refusal
    except (OSError, TimeoutError, WebSocketException) as error:
        raise _unreachable(url, error) from error


def _with_path(url: str, path: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _unreachable(url: str, error: Exception) -> LineError:
    return LineError("server-unreachable", why_unreachable(url, error))


def _explain_refusal(url: str, refusal: InvalidStatus) -> LineError:
    status = refusal.response.status_code
    told = re.sub(rb"\s+", b" ", refusal.response.body or b"").decode(errors="replace").strip()
    return LineError("server-refused", f"{url} refused the connection with status {status}: {told}")


def _explain_close(closed: ConnectionClosed) -> LineError:
    received = closed.rcvd
    if received is None:
        return LineError("connection-lost", "The connection was lost.")
    reason = f" ({received.reason})" if received.reason else ""
    return LineError("connection-closed", f"The server hung up with code {received.code}{reason}.")
