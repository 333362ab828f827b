"""One connected robot: its socket, its codec and the queues between them and the conversation."""

import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

import anyio
import structlog
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from firmware_bridge import (
    Audio,
    Closed,
    Codec,
    DeviceCommand,
    DeviceEvent,
    Hello,
    ListenStarted,
    Pinged,
    PlayAudio,
    Pong,
    ProtocolError,
    TextSaid,
    WakeWord,
    Welcome,
)
from server.access import Admission
from server.audio import LISTENING_RATE, Resampler, from_pcm, to_pcm
from server.config import LimitsSection
from server.failures import describe_failure
from server.ports import Device

log = structlog.get_logger(__name__)

NORMAL, PROTOCOL_ERROR, ABNORMAL = 1000, 1002, 1006
POLICY, TOO_BIG, INTERNAL_ERROR, TRY_LATER = 1008, 1009, 1011, 1013

TEXT_BYTES = 65_536
COMMANDS = 500
"""Waiting commands beyond which a robot counts as gone: half a minute of sound."""
_EVENTS = 512
_BURST_SECONDS = 5
"""After a stall of the radio link, or of this process, everything of the meantime arrives at once."""
_FLUSH_SECONDS = 5.0
_CLOSE_SECONDS = 3.0
_FRAME_MS = 60
_XIAOZHI_RATE = 24_000

Converse = Callable[[Device], Awaitable[None]]


