"""The robot itself: its listening states, its clock, and what it makes of a server's commands.

It follows the firmware: the microphone opens with `ListenStarted`, is shut while the robot speaks (auto, manual), and opens
again when the play queue is empty; sound that comes while the robot does not speak is lost.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from enum import Enum, auto

import anyio

from firmware_bridge.events import (
    Aborted,
    Alert,
    DeviceCommand,
    Hello,
    ListenStarted,
    ListenStopped,
    PlayAudio,
    SentenceStarted,
    ShowEmotion,
    ShowTranscript,
    SpeechStarted,
    SpeechStopped,
    TextSaid,
    WakeWord,
    Welcome,
)
from firmware_bridge.events import (
    Audio as AudioFrame,
)
from server.audio import LISTENING_RATE, Audio, Resampler, Samples, from_pcm, to_pcm
from server.simulator.answer import Answer
from server.simulator.echo_path import EchoPath
from server.simulator.exchange import Exchange
from server.simulator.habits import Habits
from server.simulator.line import Identity, Line, LineError, find_door, open_line
from server.simulator.microphone import Microphone, Sounding, cut_frames, mix
from server.simulator.play_queue import PlayQueue

HELLO_SECONDS = 10.0
"""How long robots wait for the server's hello."""
QUIET_SECONDS = 0.2
"""Longer than any gap between packets over a good link."""
LULL_SECONDS = 1.0
"""After an abort that nothing was heard after: how long the line must be quiet until the exchange counts as over."""


class State(Enum):
    """What the robot is doing."""

    IDLE = auto()
    LISTENING = auto()
    SPEAKING = auto()
    DRAINING = auto()
    """The server has declared the reply finished; what is left in the queue is played."""


