"""What heats a segment, and when the profile is updated from the hot ones: a second call of the model, so not often."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from server.errors import LlmError
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest, Topic
from server.memory.models import Fact, Page, Trait
from server.turn import Recalled, RecalledPage, Recollection
from tests.memory.remembering import NOON, Room, opened, turn
from tests.talks import until

ALLERGY = "私はえびアレルギーなんだ。"
CAT = "猫のタマを飼ってるよ。"


class Sorted(RulesExtractor):
    """Takes all pages with one of its words for one topic, and keeps what it is asked to portray."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words
        self.portrayed: list[list[str]] = []
        self.failure: Exception | None = None

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        topics = [
            Topic(frozenset({word}), f"{word}の話。", tuple(p.id for p in pages if word in p.said))
            for word in self.words
        ]
        drawn = await super().extract(pages, attempt)
        return replace(drawn, topics=tuple(topic for topic in topics if topic.pages))

    async def portray(
        self, pages: Sequence[Page], known: Sequence[Trait], attempt: int
    ) -> Harvest | None:
        self.portrayed.append([page.said for page in pages])
        if self.failure is not None:
            raise self.failure
        return Harvest()


async def visits(room: Room, person: str = "hana") -> dict[str, int]:
    """Return how often each segment was visited, by its keywords."""
    await room.memory._writer.settle()
    segments = room.memory._store.tiers.segments_of(person)
    return {"".join(sorted(segment.keywords)): segment.visits for segment in segments}


async def test_what_stands_in_every_prompt_heats_nothing_and_what_came_to_mind_does(
    tmp_path: Path,
) -> None:
    """Row 82: a fact that stands would heat its segment at every turn, whatever is talked of."""
    with opened(tmp_path, Sorted("えび", "猫")) as room:
        room.tell(ALLERGY, CAT)
        await room.memory.extract()
        allergy, cat = await room.memory.archive.pages("hana")
        grave = Recalled(ALLERGY, NOON, 1.0, id="allergy", sources=(allergy.id,))
        line = Recalled(CAT, NOON, 1.0, id="cat", sources=(cat.id,))
        page = RecalledPage(allergy.id, ALLERGY, "", NOON, 1.0)
        for recalled, told, expected in (
            (Recollection(standing=(grave,)), ("allergy",), {"えび": 0, "猫": 0}),
            (Recollection((line,), standing=(grave,)), ("allergy", "cat"), {"えび": 0, "猫": 1}),
            (Recollection((line,), standing=(grave,)), ("allergy",), {"えび": 0, "猫": 1}),
            (Recollection((grave,), standing=(grave,)), ("allergy",), {"えび": 1, "猫": 1}),
            (Recollection(pages=(page,)), (allergy.id,), {"えび": 2, "猫": 1}),
        ):
            asked = turn("何を食べようかな。", room.clock.now())
            asked.recalled, asked.told = recalled, told
            room.memory.turn_finished(asked)
            assert await visits(room) == expected


def said(word: str, first: int, last: int) -> list[str]:
    return [f"{word}のことを{number}回話したよ。" for number in range(first, last)]


@pytest.mark.parametrize(
    ("batches", "portrayed"),
    [
        pytest.param([said("猫", 0, 8), said("猫", 8, 15)], [], id="too little for a call"),
        pytest.param(
            [said("猫", 0, 8), said("猫", 8, 16)],
            [said("猫", 0, 16)],
            id="two batches of new pages",
        ),
        pytest.param(
            [said("猫", 0, 8), said("猫", 8, 15), said("犬", 0, 6)],
            [],
            id="nothing was added to most of what is hot",
        ),
        pytest.param(
            [said("猫", 0, 8), said("犬", 0, 7), said("猫", 8, 9) + said("犬", 7, 8)],
            [said("猫", 0, 8) + said("犬", 0, 7) + said("猫", 8, 9) + said("犬", 7, 8)],
            id="all that is hot in one call",
        ),
        pytest.param(
            [said("猫", 0, 8), said("猫", 8, 16), said("猫", 16, 24)],
            [said("猫", 0, 16)],
            id="what was read does not count again",
        ),
    ],
)
async def test_the_profile_is_updated_when_a_batch_adds_enough_to_what_is_hot(
    batches: list[list[str]], portrayed: list[list[str]], tmp_path: Path
) -> None:
    extractor = Sorted("猫", "犬")
    with opened(tmp_path, extractor) as room:
        for batch in batches:
            room.tell(*batch)
            await room.memory.extract()
            room.clock.moment += timedelta(hours=1)
    assert extractor.portrayed == portrayed


