"""Draws hits and false recalls against the gate."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from server.commands.recall_test import Asked, measure
from server.errors import EngineMissing

GATES = tuple(round(gate, 3) for gate in np.arange(0.02, 0.98, 0.02))


def draw(asked: Sequence[Asked], path: Path) -> None:
    """Draw the figures of a set for every gate into a PNG.

    Raises:
        EngineMissing: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional

        mpl.use("Agg")
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError as error:
        raise EngineMissing("Plots need matplotlib. Run `pip install matplotlib`.") from error
    curves = {
        "hit_at_3": "hit@3",
        "hit_at_1": "hit@1",
        "false_recall": "false recall",
        "stale": "stale",
    }
    figures = [measure(asked, gate) for gate in GATES]
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for key, label in curves.items():
        axes.plot(GATES, [_share(one[key]) for one in figures], label=label)
    axes.set(xlabel="gate (relevance)", ylabel="share of questions", ylim=(0, 1.02), xlim=(0, 1))
    axes.axhline(0.9, color="0.8", linewidth=0.8)
    axes.axhline(0.1, color="0.8", linewidth=0.8)
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _share(figure: object) -> float:
    """Return a share as it is drawn: one of no questions leaves a gap."""
    return figure if isinstance(figure, float) else float("nan")
