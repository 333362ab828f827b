"""A server on loopback that answers by script: it knows the protocols and nothing else."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
import numpy as np
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from firmware_bridge import Codec, negotiate
from firmware_bridge.events import (
    Audio,
    DeviceCommand,
    DeviceEvent,
    Hello,
    ListenStopped,
    PlayAudio,
    SentenceStarted,
    ShowEmotion,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    Welcome,
)
from server.audio import from_pcm, level_dbfs, to_pcm

RATE = 24_000
FRAME_MS = 60
FRAME_SAMPLES = RATE * FRAME_MS // 1000
QUIET_FRAMES = 4
"""So many quiet frames end an utterance."""


class Connection:
    """One robot, from the server's side."""

    def __init__(self, socket: ServerConnection, codec: Codec) -> None:
        self._socket = socket
        self._codec = codec
        self.socket = socket
        self.events: list[DeviceEvent] = []

    async def send(self, *commands: DeviceCommand) -> None:
        for command in commands:
            for message in self._codec.send(command):
                await self._socket.send(message)

    async def reply(
        self, text: str, seconds: float, *, ahead_seconds: float = 0.6, stop: bool = True
    ) -> None:
        """Say a tone of `seconds`, paced as a good server does."""
        await self.send(SpeechStarted(), ShowEmotion("happy"), SentenceStarted(text))
        frames = round(seconds * 1000 / FRAME_MS)
        began = anyio.current_time()
        for count in range(frames):
            early = began + count * FRAME_MS / 1000 - ahead_seconds - anyio.current_time()
            await anyio.sleep(max(0.0, early))
            await self.play(1)
        await anyio.sleep(max(0.0, began + seconds + 0.05 - anyio.current_time()))
        if stop:
            await self.send(SpeechStopped())

    async def play(self, frames: int) -> None:
        for _ in range(frames):
            await self.send(PlayAudio(to_pcm(tone(FRAME_MS / 1000, RATE)), RATE))

    def heard(self, kind: type[DeviceEvent]) -> list[DeviceEvent]:
        return [event for event in self.events if isinstance(event, kind)]


Script: TypeAlias = Callable[[Connection, str], Awaitable[None]]
"""Answers one question: a text, or "" for a sound."""


async def answer_plainly(connection: Connection, text: str) -> None:
    await connection.send(ShowTranscript(text or "a tone"))
    await connection.reply("Hello there.", 0.3)


@dataclass
class FakeServer:
    url: str
    connections: list[Connection] = field(default_factory=list)


@asynccontextmanager
async def running_server(
    script: Script = answer_plainly, *, greets: bool = True
) -> AsyncIterator[FakeServer]:
    async def hold(socket: ServerConnection) -> None:
        request = socket.request
        assert request is not None
        connection = Connection(socket, negotiate(request.path, request.headers, {}))
        fake.connections.append(connection)
        with suppress(ConnectionClosed):
            await _converse(connection, script, greets=greets)

    fake = FakeServer("")
    async with serve(hold, "127.0.0.1", 0, compression=None, ping_interval=None) as listening:
        fake.url = f"ws://127.0.0.1:{_port_of(listening)}"
        yield fake


async def _converse(connection: Connection, script: Script, *, greets: bool) -> None:
    voiced, quiet = 0, 0
    async with anyio.create_task_group() as tasks:
        async for message in connection.socket:
            for event in connection._codec.receive(message):
                connection.events.append(event)
                match event:
                    case Hello() if greets:
                        await connection.send(Welcome("session", RATE, FRAME_MS))
                    case TextSaid():
                        tasks.start_soon(_run, script, connection, event.text)
                    case ListenStopped():
                        tasks.start_soon(_run, script, connection, "")
                    case Audio():
                        is_loud = level_dbfs(from_pcm(event.pcm)) > -40
                        voiced, quiet = (voiced + 1, 0) if is_loud else (voiced, quiet + 1)
                        if voiced and quiet == QUIET_FRAMES and not connection.heard(ListenStopped):
                            voiced = 0
                            tasks.start_soon(_run, script, connection, "")
        tasks.cancel_scope.cancel()


async def _run(script: Script, connection: Connection, text: str) -> None:
    with suppress(ConnectionClosed):
        await script(connection, text)


def tone(seconds: float, rate: int, hertz: float = 440.0) -> np.ndarray:
    time = np.arange(round(seconds * rate)) / rate
    return (np.sin(2 * np.pi * hertz * time) * 8000).astype(np.int16)


def _port_of(server: Server) -> int:
    port: int = next(iter(server.sockets)).getsockname()[1]
    return port