@pytest.mark.parametrize(
    ("failure", "event"),
    [
        pytest.param(LlmError("llm-timeout", "no answer"), "portrait-put-off", id="of the model"),
        pytest.param(RuntimeError("猫のことを話したよ"), "portrait-fault", id="of the program"),
    ],
)
async def test_a_portrait_that_fails_fails_nothing_that_is_stored_and_is_tried_again(
    failure: Exception, event: str, tmp_path: Path
) -> None:
    extractor = Sorted("猫")
    extractor.failure = failure
    with opened(tmp_path, extractor) as room, capture_logs() as logs:
        room.tell(*said("猫", 0, 16))
        assert (
            len(await room.memory.extract()) == len(await room.memory.archive.facts("hana")) == 16
        )
        assert await room.memory.archive.waiting("hana") == 0
        room.tell(*said("猫", 16, 17))
        extractor.failure = None
        await room.memory.extract()
        room.tell(*said("猫", 17, 18))
        await room.memory.extract()
    assert extractor.portrayed == [said("猫", 0, 16), said("猫", 0, 17)]
    assert event in [line["event"] for line in logs]
    assert "extraction-put-off" not in [line["event"] for line in logs]
    assert "猫" not in str(logs)


async def test_who_begins_to_talk_ends_a_portrait_and_not_what_was_drawn(tmp_path: Path) -> None:
    class Slow(Sorted):
        gives_way = True

        async def portray(
            self, pages: Sequence[Page], known: Sequence[Trait], attempt: int
        ) -> Harvest:
            self.portrayed.append([page.said for page in pages])
            await anyio.sleep_forever()
            return Harvest()

    extractor = Slow("猫")
    with opened(tmp_path, extractor) as room:
        room.tell(*said("猫", 0, 16))
        drawn: list[Fact] = []

        async def extract() -> None:
            drawn.extend(await room.memory.extract())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(extract)
            await until(lambda: bool(extractor.portrayed))
            room.memory.make_way()
        assert room.memory.consolidator.gave_way
        assert len(drawn) == 16
        assert await room.memory.archive.waiting("hana") == 0


async def unread(room: Room, person: str = "hana") -> list[int]:
    return [segment.unread for segment in room.memory._store.tiers.segments_of(person)]


async def test_of_very_many_pages_the_oldest_are_read_first_and_the_others_stay_unread(
    tmp_path: Path,
) -> None:
    extractor = Sorted("猫")
    with opened(tmp_path, extractor) as room:
        extractor.failure = LlmError("llm-timeout", "no answer")
        room.tell(*said("猫", 0, 56))
        await room.memory.extract()
        extractor.failure, extractor.portrayed = None, []
        for last, left in ((57, 17), (58, 0)):
            room.tell(*said("猫", last - 1, last))
            await room.memory.extract()
            assert await unread(room) == [left]
    assert extractor.portrayed == [said("猫", 0, 40), said("猫", 40, 58)]


async def test_a_batch_larger_than_what_is_read_at_once_does_not_pile_up(tmp_path: Path) -> None:
    extractor = Sorted("猫")
    with opened(tmp_path, extractor, extraction={"turns": 60}) as room:
        room.tell(*said("猫", 0, 180))
        await room.memory.extract()
        assert await unread(room) == [60]
    assert extractor.portrayed == [said("猫", 0, 60), said("猫", 60, 120)]


async def test_where_nobody_can_tell_what_a_person_is_like_nothing_counts_as_read(
    tmp_path: Path,
) -> None:
    class ByRules(Sorted):
        async def portray(
            self, pages: Sequence[Page], known: Sequence[Trait], attempt: int
        ) -> Harvest | None:
            return await RulesExtractor().portray(pages, known, attempt)

    with opened(tmp_path, ByRules("猫")) as room:
        room.tell(*said("猫", 0, 17))
        await room.memory.extract()
        assert await unread(room) == [17]
