"""A small program behind the real doors: it writes down what it hears and answers on the spot."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import anyio
import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from firmware_bridge import DeviceEvent, PlayAudio, ShowTranscript, TextSaid
from server.access import Access
from server.config import Config
from server.conversation import Engines
from server.errors import OmoideError  # noqa: TC001 - evaluated with the class
from server.forgetting import Forgetting
from server.gateway import serve_devices
from server.memory import Memory
from server.memory.extract import RulesExtractor
from server.memory.layers.layers import Layers
from server.memory.opening import open_memory
from server.ports import Device
from server.prompting import PromptFiles
from server.recording import RecentTurns
from server.telemetry import Metrics
from server.trace import Turns
from server.web import serve_web
from tests.fakes import PROMPTS, FakeAsr, FakeEmbedder, FakeLlm, FakeTts, FakeVad
from tests.patience import RETRIEVAL, SECONDS

ROBOT = "aa:bb:cc:dd:ee:ff"
FROM_AFAR = {"X-Forwarded-For": "203.0.113.9"}
"""No proxy is trusted, so this only says: not from this machine."""
HELLO = json.dumps({"type": "hello", "rate": 16000})


class FixedClock:
    """Implements `ports.Clock`."""

    def __init__(self, now: datetime | None = None) -> None:
        self.moment = now or datetime(2026, 5, 3, 15, 20, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


@dataclass(frozen=True)
class FakeEngine:
    name: str

    async def warm_up(self) -> None: ...

    async def aclose(self) -> None: ...


class FakeApp:
    """What both doors ask for. Without `talk`, a conversation repeats what it is told."""

    def __init__(
        self, config: Config, data: Path, talk: Callable[[Device], Awaitable[None]] | None = None
    ) -> None:
        self.config = config
        self.data = data
        self.clock = FixedClock()
        self.access = Access(config, data, self.clock)
        self.metrics = Metrics()
        self.recent = RecentTurns(50)
        self.turns = Turns(self.clock)
        self.stages = {name: FakeEngine(f"fake-{name}") for name in ("vad", "asr", "llm", "tts")}
        self.warm = anyio.Event()
        self.troubles: dict[str, OmoideError] = {}
        self.devices: list[Device] = []
        self.heard: list[DeviceEvent] = []
        self.prompts = PromptFiles(PROMPTS, config.persona)
        self.llm = FakeLlm([])
        self.engines = Engines(FakeVad(), FakeAsr(), self.llm, FakeTts())
        self._talk = talk or self._repeat

    @cached_property
    def memory(self) -> Memory:
        """Opened when a test first comes to it."""
        folder = self.data / "memory"
        return open_memory(self.config, folder, FakeEmbedder(), RulesExtractor(), self.clock)

    @cached_property
    def layers(self) -> Layers:
        """Likewise."""
        section = self.config.persona
        count = self.metrics.count_layer_write
        layers = Layers(self.prompts, section, *self.memory.kept_in, self.clock, count)
        layers.load()
        self.prompts.persona = layers.persona
        return layers

    @property
    def forgetting(self) -> Forgetting:
        return Forgetting(self.memory.archive, self.data, self.recent, self.turns)

    def close(self) -> None:
        if "memory" in vars(self):
            self.memory.close()

    async def converse(self, device: Device) -> None:
        self.devices.append(device)
        await self._talk(device)

    async def _repeat(self, device: Device) -> None:
        async for event in device.events():
            self.heard.append(event)
            if isinstance(event, TextSaid):
                if event.text == "crash":
                    raise RuntimeError("secret words that people said")
                device.send(ShowTranscript(event.text))


@dataclass
class Doors:
    """The running server as a client sees it."""

    app: FakeApp
    device_port: int
    http_port: int
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    def web(self, **options: Any) -> httpx2.AsyncClient:
        # Nothing is encrypted here, and to read the certificates of the system takes longer than most tests.
        options = {"timeout": SECONDS, "verify": False, **options}
        return httpx2.AsyncClient(base_url=self.base_url, trust_env=False, **options)

    @asynccontextmanager
    async def robot(
        self, path: str = "/pcm", headers: Mapping[str, str] | None = None, **options: Any
    ) -> AsyncIterator[ClientConnection]:
        """Connect; the socket is just open, nothing was said."""
        url = f"ws://127.0.0.1:{self.device_port}{path}"
        given = {"Device-Id": ROBOT, "Client-Id": "first"} if headers is None else dict(headers)
        options = {"compression": None, "ping_interval": None, "proxy": None, **options}
        async with connect(url, additional_headers=given, close_timeout=1, **options) as line:
            yield line

    async def refusal(
        self, path: str = "/pcm", headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Return status and error of a request that must not be let in."""
        try:
            async with self.robot(path, headers):
                raise AssertionError("was let in")
        except InvalidStatus as error:
            body = json.loads(error.response.body)
            return error.response.status_code, body["error"]

    async def exchange(self, raw: bytes) -> bytes:
        """Send bytes to the robots' door; return all that comes back until it closes."""
        return await exchange(self.device_port, raw)


@asynccontextmanager
async def open_doors(
    data: Path,
    talk: Callable[[Device], Awaitable[None]] | None = None,
    *,
    http: bool = False,
    **sections: Any,
) -> AsyncIterator[Doors]:
    """Open the robots' door and, if asked for, the HTTP door (which takes a fifth of a second to close)."""
    ports = {"device_port": 0, **({"http_port": 0} if http else {})}
    server = {"host": "127.0.0.1", **ports, **sections.pop("server", {})}
    sections["retrieval"] = RETRIEVAL | sections.get("retrieval", {})
    app = FakeApp(Config(server=server, **sections), data, talk)
    with closing(app):
        async with anyio.create_task_group() as tasks:
            device_port = await tasks.start(serve_devices, app)
            http_port = await tasks.start(serve_web, app) if http else app.config.server.http_port
            yield Doors(app, device_port, http_port)
            tasks.cancel_scope.cancel()


async def exchange(port: int, raw: bytes) -> bytes:
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(raw)
        received = b""
        with anyio.fail_after(SECONDS):
            while True:
                try:
                    received += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return received


async def ask(line: ClientConnection, message: Mapping[str, Any]) -> dict[str, Any]:
    """Send one text message and return the next one."""
    await line.send(json.dumps(message))
    return await hear(line)


async def hear(line: ClientConnection) -> dict[str, Any]:
    with anyio.fail_after(SECONDS):
        answer: dict[str, Any] = json.loads(await line.recv())
        return answer


async def greet(line: ClientConnection) -> dict[str, Any]:
    return await ask(line, json.loads(HELLO))


async def say(line: ClientConnection, text: str) -> str:
    answer: str = (await ask(line, {"type": "text", "text": text}))["text"]
    return answer


async def end_of(line: ClientConnection) -> tuple[int, str]:
    """Read to the end; return close code and reason."""
    with anyio.fail_after(SECONDS):
        try:
            while True:
                await line.recv()
        except ConnectionClosed:
            return line.close_code or 0, line.close_reason or ""


def frames(count: int) -> list[PlayAudio]:
    return [PlayAudio(bytes(2 * 960), 16_000) for _ in range(count)]


async def listen_for_ever(device: Device) -> None:
    async for _ in device.events():
        pass


async def keep_sending(line: ClientConnection, message: bytes | str, seconds: float = 0.01) -> None:
    try:
        while True:
            await line.send(message)
            await anyio.sleep(seconds)
    except Exception:  # the other side ends it
        return
