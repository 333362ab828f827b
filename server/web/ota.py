"""The OTA address of xiaozhi robots: where their server is, what time it is, and firmware if the owner put some there."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import anyio.to_thread
import structlog
from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from firmware_bridge.ota import Firmware, OtaRequest, build_answer, parse_request, websocket_url
from server.callers import Caller
from server.claims import Claim
from server.errors import AccessError
from server.web.errors import refuse
from server.web.host import WebHost, caller_of, host_of

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/xiaozhi/ota", tags=["robots"])

_PATH = "/xiaozhi/v1/"
_BODY_BYTES = 65_536
_FIRMWARE = re.compile(
    r"(?P<board>[A-Za-z0-9._ -]+)_(?P<version>[0-9]{1,9}(\.[0-9]{1,9}){0,7})\.bin"
)


@dataclass(frozen=True, slots=True)
class FirmwareFile:
    """A file that the owner put into the folder `firmware` of the data."""

    path: Path
    board: str
    version: tuple[int, ...]


@router.post("/", summary="Tell a robot where its server is")
async def tell_server(request: Request) -> Response:
    """Answer a robot: WebSocket address and token, time, firmware. A broken body is no error."""
    return await _answer(request)


@router.post("", include_in_schema=False)
@router.get("", include_in_schema=False)
@router.get("/", include_in_schema=False)
async def tell_server_too(request: Request) -> Response:
    """Answer robots that leave out the slash or send no body."""
    return await _answer(request)


@router.post("/activate", summary="Confirm an activation")
async def activate() -> dict[str, object]:
    """Confirm. This server asks for no activation, but a robot may remember one from elsewhere."""
    return {}


@router.get("/download/{name}", summary="Fetch a firmware file", response_class=FileResponse)
async def download(name: str, request: Request) -> FileResponse:
    """Send a file of the firmware folder."""
    files = await anyio.to_thread.run_sync(_list_firmware, host_of(request).data)
    for file in files:
        if file.path.name == name:
            return FileResponse(file.path, media_type="application/octet-stream")
    raise HTTPException(404)


async def _answer(request: Request) -> Response:
    host = host_of(request)
    headers = dict(request.headers)
    asked = parse_request(headers, await _read_some(request))
    own_host = request.headers.get("host", "") or _find_own_address(request)
    try:
        address = _find_websocket(host, own_host)
    except ValueError:
        return refuse(
            400,
            "host-invalid",
            "Neither server.public_url nor the Host header of the request names a host.",
        )
    token = ""
    # A page can point a name of its own here and read what comes of a GET; robots ask by POST, or by address.
    if request.method == "POST" or host.access.callers.is_own_host(own_host):
        token = await anyio.to_thread.run_sync(_register, host, asked, caller_of(request))
    files = await anyio.to_thread.run_sync(_list_firmware, host.data)
    answer = build_answer(
        asked,
        websocket_url=address,
        token=token,
        protocol_version=1,
        now=host.clock.now(),
        firmware=_choose(files, asked.board, _find_base(host, own_host)),
    )
    return JSONResponse(answer)


def _find_websocket(host: WebHost, own_host: str) -> str:
    callers = host.access.callers
    ports = (callers.http_port, callers.device_port)
    public_url = _at_device_port(host.config.server.public_url, *ports)
    secure = host.config.server.tls.is_on
    return websocket_url(public_url, own_host, callers.device_port, _PATH, secure=secure)


def _find_base(host: WebHost, own_host: str) -> str:
    """Return the address of this door, as it is known to work for the robot."""
    scheme = "https" if host.config.server.tls.is_on else "http"
    base = (host.config.server.public_url or own_host).rstrip("/")
    return base if "://" in base else f"{scheme}://{base}"


def _find_own_address(request: Request) -> str:
    """Return the address that the request came to: old clients send no Host."""
    address, port = request.scope.get("server") or ("", None)
    bare = f"[{address}]" if ":" in address else address
    return f"{bare}:{port}" if port else bare


def _register(host: WebHost, asked: OtaRequest, caller: Caller) -> str:
    """Note the robot and return its token; empty if it does not say who it is. It is let in or not at the other door."""
    claim = Claim(
        device_id=asked.device_id,
        client_id=asked.client_id,
        serial=asked.serial_number,
        board=asked.board,
    )
    try:
        token = host.access.visit(claim, caller)
    except AccessError as error:
        log.info("robot-not-registered", peer=caller.address, code=error.code)
        return ""
    log.info(
        "robot-asked-for-server", peer=caller.address, board=asked.board, version=asked.version
    )
    return token


async def _read_some(request: Request) -> bytes:
    """Return the body, cut off where no robot's body ends any more."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _BODY_BYTES:
            return b""
    return body


def _list_firmware(data: Path) -> list[FirmwareFile]:
    folder = (data / "firmware").resolve()
    if not folder.is_dir():
        return []
    names = ((path, _FIRMWARE.fullmatch(path.name)) for path in sorted(folder.iterdir()))
    return [
        FirmwareFile(path, match["board"], _split_version(match["version"]))
        for path, match in names
        if match and path.is_file() and path.resolve().is_relative_to(folder)  # links may lead out
    ]


def _choose(files: list[FirmwareFile], board: str, base: str) -> Firmware | None:
    fitting = [file for file in files if file.board == board]
    if not fitting:
        return None
    newest = max(fitting, key=_version_of)
    version = ".".join(map(str, newest.version))
    return Firmware(version, f"{base}/xiaozhi/ota/download/{quote(newest.path.name)}")


def _version_of(file: FirmwareFile) -> tuple[int, ...]:
    return file.version


def _split_version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _at_device_port(public_url: str, http_port: int, device_port: int) -> str:
    """Return the public URL with the port of the robots' door in place of that of the HTTP door."""
    parts = urlsplit(public_url if "://" in public_url else f"http://{public_url}")
    if parts.scheme not in ("http", "https") or parts.port != http_port:
        return public_url
    name = parts.hostname or ""
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{device_port}{parts.path}"
