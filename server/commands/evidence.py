"""How well the turns that hold the answers to questions were found: recall, order, and sessions, in all and by category."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from server.commands.dialogue_memory import Found
from server.commands.dialogues import Dialogue, DialogueQuestion
from server.commands.figures import percentile

DEPTHS = (5, 10, 20)
CURVE = (5, 10, 15, 20, 25, 30, 35, 40)
"""Depths of a curve of recall."""
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
"""Of LoCoMo, by their numbers in its files."""
ADVERSARIAL = 5
"""The category of questions that have no right answer."""


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


def measure(answered: Sequence[Answered]) -> dict[str, object]:
    """Return the figures over some questions, and for each category."""
    return {**_averages(answered), "by_category": by_category(answered)}


def by_category(answered: Sequence[Answered]) -> dict[str, dict[str, object]]:
    """Return the figures for each category that occurs, and for those without the adversarial one."""
    kinds = {name: _of_category(answered, {number}) for number, name in CATEGORIES.items()}
    kinds["categories 1-4"] = _of_category(answered, {1, 2, 3, 4})
    return {name: _averages(part) for name, part in kinds.items() if part}


def recall_curve(answered: Sequence[Answered]) -> dict[str, float | None]:
    """Return recall by how many turns are looked at."""
    return {str(depth): _mean(one.recall(depth) for one in answered) for depth in CURVE}


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
