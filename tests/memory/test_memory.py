"""Memory as the program uses it: across restarts, kills, changes of the model and a second process."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from server.config import Config
from server.errors import StoreError
from server.memory.extract import RulesExtractor
from server.memory.opening import open_memory
from server.memory.store import Store
from server.turn import Transcript
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, HandClock, fact, opened, page, turn
from tests.on_disk import bytes_of

CAT = "猫のタマを飼ってるよ。"
QUESTION = "猫の名前は何だっけ"
EVERYTHING = {"gate": 0.0}


async def test_a_talk_goes_on_after_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("おはよう。", CAT)
        room.tell("こんにちは。", person="taro")
        before = room.memory.recent("hana", room.clock.now())
        assert [each.said for each in before] == ["おはよう。", CAT]
    with opened(tmp_path, clock=HandClock(room.clock.now())) as again:
        assert again.memory.recent("hana", again.clock.now()) == before
    later = HandClock(room.clock.now() + timedelta(hours=1))
    with opened(tmp_path, clock=later) as again:
        assert again.memory.recent("hana", later.now()) == []


async def test_what_is_listed_holds_what_was_said_though_the_disk_is_slow(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        _, writer = room.memory.kept_in
        may_write = threading.Event()
        writer.submit(may_write.wait)
        room.tell(CAT)
        threading.Timer(0.2, may_write.set).start()
        assert [page.said for page in await room.memory.archive.pages("hana")] == [CAT]
        assert (await room.memory.archive.dossier("hana")).pages


@pytest.mark.parametrize("transcript", [None, Transcript("", "ja")])
async def test_where_nothing_was_said_nothing_is_kept(
    tmp_path: Path, transcript: Transcript | None
) -> None:
    empty = turn(CAT)
    empty.transcript = transcript
    with opened(tmp_path) as room:
        room.memory.turn_finished(empty)
        assert await room.memory.extract() == []
        assert await room.memory.archive.persons() == []


@pytest.mark.parametrize("failure", ["", "llm-timeout"])
async def test_what_was_said_is_kept_though_nobody_answered(tmp_path: Path, failure: str) -> None:
    unanswered = turn(CAT)
    unanswered.heard, unanswered.error = ("すみません。" if failure else ""), failure
    with opened(tmp_path) as room:
        room.memory.turn_finished(unanswered)
        assert room.memory.recent("hana", NOON) == []
        [drawn] = await room.memory.extract()
        assert drawn.quote == CAT
        [page] = await room.memory.archive.pages("hana")
        assert page.heard == ""


async def test_a_question_that_two_turns_made_is_stored_once_and_remembered_as_it_was_asked(
    tmp_path: Path,
) -> None:
    cut, answered = turn(CAT), turn("名前は何だっけ。", NOON + timedelta(seconds=2))
    cut.heard, cut.interrupted = "", True
    answered.asked = Transcript(CAT + "名前は何だっけ。", "ja")
    with opened(tmp_path) as room:
        room.memory.turn_finished(cut)
        room.memory.turn_finished(answered)
        await room.memory.extract()
        pages = await room.memory.archive.pages("hana")
        [exchange] = room.memory.recent("hana", NOON)
    assert [page.said for page in pages] == [CAT, "名前は何だっけ。"]
    assert exchange.said == CAT + "名前は何だっけ。"


async def test_without_the_folder_of_the_index_nothing_is_lost(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        room.tell(CAT)
        await room.memory.extract()
        known = await room.recalled(QUESTION)
        assert known
    for file in (tmp_path / "index").rglob("*"):
        if file.is_file():
            file.write_bytes(b"torn")
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        assert await room.recalled(QUESTION) == known
    shutil.rmtree(tmp_path / "index")
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        assert await room.recalled(QUESTION) == known


async def test_another_embedder_takes_over_a_store_that_is_in_use(tmp_path: Path) -> None:
    """Rows 48 and 49: other dimensions made every write fail, and facts were lost silently."""
    with opened(tmp_path, embedder=FakeEmbedder("first", 64), retrieval=EVERYTHING) as room:
        room.tell(CAT)
        await room.memory.extract()
        room.tell("犬のポチも飼ってるよ。")  # still waits when the model changes
    second = FakeEmbedder("second", 96)
    with opened(tmp_path, embedder=second, retrieval=EVERYTHING) as room:
        assert len(await room.recalled(QUESTION)) == 1, "found by its words until it is embedded"
        assert await room.memory.catch_up() == 3, "a fact, and two exchanges"
        await room.memory.extract()
        assert await room.memory.catch_up() == 0
        assert len(await room.known()) == 2
        for candidate in await room.memory.search("hana", QUESTION, "ja"):
            assert candidate.parts["dense"] > 0
    first = FakeEmbedder("first", 64)
    with opened(tmp_path, embedder=first, retrieval=EVERYTHING) as room:
        assert await room.memory.catch_up() == 2, "the vectors of the first are still there"
        assert len(await room.recalled(QUESTION)) == 2


async def test_one_bad_fact_does_not_keep_the_others_from_being_embedded(tmp_path: Path) -> None:
    with opened(tmp_path, embedder=FakeEmbedder("first")) as room:
        await room.memory.add(
            [fact(f"あなたは猫を{n}匹飼っている。") for n in range(200)], keep_all=True
        )
    second = FakeEmbedder("second")
    with opened(tmp_path, embedder=second) as room:
        assert await room.memory.catch_up() == 200
        assert max(len(text) for text, _ in second.embedded) < 100


async def test_to_forget_a_person_leaves_nothing_anywhere(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        room.tell(CAT, "明日は箱根に行くんだ。")
        room.tell("犬のポチを飼ってるよ。", person="taro")
        await room.memory.extract()
        assert await room.recalled(QUESTION)
        files = names_in(tmp_path / "index")
        assert await room.memory.archive.forget_person("hana") == 2
        assert names_in(tmp_path / "index") < files
        assert room.memory.recent("hana", room.clock.now()) == []
        assert await room.recalled(QUESTION) == []
        assert await room.memory.archive.persons() == ["taro"]
        left = bytes_of(tmp_path)
        for word in ("タマ", "箱根", "hana"):
            assert word.encode() not in left
        assert "ポチ".encode() in left
        assert names_in(tmp_path / "index") < files
    assert "タマ".encode() not in bytes_of(tmp_path)


async def test_an_index_made_anew_finds_the_same(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        room.tell(CAT)
        await room.memory.extract()
        known = await room.recalled(QUESTION)
        assert await room.memory.archive.reindex("hana") == 0, "no vector was missing"
        assert await room.recalled(QUESTION) == known


async def test_strange_names_of_persons_stay_inside_the_folder(tmp_path: Path) -> None:
    """Row 81."""
    outside = tmp_path / "outside"
    with opened(tmp_path / "memory") as room:
        for person in ("../../outside", "/etc/passwd", "..", "a/b", "", "猫" * 300, "\n"):
            room.tell(CAT, person=person)
            await room.memory.extract()
            assert len(await room.known(person)) == 1
            await room.recalled(QUESTION, person)
    assert not outside.exists()
    assert names_in(tmp_path) == {"memory"}


async def test_the_store_is_closed_again_if_the_memory_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError) as caught, opened(tmp_path):
        pass
    assert caught.value.code == "store-encrypted"
    (tmp_path / "memory.db").unlink()
    with opened(tmp_path):
        pass


def test_vectors_are_kept_as_they_were_calculated(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        vector = np.random.default_rng(0).standard_normal(512).astype(np.float32)
        store.add_facts([fact("a")], NOON, vectors_by_fact={"a": vector}, stamp="m")
        assert np.array_equal(store.vectors.of("hana", "m")["a"], vector)


async def test_an_old_failure_is_told_once_and_ends(tmp_path: Path) -> None:
    with opened(tmp_path) as room, capture_logs() as logs:
        room.memory._store.pages.add(page(CAT))
        assert len(await room.memory.extract()) == 1
    assert not [line for line in logs if line["log_level"] in ("warning", "error")]


def names_in(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


HOLD = """
import sys
from pathlib import Path
from server.config import Config
from server.memory.extract import RulesExtractor
from server.memory.opening import open_memory
from tests.fakes import FakeEmbedder
from tests.memory.remembering import HandClock, page

