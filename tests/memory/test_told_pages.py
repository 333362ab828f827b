"""What is told of an exchange that came to mind: what still holds of it, and what was said around it in the same talk."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import Page
from server.memory.tiers import Sorting
from tests.memory.remembering import Room, opened
from tests.memory.tiers import chain

NIECE = "姪のさくらは獣医になりたいって言ってた。"
ASKED_NIECE = "姪のさくらは何になりたいんだっけ?"
HOME = "今は京都に住んでいる。"
MOVED = "大阪に引っ越したので、今は大阪に住んでいる。"
DRAMA = "昨日はテレビでドラマを見た。"
RING = "孫の健太が来月結婚するから指輪を選んでいるの。"
ASKED_RING = "孫の健太の結婚の指輪の話をしたよね?"
BEST = {"pages": {"gate": 0.0, "limit": 1}}


class Only(RulesExtractor):
    """Draws only facts that have one of its words: a model does not draw from every sentence."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        drawn = await super().extract(pages, attempt)
        kept = [fact for fact in drawn.facts if any(word in fact.text for word in self.words)]
        return replace(drawn, facts=tuple(kept), profile=())


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
        await room.memory._writer.settle()
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


@pytest.mark.parametrize("said", [HOME + NIECE, NIECE + HOME])
async def test_what_was_replaced_is_not_told_and_the_rest_of_the_exchange_is(
    said: str, tmp_path: Path
) -> None:
    with opened(tmp_path, Only("住"), retrieval=BEST) as room:
        room.tell(said)
        await room.memory.extract()
        assert await told(room, ASKED_NIECE) == [said]
        room.clock.pass_time(days=2)
        room.tell(MOVED)
        await room.memory.extract()
        assert len(await room.known()) == 1
        [page] = (await room.memory.recall("hana", ASKED_NIECE, "ja")).pages
        assert (page.said, page.heard) == (NIECE, "")
        assert await told(room, "どこに住んでいるんだっけ?") == [MOVED]


async def test_what_has_faded_is_not_told_and_the_rest_of_the_exchange_is(tmp_path: Path) -> None:
    with opened(tmp_path, Only("ドラマ"), retrieval=BEST) as room:
        room.tell(DRAMA + RING)
        await room.memory.extract()
        room.clock.pass_time(days=30)
        assert await told(room, ASKED_RING) == [DRAMA + RING]
        room.clock.pass_time(days=10)
        assert await told(room, ASKED_RING) == [RING]


async def test_what_was_replaced_is_not_told_beside_what_else_was_drawn_from_an_exchange(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, Only("住", "獣医"), retrieval=BEST) as room:
        room.tell(HOME + NIECE)
        await room.memory.extract()
        room.clock.pass_time(days=2)
        room.tell(MOVED)
        await room.memory.extract()
        assert len(await room.known()) == 2
        assert await told(room, ASKED_NIECE) == [NIECE]


async def test_it_is_not_told_around_another_exchange_either(tmp_path: Path) -> None:
    with opened(tmp_path, Only("住"), retrieval=BEST) as room:
        room.tell(HOME + "近所に神社がある。", NIECE, HOME)
        await room.memory.extract()
        room.clock.pass_time(days=2)
        room.tell(MOVED)
        await room.memory.extract()
        assert await told(room, ASKED_NIECE) == [NIECE, "近所に神社がある。"]
