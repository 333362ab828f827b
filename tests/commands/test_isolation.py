"""Whichever command is asked about one person tells nothing of another: every one that takes a person is tried."""

import json
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import Result

from server.cli import app
from server.commands.backup import DATABASE
from server.memory.store import Store
from tests.memory.remembering import NOON, fact, page

Omoide = Callable[..., Result]

MARKS = {"hana": "zqalphaqz", "taro": "zqbetaqz"}
NOT_OF_MEMORY = {"talk", "say", "devices accept", "access keys new", "memory import"}
"""They name who speaks, or who somebody is, or write, and read nothing of anybody."""
ARGUMENTS = {"memory search": ["What about zqbetaqz and zqalphaqz?"], "memory forget": ["--yes"]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    with closing(Store(folder / DATABASE)) as store:
        for person, mark in MARKS.items():
            store.pages.add(page(f"猫の名前は{mark}だよ。", NOON, person, id_=f"{mark} page"))
            store.pages.add(
                page(f"明日は{mark}と会う。", NOON + timedelta(minutes=1), person, id_=f"{mark} 2")
            )
            store.add_facts(
                [fact(f"You have a cat, {mark}.", person=person, sources=(f"{mark} page",))], NOON
            )
    return folder


def commands_for_a_person() -> list[str]:
    found = []
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        name, command = waiting.pop()
        waiting += [
            (f"{name} {part}".strip(), inner)
            for part, inner in getattr(command, "commands", {}).items()
        ]
        if any("--person" in parameter.opts for parameter in command.params):
            found.append(name)
    return sorted(set(found) - NOT_OF_MEMORY, key=lambda name: (name == "memory forget", name))


def test_no_command_tells_of_another_person(
    omoide: Omoide, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_EMBEDDING__ENGINE", "use")
    monkeypatch.setenv("OMOIDE_EXTRACTION__ENGINE", "rules")
    commands = commands_for_a_person()
    assert {"memory list", "memory search", "memory export", "extract"} <= set(commands)
    told = 0
    for name in commands:
        arguments = [
            *name.split(),
            *ARGUMENTS.get(name, []),
            "--person",
            "hana",
            "--json",
            "--data",
            data,
        ]
        result = omoide(*arguments)
        assert result.exit_code == 0, (name, result.stderr)
        assert MARKS["taro"] not in result.stdout + result.stderr, name
        told += MARKS["hana"] in result.stdout
    assert told >= 3
    left = json.loads(omoide("memory", "list", "--json", "--data", data).stdout)["facts"]
    assert {row["person"] for row in left} == {"taro"}
