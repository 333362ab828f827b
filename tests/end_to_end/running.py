"""A whole server on loopback, with fake or real engines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from server.app import App, open_app, serve
from server.config import Config
from server.conversation import Engines
from tests.fakes import FakeEmbedder
from tests.patience import RETRIEVAL


@dataclass(frozen=True, slots=True)
class Running:
    """A server that is open for robots."""

    app: App
    device_port: int
    http_port: int

    @property
    def xiaozhi_url(self) -> str:
        return f"ws://127.0.0.1:{self.device_port}/xiaozhi/v1/"

    @property
    def http_url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"


@asynccontextmanager
async def running(
    data: Path, engines: Engines | None = None, **sections: Any
) -> AsyncIterator[Running]:
    """Run a server around the block, on free ports. With fake engines memory searches with a fake one, too."""
    embedder = None if engines is None else FakeEmbedder()
    server = {"host": "127.0.0.1", "device_port": 0, "http_port": 0} | sections.pop("server", {})
    retrieval = RETRIEVAL | sections.pop("retrieval", {})
    config = Config(server=server, retrieval=retrieval, **sections)
    async with open_app(config, data, engines, embedder) as app, anyio.create_task_group() as tasks:
        doors = await tasks.start(serve, app)
        await app.warm.wait()
        yield Running(app, doors.device_port, doors.http_port)
        tasks.cancel_scope.cancel()
