"""What the benchmarks reckon with: percentiles, and the machine that the figures come from."""

import os
import platform
from collections.abc import Sequence

import numpy as np

from server.commands.report import Tell


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return a percentile, interpolated; None of nothing."""
    return round(float(np.percentile(values, percent)), 1) if values else None


def describe_machine() -> dict[str, object]:
    """Return what the figures depend on; ``load`` is how many processes wanted a core during the last minute."""
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None  # not on Windows
    return {
        "cpus": os.cpu_count(),
        "load": load,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def tell_times(what: str, p50: float | None, p95: float | None, tell: Tell) -> None:
    """Tell two percentiles of a time, in milliseconds."""
    tell(f"{what:26} {p50 or 0:>6.1f}  {p95 or 0:>6.1f}")
