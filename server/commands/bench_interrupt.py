"""`omoide bench interrupt`: how soon a robot is silent when somebody interrupts it, at every stage of a reply.

A simulated robot talks to a server over a real WebSocket, with real Opus and the real detector of voices, in real time; what
recognises, thinks and speaks is scripted. What the robot holds is reckoned as played to its end, whatever the server says: the
common firmware does so.
"""

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
import numpy as np

from firmware_bridge.events import TextSaid
from server.audio import LISTENING_RATE, Audio, join
from server.commands.bench import for_bench
from server.commands.figures import describe_machine, percentile
from server.commands.overheard import Overheard, overhear
from server.commands.reach import Place, Reached, reach
from server.commands.report import Report, Tell
from server.commands.scripted import (
    FILLER_HZ,
    LONG_SECONDS,
    OLD_HZ,
    SECONDS_PER_SIGN,
    Cues,
    ScriptedAsr,
    ScriptedLlm,
    ScriptedTts,
    old_line,
    question,
)
from server.commands.table import tell_table
from server.commands.voice import speak
from server.config import Config
from server.errors import ConfigError
from server.simulator import Habits, Identity, Robot
from server.simulator.line import Line
from server.turn import Turn

NOTHING: Mapping[str, object] = {"trials": 0, "rows": [], "machine": {}, "error": None}
WAYS: Final = ("voice", "abort")
TRIALS: Final = 40
_SAID: Final = "止まってください"
_PATIENCE_SECONDS: Final = 20.0
_QUIET_SECONDS: Final = 0.7
_PUT_AWAY_SECONDS: Final = 5.0
_TRIALS_OF_A_ROW: Final = 1_000_000
_POLL_SECONDS: Final = 0.05
_LEAK_SECONDS: Final = 0.2
"""Later than this after an interruption no packet of what was interrupted may come."""
_MOMENTS: Final = {"playing": 1.5, "stalled": 1.5, "last-frame": 1.44}
"""How long after its first packet a reply is interrupted, in seconds."""
_TOLERANCE: Final = {"voice": 2.0, "abort": 8.0}
"""How many signs may lie between what the server reckons with and what is heard of a robot that plays all it got."""
SILENT: Final = ("recognition", "thinking", "first-sentence")
"""Stages at which nothing is to be heard yet."""
STAGES: Final = (*SILENT, "filler", "playing", "stalled", "last-frame", "apology")


@dataclass(frozen=True, slots=True)
class Trial:
    """One interruption."""

    silent_ms: float
    """From the interruption to the end of what was interrupted, as it was heard; 0 if nothing was to be heard."""
    sent_ms: float
    """... to the last packet of it that came."""
    leaked: int
    """Packets of it that came when it should have been over."""
    one_stop: bool
    """Whether the server declared it finished once; not at all, if nobody was told of its beginning."""
    history_right: bool
    """Whether the record of the turn holds what was heard, and what was not answered was asked again, or dropped."""


@dataclass(frozen=True, slots=True)
class Server:
    """What all trials share."""

    reached: Reached
    cues: Cues
    asr: ScriptedAsr
    voice: Audio
    """Of whoever interrupts."""


@dataclass(frozen=True, slots=True)
class Stand:
    """What the trials of one row need."""

    server: Server
    device: str
    robot: Robot
    line: Line
    log: Overheard
    random: Random

    async def put_away(self, asked: str) -> None:
        """Wait until there is a record of a question, and of what came after it."""
        with anyio.move_on_after(_PUT_AWAY_SECONDS):
            while not self._has_turn(asked):  # noqa: ASYNC110 - the record tells nobody
                await anyio.sleep(_POLL_SECONDS)
        await anyio.sleep(_POLL_SECONDS)

    def _has_turn(self, asked: str) -> bool:
        return any(asked in turn.transcript.text for turn in self.turns if turn.transcript)

    @property
    def turns(self) -> Sequence[Turn]:
        """The last turns of the robot, oldest first."""
        assert self.server.reached.app is not None
        return [
            turn for turn in self.server.reached.app.recent.list() if turn.device == self.device
        ]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    trials: int = TRIALS
    """For each stage and way."""
    stages: Sequence[str] = STAGES


