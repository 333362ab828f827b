"""Asking the HTTP API of a running server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit, urlunsplit

import httpx2

from server.commands.reach import Place
from server.errors import OmoideError
from server.tls import client_context
from server.unreachable import why_unreachable

Answer: TypeAlias = Mapping[str, Any]

_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 600.0
"""A model may draw facts from many exchanges."""


def path_of(base: str, *parts: str) -> str:
    """Return a path of the API: `base` as it is, and each part behind it as one segment, whatever is in it."""
    # Dots, too: a client takes a segment of one or two for a step in the path.
    escaped = (quote(part, safe="").replace(".", "%2E") for part in parts)
    return "/".join((base, *escaped))


@dataclass(frozen=True, slots=True)
class Api:
    """The API of one server."""

    url: str
    """HTTP address of the server."""
    token: str = ""

    async def ask(
        self,
        method: str,
        path: str,
        params: Mapping[str, str | int] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Answer:
        """Send a request and return the JSON object that it is answered with.

        Raises:
            OmoideError: ``url-invalid``, ``server-unreachable``, ``server-foreign``, or what the server answered.
        """
        url = self._locate(path)
        # The type is wanted of callers without a token, with or without a body.
        headers = {} if method == "GET" else {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        patience = httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
        try:
            async with httpx2.AsyncClient(
                trust_env=False, timeout=patience, verify=client_context()
            ) as client:
                response = await client.request(
                    method, url, params=params, json=body, headers=headers
                )
                answer = response.json()
        except httpx2.HTTPError as error:
            raise OmoideError("server-unreachable", why_unreachable(self.url, error)) from error
        except ValueError as error:
            raise self._foreign() from error
        if not isinstance(answer, dict):
            raise self._foreign()
        if response.status_code >= 400:
            raise self._refusal(answer)
        return answer

    def _locate(self, path: str) -> str:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise OmoideError(
                "url-invalid",
                f"{self.url} is no address of a server's API. Write e.g. http://192.168.1.10:8003.",
            )
        return urlunsplit((parts.scheme, parts.netloc, path, "", ""))

    def _refusal(self, answer: Answer) -> OmoideError:
        error = answer.get("error")
        if not isinstance(error, dict) or "code" not in error:
            return self._foreign()
        code, message = str(error["code"]), str(error.get("message", ""))
        if code in ("token-missing", "token-wrong"):
            message += (
                " Give the token with --token; it is in the file api-token of its data folder."
            )
        return OmoideError(code, message)

    def _foreign(self) -> OmoideError:
        return OmoideError(
            "server-foreign",
            f"{self.url} does not answer as an Omoide of this version does. Is it the address of its HTTP port?",
        )


def api_of(place: Place) -> Api:
    """Return the API of the running server at a place that has one."""
    assert place.url is not None
    return Api(place.url, place.token or place.config.access.api_token.get_secret_value())
