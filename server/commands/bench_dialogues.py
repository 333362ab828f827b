"""`omoide bench memory --locomo` and `--gvd`: how much of what holds an answer comes back, over dialogues with questions about them."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from anyio import to_thread

from server import embedding
from server.commands.answering import Answer, Answering, figures_of
from server.commands.bench_facts import MADE_UP
from server.commands.bench_pages import time_sizes
from server.commands.bench_plot import draw
from server.commands.dialogue_fit import FITTED, ask_fitted, refuse_few
from server.commands.dialogue_memory import KnownVectors, RememberedDialogue, remembered
from server.commands.dialogue_prompts import Held, look_into_prompts
from server.commands.dialogue_prompts import figures_of as figures_of_prompts
from server.commands.dialogue_variants import FULL, Variant, answered_variants, ranked_variants
from server.commands.dialogues import Dialogue, DialogueQuestion, read_dialogues
from server.commands.evidence import CURVE, DEPTHS, Answered, by_category, measure, recall_curve
from server.commands.figures import describe_machine
from server.commands.gvd import read_gvd
from server.commands.plain_bm25 import PlainBm25
from server.commands.plotting import refuse_unwritable
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.memory.page_recall import LOOKED_AT, SHOWN
from server.memory.page_signs import FIRST_LOOK
from server.memory.page_weights import load_page_weights
from server.memory.postings import REACH

NOTHING: Mapping[str, object] = {
    "questions": 0,
    **{f"turn_recall_at_{depth}": None for depth in DEPTHS},
    "ndcg_at_10": None,
    "session_all_at_10": None,
    "by_category": {},
    "retrieve_ms_p50": None,
    "ingest_s": None,
    "error": None,
}


@dataclass(frozen=True, slots=True)
class DialogueSet:
    """Dialogues and where they are from."""

    name: str
    digest: str
    """SHA-256 of the file."""
    dialogues: Sequence[Dialogue]
    is_judged: bool = False
    """Whether a model judges the answers (GVD); else they are compared with the right ones word by word."""


def read_set(locomo: Path | None, gvd: tuple[Path, Path] | None) -> DialogueSet | None:
    """Read dialogues in the form of LoCoMo, or those of GVD with its labels; None if neither is named.

    Raises:
        ConfigError: ``dialogues-broken``.
    """
    if locomo is not None:
        dialogues, digest = read_dialogues(locomo)
        return DialogueSet(locomo.name, digest, dialogues)
    if gvd is not None:
        dialogues, digest = read_gvd(*gvd)
        return DialogueSet(gvd[0].name, digest, dialogues, is_judged=True)
    return None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured."""

    ablate: bool = False
    """Also without each part."""
    answer: bool = False
    """Also let the configured language model answer."""
    questions: int | None = None
    """How many of each dialogue are asked, spread over all; None for all."""
    plot: Path | None = None
    """Where a picture is drawn."""
    fitted: bool = False
    """Also by weights that were learnt from all dialogues of the set but the one that is asked."""


async def bench_dialogues(some: DialogueSet, place: Place, plan: Plan, tell: Tell) -> Report:
    """Put every dialogue into a memory of its own, ask the questions that have evidence, and report.

    The weights are those of the configuration: nothing is learnt from the set, but for the row that says so.

    Args:
        some: Dialogues.
        place: Its configuration names embedding, retrieval and the language model.
        plan: What is measured.
        tell: Told the figures.

    Raises:
        OmoideError: An engine is missing or fails; ``dialogues-few``.
    """
    refuse_unwritable(plan.plot)
    if plan.fitted:
        refuse_few(some.dialogues)
    bench = _Bench(some, place, plan)
    try:
        await bench.hold(tell)
    finally:
        await bench.aclose()
    bench.tell_figures(tell)
    if plan.plot is not None:
        await to_thread.run_sync(bench.draw, plan.plot, tell)
    return bench.report()