async def bench_interrupt(place: Place, plan: Plan, tell: Tell) -> Report:
    """Interrupt a robot at every stage, by voice and by a touch.

    Args:
        place: Where model files are; an address in it is not used.
        plan: How often, and at which stages.
        tell: Told the figures.

    Raises:
        OmoideError: An engine is missing, or there is no such stage.
    """
    if unknown := [stage for stage in plan.stages if stage not in STAGES]:
        known = ", ".join(STAGES)
        raise ConfigError(f"There is no stage {unknown[0]!r}. Possible: {known}.", "stage-unknown")
    rows: list[dict[str, Any]] = []
    async with _open_server(place) as server:
        for number, (way, stage) in enumerate(product(WAYS, plan.stages)):
            async with _switch_on(server, way, number) as stand:
                first = (
                    number * _TRIALS_OF_A_ROW
                )  # no two questions are alike: an engine is cued by them
                numbers = range(first, first + plan.trials)
                tried = [await _try(stand, stage, way, trial) for trial in numbers]
            rows.append(_sum_up(stage, way, tried))
            tell(f"{way:6} {stage:15} {rows[-1]['silent_ms_p50'] or 0:>6.0f} ms")
    _tell_table(rows, tell)
    failed = [
        row
        for row in rows
        if row["leaked"] or not row["one_stop"] == row["history_right"] == plan.trials
    ]
    data = {**NOTHING, "trials": plan.trials, "rows": rows, "machine": describe_machine()}
    if failed:
        message = (
            f"{len(failed)} rows have packets that leaked, a stop too much or a wrong history."
        )
        return Report(
            {**data, "error": {"code": "interruption-failed", "message": message}}, ok=False
        )
    return Report(data)


@asynccontextmanager
async def _open_server(place: Place) -> AsyncIterator[Server]:
    """Run a server with scripted engines and the real detector of voices."""
    from server import tts, vad  # noqa: PLC0415 - heavy
    from server.commands.bench_memory import ArbitraryEmbedder  # noqa: PLC0415 - heavy
    from server.conversation import Engines  # noqa: PLC0415 - heavy

    real = tts.build(place.config, place.data)
    voice = _without_silence(await speak(_SAID, "ja", real))
    await real.aclose()
    cues = Cues()
    asr = ScriptedAsr(cues)
    config = _quick(for_bench(place.config))
    engines = Engines(vad.build(config, place.data), asr, ScriptedLlm(cues), ScriptedTts(cues))
    with TemporaryDirectory(prefix="omoide-bench-") as folder:
        own = replace(place, config=config, data=Path(folder), url=None)
        own = replace(own, engines=engines, embedder=ArbitraryEmbedder(64))
        async with reach(own, lambda line: None) as reached:
            yield Server(reached, cues, asr, voice)


@asynccontextmanager
async def _switch_on(server: Server, way: str, number: int) -> AsyncIterator[Stand]:
    """Switch a robot on near the server that somebody can interrupt in one way."""
    identity = Identity(f"02:00:00:00:01:{number:02x}", person=f"bench-{number}")
    habits = Habits(mode="realtime" if way == "voice" else "auto")
    log = Overheard()
    async with overhear(server.reached.url, identity, habits, log) as (robot, line):
        yield Stand(server, identity.device, robot, line, log, Random(number))


def _quick(config: Config) -> Config:
    """Return the configuration with little patience, so that a trial takes seconds."""
    changes = {
        "pacing": config.pacing.model_copy(update={"filler_after_seconds": 3.0}),
        "retrieval": config.retrieval.model_copy(update={"deadline_seconds": 0.2}),
    }
    return config.model_copy(update=changes)


def _without_silence(audio: Audio) -> Audio:
    """Cut a sound at both ends, so that its onset is known, and that it makes one utterance when it is repeated."""
    samples = audio.at(LISTENING_RATE).samples
    loud = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
    return Audio(samples[loud[0] : loud[-1]], LISTENING_RATE)


async def _try(stand: Stand, stage: str, way: str, trial: int) -> Trial | None:
    """Ask, interrupt at the stage, and look what came of it; None if it came to no end."""
    log, asked = stand.log, question(stage, trial)
    log.clear()
    stand.server.asr.trial = trial
    with anyio.move_on_after(_PATIENCE_SECONDS) as patience:
        await _ask(stand, stage, asked)
        await _until_stage(stand, stage, asked)
        before = len(log.starts)
        if way == "voice":
            log.voiced.clear()
            phase = np.zeros(stand.random.randrange(960), np.int16)
            sound = [Audio(phase, LISTENING_RATE), stand.server.voice]
            stand.robot.speak(join(sound, LISTENING_RATE))
            await log.until(lambda: len(log.starts) > before)
            at, over_at = log.voiced[0], log.starts[before]
            await log.until(lambda: log.stops[-1:] > [over_at])
        else:
            await stand.robot.abort()
            await anyio.sleep(_QUIET_SECONDS)
            at, over_at = log.aborts[-1], math.inf
    await stand.put_away(asked)
    if patience.cancelled_caught:
        return None
    return _judge(stand, stage, way, at, over_at)


