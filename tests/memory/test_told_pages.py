"""What is told of an exchange that came to mind: what was said around it in the same talk, and no other day's."""

from datetime import timedelta
from pathlib import Path

from server.memory.tiers import Sorting
from tests.memory.remembering import Room, opened
from tests.memory.tiers import chain

NIECE = "姪のさくらは獣医になりたいって言ってた。"
ASKED_NIECE = "姪のさくらは何になりたいんだっけ?"
BEST = {"pages": {"gate": 0.0, "limit": 1}}


async def told(room: Room, query: str) -> list[str]:
    """Return what is told word for word of exchanges for a question."""
    return [page.said for page in (await room.memory.recall("hana", query, "ja")).pages]


async def test_what_was_said_around_comes_along_if_it_is_of_the_same_talk(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval=BEST) as room:
        room.tell("冷蔵庫の音がうるさくて眠れないよ。")
        await room.memory.extract()
        room.clock.pass_time(days=60)
        room.tell(NIECE, "動物が大好きなんだって。")
        await room.memory.extract()
        room.clock.pass_time(days=60)
        room.tell("電球を取り替えたよ。")
        await room.memory.extract()
        assert await told(room, ASKED_NIECE) == [NIECE, "動物が大好きなんだって。"]


async def test_beyond_a_pause_nothing_comes_along(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"pages": {**BEST["pages"], "neighbours": 3}}) as room:
        room.tell("電球を取り替えたよ。")
        room.clock.pass_time(minutes=30)
        room.tell("今日は涼しいね。", NIECE)
        assert await told(room, ASKED_NIECE) == [NIECE, "今日は涼しいね。"]


async def test_a_chain_that_goes_on_after_a_pause_is_one_talk(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval=BEST) as room:
        room.tell(NIECE)
        room.clock.pass_time(minutes=30)
        room.tell("その子、試験に受かったよ。")
        await room.memory._writer.settle()
        assert await told(room, ASKED_NIECE) == [NIECE]
        ids = [page.id for page in await room.memory.archive.pages("hana")]
        store, now = room.memory._store, room.clock.now() + timedelta(minutes=1)
        linked = Sorting(chains=[chain(ids[0])], chain_of=dict.fromkeys(ids, ids[0]))
        store.add_facts([], now, sorting=linked)
        assert await told(room, ASKED_NIECE) == [NIECE, "その子、試験に受かったよ。"]
