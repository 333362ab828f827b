"""`omoide bench turn`: how long somebody waits for an answer, measured through a robot's ears."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from server.commands.bench_sentences import SENTENCES
from server.commands.figures import describe_machine, percentile
from server.commands.reach import Place, Reached, reach
from server.commands.report import Report, Tell
from server.commands.talk import describe_turn, trace_of
from server.commands.voice import speak
from server.config import Config
from server.errors import ConfigError
from server.simulator import Habits, Identity, Robot

if TYPE_CHECKING:
    from server.app import App

TURNS = 20
WHO = Identity("02:00:00:00:00:02", person="bench")
"""Robot and person of the talk."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something to say."""

    text: str
    language: str


NOTHING: Mapping[str, object] = {
    "turns": 0,
    "warm_up_turns": 0,
    "language": "",
    "facts": 0,
    "recalled_turns": 0,
    "first_audio_ms_p50": None,
    "first_audio_ms_p95": None,
    "stages_ms_p50": {},
    "stages_ms_p95": {},
    "prompt_tokens": 0,
    "runs": {},
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
    extracting: bool = False
    """Measure a third run, in which facts are being drawn whenever somebody begins to speak."""


@dataclass(frozen=True, slots=True)
class Run:
    """One talk, on a store of its own."""

    title: str
    seeded: bool
    extracting: bool = False


SEEDED = Run("with fifty facts", seeded=True)
EMPTY = Run("with an empty store", seeded=False)
EXTRACTING = Run("with fifty facts, while facts are drawn", seeded=True, extracting=True)


async def bench_turn(place: Place, plan: Plan, tell: Tell) -> Report:
    """Hold talks with a server in this process and report how long each answer took.

    A talk is one connection, on a store that is made for it and thrown away. Before the turns that count come as many
    as the prompt remembers, so that each of them is answered with a full history. The sounds are made by our own voice and
    streamed in real time. The talk with fifty facts is what the report is about; the others stand in it under ``runs``.

    Args:
        place: Where model files are; an address in it is not used.
        plan: What is measured.
        tell: Told about each turn.

    Raises:
        OmoideError: An engine is missing or fails.
    """
    if plan.language not in SENTENCES:
        known = ", ".join(SENTENCES)
        raise ConfigError(
            f"No sentences in {plan.language!r}. Possible: {known}.", "language-unknown"
        )
    seeded = await _hold_talk(place, plan, SEEDED, tell)
    others = {"empty": EMPTY} | ({"extracting": EXTRACTING} if plan.extracting else {})
    runs = {name: await _hold_talk(place, plan, run, tell) for name, run in others.items()}
    data = {**seeded.data, "runs": {name: report.data for name, report in runs.items()}}
    failed = [report for report in (seeded, *runs.values()) if not report.ok]
    if failed:
        return Report({**data, "error": failed[0].data["error"]}, ok=False)
    return Report(data)


async def _hold_talk(place: Place, plan: Plan, run: Run, tell: Tell) -> Report:
    config = for_bench(place.config if plan.configured else with_embedded_engines(place.config))
    sentences, history = SENTENCES[plan.language], config.history.turns
    said = [sentences[number % len(sentences)] for number in range(history + plan.turns)]
    tell(f"\nA talk {run.title}. The first {history} turns fill the history and are not counted.")
    async with _reach_own(place, config, tell) as reached:
        app = _warm_app(reached)
        facts = await _seed(app, plan.language) if run.seeded else 0
        async with reached.open_robot(WHO, Habits()) as robot:
            results = [
                await _take_turn(reached, robot, Sentence(words, plan.language), run, tell)
                for words in said
            ]
        engines = {name: engine.name for name, engine in app.stages.items()}
    report = _summarise(results[history:], plan.language, engines, tell)
    return replace(report, data={**report.data, "warm_up_turns": history, "facts": facts})


@asynccontextmanager
async def _reach_own(place: Place, config: Config, tell: Tell) -> AsyncIterator[Reached]:
    """Start a server on a data folder of its own; only the model files are those of `place`."""
    from server.app import build_engines  # noqa: PLC0415 - heavy

    with TemporaryDirectory(prefix="omoide-bench-") as folder:
        own = replace(
            place,
            config=config,
            data=Path(folder),
            url=None,
            engines=place.engines or build_engines(config, place.data),
        )
        async with reach(own, tell) as reached:
            yield reached


def with_embedded_engines(config: Config) -> Config:
    """Return the configuration with the engines that need no key and no network."""
    changes = {
        "asr": config.asr.model_copy(update={"engine": "whisper"}),
        "embedding": config.embedding.model_copy(update={"engine": "auto"}),
        "llm": config.llm.model_copy(update={"engine": "embedded"}),
        "tts": config.tts.model_copy(update={"engine": "embedded"}),
    }
    return config.model_copy(update=changes)


def for_bench(config: Config) -> Config:
    """Return the configuration with a memory that stays as it is during a talk, and that no test of a model delays."""
    changes = {
        "extraction": config.extraction.model_copy(update={"engine": "rules", "turns": 10_000}),
        "index": config.index.model_copy(update={"engine": "edge"}),
    }
    return config.model_copy(update=changes)


def _warm_app(reached: Reached) -> "App":
    assert reached.app is not None
    for trouble in reached.app.troubles.values():
        raise trouble
    return reached.app


async def _seed(app: "App", language: str) -> int:
    from server.commands.bench_facts import seed_facts  # noqa: PLC0415 - heavy

    assert WHO.person is not None
    facts = await seed_facts(language, WHO.person, app.clock.now())
    return len(await app.memory.add(facts, keep_all=True))


async def _take_turn(
    reached: Reached, robot: Robot, sentence: Sentence, run: Run, tell: Tell
) -> dict[str, Any]:
    assert reached.app is not None
    sound = await speak(sentence.text, sentence.language, reached.app.engines.tts)
    load = _extracting(reached.app, sentence.language) if run.extracting else nullcontext()
    async with load:
        answer = await robot.say(sound)
    if robot.closed is not None:
        raise robot.closed
    trace = await trace_of(reached, WHO, answer)
    result = describe_turn(answer, trace)
    recalled = len(trace["recalled"]) if trace else 0
    tell(f"{result['first_audio_ms'] or 0:>6.0f} ms  {sentence.text}  ->  {answer.reply}")
    return {"said": sentence.text, "recalled_facts": recalled, **result}


def _extracting(app: "App", language: str) -> AbstractAsyncContextManager[None]:
    """Draw facts from what was said before, for half a minute if nobody spoke."""
    from server.commands.bench_load import BusyExtractor  # noqa: PLC0415 - heavy

    extractor = BusyExtractor(app.engines.llm, language)
    app.memory.consolidator.extractor = extractor
    return extractor.at_work(app.memory)


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
        "recalled_turns": sum(turn["recalled_facts"] > 0 for turn in results),
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
    tell(
        f"prompt of {data['prompt_tokens']} tokens, facts in {data['recalled_turns']} of "
        f"{data['turns']} turns, {data['failed_turns']} failed turns"
    )
