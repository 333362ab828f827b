"""`omoide bench endpoint`: how often a turn is ended too early, too late or never, against a plain silence."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from server.commands.endpoint_trials import Reader, Trial, Verdict, judge, plain_spans
from server.commands.figures import describe_machine, percentile
from server.commands.report import Report, Tell
from server.commands.utterances import Label, read_corpus, read_sound, write_corpus
from server.config import Config
from server.ports import Asr, Tts, Vad

NOTHING: Mapping[str, object] = {"utterances": 0, "ways": {}, "error": None}
PLAIN_MS = 700.0
OURS, AT_ONCE, WORDLESS = "ours", "ours, text at once", "ours, without texts"
PLAIN, WEBRTC = "700 ms of silence", "700 ms, webrtcvad alone"
WAYS = (OURS, AT_ONCE, WORDLESS, PLAIN, WEBRTC)
"""The ways that are compared. In the first two the same recogniser is asked: in one its texts come when they are there, in
the other at once, which leaves the time that the rule takes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    corpus: Path | None = None
    """A folder that scripts/make_utterances.py has written; None makes one."""
    seed: int = 1
    languages: tuple[str, ...] = ("ja", "en")
    every: int = 1
    """Take only every n-th utterance."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What is measured with."""

    vad: Vad
    webrtc: Vad
    asr: Asr
    tts: Tts


async def bench_endpoint(config: Config, data: Path, plan: Plan, tell: Tell) -> Report:
    """Measure ways to end a turn on a corpus of utterances.

    Args:
        config: Silences, thresholds and recogniser.
        data: Where model files are.
        plan: What is measured.
        tell: Told the tables.

    Raises:
        OmoideError: An engine is missing, or the corpus can't be read.
    """
    from server import asr, tts, vad  # noqa: PLC0415 - heavy
    from server.vad.webrtc import WebrtcVad  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        parts = Parts(
            vad.build(config, data), WebrtcVad(3), asr.build(config, data), tts.build(config, data)
        )
        for engine in (parts.vad, parts.asr, parts.tts):
            stack.push_async_callback(engine.aclose)
        folder = plan.corpus or Path(stack.enter_context(TemporaryDirectory(prefix="omoide-")))
        if plan.corpus is None:
            await write_corpus(folder, parts.tts, plan.languages, plan.seed, tell)
        labels = [one for one in read_corpus(folder) if one.language in plan.languages]
        return await measure(config, parts, folder, labels[:: plan.every], tell)


async def measure(
    config: Config, parts: Parts, folder: Path, labels: Sequence[Label], tell: Tell
) -> Report:
    """Try every way on every utterance."""
    await parts.vad.warm_up()
    await parts.asr.warm_up()
    reader = Reader(parts.asr)
    early = config.asr.whisper.early_start_ms
    trials = {
        name: Trial(parts.vad, config.vad, config.endpointing, early, read, instant)
        for name, read, instant in (
            (AT_ONCE, reader.read, True),
            (OURS, reader.read, False),
            (WORDLESS, None, False),
        )
    }
    results: dict[str, list[Verdict]] = {name: [] for name in WAYS}
    heard: list[list[str]] = []
    for label in labels:
        sound = read_sound(folder, label)
        reader.next_sound()
        for name, trial in trials.items():
            results[name].append(judge(await trial.spans(sound), label))
        heard.append(list(trials[AT_ONCE].heard))
        for name, vad in ((PLAIN, parts.vad), (WEBRTC, parts.webrtc)):
            spans = plain_spans(sound, vad.session(), vad.frame_samples, config.vad, PLAIN_MS)
            results[name].append(judge(spans, label))
    told = {name: _describe(labels, found) for name, found in results.items()}
    each = [
        {
            "file": label.file,
            "heard": heard[index],
            **{name: _as_data(results[name][index]) for name in WAYS},
        }
        for index, label in enumerate(labels)
    ]
    recogniser = {
        "name": parts.asr.name,
        "recognitions": reader.asked,
        "provisional_texts": trials[OURS].texts,
        "waited_for": trials[OURS].waited_for,
        "keeps_up_at_the_end": trials[OURS].speed.keeps_up,
    }
    _tell(told, tell)
    return Report(
        {
            **NOTHING,
            "utterances": len(labels),
            "ways": told,
            "recogniser": recogniser,
            "machine": describe_machine(),
            "each": each,
        }
    )


def _describe(labels: Sequence[Label], found: Sequence[Verdict]) -> Mapping[str, object]:
    """Return the figures of one way: of all, and by what makes utterances differ."""
    pairs = list(zip(labels, found, strict=True))
    views: Mapping[str, Callable[[Label], str]] = {
        "part": lambda one: one.part,
        "kind": lambda one: one.kind if not one.noise else "",
        "pause": lambda one: f"{one.kind} {one.pause_ms}" if one.pause_ms and not one.noise else "",
        "noise": lambda one: f"{one.noise} {one.snr_db} dB" if one.noise else "none",
        "language": lambda one: one.language,
        "end": lambda one: "finished" if one.finished else "open",
    }
    by = {
        view: {
            group: _figures([verdict for label, verdict in pairs if of(label) == group])
            for group in sorted({of(label) for label in labels} - {""})
        }
        for view, of in views.items()
    }
    quiet = [verdict for label, verdict in pairs if label.finished and not label.noise]
    return {"all": _figures(found), "finished_in_quiet": _figures(quiet), "by": by}


def _figures(found: Sequence[Verdict]) -> Mapping[str, Any]:
    delays = [one.delay_ms for one in found if one.delay_ms is not None]
    return {
        "utterances": len(found),
        "not_heard": sum(not one.heard for one in found),
        "cut_off": sum(one.cut for one in found),
        "missed_end": sum(one.delay_ms is None for one in found),
        "of_others": sum(one.others for one in found),
        "delay_ms_p50": percentile(delays, 50),
        "delay_ms_p95": percentile(delays, 95),
    }


def _as_data(verdict: Verdict) -> Mapping[str, object]:
    return {"cut": verdict.cut, "delay_ms": verdict.delay_ms, "others": verdict.others}


def _tell(told: Mapping[str, Mapping[str, Any]], tell: Tell) -> None:
    heading = f"{'':40} {'n':>4} {'cut':>5} {'missed':>7} {'others':>7} {'p50':>6} {'p95':>6}"
    for name, figures in told.items():
        tell(f"\n{name}")
        tell(heading)
        rows = {
            "all": figures["all"],
            "after finished phrases, quiet": figures["finished_in_quiet"],
        }
        for view, groups in figures["by"].items():
            rows |= {f"{view}: {group}": one for group, one in groups.items()}
        for title, row in rows.items():
            tell(
                f"{title:40} {row['utterances']:>4} {row['cut_off']:>5} {row['missed_end']:>7} {row['of_others']:>7} "
                f"{row['delay_ms_p50'] or 0:>6.0f} {row['delay_ms_p95'] or 0:>6.0f}"
            )
