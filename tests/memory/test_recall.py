"""Recall over a store: of the person who asks only, whatever marks stand at the end, and never an error."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Literal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from server.config import EmbeddingSection
from server.embedding import build
from server.memory.terms import analyse
from server.ports import Embedder, EmbeddingError, TextKind, Vectors
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, Room, fact, opened

Mode = Literal["hybrid", "article"]
DAY = timedelta(days=1)
MARKS = ("", "?", "？")
PHRASINGS = (
    ("週末はどこへ行くんだっけ", "ラーメンはどこで食べたっけ", "ギターはいつから習ってるんだっけ", "映画は何を見たっけ", "富士山には登ったっけ"),
    ("週末の予定は何", "食べたラーメンの店はどこ", "楽器は何を習ってる", "見た映画は何", "登った山はどこ"),
    ("今度の週末どこに行くか覚えてる", "ラーメン屋の名前を覚えてる", "ギターを始めたのを覚えてる", "映画の名前を覚えてる", "富士山の話を覚えてる"),
    ("週末の予定を教えて", "ラーメンの話をして", "習い事を教えて", "最近見た映画を教えて", "山登りの話をして"),
)  # fmt: skip
"""Four ways to ask five questions; nothing is known about films and Mount Fuji."""
FACTS = (
    "あなたは今度の週末（2026年10月3日）に箱根へ旅行に行く予定だ。",
    "あなたは駅前の「麺屋さくら」でラーメンを食べた。",
    "あなたは先月からギターを習っている。",
    "あなたは猫のタマを飼っている。",
    "あなたの妹は大阪に住んでいる。",
)


HAKONE = (
    "あなたは2026年10月3日に友達と箱根へ行く予定だ。",
    "あなたは2026年10月3日（土）に友達と箱根へ行く予定だ。",
    "あなたは来週の土曜（2026年10月3日）に友達と箱根へ行く予定だ。",
    "あなたは2026年10月3日（土）の週末に友達と箱根へ旅行に行く予定だ。",
)
"""The four ways in which the article wrote the memory that it lost over one question mark."""
ABOUT_HAKONE = ("週末の予定覚えてる", "箱根旅行のこと覚えてる", "来週の予定って何だっけ", "今度の旅行どこだっけ", "今週末じゃなくて次の週末、空いてたっけ")  # fmt: skip
"""Its five questions: weekend plans, the trip, plans of next week, the coming trip, whether the weekend is free."""
BESIDE_HAKONE = (
    "あなたは今日（2026年9月27日）、駅前の豚骨ラーメンを食べた。",
    "あなたは先月からギターを習っている。",
    "あなたは猫のミケを飼っている。",
)


@pytest.fixture(scope="module")
def real() -> Embedder:
    return build(EmbeddingSection(engine="use"))


async def test_what_is_remembered_is_recalled_with_its_scores(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        await room.memory.add([fact(text) for text in FACTS])
        [first, *_] = (await room.memory.recall("hana", "ギターは誰に習ってる", "ja")).lines
        assert (first.text, first.id, first.at) == (FACTS[2], FACTS[2], NOON)
        assert first.parts["final"] == first.score


@pytest.mark.parametrize("mode", ["hybrid", "article"])
async def test_nobody_is_told_what_another_person_said(tmp_path: Path, mode: Mode) -> None:
    """Rows 7, 45 and 46."""
    everything = {"mode": mode, "gate": 0.0, "article": {"threshold": -1}}
    with opened(tmp_path, retrieval=everything) as room:
        for person in ("hana", "taro", "HANA", "hana "):
            texts = [f"あなたの暗証番号は{person}だ。", *FACTS]
            await room.memory.add(
                [fact(text, person=person, id_=f"{person}/{text}") for text in texts]
            )
        for person in ("hana", "taro", "HANA", "hana ", "nobody", "../hana", ""):
            found = await room.memory.search(person, "暗証番号は何だっけ", "ja")
            assert {candidate.fact.person for candidate in found} <= {person}
            lines = (await room.memory.recall(person, "暗証番号は何だっけ", "ja")).lines
            assert all(line.id.startswith(f"{person}/") for line in lines)
            assert bool(lines) == (person in ("hana", "taro", "HANA", "hana "))


async def test_marks_at_the_end_change_nothing(tmp_path: Path) -> None:
    """The article lost the plan for Hakone over one question mark."""
    with opened(tmp_path) as room:
        await room.memory.add([fact(text) for text in FACTS])
        for questions in PHRASINGS:
            for question in questions:
                recalled = {mark: await room.recalled(question + mark) for mark in MARKS}
                assert len({tuple(texts) for texts in recalled.values()}) == 1, recalled


@pytest.mark.model
async def test_marks_change_nothing_for_a_real_embedder(tmp_path: Path, real: Embedder) -> None:
    with opened(tmp_path, embedder=real) as room:
        await room.memory.add([fact(text) for text in FACTS])
        for questions in PHRASINGS:
            for question in questions:
                recalled = {mark: await room.recalled(question + mark) for mark in MARKS}
                assert len({tuple(texts) for texts in recalled.values()}) == 1, recalled


async def test_at_most_so_many_as_configured_are_recalled(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0, "limit": 2}) as room:
        await room.memory.add([fact(text) for text in FACTS])
        assert len(await room.recalled("ギターは誰に習ってる")) == 2
        found = await room.memory.search("hana", "ギターは誰に習ってる", "ja")
        left = [candidate.reason for candidate in found if not candidate.passed]
        assert set(left) == {"others are more relevant"}
        assert len(found) == len(FACTS)


async def test_what_was_replaced_is_never_recalled(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        old, new = fact("あなたは東京に住んでいる。"), fact("あなたは大阪に住んでいる。")
        room.memory._store.add_facts([old, new], NOON, superseded={old.id: new.id})
        await room.memory.catch_up()
        assert await room.recalled("どこに住んでいるんだっけ") == [new.text]


class HeldUp(FakeEmbedder):
    """Embeds at once, or, where it has an event, once that has come."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = anyio.Event()
        self.may_go: anyio.Event | None = None

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        if self.may_go is not None:
            self.is_asked.set()
            await self.may_go.wait()
        return await super().embed(texts, kind)


