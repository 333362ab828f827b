"""The program is killed at every step of forgetting: what was begun is finished at the next start, and nothing comes back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server.memory.audit import Actor
from server.memory.selecting import Selector
from tests.memory.remembering import HandClock
from tests.memory.test_erase_on_disk import left_of, lived

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")

WORDS = ("蜜柑山荘", "kumquat")
POINTS = (
    "before-commit",
    "after-commit",
    "index",
    "recordings",
    "finish",
    "scrub",
)
"""Where the program is killed, in the order in which an erasure passes."""
NAMED = {"person": Selector("hana"), "words": Selector("hana", words=WORDS[0])}

CHILD = """
import os, signal, sys
from pathlib import Path

import anyio
from sqlalchemy import event

import server.forgetting
from server.memory.eraser import Eraser
from server.memory.audit import Actor
from server.memory.database import Database
from server.memory.erasures import Erasures
from tests.memory.test_erase_kills import NAMED, WORDS
from tests.memory.test_erase_on_disk import lived

folder, point, named = sys.argv[1:]
armed = False


def reach(name):
    if armed and name == point:
        os.kill(os.getpid(), signal.SIGKILL)


def before(owner, name, point):
    original = getattr(owner, name)

    def reached(*args, **named):
        reach(point)
        return original(*args, **named)

    setattr(owner, name, reached)


async def main():
    global armed
    async with lived(Path(folder)) as home:
        for number in range(3):
            home.say(f"友達の家は{WORDS[0]}にあります。", f"{WORDS[0]}ですね。", language="ja", id_=f"ja{number}")
        home.say(f"My friend lives at {WORDS[1]}.", "Kumquat!", id_="en", person="taro")
        await home.settle()
        event.listen(home.room.memory._store._database.engine, "commit", lambda _: reach("before-commit"))
        before(Eraser, "let_go", "after-commit")
        before(server.forgetting, "erase_recordings", "index")
        before(server.forgetting, "erase_turns", "index")
        before(Eraser, "finish", "recordings")
        before(Erasures, "finish", "finish")
        before(Database, "scrub_again", "scrub")
        armed = True
        await home.forgetting.forget(NAMED[named], Actor.COMMAND)
    print("survived", flush=True)


anyio.run(main)
"""


def killed_at(folder: Path, point: str, named: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), point, named],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, f"{point} was not reached: {run.stdout}{run.stderr}"


@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("point", "named"),
    [*((point, "person") for point in POINTS), ("before-commit", "words"), ("index", "words")],
)
async def test_an_erasure_that_was_begun_is_finished_at_the_start(
    tmp_path: Path, point: str, named: str
) -> None:
    killed_at(tmp_path, point, named)
    clock = HandClock()
    clock.pass_time(days=1)
    async with lived(tmp_path, clock) as home:
        await home.forgetting.finish_begun()
        begun = point != "before-commit"
        assert left_of(tmp_path, WORDS[:1]) == ([] if begun else left_of(tmp_path, WORDS[:1]))
        assert len(await home.room.memory.archive.audit()) == begun
        if not begun:
            assert len(home.room.memory._store.pages.of("hana")) == 3, "it had not begun"
            await home.forgetting.forget(NAMED[named], Actor.COMMAND)
        assert home.room.memory._store.facts_of("hana") == []
        assert await home.room.memory.extract() == []
        assert left_of(tmp_path, WORDS[:1]) == []
        assert len(home.room.memory._store.pages.of("taro")) == 1
        assert await home.room.memory.archive.eraser.unfinished() == []
    assert left_of(tmp_path, WORDS[:1]) == []
    assert set(left_of(tmp_path, WORDS[1:])) == {"kumquat"}
