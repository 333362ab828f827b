"""`omoide recall-test`: how well memory answers the questions of a set, and how often it speaks up without a reason."""

import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import median
from time import perf_counter

from server import embedding
from server.commands.plotting import refuse_unwritable
from server.commands.recall_sets import (
    RecallSet,
    SetFact,
    SetQuestion,
    memory_id,
    read_recall_set,
)
from server.commands.report import Report, Tell
from server.commands.voice import rehear_with
from server.config import Config
from server.memory import Memory
from server.memory.calibration import load_calibration
from server.memory.extract import RulesExtractor
from server.memory.models import Candidate
from server.memory.opening import open_memory
from server.ports import Embedder

TOP = 3
NOTHING: Mapping[str, object] = {
    "questions": 0,
    "hit_at_1": None,
    "hit_at_3": None,
    "false_recall": None,
    "stale": None,
    "by_kind": {},
    "recall_ms_p50": None,
    "error": None,
}


class SetClock:
    """Shows the time of the event that is being played."""

    def __init__(self) -> None:
        self.moment = datetime.fromisoformat("2000-01-01T00:00:00+00:00")

    def now(self) -> datetime:
        """Return that time."""
        return self.moment


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a set and what memory offered for it."""

    question: SetQuestion
    candidates: tuple[Candidate, ...]
    """Best first."""
    seconds: float

    def recalled(self, gate: float | None = None) -> list[str]:
        """Return the ids that were recalled, best first; with another gate than that which memory used, if given."""
        if gate is None:
            passed = [candidate for candidate in self.candidates if candidate.passed]
        else:
            passed = [candidate for candidate in self.candidates if _relevance(candidate) >= gate][
                :TOP
            ]
        return [self.id_of(candidate) for candidate in passed]

    def id_of(self, candidate: Candidate) -> str:
        """Return the id that a candidate has in the set."""
        return candidate.fact.id[len(memory_id(self.question.person, "")) :]


async def recall_test_file(
    file: Path, config: Config, data: Path, tell: Tell, *, voice: bool, plot: Path | None
) -> Report:
    """Play the set in a file and report.

    Args:
        file: The set.
        config: Retrieval, embedding and, for `voice`, the voice and the recogniser are taken from it.
        data: Where those keep their models.
        tell: Prints lines for people.
        voice: Speak the questions and ask what the recogniser hears.
        plot: Where to draw hits and false recalls against the gate.

    Raises:
        OmoideError: ``recall-set-invalid``, or an engine is missing or fails.
    """
    recall_set = read_recall_set(file)
    refuse_unwritable(plot)
    transcripts: dict[str, str] = {}
    if voice:
        texts = [one.text for one in recall_set.questions]
        spoken = [(text, recall_set.language_of(text)) for text in texts]
        transcripts = await rehear_with(config, data, spoken)
        changed = sum(text != heard for text, heard in transcripts.items())
        tell(
            f"{len(transcripts)} questions were spoken; {changed} were heard in other words or signs."
        )
    report = await recall_test(recall_set, config, tell, plot=plot, transcripts=transcripts)
    heard = transcripts if voice else None
    return replace(report, data={**report.data, "transcripts": heard})


async def recall_test(
    recall_set: RecallSet,
    config: Config,
    tell: Tell,
    *,
    plot: Path | None = None,
    transcripts: Mapping[str, str] | None = None,
) -> Report:
    """Play a set and report.

    Args:
        recall_set: Facts and questions.
        config: Retrieval and embedding are taken from it.
        tell: Prints lines for people.
        plot: Where to draw hits and false recalls against the gate.
        transcripts: What a recogniser made of the questions, by their texts; asked instead of them.
    """
    embedder = embedding.build(config.embedding)
    try:
        asked = await ask_all(recall_set, config, embedder, transcripts or {})
    finally:
        await embedder.aclose()
    figures = measure(asked)
    if plot is not None:
        from server.commands.recall_plot import (  # noqa: PLC0415 - the library for plots is optional
            draw,
            gate_in_use,
        )

        calibration = load_calibration(
            config.retrieval.calibration, embedder.model, embedder.dimensions
        )
        draw(asked, plot, gate_in_use(config.retrieval, calibration))
        tell(f"Drawn: {plot}")
    _tell_figures(figures, tell)
    wrong = [verdict for one in asked if (verdict := what_went_wrong(one)) is not None]
    for verdict in wrong:
        tell(
            f"  {verdict['fault']}: {verdict['question']}  wanted {verdict['wanted']}  recalled {verdict['recalled']}"
        )
    return Report(
        {
            **figures,
            "wrong": wrong,
            "embedder": embedder.model,
            "mode": config.retrieval.mode,
            "error": None,
        }
    )


def what_went_wrong(one: Asked) -> dict[str, object] | None:
    """Return what a question should have brought to mind and what it did, with the relevance of each; None if all is well."""
    question, recalled = one.question, one.recalled()
    if question.expect and _is_stale(question, recalled):
        fault = "stale"
    elif not _is_hit(question, recalled):
        fault = "missed"
    elif not question.expect and recalled:
        fault = "false recall"
    else:
        return None
    likely = {one.id_of(each): round(_relevance(each), 3) for each in one.candidates}
    return {
        "fault": fault,
        "question": question.id,
        "wanted": {key: likely.get(key) for key in question.expect},
        "recalled": {key: likely.get(key) for key in recalled},
    }


async def ask_all(
    recall_set: RecallSet, config: Config, embedder: Embedder, transcripts: Mapping[str, str]
) -> list[Asked]:
    """Play a set, and return what memory offered for each question."""
    await embedder.warm_up()
    asked = []
    async with aclosing(play(recall_set, config, embedder)) as played:
        async for memory, question in played:
            text = transcripts.get(question.text, question.text)
            language = recall_set.language_of(text)
            started = perf_counter()
            found = await memory.search(question.person, text, language, question.asked_at)
            asked.append(Asked(question, tuple(found), perf_counter() - started))
    return asked


async def play(
    recall_set: RecallSet, config: Config, embedder: Embedder
) -> AsyncGenerator[tuple[Memory, SetQuestion], None]:
    """Yield each question of a set with a memory as it is at that moment: every fact is put in when it is said."""
    clock = SetClock()
    with tempfile.TemporaryDirectory(prefix="omoide-recall-") as folder:
        memory = open_memory(config, Path(folder), embedder, RulesExtractor(), clock)
        try:
            for event in recall_set.events:
                if isinstance(event, SetFact):
                    clock.moment = event.said_at
                    fact = event.as_fact(recall_set.language_of(event.text))
                    await memory.add([fact], keep_all=True)
                else:
                    clock.moment = event.asked_at
                    yield memory, event
        finally:
            memory.close()


def measure(asked: Sequence[Asked], gate: float | None = None) -> dict[str, object]:
    """Return the figures of a set: shares of questions, rounded.

    ``hit_at_3``: of those that expect something, every expected id is recalled; ``hit_at_1``: one comes first;
    ``false_recall``: of those that expect nothing, something is recalled; ``stale``: of those that forbid and expect,
    something forbidden is recalled.
    """
    kinds: dict[str, list[Asked]] = {}
    for one in asked:
        kinds.setdefault(one.question.kind, []).append(one)
    milliseconds = [one.seconds * 1000 for one in asked]
    return {
        "questions": len(asked),
        **_shares(asked, gate),
        "by_kind": {
            kind: {"questions": len(ones), **_shares(ones, gate)} for kind, ones in kinds.items()
        },
        "recall_ms_p50": round(median(milliseconds), 2) if milliseconds else None,
    }


def _shares(asked: Sequence[Asked], gate: float | None) -> dict[str, float | None]:
    pairs = [(one.question, one.recalled(gate)) for one in asked]
    wanting = [(question, ids) for question, ids in pairs if question.expect]
    idle = [ids for question, ids in pairs if not question.expect]
    changed = [(question, ids) for question, ids in wanting if question.forbid]
    return {
        "hit_at_1": _share([bool(ids) and ids[0] in question.expect for question, ids in wanting]),
        "hit_at_3": _share([_is_hit(question, ids) for question, ids in wanting]),
        "false_recall": _share([bool(ids) for ids in idle]),
        "stale": _share([_is_stale(question, ids) for question, ids in changed]),
    }


def _is_hit(question: SetQuestion, recalled: Sequence[str]) -> bool:
    return set(question.expect) <= set(recalled)


def _is_stale(question: SetQuestion, recalled: Sequence[str]) -> bool:
    return not set(question.forbid).isdisjoint(recalled)


def _relevance(candidate: Candidate) -> float:
    """Return what the gate is compared with; of the article's form that is the score itself."""
    return candidate.parts.get("relevance", candidate.score)


def _share(verdicts: Sequence[bool]) -> float | None:
    return round(sum(verdicts) / len(verdicts), 4) if verdicts else None


def _tell_figures(figures: Mapping[str, object], tell: Tell) -> None:
    names = ("questions", "hit_at_1", "hit_at_3", "false_recall", "stale", "recall_ms_p50")
    tell("   ".join(f"{name} {figures[name]}" for name in names))
    kinds = figures["by_kind"]
    if isinstance(kinds, Mapping):
        for kind, shares in kinds.items():
            tell(
                f"  {kind or '(no kind)'}: "
                + "  ".join(f"{key} {value}" for key, value in shares.items())
            )
