"""Sorting a batch: what it costs, and what becomes of segments and chains that have lost a page."""

from datetime import timedelta
from pathlib import Path

from server.memory.harvest import Harvest
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, opened, page


async def test_a_batch_does_not_wait_for_vectors_of_all_that_was_ever_said(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    with opened(tmp_path, embedder=embedder) as room:
        store = room.memory._store
        for number in range(5):
            store.pages.add(page(f"{number}番目の話だよ。", NOON, id_=f"old{number}"))
        new = page("猫を飼い始めたんだ。", NOON + timedelta(hours=1), id_="new")
        store.pages.add(new)
        await room.memory.consolidator._sorter.sort([new], Harvest(), room.clock.now())
        assert [text for text, _ in embedder.embedded if "話" in text] == []
        assert any("猫" in text for text, _ in embedder.embedded)