class _Bench:
    """One run."""

    def __init__(self, some: DialogueSet, place: Place, plan: Plan) -> None:
        self._set = some
        self._config = place.config
        self._plan = plan
        self._weights = load_page_weights(place.config.retrieval.pages.calibration)
        self._embedder = KnownVectors(place.embedder or embedding.build(place.config.embedding))
        self._answering = Answering(place, is_judged=some.is_judged) if plan.answer else None
        self._found: dict[str, list[Answered]] = {}
        self._answers: dict[str, list[Answer]] = {}
        self._prompts: dict[str, list[Held]] = {}
        self._ingest_seconds = 0.0

    async def hold(self, tell: Tell) -> None:
        """Put everything in, and ask; it takes minutes, so `tell` is told how far it is."""
        await self._embedder.warm_up()
        if self._answering is not None:
            await self._answering.warm_up()
        for dialogue in self._set.dialogues:
            tell(
                f"{dialogue.name}: {len(dialogue.utterances)} turns are put in and asked about ..."
            )
            await self._ask_all(dialogue)
        if self._plan.fitted:
            asked = [(one, self._questions_of(one)) for one in self._set.dialogues]
            self._found[FITTED] = await ask_fitted(asked, self._config, self._embedder)

    def _questions_of(self, dialogue: Dialogue) -> Sequence[DialogueQuestion]:
        return spread([one for one in dialogue.questions if one.evidence], self._plan.questions)

    async def aclose(self) -> None:
        """Let go of the engines."""
        await self._embedder.aclose()
        if self._answering is not None:
            await self._answering.aclose()

    async def _ask_all(self, dialogue: Dialogue) -> None:
        """Ask a dialogue in every variant; those that are sorted alike share a store."""
        ranked, answered = ranked_variants(self._weights), answered_variants(self._weights)
        if not self._plan.ablate:
            ranked, answered = {FULL: ranked[FULL]}, {FULL: answered[FULL]}
        answered = answered if self._answering is not None else {}
        questions = self._questions_of(dialogue)
        for is_chained in (True, False):
            alike = {
                name: one
                for name, one in (ranked | answered).items()
                if one.is_chained is is_chained
            }
            if not alike:
                continue
            started = perf_counter()
            async with remembered(
                dialogue, self._config, self._embedder, is_chained=is_chained
            ) as held:
                if is_chained:
                    self._ingest_seconds += perf_counter() - started
                await self._ask_alike(held, alike, ranked, questions)
                if is_chained and self._plan.ablate:
                    await self._look_into_prompts(held, questions)

    async def _ask_alike(
        self,
        held: RememberedDialogue,
        variants: Mapping[str, Variant],
        ranked: Container[str],
        questions: Sequence[DialogueQuestion],
    ) -> None:
        for name, variant in variants.items():
            found = await self._find(held, variant, questions)
            if name in ranked:
                self._found.setdefault(name, []).extend(found)
            if self._answering is not None and name in answered_variants(self._weights):
                given = await self._answering.answer_all(held, variant, found)
                self._answers.setdefault(name, []).extend(given)

    async def _look_into_prompts(
        self, held: RememberedDialogue, questions: Sequence[DialogueQuestion]
    ) -> None:
        prompts = await look_into_prompts(held, self._config, self._embedder, questions)
        for name, found in prompts.items():
            self._prompts.setdefault(name, []).extend(found)

    async def _find(
        self, held: RememberedDialogue, variant: Variant, questions: Sequence[DialogueQuestion]
    ) -> list[Answered]:
        if variant.is_plain:
            plain = PlainBm25(held.dialogue)
            return [Answered(held.dialogue, one, plain.ask(one)) for one in questions]
        memory = held.ranked_by(
            variant.weights,
            self._config.retrieval,
            reach=variant.reach,
            has_vectors=variant.has_vectors,
        )
        await memory.embed(questions)
        return [Answered(held.dialogue, one, await memory.ask(one)) for one in questions]

    @property
    def _full(self) -> Sequence[Answered]:
        return self._found.get(FULL, ())

    @property
    def _turns(self) -> int:
        return sum(len(dialogue.utterances) for dialogue in self._set.dialogues)

    def tell_figures(self, tell: Tell) -> None:
        """Tell the figures of every variant, and those of the whole by category."""
        for name, found in self._found.items():
            _tell_line(name, measure(found), tell)
        for name, part in by_category(self._full).items():
            _tell_line(f"  {name}", part, tell)
        tell(
            f"{self._turns} turns put in in {self._ingest_seconds:.0f} s; "
            f"all texts embedded in {self._embedder.seconds:.0f} s."
        )
        for name, looked_into in self._prompts.items():
            parts = figures_of_prompts(looked_into).items()
            tell(f"prompts, {name}: {', '.join(f'{key} {value}' for key, value in parts)}")
        for name, given in self._answers.items():
            points = ", ".join(f"{key} {value}" for key, value in figures_of(given).items())
            tell(f"answers, {name}: {points}")

    def draw(self, path: Path, tell: Tell) -> None:
        """Draw recall by depth, and how long a question takes among more and more pages. Blocks."""
        curves = {name: recall_curve(found) for name, found in self._found.items()}
        languages = [one.language for one in self._set.dialogues if one.language in MADE_UP]
        language = languages[0] if languages else "en"
        times = time_sizes(self._config, language, self._embedder.dimensions, tell=tell)
        draw(curves, times, path, title=self._set.name)
        tell(f"Drawn: {path}")

    def report(self) -> Report:
        """Return the figures."""
        some, full = self._set, self._full
        others = {
            name: {**measure(found), "recall_by_depth": recall_curve(found)}
            for name, found in self._found.items()
            if name != FULL
        }
        return Report(
            {
                **NOTHING,
                **measure(full),
                "recall_by_depth": recall_curve(full),
                "ingest_s": round(self._ingest_seconds, 1),
                "embed_s": round(self._embedder.seconds, 1),
                "turns": self._turns,
                "fitted": others.pop(FITTED, None),
                "ablations": others,
                "prompts": {
                    name: figures_of_prompts(looked_into)
                    for name, looked_into in self._prompts.items()
                },
                "answers": {name: figures_of(given) for name, given in self._answers.items()},
                "data": {
                    "file": some.name,
                    "sha256": some.digest,
                    "dialogues": len(some.dialogues),
                },
                "parameters": self._parameters(),
                "machine": describe_machine(),
            }
        )

    def _parameters(self) -> dict[str, object]:
        config, weights = self._config, self._weights
        return {
            "embedder": self._embedder.model,
            "llm": self._answering.name if self._answering is not None else None,
            "answer_pages": self._answering.pages if self._answering is not None else None,
            "questions_of_each": self._plan.questions,
            "depths": DEPTHS,
            "curve": CURVE,
            "retrieval": config.retrieval.model_dump(mode="json"),
            "segments": config.segments.model_dump(mode="json"),
            "batch_turns": config.extraction.turns,
            "silence_minutes": config.extraction.silence_minutes,
            "window_minutes": config.history.window_minutes,
            "reach": REACH,
            "looked_at": LOOKED_AT,
            "shown": SHOWN,
            "long_term": config.long_term.model_dump(mode="json"),
            "first_look": dict(FIRST_LOOK),
            "weights": dict(weights.with_vectors),
            "weights_by_words": dict(weights.by_words),
            "gate": dict(weights.gate),
            "threshold": weights.threshold,
            "learnt_from": weights.learnt_from,
        }


def spread(questions: Sequence[DialogueQuestion], most: int | None) -> Sequence[DialogueQuestion]:
    """Return so many questions, evenly from among all."""
    if most is None or most >= len(questions):
        return questions
    return [questions[place * len(questions) // most] for place in range(most)]


def _tell_line(name: str, figures: Mapping[str, object], tell: Tell) -> None:
    if name == FULL:
        heads = "".join(f"{f'r@{depth}':>8}" for depth in DEPTHS)
        tell(f"{'':36}{'n':>6}{heads}{'ndcg':>8}{'all@10':>8}{'ms':>7}")
    shown = [figures[f"turn_recall_at_{depth}"] for depth in DEPTHS]
    shown += [figures["ndcg_at_10"], figures["session_all_at_10"]]
    columns = "".join(f"{value or 0:>8.3f}" for value in shown)
    tell(f"{name:36}{figures['questions']:>6}{columns}{figures['retrieve_ms_p50'] or 0:>7.1f}")
