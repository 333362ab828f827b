"""Puts dialogues into a system, asks their questions, and counts: what was found, how long it took, what it cost."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.comparison.children import Child, RivalError, started
from scripts.comparison.endpoint import Endpoint
from scripts.rivals.protocol import Exchange, Settings, Turn
from server.commands.dialogue_memory import Found
from server.commands.dialogues import Dialogue
from server.commands.evidence import Answered, measure
from server.commands.figures import percentile
from server.memory.lines import Role
from server.memory.page_recall import PageFindings

DEPTH = 20
"""How many turns are asked for; the deepest figure is recall@20."""
_BLOCK_BYTES = 512
"""Unit of `os.stat_result.st_blocks`."""
_ROLES = {Role.SAID: "user", Role.HEARD: "assistant"}


@dataclass(slots=True)
class Outcome:
    """What was counted over all dialogues."""

    version: str = ""
    answered: list[Answered] = field(default_factory=list)
    turns: int = 0
    adding_ms: float = 0.0
    asking_ms: list[float] = field(default_factory=list)
    chats_adding: int = 0
    chats_asking: int = 0
    disk_bytes: int = 0

    def figures(self) -> dict[str, object]:
        """Return the figures, by the names of `omoide bench memory --locomo` where it has them."""
        return {
            **measure(self.answered),
            "query_ms_p50": percentile(self.asking_ms, 50),
            "add_ms_per_turn": round(self.adding_ms / self.turns, 1) if self.turns else None,
            "llm_calls_per_turn": round(self.chats_adding / self.turns, 2) if self.turns else None,
            "llm_calls_per_query": (
                round(self.chats_asking / len(self.answered), 2) if self.answered else None
            ),
            "disk_bytes": self.disk_bytes,
            "turns": self.turns,
        }


async def measure_system(
    command: Sequence[str | Path], dialogues: Sequence[Dialogue], endpoint: Endpoint
) -> Outcome:
    """Let a driver hold one dialogue after the other, each in a process and a folder of its own.

    Raises:
        RivalError: The driver, or the system in it, gave up; or a model failed it.
    """
    outcome = Outcome()
    refused = len(endpoint.counters.refused)
    for dialogue in dialogues:
        with _folder("home") as home, _folder("store") as store:
            async with started(command, Path(home)) as child:
                settings = Settings(
                    store,
                    endpoint.base_url,
                    endpoint.dimensions,
                    endpoint.embedder,
                    dialogue.language,
                )
                opened = await child.ask("open", settings=asdict(settings))
                outcome.version = opened["version"]
                await _add(child, dialogue, endpoint, outcome)
                outcome.disk_bytes += size_of(Path(store))
                await _ask(child, dialogue, endpoint, outcome)
        if len(endpoint.counters.refused) > refused:
            raise RivalError(f"a model failed it: {endpoint.counters.refused[-1]}")
    return outcome


async def _add(child: Child, dialogue: Dialogue, endpoint: Endpoint, outcome: Outcome) -> None:
    before = endpoint.counters.chats
    for exchange in exchanges(dialogue):
        added = await child.ask("add", exchange=asdict(exchange))
        outcome.adding_ms += added["ms"]
    settled = await child.ask("settle")
    outcome.adding_ms += settled["ms"]
    outcome.turns += len(dialogue.utterances)
    outcome.chats_adding += endpoint.counters.chats - before


async def _ask(child: Child, dialogue: Dialogue, endpoint: Endpoint, outcome: Outcome) -> None:
    before = endpoint.counters.chats
    for question in dialogue.questions:
        if not question.evidence:
            continue
        embedded = endpoint.counters.embedding_seconds
        found = await child.ask("ask", question=question.text, limit=DEPTH)
        embedding_ms = (endpoint.counters.embedding_seconds - embedded) * 1000
        alone = max(0.0, found["ms"] - embedding_ms) / 1000
        turns = Found(tuple(found["turns"]), PageFindings(), alone)
        outcome.answered.append(Answered(dialogue, question, turns))
        outcome.asking_ms.append(found["ms"])
    outcome.chats_asking += endpoint.counters.chats - before


def _folder(use: str) -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix=f"omoide-{use}-", ignore_cleanup_errors=True)


def exchanges(dialogue: Dialogue) -> list[Exchange]:
    """Return what was said, for other systems: in exchanges, each turn in one line with its speaker's name before it."""
    names = {
        Role.SAID: dialogue.speakers.person[0],
        Role.HEARD: dialogue.speakers.other[0],
    }
    found = []
    for page, ids in dialogue.pages():
        words = {Role.SAID: page.said, Role.HEARD: page.heard}
        turns = tuple(
            Turn(turn, _ROLES[role], f"{names[role]}: {' '.join(words[role].split())}")
            for role, turn in ids.items()
        )
        found.append(Exchange(page.at.strftime("%Y-%m-%d %H:%M:%S"), turns))
    return found


def size_of(folder: Path) -> int:
    """Return how many bytes the files in a folder hold; room that a file only reserves, and no disk gives it, is none."""
    return sum(_held(file.stat()) for file in folder.rglob("*") if file.is_file())


def _held(status: os.stat_result) -> int:
    blocks = getattr(status, "st_blocks", None)  # not on Windows
    return status.st_size if blocks is None else min(status.st_size, blocks * _BLOCK_BYTES)
