"""One connected robot: its socket, its codec and the queues between them and the conversation."""

import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import anyio
import anyio.lowlevel
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
from firmware_bridge.wake_words import WAKE_WORDS
from server.admission import Admission, seated
from server.allowance import Allowance
from server.audio import LISTENING_RATE, Resampler, from_pcm, to_pcm
from server.config import Config
from server.earshot import Earshot
from server.echo import EchoPath
from server.failures import describe_failure
from server.inbox import Inbox
from server.ports import Device
from server.telemetry import Metrics

log = structlog.get_logger(__name__)

NORMAL, PROTOCOL_ERROR, ABNORMAL = 1000, 1002, 1006
POLICY, INTERNAL_ERROR, TRY_LATER, NOT_CHOSEN = 1008, 1011, 1013, 4002

COMMANDS = 500
"""Waiting commands beyond which a robot counts as gone: half a minute of sound."""
_INBOX_BYTES = 1_048_576
"""Half a minute of sound: models may still be loading."""
_FLUSH_SECONDS = 5.0
_CLOSE_SECONDS = 3.0
_LEAVE_SECONDS = 1.0
"""How long a conversation may take to read what came before the end of the line, and to end then."""
_FRAME_MS = 60
_XIAOZHI_RATE = 24_000

Converse = Callable[[Device], Awaitable[None]]
IsChosen = Callable[[float | None], Awaitable[bool]]


async def _always(_: float | None) -> bool:
    return True


