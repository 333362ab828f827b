"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from server.simulator.habits import ProtocolName

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        envvar="OMOIDE_CONFIG",
        metavar="FILE",
        help="Configuration file; config.yaml if there is one here.",
    ),
]
DataOption = Annotated[
    Path,
    typer.Option(
        "--data", envvar="OMOIDE_DATA", metavar="DIR", help="Folder for everything that is kept."
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object; everything else goes to stderr.")
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="A running server, e.g. http://192.168.1.10:8003. Without it the data folder is used.",
    ),
]
RobotUrlOption = Annotated[
    str | None,
    typer.Option(
        "--url", help="A running server, e.g. http://192.168.1.10:8003. Without it one is started."
    ),
]
TokenOption = Annotated[
    str,
    typer.Option(
        "--token",
        metavar="TOKEN",
        help="API token of that server. Without it the configured one (OMOIDE_ACCESS__API_TOKEN).",
    ),
]
DeviceOption = Annotated[
    str, typer.Option("--device", metavar="ID", help="Device-Id of the simulated robot.")
]
PersonOption = Annotated[
    str, typer.Option("--person", metavar="NAME", help="Who speaks; a new name is a new person.")
]
ProtocolOption = Annotated[ProtocolName, typer.Option("--protocol", help="What the robot speaks.")]

DATA = Path("var")


def finish(code: int) -> None:
    """End the command with an exit code."""
    raise typer.Exit(code)
