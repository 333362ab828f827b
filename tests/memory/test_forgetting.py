"""To forget is to forget wholly: what a fact was drawn from goes with it, and nothing brings it back."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from server.config import RecordingSection
from server.errors import OutdatedError, StoreError
from server.forgetting import Forgetting
from server.memory.models import Fact
from server.memory.redaction import cut_out, holds, without
from server.memory.store import Store, Vector
from server.recording import RECORDINGS, RecentTurns, Recorder
from server.trace import Turns
from server.turn import Recalled, Recollection, Transcript
from tests.memory.remembering import NOON, fact, opened, page, turn
from tests.memory.test_store import full_disk
from tests.on_disk import bytes_of

CODE = "My locker code word is kumquat."
BOAT = "I have a boat called Marie."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened_store:
        yield opened_store


def drawn(quote: str, *sources: str) -> Fact:
    return replace(fact(f"You said: {quote}", sources=sources, language="en"), quote=quote)


def keep(store: Store, *facts: Fact) -> None:
    store.add_facts(facts, NOON, drawn_from=[source for one in facts for source in one.sources])


def said(store: Store) -> list[str]:
    return [each.said for each in store.pages.of("hana")]


@pytest.mark.parametrize(
    ("text", "quote", "left"),
    [
        (f"{BOAT} {CODE} Good night.", CODE, f"{BOAT} Good night."),
        (CODE, CODE, ""),
        (CODE, "my locker code word is kumquat", ""),
        ("ねえ。合言葉は蜜柑だよ。おやすみ。", "合言葉は蜜柑だよ", "ねえ。 おやすみ。"),
        ("我的密码是柑橘。晚安。", "我的密码是柑橘。", "晚安。"),
        ("I smoked salmon today.", "I smoke", "I smoked salmon today."),
        ("I like tea. I like tea with milk.", "I like tea with milk.", "I like tea."),
        ("茶が好き。私は茶が好きです。", "私は茶が好きです。", "茶が好き。"),
        ("Oh. It is red. It is big. Bye.", "It is red. It is big.", "Oh. Bye."),
        ("Oh. It is red. It is big. Bye.", "is red. It is", "Oh. Bye."),
        ("Oh. Called Marie.", "I have a boat called Marie.", "Oh."),
        (BOAT, "", BOAT),
        (BOAT, "。", BOAT),
    ],
)
def test_words_are_taken_out_by_whole_sentences(text: str, quote: str, left: str) -> None:
    assert without(text, [quote]) == left


def test_a_quote_that_says_too_little_is_not_looked_for_elsewhere() -> None:
    assert holds(f"Well, {CODE}", CODE)
    assert not holds("昨日も好きだよと言った", "好きだよ")
    assert not holds(BOAT, "")


def test_where_a_page_has_to_stay_the_words_of_the_forgotten_fact_are_cut_out(store: Store) -> None:
    store.pages.add(page(f"{BOAT} {CODE}", id_="1"))
    code, boat = drawn(CODE, "1"), drawn(BOAT, "1")
    keep(store, code, boat)
    store.forget([code.id])
    [left] = store.pages.of("hana")
    assert (left.said, left.heard, left.id) == (BOAT, "", "1")
    assert store.facts_of("hana")[0].sources == ("1",)


def test_the_quotes_of_facts_that_stay_do_not_hold_what_was_cut_out(store: Store) -> None:
    both = "I have a boat called Marie and a dog named Bo."
    store.pages.add(page(f"{BOAT} {both} {CODE} I like tea.", id_="1"))
    boat, dog = drawn(f"{both} {CODE}", "1"), drawn(both, "1")
    short, tea = drawn("a dog named Bo", "1"), drawn("I like tea.", "1")
    longer = drawn(f"{CODE} I like tea.", "1")
    keep(store, boat, dog, short, tea, longer)
    store.forget([boat.id])
    assert said(store) == [f"{BOAT} I like tea."]
    quotes = {each.id: each.quote for each in store.facts_of("hana")}
    assert quotes == {
        dog.id: "",
        short.id: "a dog named Bo",
        tea.id: "I like tea.",
        longer.id: "I like tea.",
    }


def test_a_shorter_sentence_that_is_part_of_a_forgotten_one_stays(store: Store) -> None:
    tea, milk = "I like tea.", "I like tea with milk and Anna."
    store.pages.add(page(f"{tea} {milk}", id_="1"))
    one, other = drawn(tea, "1"), drawn(milk, "1")
    keep(store, one, other)
    store.pages.add(page(f"{BOAT} {tea} {milk}", id_="2"))
    store.forget([other.id])
    assert said(store) == [tea, f"{BOAT} {tea}"]
    assert [each.quote for each in store.facts_of("hana")] == [tea]


@given(st.text("aB1 .!?。、「」\n\u3000が\u3099", max_size=40), st.text("aB1 .。が", max_size=9))
def test_any_text_is_what_is_cut_out_of_it_and_what_is_left(text: str, quote: str) -> None:
    left, cut = without(text, [quote]), cut_out(text, [quote])
    assert (left == text) == (not cut)
    assert not holds(left, quote) or not cut


def test_words_that_a_model_mended_while_it_quoted_take_the_whole_text_along(store: Store) -> None:
    store.pages.add(page("My, er, locker code word, it is kumquat. My boat is Marie.", id_="1"))
    code, boat = drawn(CODE, "1"), drawn("My boat is Marie.", "1")
    keep(store, code, boat)
    store.forget([code.id])
    assert said(store) == [""]


def test_the_same_words_that_still_wait_are_not_drawn_again(store: Store) -> None:
    store.pages.add(page(CODE, id_="1"))
    code = drawn(CODE, "1")
    keep(store, code)
    store.pages.add(page(f"{BOAT} {CODE}", id_="2"))
    store.pages.add(page(CODE, id_="3"))
    store.pages.add(page(CODE, id_="4", person="taro"))
    read_at = {"hana": store.cuts.count("hana")}
    store.forget([code.id])
    assert said(store) == [BOAT]
    assert [each.said for each in store.queue.waiting()["hana"]] == [BOAT]
    assert [each.id for each in store.pages.of("taro")] == ["4"], "others may say the same"
    with pytest.raises(OutdatedError):  # drawn from it as it was before
        store.add_facts([drawn(CODE, "2")], NOON, drawn_from=["2"], read_at=read_at)
    assert [each.said for each in store.queue.waiting()["hana"]] == [BOAT]


@pytest.mark.parametrize(
    ("quote", "again", "left"),
    [
        ("Émilie is my sister.", "You know, Émilie is my sister. Good night.", "Good night."),
        ("「合言葉は蜜柑だよ」", "ねえ。合言葉は蜜柑だよ。おやすみ。", "ねえ。 おやすみ。"),
        ("My code word is kumquat…", "Hi. My code word is kumquat, ok.", "Hi."),
        ("«Мой код: лимон»", "МОЙ КОД: ЛИМОН. Пока.", "Пока."),
    ],
)
def test_the_same_words_are_found_whatever_their_capitals_and_the_marks_around_them(
    store: Store, quote: str, again: str, left: str
) -> None:
    store.pages.add(page(quote, id_="1"))
    told = drawn(quote, "1")
    keep(store, told)
    store.pages.add(page(again, id_="2"))
    store.forget([told.id])
    assert said(store) == [left]


def test_answers_in_which_a_forgotten_fact_was_told_are_deleted(store: Store) -> None:
    for number in "123":
        store.pages.add(page(f"{number} is my number.", id_=number))
    code = drawn(CODE)
    keep(store, code)
    store.forget([code.id], ["2"])
    assert [each.heard for each in store.pages.of("hana")] == ["はい。", "", "はい。"]


async def test_the_talk_that_is_going_on_does_not_hold_a_forgotten_fact(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("Good morning to you.", CODE, language="en")
        [code] = await room.memory.extract()
        room.tell("What is my locker code word?", "Tell me a joke.", language="en")
        room.tell("Good morning to you.", person="taro", language="en")
        forgotten = await room.memory.archive.forget([code.id])
        assert forgotten.facts == 1
        assert len(forgotten.turns["hana"]) == 3
        left = room.memory.recent("hana", room.clock.now())
        assert [each.said for each in left] == ["Good morning to you."]
        assert len(room.memory.recent("taro", room.clock.now())) == 1
        pages = await room.memory.archive.pages("hana")
        assert [each.heard for each in pages] == ["I see.", "", ""]
        assert b"kumquat" not in bytes_of(tmp_path)
    with opened(tmp_path, clock=room.clock) as again:
        assert len(again.memory.recent("hana", again.clock.now())) == 1
        assert await again.memory.extract() == []


@pytest.mark.parametrize("quote", [CODE, "", "kumquat"])
async def test_an_answer_to_what_was_said_just_before_goes_with_it(
    tmp_path: Path, quote: str
) -> None:
    recent = RecentTurns(9)
    with opened(tmp_path) as room:
        forgetting = Forgetting(room.memory.archive, tmp_path, recent, Turns(room.clock))
        cut, answered = turn(CODE, NOON, language="en"), turn("Got it?", NOON, language="en")
        cut.heard = ""
        answered.asked, answered.answers = Transcript(f"{CODE} Got it?", "en"), (cut.id,)
        answered.heard = "Yes, kumquat."
        for each in (cut, answered):
            room.memory.turn_finished(each)
            recent.turn_finished(each)
        await room.memory._writer.settle()
        code = drawn(quote, cut.id)
        await room.memory.add([code])
        assert await forgetting.forget_facts([code.id]) == 1
        assert room.memory.recent("hana", room.clock.now()) == []
        assert recent.list() == []
        [left] = await room.memory.archive.pages("hana")
        assert (left.said, left.heard) == ("Got it?", "")


async def test_a_fact_that_is_named_twice_is_counted_once(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(CODE, language="en")
        [code] = await room.memory.extract()
        assert (await room.memory.archive.forget([code.id, code.id])).facts == 1


@pytest.mark.parametrize(
    "quote", ['My boss said "you are fired" yesterday.', "My path\nis C:\\new\\home.", CODE]
)
async def test_a_recording_is_found_whatever_marks_stand_in_the_quote(
    tmp_path: Path, quote: str
) -> None:
    folder = tmp_path / RECORDINGS
    with opened(tmp_path / "memory") as room:
        turns = Turns(room.clock)
        forgetting = Forgetting(room.memory.archive, tmp_path, RecentTurns(9), turns)
        recorder = Recorder(folder, RecordingSection(keep_turns=True))
        recorder.turn_finished(turn(f"Again: {quote}", language="en", id_="again"))
        recorder.turn_finished(turn(BOAT, language="en", id_="boat"))
        broken = next(folder.rglob("*-boat.json")).with_name("120000-broken.json")
        broken.write_text(f'{{"transcript": "{CODE}')
        told = drawn(quote)
        await room.memory.add([told])
        await forgetting.forget_facts([told.id])
    left = {file.stem.partition("-")[2] for file in folder.rglob("*.json")}
    assert left == ({"boat"} if quote == CODE else {"boat", "broken"})


async def test_of_a_running_turn_goes_what_tells_of_a_forgotten_fact_and_no_more(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.tell(CODE, language="en")
        [code] = await room.memory.extract()
        turns = Turns(room.clock, (room.memory,))
        forgetting = Forgetting(room.memory.archive, tmp_path, RecentTurns(9), turns)
        with turns.record("robot", "hana") as said_again, turns.record("robot", "hana") as recalled:
            said_again.transcript = Transcript(f"{CODE} {BOAT}", "en")
            recalled.transcript = Transcript("My sister had a baby today.", "en")
            recalled.recalled = Recollection((Recalled(code.text, NOON, 0.9, id=code.id),))
            said_again.heard = recalled.heard = "Kumquat."
            await forgetting.forget_facts([code.id])
        await room.memory._writer.settle()
        [left] = await room.memory.archive.pages("hana")
        assert (left.said, left.heard) == ("My sister had a baby today.", "")
        assert room.memory.recent("hana", room.clock.now()) == []


LONG = "長い話" * 20_000
"""Does not fit into what is left of the last pages of the file."""


async def test_who_is_forgotten_on_a_full_disk_does_not_come_back(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("こんにちは。", person="taro")
        await room.memory.keep_up()
        with full_disk(room.memory._store):
            room.tell(LONG)
            room.tell(LONG, person="taro")
            assert await room.memory.archive.forget_person("hana") == 0
        await room.memory.keep_up()
        assert await room.memory.archive.persons() == ["taro"]
        assert len(await room.memory.archive.pages("taro")) == 2


async def test_what_waits_for_room_on_the_disk_does_not_bring_a_forgotten_fact_back(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.tell(CODE, language="en")
        [code] = await room.memory.extract()
        with full_disk(room.memory._store):
            room.tell(f"{CODE} {LONG}", LONG, language="en")
            await room.memory.keep_up()
            await room.memory.archive.forget([code.id])
        await room.memory.keep_up()
        assert [each.said for each in await room.memory.archive.pages("hana")] == [LONG]


async def test_what_can_not_be_forgotten_is_whole_afterwards_and_the_caller_hears_of_it(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.tell(CODE, language="en")
        [code] = await room.memory.extract()
        before = room.memory.recent("hana", room.clock.now())
        with unwritable(room.memory._store):
            for forget in (
                lambda: room.memory.archive.forget_person("hana"),
                lambda: room.memory.archive.forget([code.id]),
            ):
                with pytest.raises(StoreError) as caught:
                    await forget()
                assert caught.value.code == "store-full"
                assert "Nothing was changed" in str(caught.value)
        assert room.memory.recent("hana", room.clock.now()) == before
        assert await room.known() == [code.text]
        assert len(await room.memory.archive.pages("hana")) == 1


@contextmanager
def unwritable(store: Store) -> Iterator[None]:
    """Let no change through, as a disk does that is full to the last byte."""
    engine = store._database.engine

    def refuse(connection: Connection, *_: object) -> None:
        raise OperationalError("COMMIT", {}, sqlite3.OperationalError("database or disk is full"))

    event.listen(engine, "commit", refuse)
    yield
    event.remove(engine, "commit", refuse)


async def test_what_was_read_by_somebody_while_it_was_forgotten_is_overwritten_later(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.tell(CODE, language="en")
        [code] = await room.memory.extract()
        with closing(sqlite3.connect(tmp_path / "memory.db")) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM facts").fetchall()
            with capture_logs() as logs:
                await room.memory.archive.forget([code.id])
            assert {line["code"] for line in logs} == {"store-locked"}
            assert b"kumquat" in bytes_of(tmp_path)
        await room.memory.keep_up()
        assert b"kumquat" not in bytes_of(tmp_path)


async def test_what_was_not_overwritten_before_a_restart_is_afterwards(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        database = room.memory._store._database
        room.memory._store.scrub_again()
        assert not database.is_unscrubbed
        with closing(sqlite3.connect(tmp_path / "memory.db")) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM facts").fetchall()
            room.tell(CODE, language="en")
            await room.memory.extract()
            await room.memory.archive.forget_person("hana")
    steps: list[str] = []
    with opened(tmp_path) as again:
        database = again.memory._store._database
        assert database.is_unscrubbed
        database.engine.dispose()
        event.listen(
            database.engine,
            "connect",
            lambda connection, _record: connection.set_trace_callback(steps.append),
        )
        await again.memory.keep_up()
        assert "VACUUM" in steps
    with opened(tmp_path) as third:
        assert not third.memory._store._database.is_unscrubbed


def telling_bytes(vector: Vector) -> bytes:
    unit = vector / np.linalg.norm(vector)
    return bytes(unit.astype("<f4").tobytes()[:32])


@pytest.mark.parametrize("engine", ["edge", "qdrant"])
async def test_the_vector_of_a_forgotten_fact_is_in_no_file(tmp_path: Path, engine: str) -> None:
    with opened(tmp_path, index={"engine": engine}) as room:
        room.tell(CODE, BOAT, language="en")
        code, boat = await room.memory.extract()
        await room.recalled("boat", language="en")
        index, shelves = room.memory._index, room.memory._shelves
        vectors = room.memory._store.vectors.of("hana", shelves.stamp)
        needle = telling_bytes(vectors[code.id])
        if engine == "edge":  # the other one keeps them pickled
            assert needle in bytes_of(tmp_path / "index")
        async with anyio.create_task_group() as tasks:  # somebody asks meanwhile
            tasks.start_soon(room.recalled, "boat")
            await room.memory.archive.forget([code.id])
        await room.recalled("boat", language="en")
        assert index.ids("hana") == {boat.id}
        assert needle not in bytes_of(tmp_path / "index")
        assert vectors[code.id].tobytes()[:32] not in bytes_of(tmp_path)


async def test_an_index_that_is_away_does_not_keep_anything_from_being_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as room:
        room.tell(CODE, language="en")
        [code] = await room.memory.extract()
        await room.recalled("code", language="en")
        index = room.memory._index

        def away(person: str) -> None:
            raise StoreError("index-unreachable", "Check the network.")

        with monkeypatch.context() as patched, capture_logs() as logs:
            patched.setattr(index, "erase", away)
            assert (await room.memory.archive.forget([code.id])).facts == 1
            assert await room.memory.archive.forget_person("hana") == 0
        assert [line["code"] for line in logs] == ["index-unreachable"] * 2
        assert index.ids("hana") == {code.id}
        await room.memory.keep_up()
        assert index.ids("hana") == set()


@pytest.mark.parametrize("is_all", [True, False])
@pytest.mark.parametrize("engine", ["edge", "qdrant"])
async def test_what_an_index_could_not_erase_is_erased_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, is_all: bool
) -> None:
    with opened(tmp_path, index={"engine": engine}) as room:
        room.tell(CODE, BOAT, language="en")
        code, boat = await room.memory.extract()
        room.tell(BOAT, person="ken", language="en")
        await room.memory.extract()
        for person in ("hana", "ken"):
            await room.recalled("boat", person, language="en")
        vectors = room.memory._store.vectors.of("hana", room.memory._shelves.stamp)
        needle = telling_bytes(vectors[code.id])

        def away(person: str) -> None:
            raise StoreError("index-failed", "Check the disk.")

        with monkeypatch.context() as patched:
            patched.setattr(room.memory._index, "erase", away)
            await (
                room.memory.archive.forget_person("hana")
                if is_all
                else room.memory.archive.forget([code.id])
            )
        assert code.id in room.memory._index.ids("hana")
    with opened(tmp_path, clock=room.clock, index={"engine": engine}) as again:
        index = again.memory._index
        if not is_all:
            await again.recalled("boat", language="en")
        assert index.ids("hana") == (set() if is_all else {boat.id})
        assert len(index.ids("ken")) == 1
        assert needle not in bytes_of(tmp_path / "index")
