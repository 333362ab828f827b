"""Command lines that can't be understood."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import Result

from server.cli import app
from server.commands import bench, devices, memory, restore, talk
from server.commands.usage import _MODULES, shape_of

Omoide = Callable[..., Result]


@pytest.mark.parametrize(
    ("line", "shape", "hint"),
    [
        (["talk", "--json"], talk.NOTHING, "WAV"),
        (["talk", "a.wav", "--framing", "9", "--json"], talk.NOTHING, "--framing"),
        (["say", "Hello?", "--json", "--protocoll", "pcm"], talk.NOTHING, "--protocoll"),
        (["bench", "turn", "--turns", "0", "--json"], bench.NOTHING, "--turns"),
        (["devices", "accept", "--json"], devices.NOTHING, "ID"),
        (["memory", "list", "--jsn", "--json"], memory.NOTHING["list"], "--jsn"),
        (["extract", "now", "--json"], memory.NOTHING["extract"], "now"),
        (["restore", "--json"], restore.NOTHING, "FILE"),
        (["tlak", "--json"], {}, "tlak"),
    ],
)
def test_with_json_a_wrong_command_line_is_an_object_of_the_usual_shape(
    line: list[str], shape: dict[str, object], hint: str, omoide: Omoide
) -> None:
    result = omoide(*line)
    answer = json.loads(result.stdout)
    assert result.exit_code == 2
    assert answer.keys() >= shape.keys()
    assert answer["error"]["code"] == "usage-invalid"
    assert hint in answer["error"]["message"]
    assert "Usage" in result.stderr


def test_without_json_standard_output_stays_empty(omoide: Omoide) -> None:
    result = omoide("talk")
    assert result.exit_code == 2
    assert result.stdout == ""


def test_every_command_with_json_has_a_shape() -> None:
    found = set()
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        name, command = waiting.pop()
        for part, inner in getattr(command, "commands", {}).items():
            waiting.append((f"{name} {part}".strip(), inner))
        if any("--json" in parameter.opts for parameter in command.params):
            found.add(name)
    assert found == set(_MODULES)
    assert all("error" in shape_of(name) for name in found)


def test_help_says_what_a_command_works_on_without_a_server() -> None:
    starts_one = {"talk", "say"}
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    seen = set()
    while waiting:
        name, command = waiting.pop()
        for part, inner in getattr(command, "commands", {}).items():
            waiting.append((f"{name} {part}".strip(), inner))
        for option in command.params:
            has_folder = any("--data" in other.opts for other in command.params)
            if "--url" in option.opts and has_folder:
                seen.add(name)
                assert ("one is started" in option.help) == (name in starts_one), name
                assert ("data folder" in option.help) == (name not in starts_one), name
    assert starts_one | {"memory list", "persona set", "safety list", "extract"} <= seen
