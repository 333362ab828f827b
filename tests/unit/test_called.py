"""Messages name the commands of the program as it was called."""

import pytest
from typer.main import get_command

from server.called import as_called, command
from server.cli import app


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("See `omoide safety list`.", "See `scripts/run safety list`."),
        (
            "Unlock it first: omoide persona unlock x.",
            "Unlock it first: scripts/run persona unlock x.",
        ),
        ("see `omoide`", "see `scripts/run`"),
        ("pip install 'omoide[encrypted]'", "pip install 'omoide[encrypted]'"),
        ("/srv/omoide memory is full", "/srv/omoide memory is full"),
        ("what omoide says", "what omoide says"),
    ],
)
def test_a_command_is_named_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, text: str, named: str
) -> None:
    monkeypatch.setenv("OMOIDE_COMMAND", "scripts/run")
    assert as_called(text) == named


def test_without_a_script_the_way_in_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMOIDE_COMMAND", raising=False)
    monkeypatch.setattr("sys.executable", "/usr/bin/python3")
    monkeypatch.setattr("sys.argv", ["/srv/x/server/__main__.py"])
    assert command() == "python3 -m server"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert command() == "omoide"
    monkeypatch.setattr("sys.argv", ["/nowhere/.venv/bin/omoide"])
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert command() == "/nowhere/.venv/bin/omoide"


def test_every_command_of_the_program_is_named_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_COMMAND", "scripts/run")
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert as_called(f"See `omoide {name}`.") == f"See `scripts/run {name}`."