class Robot:
    """A robot that is connected; made by `open_robot`, which also runs it.

    Speak to it with `say` and `write`, one after the other. For what a person does in the middle of a reply there are
    `speak` and `abort`; `answer` then waits for the end.
    """

    def __init__(self, line: Line, welcome: Welcome, habits: Habits) -> None:
        self._line = line
        self._habits = habits
        self.microphone = Microphone(habits.frame_ms)
        self._queue = PlayQueue(welcome.audio_rate, habits.queue_packets)
        self._echo = Resampler(welcome.audio_rate, LISTENING_RATE)
        self._echo_rest: Samples = from_pcm(b"")
        loudness = habits.echo_db or 0.0
        self._echo_path = EchoPath(loudness, habits.echo_delay_ms, habits.echo_room)
        self._unsent: list[Samples] = []
        self._exchange = Exchange()
        self._replying_to = self._exchange
        self._tick = anyio.Event()
        self._aborting = False
        self.state = State.IDLE
        self.closed: LineError | None = None

    async def begin(self) -> None:
        """Start the conversation as after a wake word or a touch. Called by `open_robot`."""
        if self._habits.wake_sound is not None:
            frames = cut_frames(self._habits.wake_sound, self.microphone.frame_samples)
            await self._line.send(*map(_frame_of, frames))
        if self._habits.wake_word:
            await self._line.send(WakeWord(self._habits.wake_word))
        if self._habits.mode != "manual":
            await self._open_microphone()

    async def say(self, audio: Audio) -> Answer:
        """Wait until the robot listens, say something to it in real time, and return what it answers.

        In manual mode the button is held for as long as the sound lasts.
        """
        await self.until_silent()
        sound = self.speak(audio)
        if self._habits.mode == "manual":
            await self._open_microphone()
            while not sound.ended and self.closed is None:
                await self._tick.wait()
            await self._close_microphone()
        return await self.answer()

    async def write(self, text: str) -> Answer:
        """Send a text instead of sound and return the answer to it."""
        await self.until_silent()
        self._ask(Exchange(asked_at=anyio.current_time()))
        await self._line.send(TextSaid(text))
        return await self.answer()

    async def hint(self, text: str) -> None:
        """Send a text and wait for nothing."""
        self._ask(Exchange(asked_at=anyio.current_time()))
        await self._line.send(TextSaid(text))

    def speak(self, audio: Audio) -> Sounding:
        """Let a sound be made near the robot from now on, whatever it is doing. Call `answer` for what comes of it."""
        sound = self.microphone.hear(audio)
        self._ask(Exchange(sound=sound))
        return sound

    async def abort(self, reason: str = "") -> None:
        """Cut the robot short, as by a touch."""
        self._aborting = True
        self._exchange.interrupted = True
        await self._line.send(Aborted(reason))

    async def until_quiet(self) -> float:
        """Wait until nothing has sounded for a moment, though the reply may only be held; return when the last sound ended."""
        while anyio.current_time() < self._queue.drained_at + QUIET_SECONDS:
            await self._tick.wait()
        return self._queue.drained_at

    def drop(self) -> None:
        """Lose the connection without a good-bye."""
        self._line.drop()

    async def answer(self) -> Answer:
        """Wait until the reply has been played, and return it.

        Never raises for a bad answer: a lost connection, an alert, or a server that stays silent is its `error`.
        """
        exchange = self._exchange
        while not self._is_over(exchange, anyio.current_time()):
            await self._tick.wait()
        patience = self._habits.patience_seconds
        missing = LineError(
            "no-answer",
            f"Nothing came back within {patience:g} s. Was anything said, and loud enough?",
        )
        return exchange.conclude(self._queue.take(), self.closed, missing)

    async def listen_to_server(self) -> None:
        """Obey the server until the connection ends. Run by `open_robot`."""
        try:
            while True:
                for command in await self._line.receive():
                    await self._obey(command, anyio.current_time())
        except LineError as error:
            self.closed = error

    async def keep_time(self) -> None:
        """Run the clock of microphone and loudspeaker until the connection ends. Run by `open_robot`.

        A frame leaves when its last sample has been made. Frames that are late, because the link stood still, follow at once.
        """
        frame_seconds = self._habits.frame_ms / 1000
        began = anyio.current_time()
        count = 0
        while self.closed is None:
            starts_at = began + count * frame_seconds
            count += 1
            await anyio.sleep(max(0.0, began + count * frame_seconds - anyio.current_time()))
            await self._send_frame(starts_at, starts_at + frame_seconds)
            await self._play_on(anyio.current_time())
            self._tick.set()
            self._tick = anyio.Event()
        self._tick.set()

    async def _send_frame(self, starts_at: float, ends_at: float) -> None:
        frame = self.microphone.next_frame(starts_at)
        if self._habits.echo_db is not None:
            frame = mix(frame, self._echo_path.push(self._hear_itself(starts_at, ends_at)), 0.0)
        if not self._microphone_is_open():
            return
        self._unsent.append(frame)
        if len(self._unsent) >= self._habits.burst_frames:
            await self._flush()

    async def _flush(self) -> None:
        frames, self._unsent = self._unsent, []
        await self._line.send(*map(_frame_of, frames))

    def _hear_itself(self, starts_at: float, ends_at: float) -> Samples:
        """Return one frame of what the loudspeaker played; some milliseconds late, by the resampler."""
        played = self._echo.push(self._queue.heard_between(starts_at, ends_at))
        self._echo_rest = from_pcm(to_pcm(self._echo_rest) + to_pcm(played))
        length = self.microphone.frame_samples
        missing = max(0, length - len(self._echo_rest))
        padded = from_pcm(bytes(2 * missing) + to_pcm(self._echo_rest))
        self._echo_rest = padded[length:]
        return padded[:length]

    def _microphone_is_open(self) -> bool:
        if self._habits.mode != "realtime" and self._habits.closes_microphone and self.speaks:
            return False
        return self.state is not State.IDLE

    async def _open_microphone(self) -> None:
        await self._line.send(ListenStarted(self._habits.mode))
        self.state = State.LISTENING

    async def _close_microphone(self) -> None:
        if self.state is State.LISTENING:
            self.state = State.IDLE
        await self._flush()
        await self._line.send(ListenStopped())

    async def _play_on(self, now: float) -> None:
        """Let time pass for the loudspeaker: habits that wait for a moment of the reply, and its end."""
        self._queue.advance(now)
        if self.state is State.DRAINING and now >= self._queue.drained_at:
            await self._fall_silent(now)
        elif self.state is State.SPEAKING:
            await self._misbehave(self._queue.played_ms(now))

    async def _misbehave(self, played_ms: float) -> None:
        habits = self._habits
        if habits.drop_after_ms is not None and played_ms >= habits.drop_after_ms:
            self.drop()
        elif (
            habits.abort_after_ms is not None
            and not self._aborting
            and played_ms >= habits.abort_after_ms
        ):
            await self.abort()

    async def _fall_silent(self, now: float) -> None:
        self._replying_to.replied |= self._replying_to.asked_before(now)
        self._aborting = False
        if self._habits.mode == "manual":
            self.state = State.IDLE
        else:
            await self._open_microphone()

    async def _obey(self, command: DeviceCommand, now: float) -> None:
        self._exchange.last_sign_at = now
        match command:
            case ShowTranscript():
                self._exchange.transcripts.append(command.text)
            case SpeechStarted():
                await self._start(now)
            case ShowEmotion():
                speaks = self.state is State.SPEAKING
                (self._replying_to if speaks else self._exchange).emotion = command.emotion
            case SentenceStarted():
                self._replying_to.note_sentence(command.text)
            case PlayAudio():
                self._play(command, now)
            case SpeechStopped():
                self._stop(command, now)
            case Alert():
                self._exchange.trouble = LineError("alert", f"{command.status}: {command.message}")
            case _:
                pass

    async def _start(self, now: float) -> None:
        if not self._exchange.began_replying:
            self._queue.take()  # the rest of a reply to something else
        self._exchange.began_replying = True
        self._replying_to = self._exchange
        self._queue.start(now)
        self.state = State.SPEAKING
        await self._flush()

    def _play(self, command: PlayAudio, now: float) -> None:
        if self.state is not State.SPEAKING:
            self._exchange.strays += 1
            return
        self._replying_to.note_audio(now)
        self._queue.receive(from_pcm(command.pcm), now)

    def _stop(self, command: SpeechStopped, now: float) -> None:
        self._exchange.stops += 1
        if self.state is not State.SPEAKING:
            return
        interrupted = command.interrupted or self._aborting
        self._replying_to.interrupted |= interrupted
        self._queue.stop(now, interrupted=interrupted)
        self.state = State.DRAINING

    def _ask(self, exchange: Exchange) -> None:
        self._exchange = exchange
        exchange.last_sign_at = anyio.current_time()

    async def until_silent(self) -> None:
        """Wait as a person does: until the robot has finished speaking."""
        while self.speaks and self.closed is None:
            await self._tick.wait()
        if self.closed is not None:
            raise self.closed

    def _is_over(self, exchange: Exchange, now: float) -> bool:
        if self.closed is not None or exchange.trouble is not None:
            return True
        if exchange.still_asking:
            exchange.last_sign_at = now
            return False
        if self._is_tired_of(exchange, now):
            return True
        was_cut = exchange.interrupted and now - exchange.last_sign_at >= LULL_SECONDS
        return not self.speaks and (exchange.replied or was_cut)

    def _is_tired_of(self, exchange: Exchange, now: float) -> bool:
        """Whether nothing has come, and nothing has been left to play, for too long."""
        since = max(exchange.last_sign_at, self._queue.drained_at)
        if now - since < self._habits.patience_seconds:
            return False
        if self.state is State.SPEAKING:
            exchange.trouble = LineError("reply-unfinished", "The server never ended its reply.")
        return True

    @property
    def speaks(self) -> bool:
        """Whether it may be making a sound."""
        return self.state in (State.SPEAKING, State.DRAINING)


