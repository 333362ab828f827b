"""The door for robots: a WebSocket server that lets them in, and one conversation for each."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

import anyio
import anyio.to_thread
import structlog
from anyio.abc import TaskStatus
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from firmware_bridge import Codec, ProtocolError, negotiate
from firmware_bridge.wake_words import WAKE_WORDS
from server.access import Access, take_seat
from server.admission import Admission
from server.arbitration import Arbiter
from server.callers import Caller, fold_headers, read_host
from server.claims import HTTP_STATUS, Claim, keep_printable, parse_bearer, tidy
from server.config import Config
from server.connection import INTERNAL_ERROR, TRY_LATER, Connection
from server.echo import EchoPaths
from server.errors import AccessError
from server.failures import describe_failure, quieten
from server.listener import listen
from server.metered import MeteredConnection
from server.places import Place, Places
from server.ports import Device
from server.rights import Held, Rights
from server.security_headers import SECURITY_HEADERS
from server.telemetry import Metrics
from server.tls import keep_renewed, server_context

log = structlog.get_logger(__name__)

_OPEN_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_STOP_SECONDS = 5.0
_FRAMES = 32
OTA_PATH = "/xiaozhi/ota/"


class DeviceHost(Protocol):
    """What the gateway needs of the program around it."""

    @property
    def config(self) -> Config:
        """The configuration."""

    @property
    def access(self) -> Access:
        """Who may come in."""

    @property
    def metrics(self) -> Metrics:
        """What is counted."""

    async def converse(self, device: Device) -> None:
        """Hold the conversation with one robot until it hangs up or this is cancelled."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What was decided about a robot before its socket opened."""

    codec: Codec
    admission: Admission
    caller: Caller
    held: Held | None
    """What it may lose; None if its entry is gone already."""


class DoorConnection(MeteredConnection):
    """A WebSocket connection that knows its ticket, and says once what came instead of a WebSocket request."""

    ticket: Ticket | None = None
    place: Place | None = None
    on_lost: Callable[["DoorConnection"], None] | None = None
    on_garbage: Callable[["DoorConnection"], None] | None = None
    received_bytes = 0
    is_lost = False

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport."""
        self.received_bytes += len(data)
        super().data_received(data)
        self._tell_garbage()

    def eof_received(self) -> None:
        """Take the end of the bytes from the transport."""
        super().eof_received()
        self._tell_garbage()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection from the transport."""
        super().connection_lost(exc)
        self.is_lost = True
        if self.on_lost is not None:
            self.on_lost(self)

    def _tell_garbage(self) -> None:
        is_garbage = self.request is None and self.protocol.handshake_exc is not None
        if is_garbage and self.received_bytes and self.on_garbage is not None:
            self.on_garbage(self)
            self.on_garbage = None


