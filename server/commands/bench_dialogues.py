"""`omoide bench memory --locomo`: how many of the turns that hold an answer come back, over dialogues in the form of LoCoMo."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from server import embedding
from server.commands.dialogue_memory import Found, KnownVectors, remembered
from server.commands.dialogues import Dialogue, DialogueQuestion, read_dialogues
from server.commands.figures import describe_machine, percentile
from server.commands.report import Report, Tell
from server.config import Config
from server.memory.page_weights import PageWeights, load_page_weights

NOTHING: Mapping[str, object] = {"questions": 0, "turn_recall_at_10": None, "error": None}
DEPTHS = (5, 10, 20)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}

ALONE: Mapping[str, tuple[str, ...]] = {"words only": ("words",), "dense only": ("dense",)}
"""Variants that rank by these signs alone."""
WITHOUT: Mapping[str, frozenset[str]] = {
    "no dates": frozenset({"dated", "day_near", "day_told"}),
    "no speaker": frozenset({"speaker"}),
    "no MTM": frozenset({"topic"}),
}
"""Variants that go without these."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and how well its evidence was found."""

    dialogue: Dialogue
    question: DialogueQuestion
    found: Found

    def recall(self, depth: int) -> float:
        """Return the share of the evidence among the first turns."""
        evidence = self.question.evidence
        return len(evidence.intersection(self.found.turns[:depth])) / len(evidence)

    def ndcg(self, depth: int = 10) -> float:
        """Return the discounted gain of the first turns, each worth 1 or 0, against the best order."""
        evidence = self.question.evidence
        gained = sum(
            1 / math.log2(place + 2)
            for place, turn in enumerate(self.found.turns[:depth])
            if turn in evidence
        )
        return gained / sum(1 / math.log2(place + 2) for place in range(min(depth, len(evidence))))

    def has_all_sessions(self, depth: int = 10) -> bool:
        """Say whether every session that holds evidence is among those of the first turns."""
        sessions = {turn.id: turn.session for turn in self.dialogue.utterances}
        wanted = {sessions[turn] for turn in self.question.evidence}
        return wanted <= {sessions[turn] for turn in self.found.turns[:depth]}


async def bench_dialogues(file: Path, config: Config, tell: Tell, *, ablate: bool) -> Report:
    """Put every dialogue of a file into a memory of its own, ask all questions that have evidence, and report.

    The weights are those of the configuration: nothing is learnt from the file.

    Args:
        file: Dialogues.
        config: Embedding and retrieval are taken from it.
        tell: Told the figures.
        ablate: Also without each part.

    Raises:
        OmoideError: ``dialogues-broken``, or an engine is missing or fails.
    """
    dialogues, digest = read_dialogues(file)
    weights = load_page_weights(config.retrieval.pages.calibration)
    embedder = KnownVectors(embedding.build(config.embedding))
    variants = {"full": weights} | (_variants(weights) if ablate else {})
    try:
        await embedder.warm_up()
        answered, ingested = await _ask_all(dialogues, config, embedder, variants)
    finally:
        await embedder.aclose()
    figures = measure(answered["full"])
    for name, found in answered.items():
        _tell_line(name, measure(found), tell)
    for name, part in by_category(answered["full"]).items():
        _tell_line(f"  {name}", part, tell)
    turns = sum(len(dialogue.utterances) for dialogue in dialogues)
    tell(f"{turns} turns put in in {ingested:.0f} s, {embedder.seconds:.0f} s of them for vectors.")
    return Report(
        {
            **NOTHING,
            **figures,
            "ingest_s": round(ingested, 1),
            "embed_s": round(embedder.seconds, 1),
            "turns": turns,
            "ablations": {
                name: measure(found) for name, found in answered.items() if name != "full"
            },
            "data": {"file": file.name, "sha256": digest, "dialogues": len(dialogues)},
            "parameters": _parameters(config, weights, embedder),
            "machine": describe_machine(),
        }
    )


def measure(answered: Sequence[Answered]) -> dict[str, object]:
    """Return the figures over some questions, and for each category."""
    return {**_averages(answered), "by_category": by_category(answered)}


def by_category(answered: Sequence[Answered]) -> dict[str, dict[str, object]]:
    """Return the figures for each category that occurs, and for those without the adversarial one."""
    kinds = {name: _of_category(answered, {number}) for number, name in CATEGORIES.items()}
    kinds["categories 1-4"] = _of_category(answered, {1, 2, 3, 4})
    return {name: _averages(part) for name, part in kinds.items() if part}


def _averages(answered: Sequence[Answered]) -> dict[str, object]:
    figures: dict[str, object] = {"questions": len(answered)}
    for depth in DEPTHS:
        figures[f"turn_recall_at_{depth}"] = _mean(one.recall(depth) for one in answered)
    figures["ndcg_at_10"] = _mean(one.ndcg() for one in answered)
    figures["session_all_at_10"] = _mean(float(one.has_all_sessions()) for one in answered)
    figures["retrieve_ms_p50"] = percentile([one.found.seconds * 1000 for one in answered], 50)
    return figures


def _of_category(answered: Sequence[Answered], numbers: set[int]) -> list[Answered]:
    return [one for one in answered if one.question.category in numbers]


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return round(float(np.mean(listed)), 4) if listed else None


async def _ask_all(
    dialogues: Sequence[Dialogue],
    config: Config,
    embedder: KnownVectors,
    variants: Mapping[str, PageWeights],
) -> tuple[dict[str, list[Answered]], float]:
    """Return what every variant finds for every question that has evidence, and how long it took to put all in."""
    answered: dict[str, list[Answered]] = {name: [] for name in variants}
    ingested = 0.0
    for dialogue in dialogues:
        started = perf_counter()
        async with remembered(dialogue, config, embedder) as remember:
            ingested += perf_counter() - started
            questions = [one for one in dialogue.questions if one.evidence]
            memory = remember(variants["full"])
            await memory.embed(questions)
            for name, weights in variants.items():
                memory = remember(weights)
                for question in questions:
                    found = await memory.ask(question)
                    answered[name].append(Answered(dialogue, question, found))
    return answered, ingested


def _variants(weights: PageWeights) -> dict[str, PageWeights]:
    """Return weights for each ablation: what is gone counts nothing."""
    found = {"no vectors": replace(weights, with_vectors=weights.by_words)}
    for name, alone in ALONE.items():
        found[name] = replace(weights, with_vectors=dict.fromkeys(alone, 1.0))
    for name, without in WITHOUT.items():
        left = {sign: worth for sign, worth in weights.with_vectors.items() if sign not in without}
        found[name] = replace(weights, with_vectors=left)
    return found


def _parameters(config: Config, weights: PageWeights, embedder: KnownVectors) -> dict[str, object]:
    return {
        "embedder": embedder.model,
        "week_start": config.retrieval.week_start,
        "weights": dict(weights.with_vectors),
        "learnt_from": weights.learnt_from,
    }


def _tell_line(name: str, figures: Mapping[str, object], tell: Tell) -> None:
    if name == "full":
        tell(f"{'':24}{'n':>6}{'r@5':>8}{'r@10':>8}{'r@20':>8}{'ndcg':>8}{'ms':>7}")
    shown = [figures[f"turn_recall_at_{depth}"] for depth in DEPTHS] + [figures["ndcg_at_10"]]
    columns = "".join(f"{value or 0:>8.3f}" for value in shown)
    tell(f"{name:24}{figures['questions']:>6}{columns}{figures['retrieve_ms_p50'] or 0:>7.1f}")
