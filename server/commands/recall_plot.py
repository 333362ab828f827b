"""Draws hits and false recalls against the gate, and hits against the weight of recency."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from server.commands.plotting import load_pyplot
from server.commands.recall_test import Asked, measure
from server.config import RetrievalSection
from server.memory.calibration import Calibration
from server.memory.models import Candidate
from server.memory.scoring import recency

GATES = tuple(round(gate, 3) for gate in np.arange(0.02, 0.98, 0.02))
WEIGHTS = (0.0, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
DAYS = (3.5, 7.0, 14.0, 28.0, 90.0)


@dataclass(frozen=True, slots=True)
class Gate:
    """What a fact has to reach to be told."""

    value: float
    name: str
    """What is compared with it."""


def gate_in_use(section: RetrievalSection, calibration: Calibration) -> Gate:
    """Return the gate of the mode that is configured."""
    if section.mode == "article":
        return Gate(section.article.threshold, "threshold (cosine and recency)")
    return Gate(calibration.gate if section.gate is None else section.gate, "gate (relevance)")


def draw(asked: Sequence[Asked], path: Path, gate: Gate) -> None:
    """Draw the figures of a set into a PNG: for every gate, and at one gate for weights and half-lives of recency.

    Args:
        asked: The questions with all candidates.
        path: Where to.
        gate: The gate in use.

    Raises:
        EngineMissing: matplotlib is not installed.
    """
    plt = load_pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    draw_gates(left, asked, gate)
    _draw_recency(right, asked, gate)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_gates(axes: Any, asked: Sequence[Asked], gate: Gate) -> None:
    """Draw the figures for every gate, and mark the one in use."""
    curves = {
        "hit_at_3": "hit@3",
        "hit_at_1": "hit@1",
        "false_recall": "false recall",
        "stale": "stale",
    }
    figures = [measure(asked, each) for each in GATES]
    for key, label in curves.items():
        axes.plot(GATES, [_share(one[key]) for one in figures], label=label)
    axes.set(xlabel=gate.name, ylabel="share of questions", ylim=(0, 1.02), xlim=(0, 1))
    axes.axhline(0.9, color="0.8", linewidth=0.8)
    axes.axhline(0.1, color="0.8", linewidth=0.8)
    axes.axvline(gate.value, color="0.5", linewidth=0.8, linestyle=":")
    axes.legend()


def _draw_recency(axes: Any, asked: Sequence[Asked], gate: Gate) -> None:
    for days in DAYS:
        shares = [
            _share(measure(with_recency(asked, weight, days), gate.value)["hit_at_1"])
            for weight in WEIGHTS
        ]
        axes.plot(WEIGHTS, shares, label=f"{days:g} days", marker=".")
    axes.set(
        xlabel="weight of recency", ylabel=f"hit@1 at {gate.name.partition(' ')[0]} {gate.value:g}"
    )
    axes.legend()


def with_recency(asked: Sequence[Asked], weight: float, days: float) -> list[Asked]:
    """Return the questions with their candidates in the order that another recency would give them."""
    return [
        replace(
            one,
            candidates=tuple(
                sorted(
                    one.candidates,
                    key=lambda candidate: (
                        -(
                            _without_recency(candidate)
                            + recency(candidate.fact.said_at, one.question.asked_at, weight, days)
                        )
                    ),
                )
            ),
        )
        for one in asked
    ]


def _without_recency(candidate: Candidate) -> float:
    parts = candidate.parts
    return parts["relevance"] if "relevance" in parts else parts.get("dense", candidate.score)


def _share(figure: object) -> float:
    """Return a share as it is drawn: one of no questions leaves a gap."""
    return figure if isinstance(figure, float) else float("nan")
