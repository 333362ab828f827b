"""The part of the command line that is about danger signs: names and options. What the commands do is in `server.commands.safety`.

Those commands are imported when they are called: the libraries behind memory take a second to load.
"""
# ruff: noqa: PLC0415

from pathlib import Path
from typing import Annotated, Literal

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

EventArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="As in the list, or as much of its beginning as no other has."
    ),
]
ByOption = Annotated[str, typer.Option("--by", metavar="NAME", help="Who has looked at it.")]
NoteOption = Annotated[
    str, typer.Option("--note", metavar="TEXT", help="What is to be said of it.")
]

safety_app = typer.Typer(
    no_args_is_help=True,
    help="Danger signs in what people said: those of a running server with --url, else those in the data folder.",
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.add_typer(safety_app, name="safety")


@safety_app.command("list")
def list_command(
    *,
    person: Annotated[
        str, typer.Option("--person", metavar="NAME", help="Whose; everybody's if left out.")
    ] = "",
    state: Annotated[
        Literal["open", "acknowledged", "closed", "all"],
        typer.Option("--state", help="In which state."),
    ] = "open",
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """List the events that wait for somebody, or those in another state."""
    from server.commands import safety
    from server.memory.safety.models import State

    async def work(loaded: Config, tell: Tell) -> Report:
        wanted = None if state == "all" else State(state)
        place = Place(loaded, data, url, token=token)
        return await safety.list_events(person, wanted, place, tell)

    finish(carry_out(with_config(work, config), nothing=safety.NOTHING["list"], as_json=as_json))


@safety_app.command("ack")
def acknowledge_command(
    event: EventArgument,
    *,
    by: ByOption,
    note: NoteOption = "",
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Note that somebody has seen an event."""
    from server.commands import safety
    from server.memory.safety.models import State

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await safety.review(event, State.ACKNOWLEDGED, by, note, place, tell)

    finish(carry_out(with_config(work, config), nothing=safety.NOTHING["ack"], as_json=as_json))


@safety_app.command("close")
def close_command(
    event: EventArgument,
    *,
    by: ByOption,
    note: NoteOption = "",
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Note that an event is dealt with."""
    from server.commands import safety
    from server.memory.safety.models import State

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await safety.review(event, State.CLOSED, by, note, place, tell)

    finish(carry_out(with_config(work, config), nothing=safety.NOTHING["close"], as_json=as_json))


@safety_app.command("show")
def show_command(
    event: EventArgument,
    *,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show all of an event: the words, and who has looked at it."""
    from server.commands import safety

    async def work(loaded: Config, tell: Tell) -> Report:
        return await safety.show_event(event, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=safety.NOTHING["show"], as_json=as_json))


@safety_app.command("webhooks")
def webhooks_command(
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Show who is told of events, and how it stands with what they have still to be told."""
    from server.commands import safety

    async def work(loaded: Config, tell: Tell) -> Report:
        return await safety.list_webhooks(Place(loaded, data, url, token=token), tell)

    finish(
        carry_out(with_config(work, config), nothing=safety.NOTHING["webhooks"], as_json=as_json)
    )


@safety_app.command("webhook-test")
def webhook_test_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As under safety.webhooks.")],
    *,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Send a webhook a message that tells of nobody, and say whether it was taken."""
    from server.commands import safety

    async def work(loaded: Config, tell: Tell) -> Report:
        return await safety.try_webhook(name, Place(loaded, data, url, token=token), tell)

    nothing = safety.NOTHING["webhook-test"]
    finish(carry_out(with_config(work, config), nothing=nothing, as_json=as_json))


@safety_app.command("export")
def export_command(
    *,
    person: Annotated[str, typer.Option("--person", metavar="NAME", help="Whose.")],
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="What was said from then on.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where it is written.")
    ] = None,
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Write a note in the form of SOAP: the person's own words; assessment and plan are left to a human."""
    from server.commands import safety

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await safety.export(person, since, out, place, tell)

    finish(carry_out(with_config(work, config), nothing=safety.NOTHING["export"], as_json=as_json))
