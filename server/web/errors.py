"""Every answer that is not a success has one shape: a code for programs and a sentence for people."""

from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Send

from server.claims import HTTP_STATUS
from server.errors import OmoideError
from server.web.host import host_of

log = structlog.get_logger(__name__)

_CODES = {
    404: "not-found",
    405: "method-not-allowed",
    413: "body-too-long",
    416: "range-not-satisfiable",
}


_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "60"}}
_STATUS = {
    "event-unknown": 404,
    "fact-unknown": 404,
    "id-ambiguous": 409,
    "fact-replaced": 409,
    "import-foreign": 409,
    "import-invalid": 422,
    "page-unknown": 404,
    "person-missing": 422,
    "person-unknown": 404,
    "layer-locked": 409,
    "layer-proposals-full": 409,
    "layer-unknown": 404,
    "proposal-unknown": 404,
    "usage-invalid": 422,
    "webhook-unknown": 404,
    "store-full": 507,
    "llm-timeout": 504,
    "embedding-timeout": 504,
    "llm-preempted": 503,
    "llm-unconfigured": 503,
    "embedding-unconfigured": 503,
}
"""Of errors that an answer to an HTTP request may end in, apart from those of access."""
_STATUS_OF_KIND = {
    "store": 503,
    "index": 503,
    "recordings": 503,
    "llm": 502,
    "embedding": 502,
    "extraction": 502,
    "layer": 422,
    "layers": 422,
    "persona": 503,
}
"""Of all others, by the first word of their code: not at the moment, or an endpoint behind this server is to blame."""


def status_of(error: OmoideError) -> int:
    """Return the HTTP status for one of our own errors."""
    if (status := HTTP_STATUS.get(error.code) or _STATUS.get(error.code)) is not None:
        return status
    return _STATUS_OF_KIND.get(error.code.partition("-")[0], 500)


def refuse(status: int, code: str, message: str) -> JSONResponse:
    """Return a refusal."""
    headers = _HEADERS.get(status)
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def refuse_for(error: OmoideError) -> JSONResponse:
    """Return the refusal for one of our own errors."""
    return refuse(status_of(error), error.code, str(error))


def in_our_shape(send: Send) -> Send:
    """Rewrite refusals that the framework writes as plain text past `add_error_answers`, e.g. for a broken Range."""
    start: Message = {}
    text = b""

    async def send_some(message: Message) -> None:
        nonlocal start, text
        if message["type"] == "http.response.start" and _is_foreign_refusal(message):
            start = message
        elif not start:
            await send(message)
        else:
            text += message.get("body", b"")
            if not message.get("more_body", False):
                await _send_rewritten(start, text.decode(errors="replace"), send)

    return send_some


def add_error_answers(web: FastAPI) -> None:
    """Make the framework's own errors answer in our shape too."""
    web.add_exception_handler(HTTPException, _answer_http)
    web.add_exception_handler(RequestValidationError, _answer_invalid)
    web.add_exception_handler(OmoideError, _answer_own)


def _is_foreign_refusal(start: Message) -> bool:
    kind = Headers(raw=list(start.get("headers", ()))).get("content-type", "")
    return start["status"] >= 400 and not kind.startswith("application/json")


async def _send_rewritten(start: Message, text: str, send: Send) -> None:
    status = start["status"]
    answer = refuse(status, _CODES.get(status, f"http-{status}"), text or HTTPStatus(status).phrase)
    for name, value in Headers(raw=list(start.get("headers", ()))).items():
        if name not in ("content-type", "content-length"):
            answer.headers[name] = value
    await send({"type": "http.response.start", "status": status, "headers": answer.raw_headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _answer_http(request: Request, error: Any) -> JSONResponse:
    status = int(error.status_code)
    message = str(error.detail)
    if status == 404:
        port = host_of(request).access.callers.device_port
        message = f"Nothing is here. The API is described at /docs; robots connect to port {port}."
    answer = refuse(status, _CODES.get(status, f"http-{status}"), message)
    answer.headers.update(error.headers or {})
    return answer


async def _answer_invalid(_: Request, error: Any) -> JSONResponse:
    complaints = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
    return refuse(422, "request-invalid", "; ".join(complaints))


async def _answer_own(_: Request, error: Any) -> JSONResponse:
    return refuse_for(error)