memory = open_memory(Config(), Path(sys.argv[1]), FakeEmbedder(), RulesExtractor(), HandClock())
memory._store.pages.add(page("猫のタマを飼ってるよ。"))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_second_process_is_told_and_after_a_kill_nothing_has_to_be_unlocked(
    tmp_path: Path,
) -> None:
    """Row 72."""
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == "open\n"
        with pytest.raises(StoreError) as caught:
            open_memory(Config(), tmp_path, FakeEmbedder(), RulesExtractor(), HandClock())
        assert caught.value.code == "index-locked"
        assert "--url" in str(caught.value)
        first.send_signal(signal.SIGKILL)
    with opened(tmp_path) as room:
        assert room.memory.consolidator.last_waiting() == {"hana": NOON}


async def test_whoever_comes_to_the_robot_finds_their_facts_ready(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await room.memory.add([fact("あなたは猫を飼っている。")])
    with opened(tmp_path) as room:
        await room.memory.prepare("hana")
        assert room.memory._shelves._shelves.persons() == ["hana"]
        await room.memory.prepare("nobody")


async def test_a_store_that_can_not_be_read_is_told_by_the_question_not_at_the_door(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        room.memory._store.close()
        await room.memory.prepare("hana")
        assert (await room.memory.recall("hana", "猫は？", "ja")).lines == ()


@pytest.mark.parametrize(
    "torn",
    [
        b"",
        b"\x00\x11",
        np.ones(63, np.float32).tobytes(),
        np.ones(65, np.float32).tobytes() + b"\x01",
        np.full(64, np.nan, np.float32).tobytes(),
        np.zeros(64, np.float32).tobytes(),
    ],
)
async def test_a_torn_vector_is_left_out_told_and_made_anew(tmp_path: Path, torn: bytes) -> None:
    embedder = FakeEmbedder("first", 64)
    with opened(tmp_path, embedder=embedder, retrieval=EVERYTHING) as room:
        room.tell(CAT, "犬のポチも飼ってるよ。")
        await room.memory.extract()
        cat, _ = await room.memory.archive.facts("hana")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        connection.execute("UPDATE vectors SET data = ? WHERE fact = ?", (torn, cat.id))
        connection.commit()
    with opened(tmp_path, embedder=embedder, retrieval=EVERYTHING) as room:
        with capture_logs() as logs:
            assert len(await room.recalled(QUESTION)) == 2
        [told] = [line for line in logs if line["log_level"] == "warning"]
        assert (told["code"], told["count"]) == ("vector-torn", 1)
        await room.memory.keep_up()
        with capture_logs() as logs:
            await room.recalled(QUESTION)
        assert len(room.memory._index.ids("hana")) == 2
        shelf = await room.memory._shelves.get("hana", room.clock.now())
        assert all(entry.vector is not None for entry in shelf.entries.values())
        assert logs == []


@pytest.mark.parametrize("engine", ["edge", "qdrant"])
async def test_an_index_that_is_made_anew_alarms_nobody(tmp_path: Path, engine: str) -> None:
    async def renewals(embedder: FakeEmbedder) -> list[tuple[str, bool]]:
        settings = {"engine": engine}
        with capture_logs() as logs, opened(tmp_path, embedder=embedder, index=settings) as room:
            await room.memory.catch_up()
            await room.recalled(QUESTION)
        told = [line for line in logs if line["event"] == "index-renewed"]
        return [(line["log_level"], "Nothing is lost" in line["note"]) for line in told]

    with opened(tmp_path, embedder=FakeEmbedder(), index={"engine": engine}) as room:
        await room.memory.add([fact("あなたは猫を飼っている。")])
        await room.recalled(QUESTION)
    assert await renewals(FakeEmbedder()) == []
    assert await renewals(FakeEmbedder("second")) == [("info", True)]
    for file in (tmp_path / "index").rglob("*"):
        if file.is_file() and file.name not in ("stamp.json", "lock"):
            file.write_bytes(b"torn")
    assert await renewals(FakeEmbedder("second")) == [("warning", True)]
