"""Measures every system on the same dialogues, one after the other, and puts the figures side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.comparison.children import RivalError
from scripts.comparison.endpoint import Endpoint, serve_models
from scripts.comparison.environments import OURS, RIVALS, Rival, prepare
from scripts.comparison.excerpts import cut
from scripts.comparison.measuring import measure_system
from server import embedding
from server.commands.dialogues import Dialogue, read_dialogues
from server.commands.figures import describe_machine
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.config import Config
from server.errors import ConfigError

NOTHING: Mapping[str, object] = {"systems": [], "error": None}
SYSTEMS = {system.name: system for system in (OURS, *RIVALS)}
NAMES = tuple(SYSTEMS)
_COLUMNS = {
    "recall@10": ("turn_recall_at_10", "{:.3f}"),
    "NDCG@10": ("ndcg_at_10", "{:.3f}"),
    "ms/query": ("retrieve_ms_p50", "{:.1f}"),
    "with vectors": ("query_ms_p50", "{:.1f}"),
    "ms/add": ("add_ms_per_turn", "{:.1f}"),
    "LLM/turn": ("llm_calls_per_turn", "{:.2f}"),
    "LLM/query": ("llm_calls_per_query", "{:.2f}"),
    "bytes on disk": ("disk_bytes", "{:,}"),
}
LEGEND = (
    "ms/query is the median of a search without embedding the question, ms/add the mean for each turn with embedding it.",
    "The language model is scripted and answers at once: a real one adds its own time to every call.",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared."""

    file: Path
    """Dialogues in the form of LoCoMo."""
    venvs: Path
    """Folder for the environments of the other systems; kept for the next time."""
    conversations: int | None = None
    questions: int | None = None
    """Of each dialogue; see `excerpts.cut`."""
    systems: Sequence[str] = NAMES
    config: Path | None = None
    """Configuration file, for our own driver; the embedder is built from what was read of it."""


async def compare(plan: Plan, config: Config, tell: Tell) -> Report:
    """Measure every system and print a table. One that can't run stands in it with the reason.

    Raises:
        OmoideError: ``dialogues-broken``, ``system-unknown``, or the embedder can't be used.
    """
    if unknown := set(plan.systems) - set(NAMES):
        raise ConfigError(
            f"No system {', '.join(sorted(unknown))}. Possible: {', '.join(NAMES)}.",
            "system-unknown",
        )
    embedder = embedding.build(config.embedding)
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory(prefix="omoide-comparison-") as folder:
        excerpt = Path(folder, plan.file.name)
        cut(plan.file, excerpt, plan.conversations, plan.questions)
        dialogues, digest = read_dialogues(excerpt)
        try:
            await embedder.warm_up()
            async with serve_models(embedder) as endpoint:
                for name in plan.systems:
                    tell(f"{name} ...")
                    rows.append(await _row(SYSTEMS[name], plan, dialogues, endpoint))
        finally:
            await embedder.aclose()
    tell_rows(rows, tell)
    return Report(
        {
            **NOTHING,
            "systems": rows,
            "data": {"file": plan.file.name, "sha256": digest, **_sizes(dialogues)},
            "embedder": embedder.model,
            "machine": describe_machine(),
        },
        ok=not all(row["error"] for row in rows),
    )


async def _row(
    system: Rival, plan: Plan, dialogues: Sequence[Dialogue], endpoint: Endpoint
) -> dict[str, Any]:
    try:
        figures, error = await _measure(system, plan, dialogues, endpoint), ""
    except RivalError as failed:
        figures, error = {}, str(failed)
    return {
        "system": system.name,
        **figures,
        "notes": list(system.notes),
        "error": error or None,
    }


async def _measure(
    system: Rival, plan: Plan, dialogues: Sequence[Dialogue], endpoint: Endpoint
) -> dict[str, object]:
    python = await prepare(system, plan.venvs)
    given: list[str | Path] = (
        [plan.config.resolve()] if system is OURS and plan.config is not None else []
    )
    command = [python, "-m", system.driver, *given]
    outcome = await measure_system(command, dialogues, endpoint)
    return {"version": outcome.version, **outcome.figures()}


def tell_rows(rows: Sequence[Mapping[str, Any]], tell: Tell) -> None:
    """Print the table, then what has to be known of each system, and why one could not run."""
    table = [["", *_COLUMNS]]
    for row in rows:
        cells = [
            "-" if row.get(key) is None else form.format(row[key])
            for key, form in _COLUMNS.values()
        ]
        table.append([f"{row['system']} {row.get('version', '')}".strip(), *cells])
    tell_table(table, tell)
    for line in LEGEND:
        tell(line)
    for row in rows:
        said = [f"can't run: {row['error']}"] if row["error"] else row["notes"]
        for line in said:
            tell(f"{row['system']}: {line}.")


def _sizes(dialogues: Sequence[Dialogue]) -> dict[str, int]:
    return {
        "dialogues": len(dialogues),
        "turns": sum(len(dialogue.utterances) for dialogue in dialogues),
        "questions": sum(
            bool(one.evidence) for dialogue in dialogues for one in dialogue.questions
        ),
    }
