"""The command line: names and options. What the commands do is in `server.commands`."""

from pathlib import Path
from typing import Annotated

import typer

from firmware_bridge.events import ListeningMode
from server import cli_access, cli_encryption, cli_memory, cli_persona, cli_safety
from server.cli_options import (
    DATA,
    ConfigOption,
    DataOption,
    DeviceOption,
    JsonOption,
    PersonOption,
    ProtocolOption,
    TokenOption,
    UrlOption,
    finish,
)
from server.commands import bench, devices, doctor, replay, serve, talk
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
bench_app = typer.Typer(no_args_is_help=True, help="Measure.")
devices_app = typer.Typer(no_args_is_help=True, help="The robots that this server knows.")
app.add_typer(bench_app, name="bench")
app.add_typer(devices_app, name="devices")
cli_memory.add_to(app)
cli_safety.add_to(app)
cli_access.add_to(app)
cli_encryption.add_to(cli_memory.memory_app)
cli_persona.add_to(app)


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
    url: UrlOption = None,
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
    url: UrlOption = None,
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
    from server.commands import bench_dialogues, bench_memory  # noqa: PLC0415 - heavy

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
    from server.commands import bench_prompt  # noqa: PLC0415 - heavy

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
    from server.commands import bench_guard  # noqa: PLC0415 - heavy

    async def work(tell: Tell) -> Report:
        return bench_guard.bench_guard(folder, tell)

    finish(carry_out(work, nothing=bench_guard.NOTHING, as_json=as_json))


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
    from server.commands import bench_echo  # noqa: PLC0415 - heavy

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
    from server.commands import bench_noise  # noqa: PLC0415 - heavy

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
    from server.commands import bench_pacing  # noqa: PLC0415 - heavy

    async def work(loaded: Config, tell: Tell) -> Report:
        plan = bench_pacing.Plan(language, replies)
        return await bench_pacing.bench_pacing(Place(loaded, data), plan, tell)

    finish(carry_out(with_config(work, config), nothing=bench_pacing.NOTHING, as_json=as_json))


@bench_app.command("locks")
def bench_locks_command(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Try to overwrite locked fields of the persona on every path, and the same with all fields open."""
    from server.commands import bench_locks  # noqa: PLC0415 - heavy

    async def work(_: Config, tell: Tell) -> Report:
        return await bench_locks.bench_locks(tell)

    finish(carry_out(with_config(work, config), nothing=bench_locks.NOTHING, as_json=as_json))


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
