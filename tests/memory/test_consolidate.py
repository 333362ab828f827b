"""The write path: what waits is drawn once, whatever fails, and talk comes first."""

import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from server.errors import LlmError, OmoideError
from server.memory.extract import Extractor, RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import Origin, Page
from tests.fakes import Step
from tests.memory.remembering import (
    CAT,
    CAT_FACT,
    DOG,
    DOG_FACT,
    NOON,
    HandClock,
    Room,
    answer,
    fact,
    modelled,
    opened,
    turn,
)
from tests.memory.test_store import full_disk
from tests.on_disk import bytes_of
from tests.talks import until
from tests.virtual_time import VIRTUAL_TIME, Backend

SIX = (
    "猫のタマを飼い始めたんだ。",
    "ギターを習っているよ。",
    "母は京都で働いている。",
    "納豆が苦手なんだ。",
    "先週、車を買ったよ。",
    "毎朝走っている。",
)
FAILS = LlmError("llm-timeout", "no answer")


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class Slow(RulesExtractor):
    """Draws by the rules, after a wait in which anything may happen."""

    def __init__(self, seconds: float = 30.0, *, gives_way: bool = True) -> None:
        self.seconds = seconds
        self.gives_way = gives_way
        self.begun: list[list[str]] = []
        self.ended = 0

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        self.begun.append([page.said for page in pages])
        await anyio.sleep(self.seconds)
        self.ended += 1
        return await RulesExtractor().extract(pages, attempt)


async def waiting(room: Room) -> int:
    """Return how many exchanges wait, whenever they may be tried."""
    pages = room.memory._store.queue.waiting()
    return sum(len(each) for each in pages.values())