class Connection:
    """Implements `ports.Device` on a WebSocket. Call `run` once; it closes the socket.

    The properties that the robot decides in its hello are right from the moment the conversation starts.
    """

    def __init__(
        self,
        socket: ServerConnection,
        codec: Codec,
        admission: Admission,
        config: Config,
        metrics: Metrics,
        note_person: Callable[[str], None] = lambda _: None,
        *,
        echo: EchoPath | None = None,
        is_chosen: IsChosen = _always,
    ) -> None:
        """Take over a socket that is open.

        Args:
            socket: The WebSocket.
            codec: What is spoken on it.
            admission: As whom the robot came in.
            config: What it may ask, and how it is listened to.
            metrics: What is counted.
            note_person: Told who says that it is them who speaks now, as in `become`.
            echo: What is known of its echo; nothing if left out.
            is_chosen: Asked when it has heard its wake word, and how loud: another one may have, too.
        """
        self._socket = socket
        self._codec = codec
        self._admission = admission
        self._config, limits = config, config.limits
        self._limits = limits
        self._metrics = metrics
        self._note_person = note_person
        self._is_chosen = is_chosen
        self._line = anyio.CancelScope()
        self._welcome = Welcome(uuid.uuid4().hex, _XIAOZHI_RATE, _FRAME_MS)
        self._echo = echo or EchoPath(config.echo)
        self._echo_cancelled = False
        self._earshot = self._open_earshot()
        self._greeted = anyio.Event()
        self._inbox = Inbox(_INBOX_BYTES)
        self._commands: deque[DeviceCommand] = deque()
        self._filled = anyio.Event()
        self._emptied = anyio.Event()
        self._sound = Allowance(limits.sound_speed, limits.sound_burst_seconds)
        self._dropped_sound = False
        self._is_closed = False
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
    def is_guest(self) -> bool:
        """Whether nothing of what is said may be kept."""
        return self._admission.is_guest

    @property
    def household(self) -> Sequence[str]:
        """Who may say that it is them who speaks now."""
        return tuple(self._admission.household)

    def become(self, person: str) -> None:
        """Go on with the memory of somebody of the household; with an empty name as a guest of it."""
        self._admission = seated(self._admission, person)
        self._note_person(person)

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
        """Whether the robot said that it removes its own voice."""
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
        return self._inbox

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

    def said_between(self, start: float, end: float) -> Sequence[str]:
        """Return the sentences of which the robot may have heard an echo between two moments."""
        return self._earshot.said_between(start, end)

    def drop_audio(self) -> None:
        """Take back the audio that has not left the server yet."""
        self._commands = deque(
            command for command in self._commands if not isinstance(command, PlayAudio)
        )

    def hang_up(self, code: int, reason: str) -> None:
        """End the connection, whatever it is doing. Returns at once; the first call decides code and reason.

        The conversation still gets what the robot sent before.
        """
        if self.ending is None:
            self.ending = (code, reason)
            self._line.cancel()

    async def run(self, converse: Converse) -> None:
        """Greet the robot, hold the conversation, and close the socket in the end.

        What goes wrong in the conversation is logged and ends this connection; it is not raised.
        """
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._talk, converse)
                with self._line:
                    await self._serve_line()
                self._inbox.close()
                seconds = _LEAVE_SECONDS if self._greeted.is_set() else 0.0
                tasks.cancel_scope.deadline = anyio.current_time() + seconds
                await self._close()  # what was said last may take longer to be recognised
        finally:
            self._inbox.close()
            await self._close()

    async def _close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        with anyio.move_on_after(_CLOSE_SECONDS, shield=True):  # it may have stopped reading
            await self._socket.close(*(self.ending or (INTERNAL_ERROR, "")))

    async def _serve_line(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write)
            tasks.start_soon(self._watch)
            tasks.start_soon(self._read)

    async def _read(self) -> None:
        try:
            while True:
                message = await self._socket.recv()
                for event in self._codec.receive(message):
                    await self._take(event, len(message))
        except ProtocolError as error:
            self.hang_up(PROTOCOL_ERROR, error.code)
        except ConnectionClosed as error:
            self.hang_up(*_explain_end(error))

    async def _take(self, event: DeviceEvent, message_bytes: int) -> None:
        match event:
            case Pinged():
                self.send(Pong())
                return
            case Hello():
                if self._greet(event):
                    return
            case Audio():
                if not self._may_be_heard(event):
                    return
                event = self._at_listening_rate(event)
                message_bytes = len(event.pcm)
            case TextSaid() | ListenStarted() | WakeWord():
                self.touch()
            case Closed():
                self.hang_up(NORMAL, "the robot said good-bye")
                return
            case _:
                pass
        await self._deliver(event, message_bytes)

    async def _deliver(self, event: DeviceEvent, content_bytes: int) -> None:
        """Give an event to the conversation, unless the robot has only heard itself."""
        heard = self._earshot.take(event, anyio.current_time())
        if isinstance(heard, WakeWord) and not await self._is_chosen(self._earshot.level_db):
            self.hang_up(NOT_CHOSEN, "another robot of the household answers")
            await anyio.lowlevel.checkpoint()  # nothing that it heard is read any more
        elif heard is not None:
            await self._inbox.put(heard, content_bytes)

    def _greet(self, hello: Hello) -> bool:
        """Answer a hello; return whether it was only repeated. The format of the first stays: sound is on its way."""
        is_repeated = self._greeted.is_set()
        if not is_repeated:
            self._echo_cancelled = "aec" in hello.features
            if self._codec.name != "xiaozhi":
                # Small boards run microphone and speaker from one clock, so both ways get the same rate.
                self._welcome = replace(self._welcome, audio_rate=hello.audio_rate)
            self._earshot = self._open_earshot()
            self._greeted.set()
        self.send(self._welcome)
        return is_repeated

    def _open_earshot(self) -> Earshot:
        config = self._config
        return Earshot(
            self._welcome.audio_rate,
            config.echo,
            self._echo,
            guard_seconds=config.endpointing.guard_ms / 1000,
            echo_cancelled=self._echo_cancelled,
            wake_words=(*WAKE_WORDS, *config.server.wake_words),
        )

    def _may_be_heard(self, audio: Audio) -> bool:
        """Count a piece of sound; return whether the conversation gets it. Too much is dropped, and in the end punished."""
        seconds = len(audio.pcm) / 2 / audio.rate
        left_seconds = self._sound.take(anyio.current_time(), seconds)
        if left_seconds >= 0 and self._greeted.is_set():
            return True
        reason = "too much sound" if left_seconds < 0 else "sound before the hello"
        self._metrics.dropped_sound.inc(seconds)
        if not self._dropped_sound:
            self._dropped_sound = True
            log.warning("sound-dropped", device=self.id, reason=reason)
        if left_seconds < -self._limits.sound_burst_seconds:
            self.hang_up(POLICY, reason)
        return False

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
        if self.ending is None:
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
        self._earshot.note(command, anyio.current_time())
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


def _explain_end(error: ConnectionClosed) -> tuple[int, str]:
    """Say who ended the connection, and how. The reason of the other side is not repeated: it may hold anything."""
    if error.rcvd is not None and (error.sent is None or error.rcvd_then_sent):
        return int(error.rcvd.code), "the robot hung up"
    if error.sent is not None:
        return int(error.sent.code), error.sent.reason or "the server hung up"
    return ABNORMAL, "the line went dead"
