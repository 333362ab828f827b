"""Vectors of what was said: each is made once, and those that are needed now do not wait for all others."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from server.memory.page_shelves import PageShelves
from server.memory.store import Store
from server.memory.wording import Aligned
from server.memory.writer import Writer
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, page

BACKLOG = 100


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened:
        for number in range(BACKLOG):
            said = f"{number}番目の話だよ。"
            opened.pages.add(page(said, NOON + timedelta(minutes=number), id_=str(number)))
        yield opened


async def test_no_page_is_embedded_twice_whoever_asks_at_the_same_time(store: Store) -> None:
    embedder = FakeEmbedder()
    embedder.seconds = 0.01
    made: list[int] = []
    with closing(Writer(store)) as writer:
        shelves = PageShelves(store, writer, embedder, Aligned())

        async def embed(ids: list[str] | None = None) -> None:
            made.append(await (shelves.embed_missing() if ids is None else shelves.embed(ids)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embed)
            tasks.start_soon(embed)
            tasks.start_soon(embed, ["3", "4"])
    assert len(embedder.embedded) == 2 * BACKLOG  # what was said, and what was heard
    assert sum(made) == BACKLOG


async def test_some_pages_get_their_vectors_before_all_others(store: Store) -> None:
    embedder = FakeEmbedder()
    embedder.seconds = 0.01
    with closing(Writer(store)) as writer:
        shelves = PageShelves(store, writer, embedder, Aligned())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(shelves.embed_missing)
            await anyio.lowlevel.checkpoint()
            assert await shelves.embed(["3", "4"]) == 2
            left = store.lines.pages_without_vectors(shelves.stamp, BACKLOG)
            tasks.cancel_scope.cancel()
    assert len(left) > BACKLOG / 2
    assert not {"3", "4"} & {each.id for each in left}
