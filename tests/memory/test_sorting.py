"""Sorting a batch: what it costs, and what becomes of segments and chains that have lost a page."""

from datetime import timedelta
from pathlib import Path

from server.memory.harvest import Harvest
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, Room, opened, page


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


CATS = (
    "猫のタマを飼い始めたんだ。",
    "猫のタマは魚が好きなんだ。",
    "猫のタマの誕生日は五月五日です。",
)


async def forget_one_of(room: Room, word: str) -> None:
    facts = await room.memory.archive.facts("hana")
    await room.memory.archive.forget([fact.id for fact in facts if word in fact.text])


async def test_a_segment_that_lost_a_page_is_told_anew_and_takes_in_what_is_like_it(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        tiers = room.memory._store.tiers
        room.tell(*CATS)
        await room.memory.extract()
        await forget_one_of(room, "魚")
        [emptied] = tiers.segments_of("hana")
        assert (emptied.summary, emptied.keywords) == ("", frozenset())

        room.clock.pass_time(hours=1)
        room.tell("猫のタマの誕生日だよ。")
        await room.memory.extract()

        [segment] = tiers.segments_of("hana")
        assert segment.id == emptied.id
        assert segment.summary.splitlines()[-1] == "猫のタマの誕生日だよ。"
        assert len(segment.summary.splitlines()) == 2
        assert "タマ" in segment.keywords
        assert "魚" not in str(segment)
        assert segment.unread == emptied.unread + 1


async def test_what_lost_a_page_is_told_anew_whatever_is_said_next(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        tiers = room.memory._store.tiers
        room.tell(*CATS)
        await room.memory.extract()
        before = await room.memory.archive.pages("hana")
        places = {page.id: (page.segment, page.chain) for page in before}
        await forget_one_of(room, "魚")
        room.clock.pass_time(hours=1)
        room.tell("I watched a film about trains.", language="en")
        await room.memory.extract()

        cats, trains = tiers.segments_of("hana")
        assert cats.summary in CATS
        assert "タマ" in cats.keywords
        assert "タマ" not in str(trains)
        assert all(chain.summary for chain in tiers.chains_of("hana"))
        assert "魚" not in str((cats, tiers.chains_of("hana")))
        kept = [page for page in await room.memory.archive.pages("hana") if page.id in places]
        assert len(kept) == 2
        assert all(places[page.id] == (page.segment, page.chain) for page in kept)
