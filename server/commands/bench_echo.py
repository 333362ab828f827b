"""`omoide bench echo`: does a robot that hears itself answer itself, and is who talks over it heard?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from server import asr, tts, vad
from server.audio import Audio
from server.commands.figures import describe_machine, percentile
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.staged import Stage, staged
from server.commands.voice import speak
from server.ports import Asr, Vad
from server.simulator import Habits, Robot
from server.simulator.trial import in_virtual_time, robot_on_wire
from server.turn import Turn

TALES = {
    "ja": (
        "昔々、海のそばの小さな村に、年を取った時計屋が住んでいました。",
        "毎朝、朝ごはんの前に、店じゅうの時計のねじを巻くのが仕事です。",
        "ある日、古い柱時計が、だれもさわっていないのに鳴り始めました。",
        "近所の子どもたちは、おもしろがって窓から中をのぞいています。",
        "おじいさんは笑って、これは海の向こうから来た時計だよと言いました。",
    ),
    "en": (
        "Once upon a time, an old clockmaker lived in a small village by the sea.",
        "Every morning before breakfast he wound up all the clocks in his shop.",
        "One day the oldest of them began to ring although nobody had touched it.",
        "The children from next door looked in through the window and laughed.",
        "He smiled and told them that it had come from far across the water.",
    ),
}
"""What the robot tells, again and again."""
CALLS = {
    "ja": (
        "ちょっと待って。",
        "ストップ。",
        "明日の予定は何。",
        "今何時ですか。",
        "音楽を止めて。",
    ),
    "en": (
        "Wait a moment.",
        "Stop it now.",
        "What time is it?",
        "Turn on the light.",
        "No, not that one.",
    ),
}
"""What somebody says over it."""

ECHO_DB, ECHO_MS, ROOM = -20.0, 120.0, 0.25
_QUESTION = "Tell me a tale."
_AT_A_TIME = 10_000
"""So many sentences at a time: longer than anybody waits."""
_HEARD_SECONDS = 1.5
"""How long after somebody began to speak their turn may begin."""

NOTHING: Mapping[str, object] = {
    "minutes": 0.0,
    "echo_db": None,
    "self_turns": None,
    "pauses": None,
    "interruptions": 0,
    "heard": None,
    "silent_ms_p50": None,
    "silent_ms_p95": None,
    "error": None,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    language: str = "ja"
    minutes: float = 20.0
    interruptions: int = 40
    echo_db: float = ECHO_DB
    guarded: bool = True
    """Whether the echo guard is on: without it, it is shown what it is good for."""


async def bench_echo(place: Place, plan: Plan, tell: Tell) -> Report:
    """Let a robot in realtime mode tell a tale into its own microphone, and talk over the second half of it.

    The voice, the detector, the recogniser and the server are the real ones; the line, the room and the clock are not, so
    twenty minutes take as long as the detector needs for them.

    Raises:
        OmoideError: An engine is missing.
    """
    voice = tts.build(place.config, place.data)
    tale = {text: await speak(text, plan.language, voice) for text in TALES[plan.language]}
    calls = [await speak(text, plan.language, voice) for text in CALLS[plan.language]]
    await voice.aclose()
    ears = vad.build(place.config, place.data), asr.build(place.config, place.data)
    return await in_virtual_time(lambda: _measure(place, plan, ears, (tale, calls), tell))


async def _measure(
    place: Place,
    plan: Plan,
    ears: tuple[Vad, Asr],
    sounds: tuple[Mapping[str, Audio], Sequence[Audio]],
    tell: Tell,
) -> Report:
    echo = place.config.echo.model_copy(update={"enabled": plan.guarded})
    endless = place.config.sentences.model_copy(update={"max_reply_chars": 1_000_000})
    config = place.config.model_copy(update={"echo": echo, "sentences": endless})
    tale, calls = sounds
    habits = Habits(
        mode="realtime",
        echo_db=plan.echo_db,
        echo_delay_ms=ECHO_MS,
        echo_room=ROOM,
        patience_seconds=1e6,
    )
    trial = _Trial([], 0, [])
    async with (
        staged(config, *ears, tale, _AT_A_TIME) as stage,
        robot_on_wire(stage.serve, habits) as (robot, _),
    ):
        await stage.app.warm.wait()
        await trial.run(stage, robot, plan, calls, tell)
    await ears[1].aclose()
    return _summarise(plan, trial, tell)


@dataclass(slots=True)
class _Trial:
    self_turns: list[str]
    """What the robot was understood to have said to itself."""
    pauses: int
    """How often it only paused for a sound that was its own, and went on."""
    silent_ms: list[float]
    """After how long it fell silent for somebody who talked over it, and was heard."""

    async def run(
        self, stage: Stage, robot: Robot, plan: Plan, calls: Sequence[Audio], tell: Tell
    ) -> None:
        """Let the robot tell, first alone, then with somebody who talks over it."""
        await self._ask(robot)
        half = anyio.current_time() + plan.minutes * 30
        while anyio.current_time() < half:
            await self._pass(stage, robot, min(30.0, half - anyio.current_time()))
        tell(f"alone {plan.minutes / 2:g} minutes: {len(self.self_turns)} self-turns")
        apart = plan.minutes * 30 / max(1, plan.interruptions)
        for number in range(plan.interruptions):
            await self._pass(stage, robot, apart - 6.0)
            await self._interrupt(stage, robot, calls[number % len(calls)])
        tell(f"talked over {plan.interruptions} times, heard {len(self.silent_ms)} times")

    async def _ask(self, robot: Robot) -> None:
        await robot.hint(_QUESTION)
        await anyio.sleep(2.0)

    async def _pass(self, stage: Stage, robot: Robot, seconds: float) -> None:
        """Let the tale go on; what is a turn now is the robot's own."""
        stage.turns.clear()
        await anyio.sleep(max(0.0, seconds))
        words = [_words(turn) for turn in stage.turns if turn.transcript]
        self.self_turns += [heard for heard in words if heard != _QUESTION]
        self.pauses += sum(not turn.transcript for turn in stage.turns)
        if not robot.speaks or stage.turns:
            await self._ask(robot)

    async def _interrupt(self, stage: Stage, robot: Robot, call: Audio) -> None:
        if not robot.speaks:
            await self._ask(robot)
        stage.turns.clear()
        began = anyio.current_time()
        sound = robot.speak(call)
        quiet_at = math.inf
        with anyio.move_on_after(_HEARD_SECONDS + call.seconds):
            quiet_at = await robot.until_quiet()
        await anyio.sleep(6.0 - (anyio.current_time() - began))
        if any(turn.interrupted for turn in stage.turns):
            onset = (sound.started_at or began) + sound.silent_seconds
            self.silent_ms.append(round((quiet_at - onset) * 1000))


def _words(turn: Turn) -> str:
    return turn.transcript.text if turn.transcript else ""


def _summarise(plan: Plan, trial: _Trial, tell: Tell) -> Report:
    p50, p95 = percentile(trial.silent_ms, 50), percentile(trial.silent_ms, 95)
    data: dict[str, Any] = {
        **NOTHING,
        "minutes": plan.minutes,
        "language": plan.language,
        "echo_db": plan.echo_db,
        "guarded": plan.guarded,
        "self_turns": len(trial.self_turns),
        "pauses": trial.pauses,
        "interruptions": plan.interruptions,
        "heard": len(trial.silent_ms),
        "silent_ms_p50": p50,
        "silent_ms_p95": p95,
        "machine": describe_machine(),
    }
    tell(
        f"echo of {plan.echo_db:g} dB: {len(trial.self_turns)} self-turns and {trial.pauses} pauses in {plan.minutes:g} minutes; "
        f"{len(trial.silent_ms)} of {plan.interruptions} interruptions heard, silent after {p50} ms (p95 {p95})"
    )
    return Report(data)