class Gateway:
    """Decides about requests and runs the connections. One per server."""

    def __init__(self, host: DeviceHost) -> None:
        self._host = host
        self._access = host.access
        self._limits = host.config.limits
        self._places = Places(host.config.limits)
        self.rights = Rights(host.access)
        self._echoes = EchoPaths(host.config.echo)
        self._arbiter = Arbiter(host.config.households)

    def make_connection(self, *args: Any, **options: Any) -> DoorConnection:
        """Make the object for a new TCP connection; called by the library."""
        connection = DoorConnection(*args, **options)
        connection.meter(self._limits)
        connection.on_lost = self._note_lost
        connection.on_garbage = self._note_garbage
        return connection

    async def check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request that may not become a WebSocket; None lets it."""
        assert isinstance(connection, DoorConnection)
        headers = fold_headers(request.headers.raw_items())
        path, _, query_string = request.path.partition("?")
        peer = _peer_of(connection)
        if headers.get("upgrade", "").strip().lower() != "websocket":
            return self._send_to_http_door(peer, request, headers)
        query = dict(parse_qsl(query_string, keep_blank_values=True))
        claim = tidy(read_claim(headers, query))
        caller = self._access.callers.identify(peer, headers)
        try:
            wake_words = (*WAKE_WORDS, *self._host.config.server.wake_words)
            codec = negotiate(path, headers, query, wake_words=wake_words)
            admission, held = await self._admit(claim, caller)
            connection.ticket = Ticket(codec, admission, caller, held)
            if not connection.is_lost:  # it may have left while the registry was read
                self._take_place(connection, connection.ticket)
        except (AccessError, ProtocolError) as error:
            if isinstance(error, AccessError):
                self._access.patience.note(caller, error)
            status = 404 if isinstance(error, ProtocolError) else HTTP_STATUS.get(error.code, 403)
            log.info(
                "device-refused",
                device=keep_printable(claim.device_id),
                peer=caller.address,
                path=path[:80],
                code=error.code,
                status=status,
                hint=str(error),
            )
            return respond(status, error.code, str(error))
        return None

    def restate(
        self, connection: ServerConnection, _: Request, response: Response
    ) -> Response | None:
        """Put a refusal of the library, for a broken handshake, into the shape of all others."""
        is_ours = response.headers.get("Content-Type") == "application/json"
        if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS or is_ours:
            return None
        status = response.status_code
        log.info("handshake-broken", peer=_peer_of(connection), status=status)
        return respond(status, "handshake-broken", response.body.decode(errors="replace").strip())

    async def welcome(self, connection: ServerConnection) -> None:
        """Run a connection from the opened WebSocket to its end. Raises nothing."""
        assert isinstance(connection, DoorConnection)
        ticket = connection.ticket
        assert ticket is not None
        device = Connection(
            connection,
            ticket.codec,
            ticket.admission,
            self._host.config,
            self._host.metrics,
            partial(take_seat, self._access, ticket.admission.device),
            echo=self._echoes.of(ticket.admission.device),
            is_chosen=partial(self._arbiter.chooses, ticket.admission.device),
        )
        admission, place = ticket.admission, connection.place
        said = {"device": device.id, "protocol": ticket.codec.name}
        hint = {"hint": _advise(admission)} if admission.is_guest else {}
        log.info(
            "device-arrived", peer=ticket.caller.address, guest=admission.is_guest, **said, **hint
        )
        started = anyio.current_time()
        self._host.metrics.connections.inc()
        self._access.presence.enter(admission.entry, device.id, device.hang_up)
        if ticket.held is not None:
            self.rights.enter(ticket.held, device.hang_up)
        if place is not None:
            place.give_up = partial(device.hang_up, TRY_LATER, "too-many-connections")

        async def converse(device: Device) -> None:
            if place is not None:
                place.is_greeted = True
            await self._host.converse(device)

        try:
            await device.run(converse)
        except Exception as error:
            code, where = describe_failure(error)
            log.warning("connection-failed", code=code, where=where, **said)
        finally:
            self.rights.leave(device.hang_up)
            self._access.presence.leave(admission.entry, device.hang_up)
            self._access.seats.keep(device.id)
            self._host.metrics.connections.dec()
            ending, reason = device.ending or (INTERNAL_ERROR, "failed")
            seconds = round(anyio.current_time() - started, 1)
            log.info(
                "device-left",
                code=ending,
                reason=reason,
                seconds=seconds,
                ignored=ticket.codec.ignored,
                **said,
            )

    async def _admit(self, claim: Claim, caller: Caller) -> tuple[Admission, Held | None]:
        if not caller.is_local and not self._access.requests.take(caller.household):
            raise AccessError("too-many-requests", "That was too much; try again in a minute.")
        self._access.patience.check(caller, claim.token)
        if caller.doubt and not await anyio.to_thread.run_sync(self._access.proves_itself, claim):
            self._access.callers.check_browser(caller)
        return await anyio.to_thread.run_sync(self._let_in, claim, caller)

    def _let_in(self, claim: Claim, caller: Caller) -> tuple[Admission, Held | None]:
        admission = self._access.admit(claim, caller)
        right = self._access.right_of(admission.entry, claim.token)
        return admission, None if right is None else Held(admission.entry, claim.token, right)

    def _take_place(self, connection: DoorConnection, ticket: Ticket) -> None:
        device = ticket.admission.device
        connection.place = Place(
            household=ticket.caller.household,
            is_known=ticket.admission.is_known,
            is_returning=self._access.presence.has_device(device),
            give_up=connection.transport.abort,
        )
        self._places.take(connection.place)

    def _note_lost(self, connection: DoorConnection) -> None:
        if connection.place is not None:
            self._places.leave(connection.place)

    def _send_to_http_door(
        self, peer: str, request: Request, headers: Mapping[str, str]
    ) -> Response:
        port = self._access.callers.http_port
        host = read_host(headers.get("host", ""))
        name = host.name if host else "this-server"
        scheme = "https" if self._host.config.server.tls.is_on else "http"
        url = f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}{OTA_PATH}"
        log.info(
            "http-at-the-robots-door",
            peer=peer,
            method=request.method,
            hint=f"HTTP is on port {port}; the OTA address of robots is {url}",
        )
        response = respond(
            426,
            "websocket-expected",
            f"This port speaks WebSocket. HTTP is on port {port}; the OTA address of robots is {url}",
            http_port=port,
            ota_url=url,
        )
        del response.headers["Connection"]
        response.headers.update({"Connection": "Upgrade, close", "Upgrade": "websocket"})
        if request.method == "HEAD":
            response.body = b""
        return response

    def _note_garbage(self, connection: DoorConnection) -> None:
        port = self._access.callers.http_port
        log.info(
            "no-websocket-request",
            peer=_peer_of(connection),
            hint=f"HTTP, and the OTA address of robots, is on port {port}",
        )


async def serve_devices(
    host: DeviceHost, *, task_status: TaskStatus[int] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Serve robots until cancelled; reports the port once the door is open.

    Robots need not answer pings: a dead line is found by silence, by a full queue, or when its robot comes back.

    Raises:
        OmoideError: `port-unusable`.
    """
    gateway = Gateway(host)
    tls = host.config.server.tls
    context = server_context(tls)
    listener = listen(host.config.server.host, host.config.server.device_port)
    server = serve(
        gateway.welcome,
        sock=listener,
        ssl=context,
        compression=None,
        process_request=gateway.check,
        process_response=gateway.restate,
        server_header="omoide",
        open_timeout=_OPEN_SECONDS,
        ping_interval=None,
        close_timeout=_CLOSE_SECONDS,
        max_size=host.config.limits.message_bytes,
        max_queue=_FRAMES,
        logger=quieten("omoide.websockets", "websocket-trouble"),
        create_connection=gateway.make_connection,  # type: ignore[arg-type]  # any factory will do
    )
    async with server, anyio.create_task_group() as tasks:
        tasks.start_soon(host.access.keep_saved)
        tasks.start_soon(gateway.rights.keep_checked)
        if context is not None:
            tasks.start_soon(keep_renewed, context, tls)
        port = int(listener.getsockname()[1])
        host.access.callers.device_port = port
        task_status.started(port)
        log.info("robots-door-open", port=port)
        try:
            await anyio.sleep_forever()
        finally:
            await _stop(server)


