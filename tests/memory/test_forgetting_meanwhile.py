"""What was read before something was taken out of it is not stored afterwards, and made again from what is left."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from server.memory.day_summaries import DayTalk, RulesSummarizer
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import DaySummary, Page, ProfileEntry, ProfileField, Trait
from server.ports import TextKind, Vectors
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, Room, opened, turn
from tests.on_disk import bytes_of

SECRET = "母は胃がんです。"
CAT = "猫のタマを飼い始めたんだ。"

Forget = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """Forget nothing."""


def forgetting(room: Room) -> Forget:
    """Return what forgets the secret."""

    async def forget() -> None:
        facts = await room.memory.archive.facts("hana")
        await room.memory.archive.forget([fact.id for fact in facts if "胃がん" in fact.text])

    return forget


def say(room: Room, *said: str) -> None:
    """Say things, in turns whose ids tell nothing of them."""
    for text in said:
        at = room.clock.now()
        room.memory.turn_finished(turn(text, at, id_=f"turn at {at.isoformat()}"))
        room.clock.pass_time(minutes=1)


class Forgetful(RulesExtractor):
    """Forgets something while it works, once; keeps what it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.while_drawing: Forget = nothing
        self.while_portraying: Forget = nothing
        self.shown: list[str] = []

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        harvest = await super().extract(pages, attempt)
        self.shown.append(" ".join(page.said for page in pages))
        forget, self.while_drawing = self.while_drawing, nothing
        await forget()
        return harvest

    async def portray(self, pages: Sequence[Page], known: Sequence[Trait], attempt: int) -> Harvest:
        told = " ".join(page.said for page in pages)
        ids = tuple(page.id for page in pages)
        await self.while_portraying()
        return Harvest(profile=(ProfileEntry("hana", ProfileField.FAMILY, told, NOON, ids),))


class ForgetfulSummarizer(RulesSummarizer):
    """Forgets something after it has read a day, once."""

    def __init__(self, forget: Forget) -> None:
        self.forget = forget

    async def summarize(self, talk: DayTalk, attempt: int, now: datetime) -> DaySummary:
        made = await super().summarize(talk, attempt, now)
        forget, self.forget = self.forget, nothing
        await forget()
        return made


async def test_a_day_of_which_a_sentence_is_forgotten_is_summed_up_again(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        say(room, SECRET + CAT)
        await room.memory.extract()
        room.clock.pass_time(days=1)
        diary = room.memory.diary
        diary.summarizer = ForgetfulSummarizer(forgetting(room))
        assert await diary.keep_up() == 0
        assert await diary.keep_up() == 1
        [summary] = room.memory._store.portrait.summaries_of("hana", 9)
        assert "タマ" in summary.text
        assert "胃がん".encode() not in bytes_of(tmp_path)


async def test_the_profile_is_not_updated_from_what_was_forgotten_meanwhile(
    tmp_path: Path,
) -> None:
    extractor = Forgetful()
    segments = {"hot": 1.0, "similarity": 0.0}
    with opened(tmp_path, extractor, extraction={"turns": 2}, segments=segments) as room:
        say(room, SECRET + CAT, "猫のタマは魚が好きなんだ。")
        await room.memory.extract()
        extractor.while_portraying = forgetting(room)
        say(room, "猫のタマは元気です。", "猫のタマは白いんだ。")
        await room.memory.extract()
        store = room.memory._store
        assert store.portrait.profile_of("hana") == []
        assert "胃がん".encode() not in bytes_of(tmp_path)
        assert sum(segment.unread for segment in store.tiers.segments_of("hana")) == 4
        extractor.while_portraying = nothing
        say(room, *(f"猫のタマは{how}んだ。" for how in ("小さい", "眠い", "黒い", "速い")))
        await room.memory.extract()
        assert store.portrait.profile_of("hana")
        assert "胃がん".encode() not in bytes_of(tmp_path)


@pytest.mark.parametrize("is_waiting", [True, False])
async def test_a_batch_is_drawn_again_if_something_before_it_or_in_it_is_forgotten_meanwhile(
    tmp_path: Path, is_waiting: bool
) -> None:
    extractor = Forgetful()
    with opened(tmp_path, extractor) as room:
        say(room, SECRET + CAT)
        await room.memory.extract()
        again = f"{SECRET}猫のタマは元気です。" if is_waiting else "猫のタマは元気です。"
        say(room, again)
        extractor.while_drawing = forgetting(room)
        drawn = await room.memory.extract()
        assert [fact.quote for fact in drawn] == ["猫のタマは元気です。"]
        assert extractor.shown[1:] == [again, "猫のタマは元気です。"]
        assert await room.memory.archive.waiting() == 0
        assert len(await room.memory.archive.pages("hana")) == 2
        left = [*room.memory._store.tiers.chains_of("hana")]
        assert left, "it was sorted"
        for needle in ("胃がん", "胃癌"):
            assert needle.encode() not in bytes_of(tmp_path)


class ForgetfulEmbedder(FakeEmbedder):
    """Forgets something after it has read lines, once."""

    def __init__(self) -> None:
        super().__init__()
        self.forget: Forget = nothing

    async def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        vectors = await super().embed(texts, kind)
        if any("胃がん" in text for text in texts):
            forget, self.forget = self.forget, nothing
            await forget()
        return vectors


async def test_the_vector_of_a_line_is_that_of_what_is_left(tmp_path: Path) -> None:
    embedder = ForgetfulEmbedder()
    with opened(tmp_path, embedder=embedder) as room:
        say(room, SECRET + CAT)
        await room.memory.extract()
        shelves, lines = room.memory._page_shelves, room.memory._store.lines
        [page] = await room.memory.archive.pages("hana")
        lines.drop_vectors([page.id], shelves.stamp)
        embedder.forget = forgetting(room)
        await shelves.embed_missing()
        left = lines.vectors_of("hana", shelves.stamp)
        lines.drop_vectors([page.id], shelves.stamp)
        await shelves.embed_missing()
        anew = lines.vectors_of("hana", shelves.stamp)
        assert {key: vector.tolist() for key, vector in left.items()} == {
            key: vector.tolist() for key, vector in anew.items()
        }
