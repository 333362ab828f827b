"""Omoide's own figures, from `omoide bench memory --locomo`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio

from scripts.comparison.children import ROOT, RivalError

NOTES = (
    "by `omoide bench memory --locomo`, which searches what was said; it draws no facts and so calls no language model",
)
_TAKEN = ("by_category", "questions", "retrieve_ms_p50", "session_all_at_10", "turns")


async def measure_ours(file: Path, config: Path | None) -> dict[str, object]:
    """Run the command on a file of dialogues and return its figures under the names of this comparison.

    Raises:
        RivalError: The command is missing or failed.
    """
    given = ["--config", str(config)] if config else []
    command = [sys.executable, "-m", "server", "bench", "memory", "--locomo", str(file), "--json"]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ended = await anyio.run_process(
        [*command, *given],
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return read_report(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def read_report(code: int, output: str, errors: str) -> dict[str, object]:
    """Return the figures in what the command printed.

    Raises:
        RivalError: There are none.
    """
    if "No such option" in errors:
        raise RivalError("`omoide bench memory` has no --locomo here")
    try:
        report: dict[str, Any] = json.loads(output)
    except ValueError as error:
        raise RivalError(f"no JSON came, exit code {code}") from error
    if code or report.get("error"):
        raise RivalError(f"exit code {code}: {report.get('error')}")
    figures = {name: report.get(name) for name in _TAKEN}
    figures |= {name: report[name] for name in report if name.startswith(("turn_recall", "ndcg"))}
    taken, turns = report.get("ingest_s"), report.get("turns")
    return {
        **figures,
        "query_ms_p50": None,
        "add_ms_per_turn": round(1000 * taken / turns, 1) if taken and turns else None,
        "llm_calls_per_turn": 0.0,
        "llm_calls_per_query": 0.0,
        "disk_bytes": None,
    }