@pytest.mark.parametrize("mode", ["hybrid", "article"])
async def test_what_is_forgotten_while_a_question_is_embedded_is_not_recalled(
    tmp_path: Path, mode: Mode
) -> None:
    embedder = HeldUp()
    retrieval = {"mode": mode, "article": {"threshold": 0.0}, "embed_timeout_seconds": 60.0}
    with opened(tmp_path, embedder=embedder, retrieval=retrieval) as room:
        room.tell(
            "My locker code word is kumquat.",
            "Tomorrow I go to the dentist in Nara.",
            language="en",
        )
        locker, dentist = await room.memory.extract()
        asked = f"What is my locker code word, and {dentist.quote[:-1]}?"
        assert locker.text in await room.recalled(asked, language="en")
        embedder.may_go = anyio.Event()
        recalled: list[str] = []

        async def ask() -> None:
            recalled.extend(await room.recalled(asked, language="en"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await embedder.is_asked.wait()
            await room.memory.archive.forget([dentist.id])
            embedder.may_go.set()
        assert recalled == [locker.text]


async def test_an_index_that_is_erased_while_a_question_is_asked_hides_nothing(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as room:
        await room.memory.add([fact(text) for text in FACTS])
        shelves = room.memory._shelves
        shelf = await shelves.get("hana", room.clock.now())
        vector = next(entry.vector for entry in shelf.entries.values())
        room.memory._index.erase("hana")
        assert shelves.find("hana", shelf, vector, analyse("", "ja"), 3) == set(FACTS)


@pytest.mark.parametrize("failure", ["error", "slow"])
async def test_without_an_embedder_words_are_enough(tmp_path: Path, failure: str) -> None:
    embedder = FakeEmbedder()
    impatient = {"embed_timeout_seconds": 0.05, "gate": 0.0, "limit": 1}
    with opened(tmp_path, embedder=embedder, retrieval=impatient) as room:
        await room.memory.add([fact(text) for text in FACTS])
        if failure == "error":
            embedder.fails = lambda texts: EmbeddingError("embedding-failed", "no")
        else:
            embedder.seconds = 60.0
        with capture_logs() as logs:
            assert await room.recalled("ギターは誰に習ってるんだっけ") == [FACTS[2]]
        assert [line["event"] for line in logs] == ["recall-without-vectors"]


async def test_a_memory_that_cannot_be_read_recalls_nothing_and_says_why(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        await room.memory.add([fact(text) for text in FACTS])
        with room.memory._store._database.engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE changes")
        with capture_logs() as logs:
            assert await room.recalled("ギターは誰に習ってるんだっけ") == []
        told = [(line["event"], line["code"], line["part"]) for line in logs]
        assert sorted(told) == [
            ("recall-failed", "store-unwritable", part) for part in ("facts", "pages", "priming")
        ]
        assert "ギター" not in str(logs)


async def test_a_changed_fact_is_seen_at_the_next_question(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval={"gate": 0.0}) as room:
        assert await room.recalled("猫") == []
        await room.memory.add([fact("あなたは猫のタマを飼っている。", id_="1")])
        assert len(await room.recalled("猫")) == 1
        await room.memory.archive.forget(["1"])
        assert await room.recalled("猫") == []


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with opened(tmp_path_factory.mktemp("recall")) as room:
        yield room


@given(
    query=st.text(st.characters(), max_size=40), language=st.sampled_from(["ja", "en", "zh", "xx"])
)
async def test_no_query_is_too_strange(hostile: Room, query: str, language: str) -> None:
    await hostile.memory.add([fact(text) for text in FACTS])
    for candidate in await hostile.memory.search("hana", query, language):
        assert 0 <= candidate.score < 2


@pytest.mark.model
@pytest.mark.parametrize("written", HAKONE)
async def test_the_weekend_that_the_article_lost_is_recalled(tmp_path: Path, written: str) -> None:
    """Four ways to write it, five questions, three marks: all find it, and all with the same score."""
    embedder = build(EmbeddingSection())
    with opened(tmp_path, embedder=embedder) as room:
        weekend = replace(fact(written), event_from=date(2026, 10, 3), event_to=date(2026, 10, 3))
        await room.memory.add([weekend, *map(fact, BESIDE_HAKONE)])
        for question in ABOUT_HAKONE:
            scores = set()
            for mark in MARKS:
                [first, *_] = (await room.memory.recall("hana", question + mark, "ja")).lines
                assert first.text == written, question + mark
                scores.add(first.score)
            assert len(scores) == 1, question
    await embedder.aclose()


@pytest.mark.parametrize("mode", ["hybrid", "article"])
async def test_a_question_about_an_earlier_time_sees_what_was_known_then(
    tmp_path: Path, mode: str
) -> None:
    tokyo = fact("あなたは東京に住んでいる。")
    osaka = fact("あなたは大阪に住んでいる。", NOON + 2 * DAY)
    cat = fact("あなたは猫を飼っている。", NOON + 3 * DAY)
    with opened(tmp_path, retrieval={"mode": mode}) as room:
        store = room.memory._store
        store.add_facts([tokyo], NOON)
        store.add_facts([osaka], NOON + 9 * DAY, superseded={tokyo.id: osaka.id})
        store.add_facts([cat], NOON + 9 * DAY)
        await room.memory.catch_up()

        async def seen(at: datetime | None) -> set[str]:
            found = await room.memory.search("hana", "どこに住んでる？", "ja", at)
            return {candidate.fact.id for candidate in found}

        assert await seen(None) == {osaka.id, cat.id}
        assert await seen(NOON - DAY) == set()
        assert await seen(NOON) == {tokyo.id}
        assert await seen(NOON + DAY) == {tokyo.id}
        assert await seen(NOON + 2 * DAY) == {osaka.id}
        assert await seen(NOON + 30 * DAY) == {osaka.id, cat.id}
        assert await seen(None) == {osaka.id, cat.id}, "the present is left as it is"
        assert room.memory._index.ids("hana") == {osaka.id, cat.id}
