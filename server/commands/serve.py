"""`omoide serve`: run until somebody says stop, and say where robots find the server."""

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio

from server.commands.report import Tell
from server.config import Config, ServerSection
from server.listener import listen
from server.simulator.line import OTA_PATH
from server.tls import server_context

_STOP_SIGNALS = ("SIGTERM", "SIGBREAK")  # the second is Ctrl-Break and a closed console on Windows
_NOWHERE = "192.0.2.1"  # reserved for documentation: no packet is ever sent to it


async def serve(config: Config, data: Path, tell: Tell) -> None:
    """Serve until cancelled, as by Ctrl-C; inside `stop_signals` by any request to stop.

    Raises:
        OmoideError: A port is taken, the certificate is none, or a folder can't be written.
    """
    _check_ports(config.server)
    # Heavy, so not before it is needed.
    from server.app import open_app  # noqa: PLC0415
    from server.app import serve as open_doors  # noqa: PLC0415

    async with open_app(config, data) as app, anyio.create_task_group() as tasks:
        doors = await tasks.start(open_doors, app)
        for line in describe_doors(config, doors.device_port, doors.http_port, find_addresses()):
            tell(line)
        await app.warm.wait()
        for stage, trouble in app.troubles.items():
            tell(f"{stage} does not work: {trouble}")
        tell("Ready." if not app.troubles else "Ready, but for that.")


def _check_ports(server: ServerSection) -> None:
    """Try both ports, and the certificate: nobody shall wait for the engines to hear that another server is running."""
    for port in (server.device_port, server.http_port):
        listen(server.host, port).close()
    server_context(server.tls)


@contextmanager
def stop_signals() -> Iterator[None]:
    """Let a request to stop end the program as Ctrl-C does: the running task is cancelled and everything is closed.

    Works where event loops know no signals (Windows). Only for the main thread.
    """
    numbers = [getattr(signal, name) for name in _STOP_SIGNALS if hasattr(signal, name)]
    before = {
        number: signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
        for number in numbers
    }
    # A shell script that starts us with "&" lets us ignore Ctrl-C, and then nothing would arrive at the loop at all.
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def describe_doors(
    config: Config, device_port: int, http_port: int, addresses: list[str]
) -> list[str]:
    """Return what a person needs to know to point a robot at this server."""
    host = config.server.host
    if host not in ("", "0.0.0.0", "::"):
        addresses = [host]
    lines = ["Point robots at (OTA URL):"]
    scheme = "https" if config.server.tls.is_on else "http"
    lines += [f"    {scheme}://{_bracket(address)}:{http_port}{OTA_PATH}" for address in addresses]
    if config.server.public_url:
        lines.append(f"They are told to connect to {config.server.public_url}.")
    else:
        lines.append(f"They connect to port {device_port} of the same address.")
    lines.append(f"API: {scheme}://127.0.0.1:{http_port}/docs    Stop: Ctrl-C")
    return lines


def find_addresses() -> list[str]:
    """Return the addresses of this machine in its networks, the one that leads outside first; loopback if there is none."""
    found = [_find_outside_address(), *_find_named_addresses()]
    addresses = [address for address in found if address and not address.startswith("127.")]
    return list(dict.fromkeys(addresses)) or ["127.0.0.1"]


def _find_outside_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_NOWHERE, 9))
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _find_named_addresses() -> list[str]:
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except OSError:
        return []
    return [str(entry[4][0]) for entry in found]


def _bracket(address: str) -> str:
    return f"[{address}]" if ":" in address else address
