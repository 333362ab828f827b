"""The commands that take something out of a memory, or put it back: names and options.

Those commands are imported when they are called: the libraries behind memory take a second to load.
"""
# ruff: noqa: PLC0415

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

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


def add_to_memory(app: typer.Typer) -> None:
    """Add the commands to those of `omoide memory`."""
    app.command("forget")(forget_command)
    app.command("audit")(audit_command)
    app.command("import")(import_command)


def forget_command(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="Facts, as in the list.")
    ] = None,
    *,
    person: Annotated[
        str,
        typer.Option("--person", metavar="NAME", help="Of this person; alone, everything."),
    ] = "",
    facts: Annotated[
        list[str] | None, typer.Option("--fact", metavar="ID", help="A fact, as in the list.")
    ] = None,
    page: Annotated[
        str, typer.Option("--page", metavar="ID", help="An exchange, as in an export.")
    ] = "",
    day: Annotated[
        datetime | None,
        typer.Option("--day", formats=["%Y-%m-%d"], help="All that was said on a day."),
    ] = None,
    topic: Annotated[
        str, typer.Option("--topic", metavar="WORD", help="All that was said on a topic.")
    ] = "",
    words: Annotated[
        str, typer.Option("--words", metavar="TEXT", help="What says this, or means it.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether that is meant.")] = False,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show what would be forgotten, ask, and delete it with all that was made of it. Only a backup brings it back."""
    from server.commands import forget
    from server.memory.selecting import Selector

    named = (*(ids or ()), *(facts or ()))
    selector = Selector(person, named, page, day.date() if day else None, topic, words)

    def confirm() -> bool:
        return yes or (sys.stdin.isatty() and not as_json and typer.confirm("Delete this?"))

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await forget.forget(selector, place, tell, confirm)

    finish(carry_out(with_config(work, config), nothing=forget.NOTHING["forget"], as_json=as_json))


def audit_command(
    last: Annotated[int, typer.Option(min=1, max=10_000, help="How many entries.")] = 100,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show when something was erased, by which way, what kind and how much."""
    from server.commands import forget

    async def work(loaded: Config, tell: Tell) -> Report:
        return await forget.audit(last, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=forget.NOTHING["audit"], as_json=as_json))


def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `memory export` wrote.")],
    *,
    person: Annotated[str, typer.Option("--person", metavar="NAME", help="Whose memory.")],
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Also bring back what was forgotten here.")
    ] = False,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Read an export back into the memory of a person. What is there already stays as it is."""
    from server.commands import memory

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await memory.bring_in(file, person, place, tell, forgotten=forgotten)

    finish(carry_out(with_config(work, config), nothing=memory.NOTHING["import"], as_json=as_json))