@asynccontextmanager
async def open_robot(
    url: str, identity: Identity, habits: Habits | None = None, token: str = ""
) -> AsyncIterator[Robot]:
    """Switch a robot on near a server: find it, connect, say hello, and open the microphone.

    The robot lives as long as the block. To come back after a lost connection, open another with the same identity.

    Args:
        url: As for `line.find_door`.
        identity: Who it is.
        habits: How it behaves; a well-behaved robot if left out.
        token: What opens the door; empty for the one that OTA hands out, or none.

    Raises:
        LineError: The server can't be reached, refuses, or does not answer the hello.
    """
    habits = habits or Habits()
    door = await find_door(url, identity, habits.protocol)
    if token:
        door = replace(door, token=token)
    async with (
        open_line(door, identity, habits) as line,
        run_robot(line, habits) as robot,
    ):
        yield robot


@asynccontextmanager
async def run_robot(line: Line, habits: Habits) -> AsyncIterator[Robot]:
    """Say hello on a line that is open, open the microphone, and live as long as the block.

    Raises:
        LineError: The hello is not answered.
    """
    failure: Exception | None = None
    robot = Robot(line, await _greet(line, habits), habits)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(robot.listen_to_server)
        await robot.begin()
        tasks.start_soon(robot.keep_time)
        try:
            yield robot
        except Exception as error:  # or it would arrive in the caller wrapped in a group
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _greet(line: Line, habits: Habits) -> Welcome:
    hello = Hello(habits.framing, habits.features, LISTENING_RATE, habits.frame_ms)
    await line.send(hello)
    with anyio.move_on_after(HELLO_SECONDS):
        while True:
            for command in await line.receive():
                if isinstance(command, Welcome):
                    return command
    raise LineError("hello-timeout", f"The server did not answer the hello in {HELLO_SECONDS:g} s.")


def _frame_of(samples: Samples) -> AudioFrame:
    return AudioFrame(to_pcm(samples), LISTENING_RATE)