async def test_what_was_drawn_is_returned_and_not_drawn_again(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell(CAT, "おはよう。", DOG)
        stored = await room.memory.extract()
        assert [each.quote for each in stored] == [CAT, DOG]
        assert await waiting(room) == 0
        assert await room.memory.extract() == []
        assert await room.memory.archive.facts("hana") == stored


async def test_the_last_exchange_is_drawn_though_it_was_finished_only_now(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        for number in range(30):
            room.tell(f"猫を{number}匹飼ってるよ。")
        assert len(await room.memory.extract()) == 30


async def test_a_model_that_fails_leaves_everything_queued_until_it_works(tmp_path: Path) -> None:
    """Row 18: a failure was taken for "no facts"."""
    good = answer((1, CAT, CAT_FACT), (2, DOG, DOG_FACT))
    extractor, llm = modelled([FAILS], ["Error: no response"], [good])
    with opened(tmp_path, extractor) as room:
        room.tell(CAT, DOG)
        for attempt in (1, 2):
            with pytest.raises(OmoideError):
                await room.memory.extract("hana")
            assert await waiting(room) == 2
            assert await room.memory.extract("hana") == [], "too early to try again"
            room.clock.pass_time(minutes=2**attempt)
        assert len(await room.memory.extract("hana")) == 2
        assert await room.known() == [CAT_FACT, DOG_FACT]
        assert await waiting(room) == 0
    decodings = [prompt.decoding for prompt in llm.background_prompts]
    assert len({each.temperature for each in decodings if each is not None}) == 3


async def test_an_answer_that_breaks_off_is_asked_for_again_before_it_is_taken(
    tmp_path: Path,
) -> None:
    whole = answer((1, CAT, CAT_FACT), (2, DOG, DOG_FACT))
    extractor, _ = modelled([whole[: whole.index("}") + 3]])
    with opened(tmp_path, extractor, extraction={"attempts": 3}) as room:
        room.tell(CAT, DOG)
        for _ in range(2):
            with pytest.raises(OmoideError):
                await room.memory.extract()
            assert await waiting(room) == 2
            room.clock.pass_time(hours=1)
        assert len(await room.memory.extract()) == 1
        assert await room.known() == [CAT_FACT]


async def test_a_model_that_writes_only_what_nobody_said_is_asked_again(tmp_path: Path) -> None:
    """An echoed prompt, say: else the exchanges would be done with."""
    echo = answer((1, "昨日、妹の美咲と動物園に行った。", "あなたは妹の美咲と動物園に行った。"))
    with opened(tmp_path, modelled([echo], [answer((1, CAT, CAT_FACT))])[0]) as room:
        room.tell(CAT)
        with pytest.raises(OmoideError):
            await room.memory.extract()
        assert await waiting(room) == 1
        assert len(await room.memory.extract(put_off=True)) == 1


async def test_who_asks_for_it_need_not_wait_until_it_is_time_to_try_again(tmp_path: Path) -> None:
    good = answer((1, CAT, CAT_FACT))
    with opened(tmp_path, modelled([FAILS], [good])[0]) as room:
        room.tell(CAT)
        with pytest.raises(OmoideError):
            await room.memory.extract()
        assert await room.memory.extract() == []
        assert len(await room.memory.extract(put_off=True)) == 1


async def test_what_failed_while_the_clock_was_ahead_does_not_wait_for_that_time(
    tmp_path: Path,
) -> None:
    good = answer((1, CAT, CAT_FACT))
    with opened(tmp_path, modelled([FAILS], [good])[0]) as room:
        room.clock.pass_time(days=3650)
        room.tell(CAT)
        with pytest.raises(OmoideError):
            await room.memory.extract()
        room.clock.pass_time(days=-3650)
        await room.memory.keep_up()
        assert await room.known() == [CAT_FACT]


async def test_what_failed_is_tried_again_after_a_restart(tmp_path: Path) -> None:
    """Row 18."""
    with opened(tmp_path, modelled([FAILS])[0]) as room:
        room.tell(CAT)
        with pytest.raises(OmoideError):
            await room.memory.extract()
    clock = HandClock(room.clock.now())
    clock.pass_time(minutes=5)
    with opened(tmp_path, clock=clock) as room:
        assert len(await room.memory.extract()) == 1


async def test_after_enough_failures_the_persons_own_words_are_kept(tmp_path: Path) -> None:
    extractor, llm = modelled(["There is nothing to say about that."])
    with opened(tmp_path, extractor, extraction={"attempts": 3}) as room:
        room.tell(CAT)
        for _ in range(3):
            with pytest.raises(OmoideError):
                await room.memory.extract()
            room.clock.pass_time(hours=1)
        [kept] = await room.memory.extract()
        assert (kept.origin, kept.quote) == (Origin.RULES, CAT)
        assert len(llm.background_prompts) == 3


async def test_a_fault_in_an_extractor_is_told_without_a_word_of_the_talk(tmp_path: Path) -> None:
    class Broken(RulesExtractor):
        gives_way = True

        async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
            raise RuntimeError(pages[0].said)

    with opened(tmp_path, Broken()) as room, capture_logs() as logs:
        room.tell(CAT)
        with pytest.raises(OmoideError) as caught:
            await room.memory.extract()
        assert caught.value.code == "extraction-failed"
        assert await waiting(room) == 1
    assert "extraction-put-off" in [line["event"] for line in logs]
    assert "猫" not in str(logs)


async def test_one_persons_failure_is_no_others(tmp_path: Path) -> None:
    class FailsFor(RulesExtractor):
        async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
            if pages[0].person == "hana":
                raise FAILS
            return await super().extract(pages, attempt)

    with opened(tmp_path, FailsFor()) as room:
        room.tell(CAT)
        room.tell(DOG, person="taro")
        assert [each.person for each in await room.memory.extract()] == ["taro"]
        assert await waiting(room) == 1


async def test_many_exchanges_are_drawn_in_batches(tmp_path: Path) -> None:
    slow = Slow(0)
    with opened(tmp_path, slow, extraction={"turns": 8}) as room:
        room.tell(*(f"猫を{number}匹飼ってるよ。" for number in range(20)))
        await room.memory.extract()
    assert [len(batch) for batch in slow.begun] == [8, 8, 4]


async def test_a_batch_ends_where_the_language_changes(tmp_path: Path) -> None:
    """A model asked in one language writes everything in it, and what is told in another is lost."""
    slow = Slow(0)
    english = "I am learning the violin now."
    with opened(tmp_path, slow, extraction={"turns": 3}) as room:
        room.tell(CAT, DOG)
        room.tell(english, language="en")
        room.tell(*SIX[1:5])
        await room.memory.extract()
        segments = room.memory._store.tiers.segments_of("hana")
        assert await waiting(room) == 0
    assert slow.begun == [[CAT, DOG], [english], [*SIX[1:4]], [SIX[4]]]
    assert {one.language for one in segments if "violin" in one.summary} == {"en"}


async def test_each_language_is_asked_about_in_itself(tmp_path: Path) -> None:
    def told(quote: str, text: str, summary: str, keyword: str) -> list[Step]:
        topic = {"turns": [1], "keywords": [keyword], "summary": summary}
        fact = {"turn": 1, "quote": quote, "text": text, "kind": "event"}
        return [json.dumps({"facts": [fact], "topics": [topic]}, ensure_ascii=False)]

    english = "I am learning the violin now."
    extractor, llm = modelled(
        told(CAT, CAT_FACT, "猫を飼い始めたこと。", "猫"),
        told(english, "You are learning the violin.", "The speaker learns it.", "violin"),
    )
    with opened(tmp_path, extractor) as room:
        room.tell(CAT)
        room.tell(english, language="en")
        stored = await room.memory.extract()
        segments = room.memory._store.tiers.segments_of("hana")
    assert [(each.language, each.text) for each in stored] == [
        ("ja", CAT_FACT),
        ("en", "You are learning the violin."),
    ]
    assert [(one.language, one.summary) for one in segments] == [
        ("ja", "猫を飼い始めたこと。"),
        ("en", "The speaker learns it."),
    ]
    assert [prompt.language for prompt in llm.background_prompts] == ["ja", "en"]


async def test_who_begins_to_talk_ends_extraction_at_once_and_it_is_resumed(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow, extraction={"turns": 2}) as room:
        room.tell(*SIX)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await until(lambda: len(slow.begun) == 2)
            room.memory.make_way()
        assert (len(slow.begun), slow.ended) == (2, 1)
        assert len(await room.known()) == 2, "what was done stays done"
        room.memory.make_way()  # nothing runs: nothing happens
        assert len(await room.memory.extract()) == 4
        assert slow.begun[2] == slow.begun[1]


async def test_who_begins_to_talk_ends_it_for_everybody(tmp_path: Path) -> None:
    """The model has to be free, whosoever's exchanges it would have been on next."""
    slow = Slow()
    with opened(tmp_path, slow) as room:
        room.tell(CAT)
        room.tell(DOG, person="taro")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await until(lambda: bool(slow.begun))
            room.memory.make_way()
        assert (len(slow.begun), slow.ended) == (1, 0)
        assert len(await room.memory.extract()) == 2


async def test_a_service_far_away_need_not_stop_for_talk(tmp_path: Path) -> None:
    slow = Slow(gives_way=False)
    with opened(tmp_path, slow) as room:
        room.tell(CAT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await until(lambda: bool(slow.begun))
            room.memory.make_way()
        assert len(await room.known()) == 1


async def test_what_was_interrupted_or_missed_is_taken_up_in_silence(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow, extraction={"silence_minutes": 5}) as room:
        room.tell(CAT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await until(lambda: bool(slow.begun))
            room.memory.make_way()
        await room.memory.keep_up()
        assert await room.known() == [], "hana may still be talking"
        room.clock.pass_time(minutes=5)
        await room.memory.keep_up()
        assert len(await room.known()) == 1


async def test_facts_that_come_in_during_a_slow_extraction_stay(tmp_path: Path) -> None:
    """Row 27: a snapshot taken before the call to the model was written back."""
    slow = Slow()
    with opened(tmp_path, slow) as room:
        room.tell(CAT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await until(lambda: bool(slow.begun))
            room.memory._store.add_facts([fact(DOG_FACT)], room.clock.now())
            room.tell("鳥も飼っているよ。")
        assert len(await room.known()) == 2
        await room.memory.extract()
        assert len(await room.known()) == 3


async def test_who_is_forgotten_during_extraction_stays_forgotten(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as room:
        room.tell(CAT)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await until(lambda: bool(slow.begun))
            await room.memory.archive.forget_person("hana")
        assert slow.ended == 1
        assert await room.memory.archive.persons() == []


async def test_two_extractions_at_once_draw_everything_once(tmp_path: Path) -> None:
    slow = Slow()
    with opened(tmp_path, slow) as room:
        room.tell(CAT, DOG)
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(room.memory.extract)
        assert len(slow.begun) == 1
        assert len(await room.known()) == 2


async def test_an_extractor_can_be_changed_while_memory_is_open(tmp_path: Path) -> None:
    better: Extractor = modelled([answer((1, CAT, CAT_FACT))])[0]
    with opened(tmp_path) as room:
        room.memory.consolidator.extractor = better
        room.tell(CAT)
        assert [each.text for each in await room.memory.extract()] == [CAT_FACT]


async def test_nothing_of_an_error_text_gets_into_any_layer(tmp_path: Path) -> None:
    """Row 3."""
    extractor, _ = modelled(["Error: Could not get response from LLM."])
    with opened(tmp_path, extractor) as room:
        room.tell(CAT)
        with pytest.raises(OmoideError):
            await room.memory.extract()
    assert b"Could not get" not in bytes_of(tmp_path)


async def test_a_full_disk_at_the_end_of_an_extraction_loses_no_exchange(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        store = room.memory._store
        store.add_facts([fact("x" * 100)], NOON)
        for number in range(40):
            room.memory.turn_finished(
                turn(f"猫を飼ってるよ、{'とても' * 60}。", NOON, id_=str(number))
            )
        await room.memory._writer.settle()
        with full_disk(store), pytest.raises(OmoideError) as caught:
            await room.memory.extract()
        assert caught.value.code == "store-full"
        room.clock.pass_time(hours=1)
        await room.memory.keep_up()
        assert await waiting(room) == 0
