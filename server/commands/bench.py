"""`omoide bench turn`: how long somebody waits for an answer, measured through a robot's ears."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from server.commands.bench_sentences import SENTENCES
from server.commands.reach import Place, Reached, reach
from server.commands.report import Report, Tell
from server.commands.talk import describe_turn, trace_of
from server.commands.voice import speak
from server.config import Config
from server.errors import ConfigError
from server.simulator import Habits, Identity, Robot

TURNS = 20
WHO = Identity("02:00:00:00:00:02", person="bench")
"""Robot and person of the talk: nobody whose memory matters."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something to say."""

    text: str
    language: str


NOTHING: Mapping[str, object] = {
    "turns": 0,
    "warm_up_turns": 0,
    "language": "",
    "first_audio_ms_p50": None,
    "first_audio_ms_p95": None,
    "stages_ms_p50": {},
    "stages_ms_p95": {},
    "prompt_tokens": 0,
    "error": None,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    language: str = "ja"
    """Two-letter code of what is said."""
    turns: int = TURNS
    """How many turns count."""
    configured: bool = False
    """Measure the engines of the configuration instead of the embedded ones."""


async def bench_turn(place: Place, plan: Plan, tell: Tell) -> Report:
    """Hold a talk with a server in this process and report how long each answer took.

    The talk is one connection. Before the turns that count come as many as the prompt remembers, so that each of
    them is answered with a full history. The sounds are made by our own voice and streamed in real time.

    Args:
        place: Where the server is started; an address in it is not used.
        plan: What is measured.
        tell: Told about each turn.

    Raises:
        OmoideError: An engine is missing or fails.
    """
    sentences = SENTENCES.get(plan.language)
    if sentences is None:
        known = ", ".join(SENTENCES)
        raise ConfigError(
            f"No sentences in {plan.language!r}. Possible: {known}.", "language-unknown"
        )
    config = place.config if plan.configured else with_embedded_engines(place.config)
    history = config.history.turns
    said = [sentences[number % len(sentences)] for number in range(history + plan.turns)]
    async with reach(replace(place, config=config, url=None), tell) as reached:
        _check_engines(reached)
        async with reached.open_robot(WHO, Habits()) as robot:
            if history:
                tell(f"The first {history} turns fill the history and are not counted.")
            results = [
                await _take_turn(reached, robot, Sentence(sentence, plan.language), tell)
                for sentence in said
            ]
        engines = _name_engines(reached)
    report = _summarise(results[history:], plan.language, engines, tell)
    return replace(report, data={**report.data, "warm_up_turns": history})


def with_embedded_engines(config: Config) -> Config:
    """Return the configuration with the engines that need no key and no network."""
    changes = {
        "asr": config.asr.model_copy(update={"engine": "whisper"}),
        "llm": config.llm.model_copy(update={"engine": "embedded"}),
        "tts": config.tts.model_copy(update={"engine": "embedded"}),
    }
    return config.model_copy(update=changes)


def _check_engines(reached: Reached) -> None:
    assert reached.app is not None
    for trouble in reached.app.troubles.values():
        raise trouble


def _name_engines(reached: Reached) -> dict[str, str]:
    assert reached.app is not None
    return {name: engine.name for name, engine in reached.app.stages.items()}


async def _take_turn(
    reached: Reached, robot: Robot, sentence: Sentence, tell: Tell
) -> dict[str, Any]:
    assert reached.app is not None
    sound = await speak(sentence.text, sentence.language, reached.app.engines.tts)
    answer = await robot.say(sound)
    if robot.closed is not None:
        raise robot.closed
    result = describe_turn(answer, await trace_of(reached, WHO, answer))
    tell(f"{result['first_audio_ms'] or 0:>6.0f} ms  {sentence.text}  ->  {answer.reply}")
    return {"said": sentence.text, **result}


def _summarise(
    results: Sequence[Mapping[str, Any]], language: str, engines: Mapping[str, str], tell: Tell
) -> Report:
    waits = [turn["first_audio_ms"] for turn in results if turn["first_audio_ms"] is not None]
    as_server_saw = [turn["server_first_audio_ms"] for turn in results]
    failed = [turn for turn in results if turn["error"] or turn["first_audio_ms"] is None]
    stages = {name for turn in results for name in turn["stages_ms"]}
    spent = {
        name: [turn["stages_ms"][name] for turn in results if name in turn["stages_ms"]]
        for name in sorted(stages)
    }
    data = {
        **NOTHING,
        "turns": len(results),
        "language": language,
        "first_audio_ms_p50": percentile(waits, 50),
        "first_audio_ms_p95": percentile(waits, 95),
        "server_first_audio_ms_p50": percentile([ms for ms in as_server_saw if ms], 50),
        "stages_ms_p50": {name: percentile(times, 50) for name, times in spent.items()},
        "stages_ms_p95": {name: percentile(times, 95) for name, times in spent.items()},
        "prompt_tokens": round(percentile([turn["prompt_tokens"] for turn in results], 50) or 0),
        "underruns": sum(turn["underruns"] for turn in results),
        "overflows": sum(turn["overflows"] for turn in results),
        "failed_turns": len(failed),
        "engines": engines,
        "machine": describe_machine(),
        "each": results,
    }
    _tell_summary(data, tell)
    if failed:
        error = failed[0]["error"] or {"code": "no-answer", "message": "A turn had no answer."}
        return Report({**data, "error": error}, ok=False)
    return Report(data)


def _tell_summary(data: Mapping[str, Any], tell: Tell) -> None:
    tell("")
    tell(f"{'':22}    p50     p95  (ms)")
    p50, p95 = data["first_audio_ms_p50"], data["first_audio_ms_p95"]
    if p50 is None:
        tell("No turn was answered.")
        return
    tell(f"{'first sound':22} {p50:>6.0f}  {p95:>6.0f}")
    for name, spent in data["stages_ms_p50"].items():
        tell(f"  {name:20} {spent:>6.0f}  {data['stages_ms_p95'][name]:>6.0f}")
    tell(f"prompt of {data['prompt_tokens']} tokens, {data['failed_turns']} failed turns")


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return a percentile, interpolated; None of nothing."""
    return round(float(np.percentile(values, percent)), 1) if values else None


def describe_machine() -> dict[str, object]:
    """Return what the figures depend on."""
    return {
        "cpus": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
