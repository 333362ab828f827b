"""What becomes of facts that were drawn: they repeat, replace or stand beside others, and get their vectors."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from server.config import EmbeddingSection
from server.embedding import build
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import Fact, Kind, Page
from server.ports import EmbeddingError
from tests.fakes import FakeEmbedder
from tests.memory.remembering import CAT, DOG, fact, opened
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_is_told_six_times_is_one_fact_with_six_sources(
    tmp_path: Path, at_once: bool
) -> None:
    """Row 22."""
    with opened(tmp_path, Retelling("あなたは猫のタマを飼っている。")) as room:
        for number in range(6):
            room.tell(f"{number}回目だけど、猫のタマを飼ってるよ。")
            if not at_once:
                await room.memory.extract()
        await room.memory.extract()
        [known] = await room.memory.archive.facts("hana")
        assert len(known.sources) == 6


async def test_without_vectors_a_repetition_is_still_one(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.fails = lambda texts: EmbeddingError("embedding-unreachable", "no")
    with opened(tmp_path, Retelling("あなたは猫のタマを飼っている。"), embedder=embedder) as room:
        room.tell(*(f"{number}回目だけど、猫のタマを飼ってるよ。" for number in range(3)))
        await room.memory.extract()
        assert len(await room.known()) == 1


class Retelling(RulesExtractor):
    """Draws the same sentence from every exchange."""

    gives_way = False

    def __init__(self, text: str) -> None:
        self.text = text

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        facts = [
            fact(self.text, page.at, person=page.person, id_=f"{page.id}", sources=(page.id,))
            for page in pages
        ]
        return Harvest(facts=tuple(facts))


async def test_facts_that_cannot_be_embedded_are_kept_and_embedded_later(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    works = embedder.fails
    embedder.fails = lambda texts: EmbeddingError("embedding-unreachable", "no")
    with opened(tmp_path, embedder=embedder) as room:
        room.tell(CAT)
        assert len(await room.memory.extract()) == 1
        assert embedder.embedded == []
        embedder.fails = works
        await room.memory.keep_up()
        assert [text for text, _ in embedder.embedded if CAT.rstrip("。") in text]
        assert {kind for _, kind in embedder.embedded} == {"passage"}
        assert await room.memory.catch_up() == 0


def refusing(word: str) -> Callable[[Sequence[str]], EmbeddingError | None]:
    def refuse(texts: Sequence[str]) -> EmbeddingError | None:
        at_fault = [place for place, text in enumerate(texts) if word in text]
        return EmbeddingError("embedding-refused", "no", positions=at_fault) if at_fault else None

    return refuse


async def test_a_text_that_cannot_be_embedded_does_not_take_the_others_along(
    tmp_path: Path,
) -> None:
    """Row 57: a whole batch failed at every turn because of one text in it."""
    embedder = FakeEmbedder()
    embedder.fails = refusing("猫")
    with opened(tmp_path, embedder=embedder) as room:
        room.tell(CAT, DOG, "鳥も飼っているよ。")
        await room.memory.extract()
        assert len(await room.known()) == 3
        assert not any("猫" in text for text, _ in embedder.embedded)
        assert await room.memory.catch_up() == 0
        embedder.fails = lambda texts: None
        assert await room.memory.catch_up() == 1


async def held(folder: Path, *told: tuple[str, Kind]) -> tuple[list[str], list[Fact]]:
    """Put facts in one after the other, a day apart; return what holds at the end, and all."""
    with opened(folder, embedder=build(EmbeddingSection(engine="use"))) as room:
        for text, kind in told:
            await room.memory.add([fact(text, room.clock.now(), kind=kind)])
            room.clock.pass_time(days=1)
        return await room.known(), await room.memory.archive.facts("hana")


@pytest.mark.model
async def test_who_moved_lives_in_one_place(tmp_path: Path) -> None:
    """Row 31."""
    old, new = "あなたは東京に住んでいる。", "あなたは大阪に引っ越した。"
    known, everything = await held(tmp_path, (old, Kind.PROFILE), (new, Kind.EVENT))
    assert known == [new]
    assert everything[0].superseded_by == new
    assert everything[0].superseded_at is not None


@pytest.mark.model
async def test_what_is_now_otherwise_replaces_what_was(tmp_path: Path) -> None:
    """Row 30."""
    old, new = "あなたの好きな色は青だ。", "あなたの好きな色は今は赤だ。"
    known, _ = await held(tmp_path, (old, Kind.PREFERENCE), (new, Kind.PREFERENCE))
    assert known == [new]


@pytest.mark.model
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("あなたは卵アレルギーだ。", "あなたは卵アレルギーだから忘れないでほしい。"),  # row 33
        ("あなたは猫を飼っている。", "あなたの妹は猫を飼っている。"),
        ("あなたは箱根に行った。", "あなたは京都に行った。"),
    ],
)
async def test_an_addition_is_no_contradiction(tmp_path: Path, old: str, new: str) -> None:
    known, _ = await held(tmp_path, (old, Kind.OTHER), (new, Kind.OTHER))
    assert old in known


async def test_facts_that_are_put_in_as_they_stand_are_all_kept(tmp_path: Path) -> None:
    same = [fact("あなたは猫を飼っている。", id_=str(number)) for number in range(3)]
    with opened(tmp_path) as room:
        assert len(await room.memory.add(same[:2], keep_all=True)) == 2
        assert await room.memory.add(same) == []
