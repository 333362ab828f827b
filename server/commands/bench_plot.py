"""Draws how many of the turns that hold an answer come back, with and without each part, and how long a question takes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from server.commands.plotting import load_pyplot

AIMS = {1_000: 2.0, 10_000: 5.0, 100_000: 40.0}
"""Milliseconds that a question is to take among so many pages, at the most."""


def draw(
    curves: Mapping[str, Mapping[str, float | None]],
    times: Mapping[int, Mapping[str, float | None]],
    path: Path,
    title: str = "",
) -> None:
    """Draw the figures into a PNG.

    Args:
        curves: By variant, recall by depth; none to leave the left half out.
        times: By number of pages, figures of `bench_pages`.
        path: Where to.
        title: Stands above recall.

    Raises:
        EngineMissing: matplotlib is not installed.
    """
    plt = load_pyplot()
    parts = [part for part, has in (("recall", curves), ("times", times)) if has]
    figure, axes = plt.subplots(
        1, len(parts), figsize=(6.8 * len(parts), 5), layout="constrained", squeeze=False
    )
    for part, place in zip(parts, axes[0], strict=True):
        if part == "recall":
            _draw_recall(place, curves, title)
        else:
            _draw_times(place, times)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _draw_recall(axes: Any, curves: Mapping[str, Mapping[str, float | None]], title: str) -> None:
    whole, *_ = curves
    # The legend names them in the order in which they end; the whole lies wide below those that hide it.
    for name in sorted(curves, key=lambda name: -(list(curves[name].values())[-1] or 0.0)):
        curve = {int(depth): value for depth, value in curves[name].items() if value is not None}
        style = {"color": "0.75", "linewidth": 6, "zorder": 1} if name == whole else {"marker": "."}
        axes.plot([*curve], [*curve.values()], label=name, **style)
    axes.set(xlabel="k, turns looked at", ylabel="recall@k", title=title)
    axes.set_ylim(top=1.005)  # also of a curve that is flat near one: no share is above it
    axes.grid(color="0.92")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_times(axes: Any, times: Mapping[int, Mapping[str, float | None]]) -> None:
    for key, label in (
        ("ms_p95", "p95"),
        ("ms_p50", "p50"),
        ("read_ms_p50", "p50, to read the question"),
        ("recall_ms_p50", "p50, a whole recall"),
    ):
        if not all(key in one for one in times.values()):
            continue
        axes.plot([*times], [one[key] for one in times.values()], label=label, marker="o")
    aims = {size: aim for size, aim in AIMS.items() if size in times}
    axes.plot(
        [*aims], [*aims.values()], label="aim for p50", color="0.5", linestyle=":", marker="_"
    )
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="pages of one person",
        ylabel="ms a question, without embedding",
    )
    axes.set_xticks([*times], [f"{size:,}" for size in times])
    axes.grid(color="0.92")
    axes.legend(fontsize=8)
