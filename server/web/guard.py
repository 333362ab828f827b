"""Stands before every route: who may pass, how much they may send, and what a crash looks like from outside."""

import structlog
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.access import Access
from server.callers import Caller, fold_headers
from server.claims import parse_bearer
from server.errors import AccessError
from server.failures import describe_failure
from server.grants import Grant
from server.security_headers import SECURITY_HEADERS
from server.web.errors import in_our_shape, refuse, refuse_for
from server.web.permissions import scope_of

log = structlog.get_logger(__name__)

BODY_BYTES = 1_048_576
_OPEN_PREFIX = "/xiaozhi/ota"
_HEALTH = "/health"
_TOO_LONG = f"A request has at most {BODY_BYTES} bytes."
_READING = ("GET", "HEAD", "OPTIONS")


class Guard:
    """ASGI middleware. Leaves in the request's state the `caller`, `is_inside` (whether they may use the API) and their `grant`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        started = False

        async def note_start(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(_guarded(message))

        try:
            await self._serve(scope, receive, note_start)
        except AccessError as error:
            await refuse_for(error)(scope, receive, note_start)
        except ClientDisconnect:
            log.debug("caller-left", path=scope["path"][:80])
        except Exception as error:
            code, place = describe_failure(error)
            log.warning("request-failed", path=scope["path"][:80], code=code, where=place)
            if started:
                raise ConnectionAbortedError from None
            await refuse(
                500, "internal-error", "Something went wrong; the log of the server says where."
            )(scope, receive, note_start)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = fold_headers(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        )
        peer = scope["client"][0] if scope["client"] else ""
        caller = self._access.callers.identify(peer, headers)
        state = scope.setdefault("state", {})
        state["caller"] = caller
        state["is_inside"] = False
        if not caller.is_local and not self._access.requests.take(caller.household):
            raise AccessError("too-many-requests", "That was too much; try again in a minute.")
        if not _is_open(scope["path"]):
            try:
                state["grant"] = self._check(caller, headers, scope["method"], scope["path"])
                state["is_inside"] = True
            except AccessError:
                if scope["path"] != _HEALTH:
                    raise
        elif "host" in headers or "origin" in headers:  # a browser: no page may get a robot's token
            self._access.callers.check_browser(caller)
        if _claimed_length(headers) > BODY_BYTES:
            await refuse(413, "body-too-long", _TOO_LONG)(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # answered like GET; the connection leaves the body out
            scope = {**scope, "method": "GET"}
        await self._app(scope, _limit(receive), in_our_shape(send))

    def _check(self, caller: Caller, headers: dict[str, str], method: str, path: str) -> Grant:
        token = parse_bearer(headers.get("authorization", ""))
        self._access.patience.check(caller, token)
        try:
            grant = self._access.check_api(caller, token)
        except AccessError as error:
            self._access.patience.note(caller, error)
            raise
        if path != _HEALTH:
            grant.check(scope_of(method, path))
        if token:
            return grant
        # A form on a web page can be sent across sites without asking; JSON, and DELETE of any kind, can't.
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method not in (*_READING, "DELETE") and kind != "application/json":
            raise AccessError(
                "content-type-wrong", "Send Content-Type: application/json, or a token."
            )
        return grant


def _guarded(message: Message) -> Message:
    """Put what every answer carries into its beginning."""
    if message["type"] == "http.response.start":
        headers = MutableHeaders(scope=message)
        for name, value in SECURITY_HEADERS.items():
            headers.setdefault(name, value)
    return message


def _is_open(path: str) -> bool:
    return path == _OPEN_PREFIX or path.startswith(f"{_OPEN_PREFIX}/")


def _claimed_length(headers: dict[str, str]) -> int:
    digits = headers.get("content-length", "0").lstrip("0") or "0"
    if not (digits.isascii() and digits.isdigit()):
        return 0
    return int(digits) if len(digits) < 16 else BODY_BYTES + 1


def _limit(receive: Receive) -> Receive:
    """Refuse a body that goes on for too long without having said so."""
    taken = 0

    async def receive_some() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_BYTES:
            raise HTTPException(413, _TOO_LONG)
        return message

    return receive_some
