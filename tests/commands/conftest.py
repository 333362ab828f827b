"""A scripted server in a thread of its own, so that commands can run their own event loop beside it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from typer.testing import CliRunner, Result

from server.audio import LISTENING_RATE, Audio, write_wav
from server.cli import app
from tests.patience import RETRIEVAL
from tests.simulator.fake_server import FakeServer, Script, answer_plainly, running_server, tone


@pytest.fixture
def omoide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command line, in an empty folder, with all the time that recall may need on a busy machine."""
    monkeypatch.chdir(tmp_path)
    for key, seconds in RETRIEVAL.items():
        monkeypatch.setenv(f"OMOIDE_RETRIEVAL__{key.upper()}", str(seconds))

    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(app, list(map(str, arguments)))

    return run


@pytest.fixture
def serve_script() -> Iterator[Callable[[Script], FakeServer]]:
    """Start a server with a script; it runs until the test ends."""
    with ExitStack() as stack:

        def start(script: Script = answer_plainly) -> FakeServer:
            portal = stack.enter_context(start_blocking_portal())
            return stack.enter_context(portal.wrap_async_context_manager(running_server(script)))

        yield start


@pytest.fixture
def wav(tmp_path: Path) -> Path:
    """A question in a file, at a rate that has to be changed."""
    path = tmp_path / "question.wav"
    write_wav(path, Audio(tone(0.3, 44_100), 44_100))
    assert LISTENING_RATE != 44_100
    return path
