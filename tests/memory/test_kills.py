"""The program is killed at every step of the write path: no finished turn is lost, and no fact is there twice."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.memory.remembering import HandClock, opened

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")

TOLD = ("猫のタマを飼ってるよ。", "明日は箱根に行くんだ。", "ギターを習い始めたよ。")
NEW_TURN = "犬のポチも飼ってるよ。"

POINTS = (
    "page:before-begin",
    "page:after-insert",
    "page:after-commit",
    "extract:before",
    "extract:after",
    "embed:after",
    "facts:after-insert",
    "facts:before-commit",
    "facts:after-commit",
    "index:after-upsert",
)
"""Where the program is killed, in the order in which a turn passes."""
TURN_IS_FINISHED_FOR_SURE = POINTS[2:]

CHILD = """
import os, signal, sys
from datetime import timedelta
from pathlib import Path

import anyio
from sqlalchemy import event

from server.config import Config
from server.memory.extract import RulesExtractor
from server.memory.index_edge import EdgeIndex
from server.memory.opening import open_memory
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, HandClock, turn

folder, point, *told = sys.argv[1:]
armed = False


def reach(name):
    if armed and name == point:
        os.kill(os.getpid(), signal.SIGKILL)


class Extractor(RulesExtractor):
    async def extract(self, pages, attempt):
        reach("extract:before")
        drawn = await super().extract(pages, attempt)
        reach("extract:after")
        return drawn


class Embedder(FakeEmbedder):
    async def embed(self, texts, kind):
        rows = await super().embed(texts, kind)
        reach("embed:after")
        return rows


def watch(engine):
    with_facts = set()

    def begin(connection):
        with_facts.discard(id(connection))
        reach("page:before-begin")

    def executed(connection, cursor, statement, parameters, context, many):
        if statement.startswith("INSERT INTO pages"):
            reach("page:after-insert")
        if statement.startswith("INSERT INTO facts"):
            with_facts.add(id(connection))
            reach("facts:after-insert")

    def commit(connection):
        if id(connection) in with_facts:
            reach("facts:before-commit")

    event.listen(engine, "begin", begin)
    event.listen(engine, "after_cursor_execute", executed)
    event.listen(engine, "commit", commit)


async def main():
    global armed
    clock = HandClock(NOON + timedelta(hours=1))
    memory = open_memory(Config(), Path(folder), Embedder(), Extractor(), clock)
    store = memory._store
    watch(store._database.engine)
    add_page, add_facts, upsert = store.pages.add, store.add_facts, EdgeIndex.upsert

    def page_added(page):
        add_page(page)
        reach("page:after-commit")

    def facts_added(*args, **named):
        stored = add_facts(*args, **named)
        reach("facts:after-commit")
        return stored

    def upserted(self, person, points):
        upsert(self, person, points)
        reach("index:after-upsert")

    store.pages.add, store.add_facts, EdgeIndex.upsert = page_added, facts_added, upserted
    memory.turn_finished(turn(told[0], NOON))
    await memory.extract()
    armed = True
    for number, text in enumerate(told[1:], start=1):
        memory.turn_finished(turn(text, NOON + timedelta(minutes=number)))
    await memory.extract()
    await memory.search("hana", "猫", "ja")
    print("survived", flush=True)


anyio.run(main)
"""


def killed_at(folder: Path, point: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), point, *TOLD],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, f"{point} was not reached: {run.stdout}{run.stderr}"


@pytest.mark.parametrize("point", POINTS)
async def test_no_turn_is_lost_and_no_fact_is_there_twice(tmp_path: Path, point: str) -> None:
    """X#1274, X#3095, X#2013, X#1182, X#1676: memory was not saved, lost, overwritten, or empty after a restart."""
    killed_at(tmp_path, point)
    with opened(tmp_path, clock=HandClock(), retrieval={"gate": 0.0}) as room:
        room.clock.pass_time(hours=2)
        said = [page.said for page in await room.memory.archive.pages("hana")]
        first_of_new = 2 if point in TURN_IS_FINISHED_FOR_SURE else 1
        assert said[:first_of_new] == list(TOLD[:first_of_new])
        assert said == list(TOLD[: len(said)]), "in order, and each once"
        room.tell(NEW_TURN)
        await room.memory.extract()
        quotes = [fact.quote for fact in await room.memory.archive.facts("hana")]
        assert sorted(quotes) == sorted([*said, NEW_TURN])
        assert await room.memory.extract() == []
        assert await room.memory.catch_up() == 0
        found = await room.memory.search("hana", "猫", "ja")
        assert sorted(candidate.fact.quote for candidate in found) == sorted(quotes)
        assert len({candidate.fact.id for candidate in found}) == len(quotes)
