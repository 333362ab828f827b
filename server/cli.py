"""The command line: names and options. What the commands do is in `server.commands`."""

from pathlib import Path
from typing import Annotated

import typer

from firmware_bridge.events import ListeningMode
from server import cli_access, cli_bench, cli_encryption, cli_memory, cli_persona, cli_safety
from server.cli_options import (
    DATA,
    ConfigOption,
    DataOption,
    DeviceOption,
    JsonOption,
    PersonOption,
    ProtocolOption,
    RobotUrlOption,
    TokenOption,
    UrlOption,
    finish,
)
from server.commands import devices, doctor, replay, serve, talk
from server.commands.reach import Place
from server.commands.report import Report, Tell
from server.commands.run import carry_out, find_config, with_config
from server.commands.usage import Commands
from server.config import Config
from server.simulator import Habits, Identity

app = typer.Typer(
    name="omoide",
    cls=Commands,
    help="A voice server for desk robots that remembers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
devices_app = typer.Typer(no_args_is_help=True, help="The robots that this server knows.")
app.add_typer(devices_app, name="devices")
cli_memory.add_to(app)
cli_safety.add_to(app)
cli_access.add_to(app)
cli_encryption.add_to(cli_memory.memory_app)
cli_persona.add_to(app)
cli_bench.add_to(app)


@app.command("serve")
def serve_command(config: ConfigOption = None, data: DataOption = DATA) -> None:
    """Run the server until Ctrl-C."""

    async def work(loaded: Config, tell: Tell) -> Report:
        await serve.serve(loaded, data, tell)
        return Report({})

    with serve.stop_signals():
        work_with_log = with_config(work, config, is_service=True)
        finish(carry_out(work_with_log, nothing={}, is_service=True))


@app.command("talk")
def talk_command(
    wavs: Annotated[list[Path], typer.Argument(metavar="WAV…", help="Sound files, a turn each.")],
    *,
    protocol: ProtocolOption = "xiaozhi",
    framing: Annotated[int, typer.Option(min=1, max=3, help="Binary framing of xiaozhi.")] = 1,
    mode: Annotated[ListeningMode, typer.Option(help="Who ends a turn.")] = "auto",
    device: DeviceOption = talk.DEVICE,
    person: PersonOption = "",
    url: RobotUrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Be a robot: stream sound files in real time, print what comes back, and save the answers."""
    habits = Habits(protocol=protocol, framing=framing, mode=mode)

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await talk.talk(wavs, place, Identity(device, person), habits, tell)

    finish(carry_out(with_config(work, config), nothing=talk.NOTHING, as_json=as_json))


@app.command("say")
def say_command(
    text: Annotated[str, typer.Argument(help="What is said.")],
    *,
    protocol: ProtocolOption = "pcm",
    device: DeviceOption = talk.DEVICE,
    person: PersonOption = "",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="TIME",
            help="When it is said, e.g. 2026-09-27T18:00; only without --url.",
        ),
    ] = "",
    url: RobotUrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Say something as text, and print the answer and what was recalled for it."""
    habits = Habits(protocol=protocol, mode="manual")  # nobody speaks: no microphone is opened

    async def work(loaded: Config, tell: Tell) -> Report:
        place = Place(loaded, data, url, token=token)
        return await talk.say(text, place, Identity(device, person), habits, tell, at)

    finish(carry_out(with_config(work, config), nothing=talk.NOTHING, as_json=as_json))


@app.command("replay")
def replay_command(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT.yaml", help="The talk to hold.")],
    url: UrlOption = None,
    token: TokenOption = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Hold a scripted talk and compare what comes back with what was expected."""

    async def work(loaded: Config, tell: Tell) -> Report:
        return await replay.replay(script, Place(loaded, data, url, token=token), tell)

    finish(carry_out(with_config(work, config), nothing=replay.NOTHING, as_json=as_json))


@app.command("doctor")
def doctor_command(
    quick: Annotated[bool, typer.Option("--quick", help="Do not load the engines.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Look at everything that a talk needs, and say what to do about what is missing."""

    async def work(tell: Tell) -> Report:
        return await doctor.examine(find_config(config), data, quick=quick, tell=tell)

    finish(carry_out(work, nothing=doctor.NOTHING, as_json=as_json))


@devices_app.command("list")
def list_devices_command(
    as_json: JsonOption = False, config: ConfigOption = None, data: DataOption = DATA
) -> None:
    """List the robots that have come."""

    def work(loaded: Config, tell: Tell) -> Report:
        return devices.list_devices(loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=devices.NOTHING, as_json=as_json))


@devices_app.command("accept")
def accept_device_command(
    device: Annotated[str, typer.Argument(metavar="ID", help="As in the list.")],
    person: Annotated[str, typer.Option("--person", help="Whose memory it speaks with.")] = "",
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Let a waiting robot in, or take a guest for the real one."""

    def work(loaded: Config, tell: Tell) -> Report:
        return devices.accept_device(device, person, loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=devices.NOTHING, as_json=as_json))


@devices_app.command("revoke")
def revoke_device_command(
    device: Annotated[str, typer.Argument(metavar="ID", help="As in the list.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Make the tokens of a robot void; it stays known and gets a new one when it is restarted."""

    def work(loaded: Config, tell: Tell) -> Report:
        return devices.revoke_device(device, loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=devices.NOTHING, as_json=as_json))


@devices_app.command("forget")
def forget_device_command(
    device: Annotated[str, typer.Argument(metavar="ID", help="As in the list.")],
    as_json: JsonOption = False,
    config: ConfigOption = None,
    data: DataOption = DATA,
) -> None:
    """Make the tokens of a robot void; should it come again, it is a new one."""

    def work(loaded: Config, tell: Tell) -> Report:
        return devices.forget_device(device, loaded, data, tell)

    finish(carry_out(with_config(work, config), nothing=devices.NOTHING, as_json=as_json))
