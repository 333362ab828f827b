"""What fades leaves search and the index while the store keeps it; what matters never does; at last it is deleted."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.memory.models import Fact, Importance, Level, NoteKind, ProfileField
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, HandClock, Room, fact, opened, page
from tests.memory.tiers import entry, note, trait

SUMO = "テレビで相撲を見たよ。"
ASKED_SUMO = "テレビで相撲を見たのいつだっけ?"
TELEVISION = {
    "ja": (SUMO, ASKED_SUMO),
    "en": ("I watched the tennis on TV last night.", "When did I watch the tennis on TV?"),
    "zh": ("我昨天看了电视。", "我什么时候看了电视?"),
}
LASTING = {
    "ja": [
        ("妹の名前は美咲だよ。", "妹の名前は何だっけ?"),
        ("僕は卵アレルギーなんだ。", "僕は何アレルギーだっけ?"),
        ("母は去年亡くなったんだ。", "母はいつ亡くなったっけ?"),
        ("僕は絶対に肉を食べないよ。", "僕は肉を食べるっけ?"),
    ],
    "en": [
        ("My brother Owen plays chess.", "What does my brother Owen play?"),
        ("I am allergic to peanuts.", "What am I allergic to?"),
        ("My sister passed away in March.", "When did my sister pass away?"),
    ],
    "zh": [("我女儿叫小丽。", "我女儿叫什么?"), ("我对花生过敏。", "我对什么过敏?")],
}


async def ages(room: Room, days: float) -> None:
    room.clock.moment = NOON + timedelta(days=days)


async def came_to_mind(room: Room, query: str, language: str = "ja") -> set[str]:
    """Return everything of facts and pages that would be told for a question."""
    found = await room.memory.recall("hana", query, language)
    return {line.text for line in found.lines} | {each.said for each in found.pages}


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
async def test_what_was_on_television_is_gone_from_mind_after_some_weeks(
    tmp_path: Path, language: str
) -> None:
    said, asked = TELEVISION[language]
    with opened(tmp_path, retrieval={"gate": 0.0, "pages": {"gate": 0.0}}) as room:
        room.tell(said, language=language)
        [known] = await room.memory.extract()
        await ages(room, 30)
        assert {known.text, said} <= await came_to_mind(room, asked, language)
        await ages(room, 40)
        assert await came_to_mind(room, asked, language) == set()
        assert [one.text for one in await room.memory.archive.facts("hana")] == [known.text]
        assert [one.said for one in await room.memory.archive.pages("hana")] == [said]


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [(language, *pair) for language, pairs in LASTING.items() for pair in pairs],
)
async def test_what_matters_comes_to_mind_after_twenty_years(
    tmp_path: Path, language: str, said: str, asked: str
) -> None:
    fading = {"ordinary_days": 10.0, "fleeting_days": 5.0}
    with opened(tmp_path, fading=fading, retrieval={"gate": 0.0}) as room:
        room.tell(said, language=language)
        [known] = await room.memory.extract()
        await ages(room, 7300)
        assert await room.memory.retention.keep_up() == 0
        found = await room.memory.recall("hana", asked, language)
        told = {line.text for line in found.lines} | {line.text for line in found.standing}
        assert any(said.rstrip("。.") in text for text in told), (known.importance, told)


async def test_what_must_not_be_mentioned_is_told_for_ever(tmp_path: Path) -> None:
    """Whatever a model thought of its importance."""
    with opened(tmp_path) as room:
        text = "あなたは元夫の話をしてほしくない。"
        await room.memory.add([replace(fact(text), importance=Importance.FLEETING)])
        await ages(room, 7300)
        assert await room.memory.retention.keep_up() == 0
        found = await room.memory.recall("hana", "おはよう", "ja")
        assert [line.text for line in found.standing] == [text]


async def test_other_things_fade_if_the_configuration_says_so(tmp_path: Path) -> None:
    said, asked = "駅前のパン屋でバイトを始めたんだ。", "どこでバイトを始めたっけ?"
    fading = {"ordinary_days": 10.0}
    with opened(tmp_path, fading=fading, retrieval={"gate": 0.0}) as room:
        room.tell(said)
        [known] = await room.memory.extract()
        assert known.importance is Importance.ORDINARY
        await ages(room, 16)
        assert known.text in await came_to_mind(room, asked)
        await ages(room, 17)
        assert await came_to_mind(room, asked) == set()
        primed = await room.memory.recall("hana", "おはよう", "ja")
        assert primed.portrait == ()


async def test_nothing_of_it_is_left_in_the_index(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(SUMO, "妹の名前は美咲だよ。")
        await room.memory.extract()
        await ages(room, 1)
        await came_to_mind(room, ASKED_SUMO)
        index = room.memory._index
        assert len(index.ids("hana")) == 2
        await ages(room, 40)
        await came_to_mind(room, ASKED_SUMO)
        assert len(index.ids("hana")) == 1


async def test_a_moment_of_the_past_is_answered_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        room.tell(SUMO)
        await room.memory.extract()
        await ages(room, 100)
        for days, count in ((100, 0), (10, 1), (100, 0), (33, 1), (34, 0)):
            at = NOON + timedelta(days=days)
            found = await room.memory.search("hana", ASKED_SUMO, "ja", at)
            assert len(found) == count, days


async def test_a_shelf_is_filled_again_only_when_something_fades(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(SUMO, "妹の名前は美咲だよ。")
        await room.memory.extract()
        shelves = room.memory._shelves
        young = [await shelves.get("hana", NOON + timedelta(days=days)) for days in (1, 20, 33)]
        old = [await shelves.get("hana", NOON + timedelta(days=days)) for days in (34, 400)]
        assert len({*map(id, young)}) == len({*map(id, old)}) == 1
        assert (len(young[0].entries), len(old[0].entries)) == (2, 1)


async def test_what_is_told_again_after_it_had_faded_is_fresh(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        room.tell(SUMO)
        await room.memory.extract()
        await ages(room, 50)
        room.tell(SUMO)
        assert len(await room.memory.extract()) == 1
        await ages(room, 60)
        assert len((await room.memory.recall("hana", ASKED_SUMO, "ja")).lines) == 1
        assert len(await room.memory.archive.facts("hana")) == 2


async def test_what_lies_ahead_is_fresh_until_it_is_over(tmp_path: Path) -> None:
    ahead = NOON.date() + timedelta(days=60)
    small = replace(
        fact("あなたは相撲の中継を見る。"),
        importance=Importance.FLEETING,
        event_from=ahead,
        event_to=ahead,
    )
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        await room.memory.add([small])
        for days, count in ((60 + 33, 1), (60 + 35, 0)):
            await ages(room, days)
            assert len((await room.memory.recall("hana", "相撲の中継は?", "ja")).lines) == count


async def test_after_a_year_it_is_deleted_with_what_was_said(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(SUMO, "妹の名前は美咲だよ。")
        await room.memory.extract()
        await ages(room, 365)
        assert await room.memory.retention.keep_up() == 0
        await ages(room, 366)
        assert await room.memory.retention.keep_up() == 1
        assert await room.memory.retention.keep_up() == 0
        [left] = await room.memory.archive.facts("hana")
        assert "美咲" in left.text
        assert [one.said for one in await room.memory.archive.pages("hana")] == [
            "妹の名前は美咲だよ。"
        ]
    assert "相撲".encode() not in (tmp_path / "memory.db").read_bytes()


async def test_what_else_was_said_in_the_same_breath_stays(tmp_path: Path) -> None:
    """Though nothing was drawn from it: it may be what matters."""
    ring = "孫の健太が来月結婚するから指輪を選んでいるの。"
    with opened(tmp_path, retrieval={"pages": {"gate": 0.0}}) as room:
        store = room.memory._store
        store.pages.add(replace(page(SUMO + ring, id_="p"), heard="相撲ですか。"))
        small = replace(fact("あなたは相撲を見た。", sources=("p",)), quote=SUMO)
        store.add_facts([replace(small, importance=Importance.FLEETING)], NOON, drawn_from=["p"])
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 1
        assert await room.memory.archive.facts("hana") == []
        [left] = await room.memory.archive.pages("hana")
        assert (left.said, left.heard) == (ring, "")
        assert await came_to_mind(room, "孫の健太の結婚の指輪は?") == {ring}
    assert "相撲".encode() not in (tmp_path / "memory.db").read_bytes()


async def test_what_was_told_goes_not_with_what_the_robot_did(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        store = room.memory._store
        store.pages.add(replace(page(SUMO, id_="p"), heard="歌を歌います。"))
        song = replace(fact("Omoは歌を歌った。", sources=("p",)), about="Omo", quote="歌を歌います")
        store.add_facts([replace(song, importance=Importance.FLEETING)], NOON, drawn_from=["p"])
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 1
        [left] = await room.memory.archive.pages("hana")
        assert (left.said, left.heard) == (SUMO, "")


async def test_where_it_can_not_be_told_what_a_fact_was_drawn_from_everything_stays(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        store = room.memory._store
        store.pages.add(page("昨日は相撲だったの。指輪を選んでいるの。", id_="p"))
        small = replace(fact("あなたは相撲を見た。", sources=("p",)), quote=SUMO)
        store.add_facts([replace(small, importance=Importance.FLEETING)], NOON, drawn_from=["p"])
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 0
        assert len(await room.memory.archive.pages("hana")) == 1


async def test_what_was_told_once_more_since_stays(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        room.tell(SUMO)
        await room.memory.extract()
        await ages(room, 360)
        room.tell(SUMO)
        await room.memory.extract()
        await ages(room, 370)
        assert await room.memory.retention.keep_up() == 1
        assert [one.said for one in await room.memory.archive.pages("hana")] == [SUMO]
        [left] = await room.memory.archive.facts("hana")
        assert left.quote == SUMO


@pytest.mark.parametrize("days", [0.0, 5000.0])
async def test_how_long_it_is_kept_is_said_by_the_configuration(
    tmp_path: Path, days: float
) -> None:
    with opened(tmp_path, fading={"retention_days": days}) as room:
        room.tell(SUMO)
        await room.memory.extract()
        await ages(room, 4000)
        assert await room.memory.retention.keep_up() == 0
        await ages(room, 5001)
        assert await room.memory.retention.keep_up() == bool(days)


async def test_an_exchange_that_something_else_rests_on_stays_with_all_of_its_facts(
    tmp_path: Path,
) -> None:
    """Its words would be found again, if only the fact went; and a name must not go with what was on television."""
    with opened(tmp_path) as room:
        store = room.memory._store
        for id_ in ("name", "trait", "note", "fact", "alone"):
            store.pages.add(page(SUMO, id_=id_))
        small = [
            replace(
                fact(f"あなたはテレビを見た{id_}。", sources=(id_,)), importance=Importance.FLEETING
            )
            for id_ in ("name", "trait", "note", "fact", "alone")
        ]
        store.add_facts(
            [*small, fact("あなたは猫を飼う。", sources=("fact",))],
            NOON,
            profile=[
                entry(ProfileField.NAME, "花", NOON, "name"),
                entry(ProfileField.NAME, "華", NOON + timedelta(days=1), "fact"),
            ],
            traits=[trait("openness", Level.HIGH, NOON, "trait")],
            notes=[replace(note("note"), kind=NoteKind.SAFETY)],
        )
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 1
        left = {one.id for one in await room.memory.archive.pages("hana")}
        assert left == {"name", "trait", "note", "fact"}
        assert len(await room.memory.archive.facts("hana")) == 5


async def test_what_was_replaced_does_not_hold_again(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        old = replace(fact("あなたは大阪に住む。"), importance=Importance.LASTING)
        new = replace(fact("あなたは今週は京都にいる。"), importance=Importance.FLEETING)
        room.memory._store.add_facts([old, new], NOON, superseded={old.id: new.id})
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 0
        assert await room.known() == [new.text]


async def test_what_replaced_each_other_goes_together(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        small = [
            replace(fact(f"あなたはテレビで{show}を見た。"), importance=Importance.FLEETING)
            for show in ("相撲", "野球", "映画")
        ]
        replaced = {small[0].id: small[1].id, small[1].id: small[2].id}
        room.memory._store.add_facts(small, NOON, superseded=replaced)
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 3
        assert await room.memory.archive.facts("hana") == []


async def test_everybody_is_looked_after_and_nobody_else_touched(tmp_path: Path) -> None:
    clock = HandClock()
    with opened(tmp_path, clock=clock) as room:
        for person in ("hana", "taro"):
            room.tell(SUMO, person=person)
        await room.memory.extract()
        clock.moment = NOON + timedelta(days=300)
        room.tell(SUMO, person="emi")
        await room.memory.extract()
        await ages(room, 400)
        assert await room.memory.retention.keep_up() == 2
        assert await room.memory.archive.persons() == ["emi"]


async def test_facts_of_another_agent_are_on_no_shelf(tmp_path: Path) -> None:
    def of(agent: str) -> Fact:
        return replace(fact(f"{agent}は歌を歌った。"), about=agent)

    with opened(tmp_path, embedder=FakeEmbedder(), persona={"name": "Kiko"}) as room:
        await room.memory.add([of("Omo"), of("Kiko")])
        shelf = await room.memory._shelves.get("hana", NOON)
        assert [entry.fact.about for entry in shelf.entries.values()] == ["Kiko"]


async def test_what_is_over_is_told_no_longer_though_nothing_was_changed(tmp_path: Path) -> None:
    tonight = NOON.date()
    goal = replace(
        fact("Tonight you want to be in bed by ten.", language="en"),
        event_from=tonight,
        event_to=tonight,
    )
    with opened(tmp_path) as room:
        await room.memory.add([goal])
        told = []
        for days in (0, 0.4, 1):
            await ages(room, days)
            found = await room.memory.recall("hana", "Good evening", "en")
            told.append([line.text for line in found.standing])
        assert told == [[goal.text], [goal.text], []]
