"""Compares Omoide's memory with other systems on the same dialogues: `python scripts/compare_memory.py FILE --venvs DIR`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.comparison.comparing import NAMES, NOTHING, Plan, compare  # noqa: E402
from server.cli_options import ConfigOption, JsonOption, finish  # noqa: E402
from server.commands.report import Report, Tell  # noqa: E402
from server.commands.run import carry_out, find_config, with_config  # noqa: E402
from server.config import Config  # noqa: E402

Several = Annotated[int | None, typer.Option(min=1, show_default="all")]


def main(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="In the form of LoCoMo.")],
    venvs: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where the other systems are installed, each by itself."),
    ],
    conversations: Several = None,
    questions: Several = None,
    system: Annotated[
        list[str] | None, typer.Option(help=f"Only this one: {', '.join(NAMES)}. May be repeated.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Measure recall, time and cost of every system, with the same embedder and a scripted language model."""
    given = find_config(config)
    plan = Plan(file, venvs, conversations, questions, system or NAMES, given)

    async def work(loaded: Config, tell: Tell) -> Report:
        return await compare(plan, loaded, tell)

    finish(carry_out(with_config(work, config), nothing=NOTHING, as_json=as_json))


if __name__ == "__main__":
    typer.run(main)