class Connection:
    """Implements `ports.Device` on a WebSocket. Call `run` once; it closes the socket.

    The properties that the robot decides in its hello are right from the moment the conversation starts.
    """

    def __init__(
        self, socket: ServerConnection, codec: Codec, admission: Admission, limits: LimitsSection
    ) -> None:
        self._socket = socket
        self._codec = codec
        self._admission = admission
        self._limits = limits
        self._scope = anyio.CancelScope()
        self._welcome = Welcome(uuid.uuid4().hex, _XIAOZHI_RATE, _FRAME_MS)
        self._echo_cancelled = False
        self._greeted = anyio.Event()
        self._inbox, self._events = anyio.create_memory_object_stream[DeviceEvent](_EVENTS)
        self._commands: deque[DeviceCommand] = deque()
        self._filled = anyio.Event()
        self._emptied = anyio.Event()
        self._allowance = Allowance(limits.messages_per_second)
        self._resampler: tuple[int, Resampler] | None = None
        self._active_at = anyio.current_time()
        self.ending: tuple[int, str] | None = None
        """Close code and reason; None while the connection lasts."""

    @property
    def id(self) -> str:
        """Identity of the robot; a guest has one of its own."""
        return self._admission.device

    @property
    def person(self) -> str:
        """Whose memory and history belong to this conversation."""
        return self._admission.person

    @property
    def language(self) -> str | None:
        """Fixed language, or None to detect it."""
        return self._admission.language

    @property
    def voice(self) -> str:
        """Fixed voice, or empty."""
        return self._admission.voice

    @property
    def profile(self) -> str:
        """Name of the device profile."""
        return self._admission.profile

    @property
    def echo_cancelled(self) -> bool:
        """Whether the robot said that it removes its own voice from what it hears."""
        return self._echo_cancelled

    @property
    def playback_rate(self) -> int:
        """Hertz of the frames to play."""
        return self._welcome.audio_rate

    @property
    def frame_samples(self) -> int:
        """Samples in one frame to play."""
        return self._welcome.audio_rate * self._welcome.frame_ms // 1000

    def events(self) -> AsyncIterator[DeviceEvent]:
        """Iterate over what the robot sends, in order, from its hello until it hangs up. `Audio` is at 16 kHz."""
        return self._events

    def send(self, command: DeviceCommand) -> None:
        """Queue a command. A robot that does not take its commands any more is hung up on."""
        if self.ending is not None:
            return
        if len(self._commands) >= COMMANDS:
            self.hang_up(TRY_LATER, "too slow: commands piled up")
            return
        self._commands.append(command)
        self._filled.set()

    def touch(self) -> None:
        """Count this moment as activity."""
        self._active_at = anyio.current_time()

    def drop_audio(self) -> None:
        """Take back the audio that has not left the server yet."""
        self._commands = deque(
            command for command in self._commands if not isinstance(command, PlayAudio)
        )

    def hang_up(self, code: int, reason: str) -> None:
        """End the connection, whatever it is doing. Returns at once; the first call decides code and reason."""
        if self.ending is None:
            self.ending = (code, reason)
            self._scope.cancel()

    async def run(self, converse: Converse) -> None:
        """Greet the robot, hold the conversation, and close the socket in the end.

        What goes wrong in the conversation is logged and ends this connection; it is not raised.
        """
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._write)
                    tasks.start_soon(self._watch)
                    tasks.start_soon(self._talk, converse)
                    tasks.start_soon(self._read)
        finally:
            self._inbox.close()
            self._events.close()
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):  # it may have stopped reading
                await self._socket.close(*(self.ending or (INTERNAL_ERROR, "")))

    async def _read(self) -> None:
        try:
            while True:
                message = await self._socket.recv()
                if isinstance(message, str) and len(message.encode()) > TEXT_BYTES:
                    self.hang_up(TOO_BIG, f"a text message has at most {TEXT_BYTES} bytes")
                if not self._allowance.take(anyio.current_time()):
                    self.hang_up(POLICY, "too many messages a second")
                if self.ending is not None:
                    return
                for event in self._codec.receive(message):
                    await self._take(event)
        except ProtocolError as error:
            self.hang_up(PROTOCOL_ERROR, error.code)
        except ConnectionClosed as error:
            self.hang_up(*_explain_end(error))

    async def _take(self, event: DeviceEvent) -> None:
        match event:
            case Pinged():
                self.send(Pong())
                return
            case Hello():
                if self._greet(event):
                    return
            case Audio():
                event = self._at_listening_rate(event)
            case TextSaid() | ListenStarted() | WakeWord():
                self.touch()
            case Closed():
                self.hang_up(NORMAL, "the robot said good-bye")
                return
            case _:
                pass
        await self._inbox.send(event)

    def _greet(self, hello: Hello) -> bool:
        """Answer a hello; return whether it was only repeated. The format of the first stays: sound is on its way."""
        is_repeated = self._greeted.is_set()
        if not is_repeated:
            self._echo_cancelled = "aec" in hello.features
            if self._codec.name != "xiaozhi":
                # Small boards run microphone and speaker from one clock, so both ways get the same rate.
                self._welcome = replace(self._welcome, audio_rate=hello.audio_rate)
            self._greeted.set()
        self.send(self._welcome)
        return is_repeated

    def _at_listening_rate(self, audio: Audio) -> Audio:
        if audio.rate == LISTENING_RATE:
            return audio
        if self._resampler is None or self._resampler[0] != audio.rate:
            self._resampler = (audio.rate, Resampler(audio.rate, LISTENING_RATE))
        samples = self._resampler[1].push(from_pcm(audio.pcm))
        return replace(audio, pcm=to_pcm(samples), rate=LISTENING_RATE)

    async def _talk(self, converse: Converse) -> None:
        seconds = self._limits.hello_timeout_seconds
        with anyio.move_on_after(seconds):
            await self._greeted.wait()
        if not self._greeted.is_set():
            self.hang_up(PROTOCOL_ERROR, f"no hello within {seconds:g} s")
            return
        try:
            await converse(self)
        except Exception as error:
            self._report(error)
            return
        await self._flush()
        self.hang_up(NORMAL, "the conversation is over")

    async def _write(self) -> None:
        with suppress(ConnectionClosed):  # reading notices it too, and knows why
            while True:
                self._filled = anyio.Event()
                while self._commands:
                    await self._send_one(self._commands.popleft())
                self._emptied.set()
                await self._filled.wait()

    async def _send_one(self, command: DeviceCommand) -> None:
        try:
            messages = self._codec.send(command)
        except ValueError as error:
            self._report(error)
            return
        for message in messages:
            await self._socket.send(message)
        if not isinstance(command, Pong):
            self.touch()

    async def _flush(self) -> None:
        self._emptied = anyio.Event()
        self._filled.set()
        with anyio.move_on_after(_FLUSH_SECONDS):
            await self._emptied.wait()

    async def _watch(self) -> None:
        """Hang up on a robot to which nothing happens. Sound alone does not count: a microphone is always open."""
        while True:
            idle_seconds = anyio.current_time() - self._active_at
            left_seconds = self._limits.idle_close_seconds - idle_seconds
            if left_seconds <= 0:
                self.hang_up(NORMAL, "idle")
                return
            await anyio.sleep(left_seconds)

    def _report(self, error: Exception) -> None:
        code, place = describe_failure(error)
        log.warning("conversation-failed", device=self.id, code=code, where=place)
        self.hang_up(INTERNAL_ERROR, code)


class Allowance:
    """How many messages a robot may send: so many a second, and some seconds' worth at once."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._left = float(per_second * _BURST_SECONDS)
        self._counted_at: float | None = None

    def take(self, now_seconds: float) -> bool:
        """Count one message; return whether it was within the limit."""
        if self._counted_at is not None:
            gained = (now_seconds - self._counted_at) * self._per_second
            self._left = min(self._left + gained, self._per_second * _BURST_SECONDS)
        self._counted_at = now_seconds
        self._left -= 1
        return self._left >= 0


def _explain_end(error: ConnectionClosed) -> tuple[int, str]:
    """Say who ended the connection, and how. The reason of the other side is not repeated: it may hold anything."""
    if error.rcvd is not None and (error.sent is None or error.rcvd_then_sent):
        return int(error.rcvd.code), "the robot hung up"
    if error.sent is not None:
        return int(error.sent.code), error.sent.reason or "the server hung up"
    return ABNORMAL, "the line went dead"
