"""The part of the command line that measures: names and options. What the commands do is in `server.commands`.

Those commands are imported when they are called: what they measure takes seconds to load.
"""
# ruff: noqa: PLC0415

from pathlib import Path
from typing import Annotated

import typer

from server.cli_options import DATA, ConfigOption, DataOption, JsonOption, finish
from server.commands import bench
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.run import carry_out, with_config
from server.config import Config

bench_app = typer.Typer(no_args_is_help=True, help="Measure.")


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.add_typer(bench_app, name="bench")


@bench_app.command("turn")
def bench_turn_command(
    *,
    language: Annotated[str, typer.Option(help="Language of the talk: ja or en.")] = "ja",
    turns: Annotated[int, typer.Option(min=1, help="How many turns count.")] = bench.TURNS,
    configured: Annotated[
        bool, typer.Option("--configured", help="Measure the configured engines.")
    ] = False,
    extracting: Annotated[
        bool,
        typer.Option("--extracting", help="Also while facts are drawn whenever somebody speaks."),
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure how long somebody waits for an answer, with the embedded engines and a memory made for it."""

    async def work(loaded: Config, tell: Tell) -> Report:
        plan = bench.Plan(language, turns, configured=configured, extracting=extracting)
        return await bench.bench_turn(Place(loaded, data), plan, tell)

    finish(carry_out(with_config(work, config), nothing=bench.NOTHING, as_json=as_json))


@bench_app.command("memory")
def bench_memory_command(
    *,
    language: Annotated[str, typer.Option(help="Language of the facts: ja or en.")] = "ja",
    locomo: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Find the evidence in dialogues of this form instead."
        ),
    ] = None,
    gvd: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="BANK.json LABELS.json", help="The same in a bank of GVD (MemoryBank)."
        ),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="With dialogues: also without each part.")
    ] = False,
    fitted: Annotated[
        bool,
        typer.Option(
            "--fitted",
            help="With dialogues: also by weights learnt from all of them but the one that is asked.",
        ),
    ] = False,
    answer: Annotated[
        bool,
        typer.Option(
            "--answer", help="With dialogues: let the language model answer, and score it."
        ),
    ] = False,
    questions: Annotated[
        int | None,
        typer.Option(min=1, help="With dialogues: so many of each one's.", show_default="all"),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw recall and times.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure recall from 100, 1,000 and 10,000 facts and from pages, and how long a text takes to embed."""
    from server.commands import bench_dialogues, bench_memory

    async def work(loaded: Config, tell: Tell) -> Report:
        some = bench_dialogues.read_set(locomo, gvd)
        if some is None:
            return await bench_memory.bench_memory(loaded, language, tell, plot=plot)
        plan = bench_dialogues.Plan(ablate, answer, questions, plot, fitted)
        return await bench_dialogues.bench_dialogues(some, Place(loaded, data), plan, tell)

    has_dialogues = locomo is not None or gvd is not None
    nothing = bench_dialogues.NOTHING if has_dialogues else bench_memory.NOTHING
    finish(carry_out(with_config(work, config), nothing=nothing, as_json=as_json))


@bench_app.command("prompt")
def bench_prompt_command(
    language: Annotated[str, typer.Option(help="Language of the talk: ja or en.")] = "ja",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure what the place of memory in a prompt is worth, with the embedded language model."""
    from server.commands import bench_prompt

    async def work(loaded: Config, tell: Tell) -> Report:
        return await bench_prompt.bench_prompt(Place(loaded, data), language, tell)

    finish(carry_out(with_config(work, config), nothing=bench_prompt.NOTHING, as_json=as_json))


@bench_app.command("guard")
def bench_guard_command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Facts and sentences, as in tests/data/guard.")
    ] = Path("tests/data/guard"),
    as_json: JsonOption = False,
) -> None:
    """Measure what the reply guard costs a sentence, what it stops, and what it stops in error."""
    from server.commands import bench_guard

    async def work(tell: Tell) -> Report:
        return bench_guard.bench_guard(folder, tell)

    finish(carry_out(work, nothing=bench_guard.NOTHING, as_json=as_json))


@bench_app.command("endpoint")
def bench_endpoint_command(
    *,
    corpus: Annotated[
        Path | None,
        typer.Option(help="Folder that scripts/make_utterances.py has written; else one is made."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the noises, if a corpus is made.")] = 1,
    every: Annotated[int, typer.Option(min=1, help="Take only every n-th utterance.")] = 1,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure how often a turn is ended too early, too late or never, against a plain silence."""
    from server.commands import bench_endpoint

    async def work(loaded: Config, tell: Tell) -> Report:
        plan = bench_endpoint.Plan(corpus, seed, every=every)
        return await bench_endpoint.bench_endpoint(loaded, data, plan, tell)

    finish(carry_out(with_config(work, config), nothing=bench_endpoint.NOTHING, as_json=as_json))


@bench_app.command("interrupt")
def bench_interrupt_command(
    *,
    trials: Annotated[
        int, typer.Option(min=1, help="How many interruptions for each stage and way.")
    ] = 40,
    stage: Annotated[
        list[str] | None, typer.Option(help="Only at this stage; may stand several times.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure how soon a robot is silent when somebody interrupts it, at every stage of a reply; half an hour."""
    from server.commands import bench_interrupt

    async def work(loaded: Config, tell: Tell) -> Report:
        plan = bench_interrupt.Plan(trials, tuple(stage or bench_interrupt.STAGES))
        return await bench_interrupt.bench_interrupt(Place(loaded, data), plan, tell)

    nothing = bench_interrupt.NOTHING
    finish(carry_out(with_config(work, config), nothing=nothing, as_json=as_json))


@bench_app.command("echo")
def bench_echo_command(
    *,
    language: Annotated[str, typer.Option(help="Language of the tale: ja or en.")] = "ja",
    minutes: Annotated[float, typer.Option(min=0.5, help="How long it is told.")] = 20.0,
    interruptions: Annotated[int, typer.Option(min=0, help="How often it is talked over.")] = 40,
    echo_db: Annotated[float, typer.Option(help="How loud the robot hears itself.")] = -20.0,
    unguarded: Annotated[
        bool, typer.Option("--unguarded", help="Without the echo guard, to compare.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure whether a robot that hears itself answers itself, and whether who talks over it is heard."""
    from server.commands import bench_echo

    async def work(loaded: Config, tell: Tell) -> Report:
        plan = bench_echo.Plan(language, minutes, interruptions, echo_db, guarded=not unguarded)
        return await bench_echo.bench_echo(Place(loaded, data), plan, tell)

    finish(carry_out(with_config(work, config), nothing=bench_echo.NOTHING, as_json=as_json))


@bench_app.command("noise")
def bench_noise_command(
    clips: Annotated[int, typer.Option(min=1, help="How many sounds.")] = 200,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure how often sounds that nobody spoke are answered, and whether short words are still heard."""
    from server.commands import bench_noise

    async def work(loaded: Config, tell: Tell) -> Report:
        return await bench_noise.bench_noise(Place(loaded, data), bench_noise.Plan(clips), tell)

    finish(carry_out(with_config(work, config), nothing=bench_noise.NOTHING, as_json=as_json))


@bench_app.command("pacing")
def bench_pacing_command(
    language: Annotated[str, typer.Option(help="Language of the tales: ja or en.")] = "ja",
    replies: Annotated[int, typer.Option(min=1, help="How many tales.")] = 6,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure how evenly replies arrive over a good link and over a weak one."""
    from server.commands import bench_pacing

    async def work(loaded: Config, tell: Tell) -> Report:
        plan = bench_pacing.Plan(language, replies)
        return await bench_pacing.bench_pacing(Place(loaded, data), plan, tell)

    finish(carry_out(with_config(work, config), nothing=bench_pacing.NOTHING, as_json=as_json))


@bench_app.command("locks")
def bench_locks_command(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Try to overwrite locked fields of the persona on every path, and the same with all fields open."""
    from server.commands import bench_locks

    async def work(_: Config, tell: Tell) -> Report:
        return await bench_locks.bench_locks(tell)

    finish(carry_out(with_config(work, config), nothing=bench_locks.NOTHING, as_json=as_json))
