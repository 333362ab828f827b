"""What an answer rested on is kept with it, and it goes only where it may tell something of what is forgotten."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from server.memory.audit import AuditEntry
from server.memory.erasing import Erasing, Order
from server.memory.grounds import Matter, Resting, grounds_of
from server.memory.models import Grounds, Page
from server.memory.store import Store
from server.turn import Recalled, RecalledDay, RecalledPage, Recollection
from tests.memory.remembering import NOON, fact, opened, page, turn


def line(id_: str, *sources: str, about: str = "", is_undrawn: bool = False) -> Recalled:
    return Recalled("…", NOON, 1.0, {}, id_, sources, about, is_undrawn=is_undrawn)


def alone(*ids: str) -> frozenset[frozenset[str]]:
    return frozenset(frozenset({id_}) for id_ in ids)


def test_what_came_to_mind_is_told_apart_from_what_always_is() -> None:
    recalled = Recollection(
        lines=(line("fact", "p1"), line("robot", "p2", about="Omo")),
        pages=(RecalledPage("page", "…", "", NOON, 1.0),),
        standing=(line("touched"), line("stands"), line("fresh", "p3", is_undrawn=True)),
        touched=("touched",),
        knowledge=(line("known"), line("fact")),
        portrayed=(frozenset({"a", "b"}), frozenset()),
        days=(RecalledDay(date(2026, 9, 26), "…", (), ("p4",)),),
    )
    grounds = grounds_of(recalled, ["unanswered"], ["before"])
    assert grounds.recalled == {"fact", "robot", "p2", "page", "touched", "unanswered"}
    held = alone("stands", "fresh", "p3", "known", "2026-09-26", "before")
    assert grounds.held == held | {frozenset({"a", "b"})}
    assert not grounds_of(Recollection())


@pytest.mark.parametrize(
    ("fact_text", "language", "said", "heard", "is_told"),
    [
        ("You are allergic to peanuts.", "en", "Hello.", "Peanuts are not for you.", True),
        ("You are allergic to peanuts.", "en", "Hello.", "Nice weather today.", False),
        ("You are allergic to peanuts.", "en", "Peanuts, can I?", "No.", True),
        ("You are allergic to peanuts.", "en", "Shall we go?", "No.", False),
        ("You are allergic to peanuts.", "en", "何が食べられない？", "落花生です。", True),
        ("Your number is 4711.", "en", "And?", "It is 4711.", True),
        ("ピーナッツアレルギーがある。", "ja", "ねえ。", "ピーナッツはだめですよ。", True),
        ("ピーナッツアレルギーがある。", "ja", "ねえ。", "いい天気ですね。", False),
        ("你对花生过敏。", "zh", "我能吃花生吗？", "不行。", True),
        ("你对花生过敏。", "zh", "今天怎么样？", "天气很好。", False),
        ("", "en", "Hello.", "Nice weather today.", True),
    ],
)
def test_an_answer_tells_of_a_fact_by_its_words_or_it_can_not_be_told(
    fact_text: str, language: str, said: str, heard: str, is_told: bool
) -> None:
    spoken = "ja" if any("\u3040" <= sign <= "\u30ff" for sign in said) else language
    answer = replace(page(said, language=spoken), heard=heard)
    assert Matter([(fact_text, language)]).is_told_in(answer) is is_told


def test_what_only_was_in_mind_goes_by_words_and_what_was_meant_in_any_case() -> None:
    resting = Resting({"fact", "said", "2026-09-27"}, Matter([("I like tea.", "en")]))

    def goes(heard: str, recalled: tuple[str, ...] = (), *held: frozenset[str]) -> bool:
        answer = Page("Hm?", heard, NOON, "en", id=heard)
        return resting.goes(answer, Grounds(frozenset(recalled), frozenset(held)))

    assert goes("Boats are fine.", ("fact",))
    assert not goes("Boats are good.", (), frozenset({"fact"}))
    assert goes("Tea is good.", (), frozenset({"fact"}))
    assert goes("Tea is fine.", (), frozenset({"2026-09-27"}))
    assert not goes("Tea is hot.", (), frozenset({"said", "other"}))
    assert not goes("Tea is cold.", ("other",))
    assert not goes("Ships sail.", ("Tea is good.",)), (
        "another answer told of it, this one does not"
    )
    assert goes("More tea.", ("Tea is good.",))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened_store:
        yield opened_store


async def test_a_turn_that_ends_leaves_its_grounds_with_the_page(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        first, second = turn("猫がいる。", NOON, id_="1"), turn("名前は？", NOON, id_="2")
        second.recalled = Recollection((line("cat", "1"),))
        for one in (first, second):
            room.memory.turn_finished(one)
        await room.memory._writer.settle()
        kept = room.memory._store.cuts.grounds_of("hana")
        assert kept == {"2": Grounds(frozenset({"cat"}), alone("1"))}
        assert room.memory._store.cuts.grounds_of("taro") == {}
        assert room.memory._store.pages.of("hana")[0].grounds == Grounds()


def test_the_record_of_erasures_can_only_be_added_to(store: Store, tmp_path: Path) -> None:
    store.pages.add(page("秘密だよ。", id_="1"))
    store.pages.add(page("秘密だよ。", id_="2", person="taro"))
    store.erasures.erase(Erasing(pages=("1",)), Order("api", "page", NOON))
    store.erasures.erase(Erasing(pages=("nothing",)), Order("api", "page", NOON))
    store.erasures.erase(Erasing(person="taro"), Order("voice", "person", NOON))
    assert store.audit.entries() == [
        AuditEntry(NOON, "api", "page", 2),
        AuditEntry(NOON, "voice", "person", 2),
    ], "an exchange and an answer each; what was not there leaves no entry"
    assert [one.kind for one in store.audit.entries(1)] == ["person"]
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        for change in ("DELETE FROM audit", "UPDATE audit SET count = 0"):
            with pytest.raises(sqlite3.IntegrityError, match="only be added"):
                connection.execute(change)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(audit)")]
    assert columns == ["id", "at", "actor", "kind", "count"]


def test_what_was_said_in_a_page_that_goes_and_in_one_that_stays_is_drawn_anew(
    store: Store,
) -> None:
    for id_ in "12":
        store.pages.add(page("猫がいる。", id_=id_))
    store.add_facts([fact("猫がいる。", sources=("1", "2"))], NOON, drawn_from=["1", "2"])
    assert store.queue.count("hana") == 0
    erased = store.erasures.would_erase(Erasing(pages=("1",)))
    assert dict(erased.counts) == {"facts": 1, "exchanges": 1, "answers": 1}
    assert len(store.facts_of("hana")) == 1, "it was only tried"
    store.erasures.erase(Erasing(pages=("1",)), Order("api", "page", NOON))
    assert [one.id for one in store.queue.waiting()["hana"]] == ["2"]
    assert store.facts_of("hana") == []


def test_what_rested_on_two_rests_on_the_other_once_one_is_forgotten(store: Store) -> None:
    grounds = Grounds(frozenset({"1", "x"}), frozenset({frozenset({"1", "2"})}) | alone("1"))
    for id_ in "12":
        store.pages.add(page("秘密だよ。", id_=id_))
    store.pages.add(replace(page("何だっけ。", id_="3"), grounds=grounds))
    store.erasures.erase(Erasing(pages=("1",)), Order("api", "page", NOON))
    assert store.cuts.grounds_of("hana") == {"3": Grounds(frozenset({"x"}), alone("2"))}
