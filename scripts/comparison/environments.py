"""The systems that are compared, and the environment that each of them runs in."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from scripts.comparison.children import RivalError

STAMP = "packages.txt"
"""Says in a finished environment what was installed."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A memory system."""

    name: str
    """Of its package."""
    driver: str
    """Module that speaks the protocol."""
    installs: tuple[tuple[str, ...], ...]
    """Arguments of `pip install`, one call after the other; none for what runs where this does."""
    notes: tuple[str, ...] = ()
    """What whoever reads the figures has to know."""


OURS = Rival(
    "omoide",
    "scripts.rivals.omoide",
    (),
    (
        "facts, topics and days by the scripted model, in batches as a server makes them; what is found is what was said",
        "for a query, the search in what was said; `omoide bench memory` times a whole recall",
    ),
)
RIVALS = (
    Rival(
        "bm25s",
        "scripts.rivals.bm25",
        (("bm25s", "PyStemmer"),),
        ("one document for each turn, with its speaker's name; k1 1.2, b 0.75; English stop words (the longer list) and stems",),
    ),
    Rival(
        "mem0ai",
        "scripts.rivals.mem0",
        (("mem0ai", "fastembed", "bm25s"),),
        (
            "ids of turns are metadata; a memory that quotes one of its two turns counts as that one, any other as both",
            "keyword search is on, with stop words from bm25s: its own come from a model hub",
            "without its spaCy model, which no package index has: words are not lemmatised, entities are not linked",
        ),
    ),
    Rival(
        "memoryos-pro",
        "scripts.rivals.memoryos",
        (("--no-deps", "memoryos-pro"), ("faiss-cpu", "numpy", "openai")),
        (
            "a page counts as its two turns, a line of knowledge as the turn whose time it names",
            "installed without what it pins: numpy 1.24 with faiss-gpu<2 can be had up to Python 3.10 only; faiss-cpu instead",
            "short-term memory of 1 page, 10 pages a question, as in its authors' evaluation on LoCoMo",
        ),
    ),
)  # fmt: skip


async def prepare(rival: Rival, venvs: Path) -> Path:
    """Make the environment of a system unless it is there, and return its Python.

    Raises:
        RivalError: The environment can't be made, or the packages can't be installed.
    """
    if not rival.installs:
        return Path(sys.executable)
    folder = venvs / rival.name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted = "\n".join(" ".join(packages) for packages in rival.installs)
    stamp = folder / STAMP
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    await _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    for packages in rival.installs:
        await _run([str(python), "-m", "pip", "install", "--quiet", *packages])
    stamp.write_text(wanted, encoding="utf-8")
    return python


async def _run(command: Sequence[str]) -> None:
    ended = await anyio.run_process(command, stderr=subprocess.PIPE, check=False)
    if ended.returncode:
        raise RivalError(complaint(ended.stderr.decode(errors="replace")))


def complaint(errors: str) -> str:
    """Return the first line in which pip says what went wrong, or the last line if it does not."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("ERROR:")] or lines[-1:]
    return said[0] if said else "it said nothing"
