"""What passes on the line of a simulated robot, with times, and what could be heard of it near the robot."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import numpy as np

from firmware_bridge.events import (
    Aborted,
    DeviceCommand,
    DeviceEvent,
    PlayAudio,
    SpeechStarted,
    SpeechStopped,
)
from firmware_bridge.events import Audio as AudioFrame
from server.audio import from_pcm
from server.simulator import Habits, Identity, Robot
from server.simulator.line import Line, find_door, open_line
from server.simulator.robot import run_robot

_VOICED = 300
"""A sample louder than this belongs to the voice; Opus makes some noise of silence."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of sound that a robot got."""

    at: float
    seconds: float
    hertz: float
    """Pitch of the tone in it."""


@dataclass
class Overheard:
    """The log of a line."""

    packets: list[Packet] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    voiced: list[float] = field(default_factory=list)
    """When frames of the microphone left that a voice was in."""
    aborts: list[float] = field(default_factory=list)
    _news: anyio.Event = field(default_factory=anyio.Event)

    def note_sent(self, event: DeviceEvent) -> None:
        """Note what the robot sends, before it does."""
        now = anyio.current_time()
        if isinstance(event, Aborted):
            self.aborts.append(now)
        elif isinstance(event, AudioFrame) and np.abs(from_pcm(event.pcm)).max(initial=0) > _VOICED:
            self.voiced.append(now)

    def note_received(self, command: DeviceCommand) -> None:
        """Note what the robot got."""
        now = anyio.current_time()
        match command:
            case SpeechStarted():
                self.starts.append(now)
            case SpeechStopped():
                self.stops.append(now)
            case PlayAudio():
                samples = from_pcm(command.pcm)
                crossings = int(np.count_nonzero(np.diff(np.signbit(samples))))
                seconds = len(samples) / command.rate
                self.packets.append(Packet(now, seconds, crossings / 2 / seconds))
            case _:
                pass
        self._tell()

    def clear(self) -> None:
        """Forget all that passed."""
        for seen in (self.packets, self.starts, self.stops, self.voiced, self.aborts):
            seen.clear()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that what passes brings about."""
        while not condition():
            await self._news.wait()

    def heard(self) -> Sequence[tuple[Packet, float, float]]:
        """Return the packets with the times from when to when each sounds, if all are played, as the common firmware does."""
        sounding: list[tuple[Packet, float, float]] = []
        free_at = 0.0
        for packet in self.packets:
            begins = max(packet.at, free_at)
            free_at = begins + packet.seconds
            sounding.append((packet, begins, free_at))
        return sounding

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()


class _OverheardLine(Line):
    """A line that writes down what passes."""

    def __init__(self, line: Line, log: Overheard) -> None:
        self._inner = line
        self._log = log

    async def send(self, *events: DeviceEvent) -> None:
        """Send; see `Line`."""
        for event in events:
            self._log.note_sent(event)
        await self._inner.send(*events)

    async def receive(self) -> list[DeviceCommand]:
        """Receive; see `Line`."""
        commands = await self._inner.receive()
        for command in commands:
            self._log.note_received(command)
        return commands

    def drop(self) -> None:
        """Drop; see `Line`."""
        self._inner.drop()


@asynccontextmanager
async def overhear(
    url: str, identity: Identity, habits: Habits, log: Overheard
) -> AsyncIterator[tuple[Robot, Line]]:
    """Switch a robot on whose line is overheard, and hand it out with that line.

    Raises:
        LineError: As `server.simulator.open_robot`.
    """
    door = await find_door(url, identity, habits.protocol)
    async with open_line(door, identity, habits) as plain:
        line = _OverheardLine(plain, log)
        async with run_robot(line, habits) as robot:
            yield robot, line
