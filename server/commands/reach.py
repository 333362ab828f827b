"""Getting at a server: one that is running somewhere, or one that is started in this process for as long as it is needed."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2
import structlog

from server.commands.report import Tell
from server.config import Config, TlsSection
from server.simulator import Habits, Identity, Robot, open_robot
from server.tls import client_context

if TYPE_CHECKING:
    from server.app import App
    from server.conversation import Engines
    from server.ports import Clock, Embedder

log = structlog.get_logger(__name__)

Trace: TypeAlias = Mapping[str, Any]
"""A finished turn as the API describes it."""

LOOPBACK = "127.0.0.1"
RECENT_TURNS = 50
_HTTP_SECONDS = 5.0
_TRACE_SECONDS = 3.0
_POLL_SECONDS = 0.05
_TOKEN_WANTED = "it wants its API token. Give it with --token; it stands in the file api-token of the server's data folder"
_REFUSED = "it refuses the API token"


class Traces(Protocol):
    """Where the records of finished turns are read."""

    async def __call__(self) -> Sequence[Trace] | None:
        """Return the last turns of all devices, oldest first; None if they can't be had."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is carried out."""

    config: Config
    """For the server that is started; of a running one only the API token is used, if `token` is empty."""
    data: Path
    """Where the server that is started keeps its state."""
    url: str | None = None
    """Address of a running server (HTTP or WebSocket); None to start one."""
    engines: "Engines | None" = None
    """Engines of the server that is started, instead of those that the configuration names."""
    token: str = ""
    """The API token of a running server; empty for the configured one."""
    clock: "Clock | None" = None
    """The time for the server that is started; None for that of the system."""
    embedder: "Embedder | None" = None
    """As for `engines`, for memory's search."""


@dataclass(slots=True)
class Reached:
    """A server that can be talked to."""

    url: str
    traces: Traces
    token: str = ""
    """Opens the HTTP API, and lets a robot name its person; empty if none is configured."""
    app: "App | None" = None
    """The server itself, if it runs in this process."""
    _seen: set[str] = field(default_factory=set)

    def open_robot(self, identity: Identity, habits: Habits) -> AbstractAsyncContextManager[Robot]:
        """Switch a robot on near it."""
        return open_robot(self.url, identity, habits, self.token)

    async def watch(self) -> None:
        """Take note of the turns that there are, so that `new_trace` knows which are new."""
        self._seen |= {str(trace["id"]) for trace in await self.traces() or ()}

    async def new_trace(self, identity: Identity) -> Trace | None:
        """Return the last turn of a device since `watch` or the last call, waiting a moment for it to be put away."""
        with anyio.move_on_after(_TRACE_SECONDS):
            while (traces := await self.traces()) is not None:
                fresh = [trace for trace in traces if self._is_new(trace, identity)]
                if fresh:
                    self._seen |= {str(trace["id"]) for trace in fresh}
                    return fresh[-1]
                await anyio.sleep(_POLL_SECONDS)
        return None

    def _is_new(self, trace: Trace, identity: Identity) -> bool:
        # A robot that is a guest goes by its name and a mark behind it.
        device = str(trace["device"]).partition("~")[0]
        return device == identity.device.lower() and str(trace["id"]) not in self._seen


@asynccontextmanager
async def reach(place: Place, tell: Tell) -> AsyncIterator[Reached]:
    """Reach a running server, or start one on free ports and wait until its engines are warm.

    Args:
        place: Where the server is, or shall be.
        tell: Told if a running server does not hand out the times of its stages.

    Raises:
        OmoideError: The server can't be started.
    """
    if place.url is not None:
        token = place.token or place.config.access.api_token.get_secret_value()
        yield Reached(place.url, _RemoteTraces(place.url, token, tell), token)
        return
    # Heavy, and not needed to talk to a server elsewhere.
    from server.app import open_app, serve  # noqa: PLC0415

    async with (
        open_app(
            on_free_ports(place.config), place.data, place.engines, place.embedder, place.clock
        ) as app,
        anyio.create_task_group() as tasks,
    ):
        doors = await tasks.start(serve, app)
        await app.warm.wait()
        yield Reached(f"ws://{LOOPBACK}:{doors.device_port}", _LocalTraces(app), app=app)
        tasks.cancel_scope.cancel()


def on_free_ports(config: Config) -> Config:
    """Return the configuration for a server that nobody but this process can find, and that remembers its last turns."""
    server = config.server.model_copy(
        update={
            "host": LOOPBACK,
            "device_port": 0,
            "http_port": 0,
            "public_url": "",
            "tls": TlsSection(),
        }
    )
    recent_turns = max(config.recording.recent_turns, RECENT_TURNS)
    recording = config.recording.model_copy(update={"recent_turns": recent_turns})
    access = config.access.model_copy(
        update={"trust_loopback": True}
    )  # its only client is this process
    return config.model_copy(update={"server": server, "access": access, "recording": recording})


@dataclass(frozen=True, slots=True)
class _LocalTraces:
    app: "App"

    async def __call__(self) -> Sequence[Trace]:
        from server.recording import describe  # noqa: PLC0415

        return [describe(turn) for turn in self.app.recent.list()]


@dataclass(slots=True)
class _RemoteTraces:
    """Asks the HTTP API; gives up for good when it is refused, for then the figures are simply unknown."""

    url: str
    token: str
    tell: Tell
    known: bool = True

    async def __call__(self) -> Sequence[Trace] | None:
        parts = urlsplit(self.url)
        if not self.known or parts.scheme not in ("http", "https"):
            return None
        url = urlunsplit((parts.scheme, parts.netloc, "/api/turns", f"limit={RECENT_TURNS}", ""))
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            async with httpx2.AsyncClient(
                trust_env=False, timeout=_HTTP_SECONDS, verify=client_context()
            ) as client:
                response = await client.get(url, headers=headers)
                if response.status_code in (401, 403):
                    self._give_up(_REFUSED if self.token else _TOKEN_WANTED)
                    return None
                response.raise_for_status()
                return _read_turns(response.json())
        except (httpx2.HTTPError, ValueError) as error:
            log.debug("no-stage-times", url=url, reason=str(error))
            self._give_up("it does not answer as an Omoide of this version does")
            return None

    def _give_up(self, reason: str) -> None:
        self.known = False
        self.tell(f"{self.url} does not say how long its stages took: {reason}.")


def _read_turns(answer: object) -> Sequence[Trace]:
    turns = answer.get("turns") if isinstance(answer, dict) else answer
    if not isinstance(turns, list) or not all(
        isinstance(turn, dict) and "id" in turn and "device" in turn for turn in turns
    ):
        raise ValueError("this is no list of turns")
    return turns