def respond(status: int, code: str, message: str, **more: object) -> Response:
    """Return a refusal as JSON."""
    body = json.dumps({"error": {"code": code, "message": message, **more}}, ensure_ascii=False)
    content = body.encode()
    headers = Headers(
        {
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
            "Connection": "close",
            **SECURITY_HEADERS,
        }
    )
    return Response(status, HTTPStatus(status).phrase, headers, content)


def read_claim(headers: Mapping[str, str], query: Mapping[str, str]) -> Claim:
    """Read who a robot says it is from its headers (names in lower case) or, for browsers, from the query string."""
    told = {name.lower(): value for name, value in query.items()}

    def find(name: str) -> str:
        return headers.get(name, "") or told.get(name, "")

    return Claim(
        device_id=find("device-id"),
        client_id=find("client-id"),
        token=parse_bearer(find("authorization")) or told.get("token", ""),
        person=_read_name(headers.get("omoide-person", "")) or told.get("person", ""),
    )


def _advise(guest: Admission) -> str:
    if guest.is_nameless:
        return "It has no Client-Id, so it can't be told from others and is a guest every time."
    return f"If it is yours: omoide devices accept {guest.entry}"


def _read_name(header: str) -> str:
    """Read a name of any script: percent-encoded, as it should be, or in raw UTF-8, as some clients send it."""
    try:
        return unquote(header.encode("latin-1").decode())
    except UnicodeError:
        return unquote(header)


async def _stop(server: Server) -> None:
    with anyio.move_on_after(_STOP_SECONDS, shield=True):
        server.close(reason="the server stops")
        await server.wait_closed()


def _peer_of(connection: ServerConnection) -> str:
    address = connection.remote_address
    return str(address[0]) if address else ""
