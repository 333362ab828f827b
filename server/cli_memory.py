"""The part of the command line that is about memory: names and options. What the commands do is in `server.commands`.

Those commands are imported when they are called: the libraries behind memory take a second to load.
"""
# ruff: noqa: PLC0415

from pathlib import Path
from typing import Annotated

import typer

from server.cli_forgetting import add_to_memory
from server.cli_options import (
    DATA,
    ConfigOption,
    DataOption,
    JsonOption,
    TokenOption,
    UrlOption,
    finish,
)
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.run import carry_out, with_config
from server.config import Config

WhoseOption = Annotated[
    str, typer.Option("--person", metavar="NAME", help="Whose memory; everybody's if left out.")
]

memory_app = typer.Typer(
    no_args_is_help=True,
    help="What is remembered of people: that of a running server with --url, else that in the data folder.",
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    add_to_memory(memory_app)
    app.add_typer(memory_app, name="memory")
    app.command("extract")(extract_command)
    app.command("backup")(backup_command)
    app.command("restore")(restore_command)
    app.command("recall-test")(recall_test_command)
    app.command("calibrate")(calibrate_command)
    app.command("calibrate-pages")(calibrate_pages_command)


@memory_app.command("list")
def list_command(
    *,
    person: WhoseOption = "",
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Also facts that newer ones have replaced.")
    ] = False,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """List the facts, in the order in which they were said."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await memory.list_facts(person, superseded, place, tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["list"], as_json=as_json))


@memory_app.command("search")
def search_command(
    text: Annotated[str, typer.Argument(metavar="QUESTION", help="As somebody would ask it.")],
    *,
    person: Annotated[
        str,
        typer.Option("--person", metavar="NAME", help="Whose memory; needed if there are several."),
    ] = "",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="TIME",
            help="When it is asked, of memory as it was then; now if left out.",
        ),
    ] = "",
    language: Annotated[
        str,
        typer.Option(
            metavar="CODE", help="Two letters; by the script of the question if left out."
        ),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many facts are shown.")] = 20,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show what a question would recall, and the scores of every fact that was looked at."""
    from server.commands import memory

    question = memory.Question(text, person, language, at, limit)

    async def work(loaded: Config, tell: Tell) -> Report:
        return await memory.search(question, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["search"], as_json=as_json))


@memory_app.command("show")
def show_command(
    fact: Annotated[str, typer.Argument(metavar="ID", help="As in the list.")],
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show everything about one fact."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        return await memory.show(fact, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["show"], as_json=as_json))


@memory_app.command("correct")
def correct_command(
    fact: Annotated[str, typer.Argument(metavar="ID", help="As in the list.")],
    text: Annotated[
        str,
        typer.Argument(
            metavar="SENTENCE",
            help='What is right, as the person would say it, or calling them "you".',
        ),
    ],
    *,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Put a sentence in the place of a fact. What was said stays in the exchanges."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        return await memory.correct(fact, text, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["correct"], as_json=as_json))


@memory_app.command("consent")
def consent_command(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Who is remembered or not.")],
    *,
    memory: Annotated[
        str,
        typer.Option(
            "--memory", metavar="STATE", help="on, off, or talk: off until the talk is over."
        ),
    ] = "",
    policies: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="MATTER=POLICY", help="e.g. money=keep; keep, ask or drop."),
    ] = None,
    accept: Annotated[
        list[str] | None, typer.Option("--accept", metavar="ID", help="Remember what waits.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Delete what waits.")
    ] = None,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show or decide whether a person is remembered, and what of private matters. What is stored stays."""
    from server.commands import consent

    async def work(loaded: Config, tell: Tell) -> Report:
        decision = consent.read_decision(memory, policies or [], accept or [], reject or [])
        return await consent.consent(person, decision, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=consent.NOTHING, as_json=as_json))


@memory_app.command("export")
def export_command(
    *,
    person: WhoseOption = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it there as JSON.")
    ] = None,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Hand out all facts and all that was said, as JSON."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        return await memory.export(person, out, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["export"], as_json=as_json))


@memory_app.command("reindex")
def reindex_command(
    person: WhoseOption = "",
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Throw the vector index away and fill it again from the store."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        return await memory.reindex(person, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["reindex"], as_json=as_json))


def extract_command(
    person: WhoseOption = "",
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Draw facts from what was said, now: of a running server with --url, else in the data folder."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        return await memory.extract(person, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["extract"], as_json=as_json))


def backup_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="Where it is written.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Write everything that is kept into one file. A server may be running meanwhile."""
    from server.commands import backup

    def work(loaded: Config, tell: Tell) -> Report:
        return backup.backup(file, loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=backup.NOTHING, as_json=as_json))


def restore_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar.gz", help="What `backup` wrote.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Put the data folder back as a backup holds it; the present one is kept beside it. Stop the server first."""
    from server.commands import restore

    def work(loaded: Config, tell: Tell) -> Report:
        return restore.restore(file, loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=restore.NOTHING, as_json=as_json))


def recall_test_command(
    file: Annotated[
        Path, typer.Argument(metavar="SET.jsonl", help="Facts and questions, one a line.")
    ],
    *,
    voice: Annotated[
        bool, typer.Option("--voice", help="Speak the questions and ask what the recogniser hears.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.png", help="Draw hits and false recalls by the gate."),
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Measure how well memory answers the questions of a set, in a store of its own."""
    from server.commands import recall_test

    async def work(loaded: Config, tell: Tell) -> Report:
        return await recall_test.recall_test_file(file, loaded, data, tell, voice=voice, plot=plot)

    finish(carry_out(with_config(work, config), nothing=recall_test.NOTHING, as_json=as_json))


def calibrate_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="SET.jsonl…", help="Facts and questions, one a line.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.npz", help="Where it is written.")],
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Learn what holds for any embedder: no vectors, no size of cosines."
        ),
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Learn from sets what the numbers of the configured embedder mean, for `retrieval.calibration`."""
    from server.commands import calibrate
    from server.commands.recall_sets import read_recall_set

    async def work(loaded: Config, tell: Tell) -> Report:
        sets = [read_recall_set(file) for file in files]
        return await calibrate.calibrate(sets, loaded, out, tell, plain=plain)

    finish(carry_out(with_config(work, config), nothing=calibrate.NOTHING, as_json=as_json))


def calibrate_pages_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="SET.json…",
            help="Dialogues with questions; with .jsonl, recall sets: from what no fact of theirs answers it is learnt when to tell nothing.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.json", help="Where it is written.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Learn from dialogues how pages are ranked and when none is told, for `retrieval.pages.calibration`."""
    from server.commands import calibrate_pages

    async def work(loaded: Config, tell: Tell) -> Report:
        return await calibrate_pages.calibrate_pages(files, out, loaded, tell)

    finish(carry_out(with_config(work, config), nothing=calibrate_pages.NOTHING, as_json=as_json))
