"""Every answer that is not a success has one shape: a code for programs and a sentence for people."""

from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from server.claims import HTTP_STATUS
from server.errors import OmoideError
from server.web.host import host_of

log = structlog.get_logger(__name__)

_CODES = {404: "not-found", 405: "method-not-allowed"}


def refuse(status: int, code: str, message: str) -> JSONResponse:
    """Return a refusal."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def refuse_for(error: OmoideError) -> JSONResponse:
    """Return the refusal for one of our own errors."""
    return refuse(HTTP_STATUS.get(error.code, 500), error.code, str(error))


def add_error_answers(web: FastAPI) -> None:
    """Make the framework's own errors answer in our shape too."""
    web.add_exception_handler(HTTPException, _answer_http)
    web.add_exception_handler(RequestValidationError, _answer_invalid)
    web.add_exception_handler(OmoideError, _answer_own)


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
