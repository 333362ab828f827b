"""The talk that this project began with, typed, with the real embedder: every mark, a restart, and a kill in between."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from server.commands import replay
from server.commands.reach import Place
from server.config import Config
from server.conversation import Engines
from server.memory.store import Store
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "recordings" / "recall"

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.no_cover,  # others run the same lines, and counting them doubles the time
]

KILLED = """
import os, signal, sys
from pathlib import Path
import anyio
from server.commands import replay
from tests.commands.test_recall_talk import typed_place

turns = 0

def tell(line):
    global turns
    turns += line.startswith("you ")
    if turns == int(sys.argv[3]) and line.startswith("robot"):
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(replay.replay, Path(sys.argv[1]), typed_place(Path(sys.argv[2])), tell)
"""
"""Holds a talk and is killed when so many turns are over."""


def typed_place(data: Path) -> Place:
    """Return a place where everything but memory is quick."""
    patient = {"embed_timeout_seconds": 30.0}
    config = Config.model_validate({"extraction": {"engine": "rules"}, "retrieval": patient})
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["はい。"]), FakeTts(0.01, 0.01))
    return Place(config, data, engines=engines)


def typed(language: str) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the script with its steps before the facts are drawn and those after, all of them typed."""
    text = (SCRIPTS / f"stackchan.{language}.yaml").read_text(encoding="utf-8")
    script = yaml.safe_load(text)
    steps = [{**step, "as_text": True} if "text" in step else step for step in script["turns"]]
    for step in steps:
        if "text" in step:
            step["text"] = step["text"].replace("Hah-koh-nay", "Hakone")
    cut = steps.index({"extract": True})
    return script, steps[:cut], steps[cut:]


def write(path: Path, script: dict[str, Any], steps: list[dict[str, Any]]) -> Path:
    path.write_text(yaml.safe_dump({**script, "turns": steps}, allow_unicode=True), "utf-8")
    return path


@pytest.mark.parametrize("language", ["ja", "en"])
async def test_the_weekend_is_remembered_with_every_mark_after_a_restart_and_after_a_kill(
    language: str, tmp_path: Path
) -> None:
    script, said, asked = typed(language)
    data = tmp_path / "state"
    first = write(tmp_path / "first.yaml", script, said)
    line = [sys.executable, "-c", KILLED, str(first), str(data), str(len(said))]
    killed = await anyio.run_process(line, cwd=ROOT, check=False)
    assert killed.returncode == -9

    second = write(tmp_path / "second.yaml", script, asked)
    report = await replay.replay(second, typed_place(data), lambda _: None)

    with closing(Store(data / "memory" / "memory.db")) as store:
        assert len(store.facts_of(script["person"])) >= 4
    turns: Any = report.data["turns"]
    assert [turn["failures"] for turn in turns] == [[]] * 20
    assert sum(bool(turn["recalled"]) for turn in turns) == 12
