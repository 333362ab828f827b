"""The part of the command line that is about keys of the API: names and options."""

from typing import Annotated, Literal

import typer

from server.cli_options import DATA, ConfigOption, DataOption, JsonOption, finish
from server.commands import access
from server.commands.report import Report, Tell
from server.commands.run import carry_out, with_config
from server.config import Config

access_app = typer.Typer(no_args_is_help=True, help="Who may use the API.")
keys_app = typer.Typer(no_args_is_help=True, help="Keys that reach certain persons only.")
access_app.add_typer(keys_app, name="keys")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the key is called.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.add_typer(access_app, name="access")


@keys_app.command("list")
def list_command(
    as_json: JsonOption = False, config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """List the keys, without what opens the door."""

    def work(loaded: Config, tell: Tell) -> Report:
        return access.list_keys(loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=access.NOTHING, as_json=as_json))


@keys_app.command("new")
def new_command(
    name: NameArgument,
    *,
    person: Annotated[
        list[str] | None,
        typer.Option(
            "--person",
            metavar="NAME",
            help="Whose memory it reaches; may be repeated; '*' for everybody's.",
        ),
    ] = None,
    scope: Annotated[
        Literal["read", "write", "admin"],
        typer.Option(
            help="read: see; write: also talk, correct and forget; admin: also robots and the server."
        ),
    ] = "read",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Make a key and print it, once: only its hash is kept."""

    def work(loaded: Config, tell: Tell) -> Report:
        return access.new_key(name, scope, person or (), loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=access.NOTHING, as_json=as_json))


@keys_app.command("revoke")
def revoke_command(
    name: NameArgument,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Make a key void, at once, also for a server that is running."""

    def work(loaded: Config, tell: Tell) -> Report:
        return access.revoke_key(name, loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=access.NOTHING, as_json=as_json))
