"""Routes in whose paths a parameter is one segment, whatever signs are in it: `Mum%2FDad` is a name, `Mum/Dad` is none."""

from typing import Any
from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope


class SegmentRoute(APIRoute):
    """Matches a path as it was sent: once it is decoded, a person called ``facts/1`` looks like the fact 1."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return how well a request fits, and its parameters, decoded."""
        match, found = super().matches({**scope, "path": _escaped_path(scope)})
        parameters: dict[str, Any] = found.get("path_params", {})
        for name, value in parameters.items():
            parameters[name] = value.replace("%2F", "/").replace("%25", "%")
        return match, found


def _escaped_path(scope: Scope) -> str:
    """Return the decoded path, in which only the slashes between segments are slashes."""
    raw: bytes = scope["raw_path"]
    segments = (unquote(segment) for segment in raw.decode("ascii").split("/"))
    return "/".join(segment.replace("%", "%25").replace("/", "%2F") for segment in segments)
