"""What a driver is told and what it answers: one JSON object a line, on standard input and output.

``open`` comes first, then any number of ``add``, one ``settle``, any number of ``ask``, and ``close``. Every answer has
``ms``, which is the time of the system alone; an answer with ``error`` is the last one.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any, Protocol, TextIO

PASSAGE, QUERY = "passage", "query"
"""Names of the model at the endpoint, which embeds what is kept and what is asked in two ways."""
SCRIPTED = "scripted"
"""Name of the language model at the endpoint."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a system needs before anything is added."""

    folder: str
    """Empty; everything that is kept goes there."""
    base_url: str
    """Of an OpenAI-compatible endpoint; it takes any key."""
    dimensions: int
    """Of its vectors."""
    embedder: str
    """Which model makes them, whatever name it has at the endpoint."""
    language: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What one of the two said."""

    id: str
    role: str
    """``user`` or ``assistant``."""
    text: str
    """In one line, with the name of the speaker before it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One or two turns that belong together."""

    at: str
    """``2023-05-08 13:56:00``; no two exchanges of a dialogue have the same."""
    turns: tuple[Turn, ...]


class System(Protocol):
    """A memory system that holds one dialogue."""

    def add(self, exchange: Exchange) -> None:
        """Take in what was said."""

    def settle(self) -> None:
        """Finish what was put off; after this the folder holds everything."""

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the ids of the turns that are found, best first, `limit` at most."""


def first(ids: Iterable[str], limit: int) -> list[str]:
    """Return the first `limit` ids, each once: several memories may come from one turn."""
    return list(dict.fromkeys(ids))[:limit]


def narrow(memory: str, candidates: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return those of the turns that a memory may come from which say it word for word; all of them if none does."""
    _, named, words = memory.partition(": ")
    wanted = words if named else memory
    return [turn for turn in candidates if wanted in texts[turn]] or list(candidates)


def serve(package: str, build: Callable[[Settings], System]) -> None:
    """Answer until `close` or the end of the input.

    Args:
        package: Its version is reported.
        build: Makes the system.
    """
    answers = _take_stdout()
    system: System | None = None
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        try:
            started = perf_counter()
            if order["do"] == "open":
                system = build(Settings(**order["settings"]))
                found: dict[str, Any] = {"version": version(package)}
            elif order["do"] == "close":
                return
            else:
                assert system is not None
                found = _carry_out(system, order)
            found["ms"] = (perf_counter() - started) * 1000
        except Exception as error:  # whatever a system raises belongs into the report
            found = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(found) + "\n")
        answers.flush()


def _carry_out(system: System, order: Mapping[str, Any]) -> dict[str, Any]:
    if order["do"] == "add":
        turns = tuple(Turn(**turn) for turn in order["exchange"]["turns"])
        system.add(Exchange(order["exchange"]["at"], turns))
        return {}
    if order["do"] == "settle":
        system.settle()
        return {}
    return {"turns": system.ask(order["question"], order["limit"])}


def _take_stdout() -> TextIO:
    """Keep standard output for the answers; what a system prints there is thrown away, for it may be what people said."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    return answers
