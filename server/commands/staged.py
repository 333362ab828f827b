"""A server for measurements: what it says is written down before, what it hears with is real."""

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import anyio.lowlevel

from firmware_bridge.xiaozhi import XiaozhiCodec
from server.admission import Admission
from server.audio import Audio
from server.config import Config
from server.connection import Connection
from server.echo import EchoPath
from server.embedding.absent import AbsentEmbedder
from server.errors import EngineMissing
from server.ports import Asr, LlmEvent, LlmTraits, TextDelta, Vad, Voice
from server.simulator.wire import WireEnd
from server.trace import Turns
from server.turn import Prompt, Turn

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

    from server.app import App

ROBOT = "02:00:00:00:00:04"


@dataclass(slots=True)
class TaleLlm:
    """Says the same sentences again and again, so many at a time. Implements `ports.Llm`."""

    sentences: Sequence[str]
    at_a_time: int
    name: str = "scripted"
    _next: "itertools.cycle[str]" = field(init=False)

    def __post_init__(self) -> None:
        self._next = itertools.cycle(self.sentences)

    def traits(self, language: str) -> LlmTraits:
        """Say that it can be asked anything."""
        return LlmTraits(compact=False, prompt_budget_tokens=3000, local=False)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        """Answer with the next sentences."""
        for _ in range(self.at_a_time):
            await anyio.lowlevel.checkpoint()
            yield TextDelta(next(self._next))

    async def warm_up(self) -> None:
        """Load nothing."""

    async def aclose(self) -> None:
        """Close nothing."""


@dataclass(slots=True)
class RecordedTts:
    """Speaks what was spoken before: a voice takes real time, and one in a process of its own knows no virtual one."""

    sounds: Mapping[str, Audio]
    name: str = "recorded"

    def languages(self) -> Sequence[str]:
        """Say nothing about it."""
        return ()

    async def synthesize(self, text: str, voice: Voice) -> AsyncGenerator[Audio, None]:
        """Speak a text; one that was not recorded is a short silence."""
        await anyio.lowlevel.checkpoint()
        yield self.sounds.get(text) or next(iter(self.sounds.values()))

    async def warm_up(self) -> None:
        """Load nothing."""

    async def aclose(self) -> None:
        """Close nothing."""


@dataclass(slots=True)
class Counter:
    """Keeps all turns, those in which nothing was said as well. A `TurnObserver`."""

    turns: list[Turn] = field(default_factory=list)

    def turn_finished(self, turn: Turn) -> None:
        """Keep it."""
        self.turns.append(turn)


@dataclass(frozen=True, slots=True)
class Stage:
    """A server on which a robot can be put."""

    app: "App"
    echo: EchoPath
    turns: list[Turn]

    async def serve(self, end: WireEnd) -> None:
        """Run one connection."""
        admission = Admission(
            entry=ROBOT,
            device=ROBOT,
            person="bench",
            is_guest=False,
            is_nameless=False,
            is_known=True,
            language=None,
            voice="",
            profile="xiaozhi",
        )
        connection = Connection(
            cast("ServerConnection", end),
            XiaozhiCodec(),
            admission,
            self.app.config,
            self.app.metrics,
            echo=self.echo,
        )
        await connection.run(self.app.converse)


@asynccontextmanager
async def staged(
    config: Config, vad: Vad, asr: Asr, sounds: Mapping[str, Audio], at_a_time: int
) -> AsyncIterator[Stage]:
    """Open a server in memory, on a folder that is thrown away. It tells the sentences of `sounds`."""
    from server.app import open_app  # noqa: PLC0415 - heavy
    from server.conversation import Engines  # noqa: PLC0415

    limits = config.limits.model_copy(update={"idle_close_seconds": 1e6})
    config = config.model_copy(update={"limits": limits})
    llm = TaleLlm(tuple(sounds), at_a_time)
    engines = Engines(vad, asr, llm, RecordedTts(sounds))
    absent = AbsentEmbedder(EngineMissing("Nothing is remembered here."))
    with TemporaryDirectory(prefix="omoide-bench-") as folder:
        async with open_app(config, Path(folder), engines, absent) as app:
            counter = Counter()
            app.house = replace(app.house, turns=Turns(app.clock, (counter,)))
            yield Stage(app, EchoPath(config.echo), counter.turns)