async def _ask(stand: Stand, stage: str, asked: str) -> None:
    if stage != "recognition":
        await stand.line.send(TextSaid(asked))
        return
    times = int(LONG_SECONDS / stand.server.voice.seconds) + 1
    stand.robot.speak(join([stand.server.voice] * times, LISTENING_RATE))


async def _until_stage(stand: Stand, stage: str, asked: str) -> None:
    """Wait until a reply has come to its stage, and a moment longer by chance."""
    some = stand.random.uniform(0, 0.06)
    await stand.server.cues.wait(asked)
    if stage in SILENT:
        await anyio.sleep(0.2 + some)
    else:
        await stand.log.until(lambda: bool(stand.log.packets))
        await anyio.sleep(_MOMENTS.get(stage, 0.5) + some)


def _judge(stand: Stand, stage: str, way: str, at: float, over_at: float) -> Trial:
    """Judge what was overheard: of the reply that was interrupted at a moment, and of the next one from another on.

    A filler is of the one in which it comes; everything else tells by its pitch.
    """
    log, hertz = stand.log, FILLER_HZ if stage == "filler" else OLD_HZ
    old = [
        (packet.at, ends, ends - begins)
        for packet, begins, ends in log.heard()
        if _is_near(packet.hertz, hertz) and (stage != "filler" or packet.at < over_at)
    ]
    arrived = [came for came, _, _ in old]
    stops = sum(stop < over_at for stop in log.stops)
    # Before anything was to be heard only a touch asks for a stop.
    wanted = 0 if way == "voice" and not old else 1
    return Trial(
        silent_ms=max([0.0, *((ends - at) * 1000 for _, ends, _ in old)]),
        sent_ms=max([0.0, *((came - at) * 1000 for came in arrived)]),
        leaked=sum(came > at + _LEAK_SECONDS for came in arrived),
        one_stop=stops == wanted,
        history_right=_is_history_right(stand, stage, way, sum(seconds for _, _, seconds in old)),
    )


def _is_near(hertz: float, wanted: float) -> bool:
    return wanted / math.sqrt(2) <= hertz < wanted * math.sqrt(2)


def _is_history_right(stand: Stand, stage: str, way: str, played: float) -> bool:
    turns = stand.turns
    if len(turns) < 1 + (way == "voice"):
        return False
    cut, last = turns[-2 if way == "voice" else -1], turns[-1]
    if stage in (*SILENT, "filler"):
        is_asked_again = last.asked is not None and f" {stage} " in last.asked.text
        return not cut.heard and (way == "abort" or is_asked_again)
    if stage == "apology":
        return not cut.heard and bool(cut.error)
    whole, signs = old_line(stage), played / SECONDS_PER_SIGN
    is_near = abs(len(cut.heard) - min(len(whole), signs)) <= _TOLERANCE[way]
    return whole.startswith(cut.heard) and is_near


def _sum_up(stage: str, way: str, tried: Sequence[Trial | None]) -> dict[str, Any]:
    trials = [trial for trial in tried if trial is not None]
    silent, sent = ([getattr(trial, name) for trial in trials] for name in ("silent_ms", "sent_ms"))
    return {
        "stage": stage,
        "way": way,
        "trials": len(tried),
        "endless": len(tried) - len(trials),
        "silent_ms_p50": percentile(silent, 50),
        "silent_ms_p99": percentile(silent, 99),
        "sent_ms_p50": percentile(sent, 50),
        "sent_ms_p99": percentile(sent, 99),
        "leaked": sum(trial.leaked for trial in trials),
        "one_stop": sum(trial.one_stop for trial in trials),
        "history_right": sum(trial.history_right for trial in trials),
    }


def _tell_table(rows: Sequence[Mapping[str, Any]], tell: Tell) -> None:
    heads = (
        "stage",
        "way",
        "silent p50",
        "p99",
        "last packet p50",
        "p99",
        "leaked",
        "one stop",
        "history",
    )
    cells = [
        (
            row["stage"],
            row["way"],
            *(
                f"{row[name]:.0f} ms"
                for name in ("silent_ms_p50", "silent_ms_p99", "sent_ms_p50", "sent_ms_p99")
            ),
            str(row["leaked"]),
            f"{row['one_stop']}/{row['trials']}",
            f"{row['history_right']}/{row['trials']}",
        )
        for row in rows
    ]
    tell("")
    tell_table([heads, *cells], tell)
