"""The part of the command line that is about who the robot is: names and options. What the commands do is in `server.commands.persona`.

Those commands are imported when they are called: the libraries behind the store take a second to load.
"""
# ruff: noqa: PLC0415

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

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
from server.config_persona import Lock

FieldArgument = Annotated[
    str, typer.Argument(metavar="FIELD", help="With its layer: soul.mission, identity.name …")
]
ProposalArgument = Annotated[str, typer.Argument(metavar="ID", help="As `persona show` lists it.")]


class Options(NamedTuple):
    """What every command takes."""

    url: str | None
    token: str
    as_json: bool
    config: Path | None
    data: Path


persona_app = typer.Typer(
    no_args_is_help=True,
    help="Who the robot is: of a running server with --url, else of the data folder, in which no server may be at work.",
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.add_typer(persona_app, name="persona")


@persona_app.command("show")
def show_command(
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show every field with its lock, and what is proposed."""
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        return await persona.show(Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=persona.NOTHING["show"], as_json=as_json))


@persona_app.command("set")
def set_command(
    field: FieldArgument,
    lines: Annotated[
        list[str] | None,
        typer.Argument(metavar="LINE…", help="One, or several; none: as the file says again."),
    ] = None,
    *,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Change a field that is not locked."""
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await persona.set_field(field, lines or [], place, tell)

    finish(carry_out(with_config(work, config), nothing=persona.NOTHING["set"], as_json=as_json))


@persona_app.command("propose")
def propose_command(
    field: FieldArgument,
    lines: Annotated[list[str], typer.Argument(metavar="LINE…", help="One, or several.")],
    *,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Propose a change, to be accepted or rejected later."""
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        return await persona.propose(field, lines, Place(loaded, data, url, token=token), tell)

    nothing = persona.NOTHING["propose"]
    finish(carry_out(with_config(work, config), nothing=nothing, as_json=as_json))


@persona_app.command("accept")
def accept_command(
    proposal: ProposalArgument,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Let what was proposed hold."""
    _decide(proposal, Options(url, token, as_json, config, data), accept=True)


@persona_app.command("reject")
def reject_command(
    proposal: ProposalArgument,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Turn down what was proposed."""
    _decide(proposal, Options(url, token, as_json, config, data), accept=False)


@persona_app.command("lock")
def lock_command(
    field: FieldArgument,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Let nobody change a field."""
    _set_lock(field, Lock.LOCKED, Options(url, token, as_json, config, data))


@persona_app.command("unlock")
def unlock_command(
    field: FieldArgument,
    *,
    is_open: Annotated[
        bool, typer.Option("--open", help="Also for whoever asks for a change in a talk.")
    ] = False,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Let a field be changed by hand; what is asked for in a talk waits for your yes."""
    lock = Lock.OPEN if is_open else Lock.PROPOSED
    _set_lock(field, lock, Options(url, token, as_json, config, data))


@persona_app.command("export")
def export_command(
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Into a file.")] = None,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Hand out what was set by hand, as JSON."""
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        return await persona.export(out, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=persona.NOTHING["export"], as_json=as_json))


@persona_app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `persona export` wrote it.")],
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Take over what was exported; what is locked here stays as it is."""
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        return await persona.take_over(file, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=persona.NOTHING["import"], as_json=as_json))


def _decide(proposal: str, options: Options, *, accept: bool) -> None:
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, options.data, options.url, token=options.token)
        return await persona.decide(proposal, place, tell, accept=accept)

    nothing = persona.NOTHING["accept"]
    finish(carry_out(with_config(work, options.config), nothing=nothing, as_json=options.as_json))


def _set_lock(field: str, lock: Lock, options: Options) -> None:
    from server.commands import persona

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, options.data, options.url, token=options.token)
        return await persona.set_lock(field, lock, place, tell)

    nothing = persona.NOTHING["lock"]
    finish(carry_out(with_config(work, options.config), nothing=nothing, as_json=options.as_json))
