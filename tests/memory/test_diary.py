"""Days are summed up once they are over: after a downtime, after a failure, after forgetting, and never while somebody talks."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import pytest
from structlog.testing import capture_logs

from server.errors import LlmError, OmoideError, StoreError
from server.memory.day_summaries import DayTalk, ModelSummarizer
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import DaySummary, Origin, Page
from server.prompting import PromptFiles
from tests.fakes import PROMPTS, FakeLlm, Step
from tests.memory.remembering import CAT, NOON, TOKYO, HandClock, Room, opened, turn
from tests.memory.tiers import note
from tests.virtual_time import VIRTUAL_TIME, Backend

DAY = timedelta(days=1)
NIGHT = datetime(2026, 9, 28, 3, 0, tzinfo=TOKYO)
"""When the day of `NOON` is over."""


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class FakeSummarizer:
    """Tells what was said, unless it is told to fail; a far one never gives way."""

    def __init__(
        self, *failures: Exception | None, seconds: float = 0.0, near: bool = False
    ) -> None:
        self.failures = list(failures)
        self.seconds = seconds
        self.gives_way = near
        self.asked: list[tuple[str, date, int]] = []
        self.ended = 0

    async def summarize(self, talk: DayTalk, attempt: int, now: datetime) -> DaySummary:
        person = talk.pages[0].person
        self.asked.append((person, talk.day, attempt))
        await anyio.sleep(self.seconds)
        self.ended += 1
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        text = " ".join(page.said for page in talk.pages)
        ids = tuple(page.id for page in talk.pages)
        return DaySummary(person, talk.day, "ja", text, (), Origin.MODEL, now, ids)


def summaries(room: Room, person: str = "hana") -> list[DaySummary]:
    return room.memory._store.portrait.summaries_of(person, 99)


def told(room: Room, person: str = "hana") -> list[tuple[int, str]]:
    return [(one.day.day, one.text) for one in summaries(room, person)]


async def settle_at(room: Room, moment: datetime) -> int:
    room.clock.moment = moment
    return await room.memory.diary.keep_up()


async def rounds(room: Room, minutes: float, every: float = 1.0) -> int:
    """Let the diary be woken every minute, as the server does."""
    made = 0
    for _ in range(round(minutes / every)):
        room.clock.pass_time(minutes=every)
        made += await room.memory.diary.keep_up()
    return made


async def test_a_day_is_summed_up_at_the_hour_and_once(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer()
        room.tell(CAT)
        assert await settle_at(room, NIGHT - timedelta(seconds=1)) == 0
        assert await settle_at(room, NIGHT) == 1
        assert told(room) == [(27, CAT)]
        assert await rounds(room, 30) == 0
        assert summarizer.asked == [("hana", NOON.date(), 0)]


@pytest.mark.parametrize(("hour", "over"), [(0, "28T00:00"), (5, "28T05:00"), (21, "27T21:00")])
async def test_the_hour_is_that_of_the_configuration(tmp_path: Path, hour: int, over: str) -> None:
    end = datetime.fromisoformat(f"2026-09-{over}+09:00").astimezone(TOKYO)
    with opened(tmp_path, summaries={"hour": hour}) as room:
        room.tell(CAT)
        assert await settle_at(room, end - timedelta(seconds=1)) == 0
        assert await settle_at(room, end) == 1
        assert summaries(room)[0].day == NOON.date()


async def test_nothing_is_summed_up_where_nothing_was_said(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        silent = turn("", NOON)
        silent.transcript = None
        room.memory.turn_finished(silent)
        assert await settle_at(room, NIGHT + DAY) == 0


async def test_with_rules_the_words_of_the_person_make_the_summary(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("妹の美咲が来週の土曜に大阪から来るんだ。", "今何時?")
        assert await settle_at(room, NIGHT) == 1
        [summary] = summaries(room)
        assert summary.origin is Origin.RULES
        assert "美咲" in summary.text
        assert "気分" not in summary.text


async def test_a_talk_across_midnight_belongs_to_the_evening(tmp_path: Path) -> None:
    """Or the morning after would know nothing of what was said last."""
    with opened(tmp_path, clock=HandClock(datetime(2026, 9, 27, 23, 58, tzinfo=TOKYO))) as room:
        room.memory.diary.summarizer = FakeSummarizer()
        room.tell("一。", "二。", "三。", "四。")
        assert await settle_at(room, NIGHT) == 1
        assert told(room) == [(27, "一。 二。 三。 四。")]
        primed = await room.memory.recall("hana", "おはよう", "ja")
        assert [(day.day.day, day.text) for day in primed.days] == [(27, "一。 二。 三。 四。")]


async def test_days_that_were_missed_are_caught_up_with_after_a_restart(tmp_path: Path) -> None:
    clock = HandClock()
    with opened(tmp_path, clock=clock) as room:
        for said in ("一日目。", "二日目。", "三日目。"):
            room.tell(said)
            clock.moment = clock.moment.replace(hour=12, minute=0) + DAY
    clock.moment = NOON + 6 * DAY
    with opened(tmp_path, clock=clock) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer()
        assert await room.memory.diary.keep_up() == 3
        assert told(room) == [(27, "一日目。"), (28, "二日目。"), (29, "三日目。")]
        days = [day.day for _, day, _ in summarizer.asked]
        assert days == [29, 28, 27], "the newest is wanted first"
        assert await room.memory.diary.keep_up() == 0


async def test_what_is_further_back_is_left_alone(tmp_path: Path) -> None:
    with opened(tmp_path, summaries={"catch_up_days": 7}) as room:
        room.memory.diary.summarizer = FakeSummarizer()
        room.tell("昔。")
        room.clock.moment = NOON + DAY
        room.tell("この前。")
        assert await settle_at(room, NOON + 8 * DAY) == 1
        assert told(room) == [(28, "この前。")]


async def test_each_person_has_a_day_of_their_own(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer(LlmError("llm-timeout", "slow"))
        room.tell("花の話。", person="hana")
        room.tell("太郎の話。", person="taro")
        assert await settle_at(room, NIGHT) == 1, (
            "one fails, and the other is summed up all the same"
        )
        assert (told(room), told(room, "taro")) == ([], [(27, "太郎の話。")])
        assert await rounds(room, 10) == 1
        assert told(room) == [(27, "花の話。")]


async def test_a_day_ends_where_the_person_is(tmp_path: Path) -> None:
    """One clock of the server; the pages say where each was."""
    new_york = ZoneInfo("America/New_York")
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer()
        room.tell("こちらの話。")
        noon_there = datetime(2026, 9, 27, 12, tzinfo=new_york)
        room.memory.turn_finished(turn("Over there.", noon_there, "ann", "en"))
        assert await settle_at(room, NIGHT) == 1
        assert told(room, "ann") == []
        assert await settle_at(room, datetime(2026, 9, 28, 2, 59, tzinfo=new_york)) == 0
        assert await settle_at(room, datetime(2026, 9, 28, 3, 0, tzinfo=new_york)) == 1
        assert told(room, "ann") == [(27, "Over there.")]


@pytest.mark.parametrize(
    ("day", "over"),
    [
        ("2026-03-07", "2026-03-08T07:00+00:00"),  # the night has no hour between two and three
        ("2026-10-31", "2026-11-01T08:00+00:00"),  # ... it has the one between one and two twice
    ],
)
async def test_a_day_ends_at_the_hour_when_clocks_are_changed(
    tmp_path: Path, day: str, over: str
) -> None:
    new_york = ZoneInfo("America/New_York")
    noon = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=new_york)
    end = datetime.fromisoformat(over)
    with opened(tmp_path, clock=HandClock(noon)) as room:
        room.tell("I saw Carol.", language="en")
        late = (end - timedelta(minutes=1)).astimezone(new_york)
        room.memory.turn_finished(turn("I could not sleep.", late, language="en"))
        await room.memory.extract()
        assert await settle_at(room, end - timedelta(seconds=1)) == 0
        assert await settle_at(room, end) == 1
        assert summaries(room)[0].sources == tuple(
            page.id for page in room.memory._store.pages.of("hana")
        )


async def test_what_fails_is_tried_again_after_ever_longer_pauses_and_then_done_by_rules(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, summaries={"attempts": 3, "retry_minutes": 10}) as room:
        failures = (
            LlmError("llm-unreachable", "gone"),
            OmoideError("summary-malformed", "what"),
            RuntimeError("secret words that people said"),
        )
        room.memory.diary.summarizer = summarizer = FakeSummarizer(*failures)
        room.tell(CAT)
        with capture_logs() as logs:
            assert await settle_at(room, NIGHT) == 0
            assert [attempt for _, _, attempt in summarizer.asked] == [0]
            assert await rounds(room, 9) == 0
            assert len(summarizer.asked) == 1
            assert await rounds(room, 1) == 0
            assert [attempt for _, _, attempt in summarizer.asked] == [0, 1]
            assert await rounds(room, 20) == 0
            assert [attempt for _, _, attempt in summarizer.asked] == [0, 1, 2]
            assert await rounds(room, 39) == 0
            assert await rounds(room, 1) == 1
        assert len(summarizer.asked) == 3
        assert summaries(room)[0].origin is Origin.RULES
        codes = [line["code"] for line in logs if line["event"] == "summary-put-off"]
        assert codes == ["llm-unreachable", "summary-malformed", "summary-failed"]
        assert "secret" not in str(logs)
        assert "猫" not in str(logs)


async def test_after_a_restart_the_model_is_asked_anew(tmp_path: Path) -> None:
    clock = HandClock()
    with opened(tmp_path, clock=clock) as room:
        room.memory.diary.summarizer = FakeSummarizer(LlmError("llm-unreachable", "gone"))
        room.tell(CAT)
        assert await settle_at(room, NIGHT) == 0
    with opened(tmp_path, clock=clock) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer()
        assert await room.memory.diary.keep_up() == 1
        assert [attempt for _, _, attempt in summarizer.asked] == [0]


async def test_a_failure_keeps_nothing_else_from_being_done(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer(*[LlmError("llm-timeout", "slow")] * 9)
        room.tell(CAT)
        await settle_at(room, NIGHT)
        await room.memory.keep_up()
        assert len(await room.known()) == 1
        found = await room.memory.recall("hana", "猫を飼ってる?", "ja")
        assert (len(found.lines), found.days) == (1, ())


async def test_a_summary_goes_with_its_pages_and_is_made_anew_of_the_rest(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer()
        room.tell(CAT, "妹は東京に住んでいるよ。")
        facts = await room.memory.extract()
        assert await settle_at(room, NIGHT) == 1
        cat = [fact.id for fact in facts if "猫" in fact.text]
        assert (await room.memory.archive.forget(cat)).facts == 1
        assert told(room) == []
        assert await rounds(room, 1) == 1
        assert told(room) == [(27, "妹は東京に住んでいるよ。")]
        await room.memory.archive.forget([fact.id for fact in facts if fact.id not in cat])
        assert await rounds(room, 5) == 0
        assert told(room) == []
        assert (await room.memory.recall("hana", "おはよう", "ja")).days == ()


async def test_what_is_forgotten_while_it_is_summed_up_stays_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer(seconds=30)
        room.tell(CAT, "妹は東京に住んでいるよ。")
        facts = await room.memory.extract()
        room.clock.moment = NIGHT
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.diary.keep_up)
            await anyio.sleep(5)
            await room.memory.archive.forget([fact.id for fact in facts if "猫" in fact.text])
        assert told(room) == []
        assert await rounds(room, 1) == 1
        assert told(room) == [(27, "妹は東京に住んでいるよ。")]


class Waking(RulesExtractor):
    """Can't draw anything until it is awake; then it notes a symptom in every exchange."""

    def __init__(self, *, awake: bool = False) -> None:
        super().__init__()
        self.awake = awake

    async def extract(self, pages: Sequence[Page], attempt: int) -> Harvest:
        if not self.awake:
            raise OmoideError("llm-unreachable", "gone")
        drawn = await super().extract(pages, attempt)
        return replace(drawn, notes=tuple(note(page.id, at=page.at) for page in pages))


DIZZY = "今日は朝からめまいがするんだ。"


async def test_what_is_drawn_after_a_day_was_summed_up_renews_its_summary(tmp_path: Path) -> None:
    """Or what hurts, and what to ask about, would be missing for good."""
    extractor = Waking()
    with opened(tmp_path, extractor) as room:
        room.tell(DIZZY)
        with pytest.raises(OmoideError):
            await room.memory.extract()
        assert await settle_at(room, NIGHT) == 1
        assert "体のこと" not in summaries(room)[0].text
        assert await rounds(room, 5) == 0
        extractor.awake = True
        await room.memory.extract(put_off=True)
        assert await rounds(room, 5) == 1
        assert "体のこと：めまい" in summaries(room)[0].text


async def test_a_day_of_which_nothing_could_be_drawn_is_not_summed_up_again(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer()
        room.tell("おはよう。", "今何時?")
        assert await settle_at(room, NIGHT) == 1
        room.clock.pass_time(minutes=1)
        assert await room.memory.extract() == []
        assert await rounds(room, 5) == 0
        assert len(summarizer.asked) == 1


async def test_a_day_waits_for_its_facts_to_be_drawn(tmp_path: Path) -> None:
    with opened(tmp_path, Waking(awake=True)) as room:
        room.memory.turn_finished(turn(DIZZY, NIGHT - timedelta(minutes=2)))
        assert await settle_at(room, NIGHT) == 0
        await room.memory.extract()
        assert await settle_at(room, NIGHT) == 1
        assert "体のこと：めまい" in summaries(room)[0].text


async def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    with opened(tmp_path, Waking()) as room:
        room.memory.turn_finished(turn(DIZZY, NIGHT - timedelta(minutes=2)))
        assert await settle_at(room, NIGHT) == 0
        assert await rounds(room, 57) == 0
        assert await rounds(room, 5) == 1


async def test_what_is_drawn_while_a_day_is_summed_up_renews_its_summary(tmp_path: Path) -> None:
    extractor = Waking()
    with opened(tmp_path, extractor) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer(seconds=30)
        room.tell(DIZZY)
        room.clock.moment = NIGHT
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.diary.keep_up)
            await anyio.sleep(5)
            extractor.awake = True
            room.clock.pass_time(seconds=5)
            await room.memory.extract()
        assert await rounds(room, 5) == 1
        assert len(summarizer.asked) == 2


async def test_who_is_forgotten_has_no_summary(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer(seconds=30)
        room.tell(CAT)
        room.clock.moment = NIGHT
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.diary.keep_up)
            await anyio.sleep(5)
            await room.memory.archive.forget_person("hana")
        assert told(room) == []
        assert await rounds(room, 2) == 0


async def test_what_comes_late_renews_the_summary_of_its_day(tmp_path: Path) -> None:
    """A turn that ended after the hour, or one that the disk had no room for."""
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer()
        room.tell("昼の話。")
        assert await settle_at(room, NIGHT) == 1
        room.memory.turn_finished(turn("夜の話。", NIGHT - timedelta(minutes=1)))
        await room.memory.extract()
        assert await rounds(room, 1) == 1
        assert told(room) == [(27, "昼の話。 夜の話。")]


async def test_what_is_said_after_the_hour_belongs_to_the_next_summary(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer()
        room.tell("昼の話。")
        assert await settle_at(room, NIGHT) == 1
        room.clock.pass_time(minutes=10)
        room.tell("眠れないんだ。")
        assert await rounds(room, 60) == 0
        assert await settle_at(room, NIGHT + DAY) == 1
        assert told(room) == [(27, "昼の話。"), (28, "眠れないんだ。")]


async def test_two_rounds_at_once_ask_once(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer(seconds=30)
        room.tell(CAT)
        room.clock.moment = NIGHT
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(room.memory.diary.keep_up)
        assert len(summarizer.asked) == 1
        assert told(room) == [(27, CAT)]


async def test_a_clock_that_was_ahead_keeps_no_day_from_being_summed_up(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        failing = FakeSummarizer(LlmError("llm-unreachable", "gone"), near=True)
        room.memory.diary.summarizer = failing
        room.tell(CAT)
        assert await settle_at(room, NIGHT + 9 * DAY) == 0
        room.memory.make_way()
        room.clock.moment = NIGHT
        assert await rounds(room, 1) == 1


async def test_a_model_of_the_house_is_dropped_when_somebody_talks(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer(seconds=30, near=True)
        room.tell(CAT, person="hana")
        room.tell(CAT, person="taro")
        room.clock.moment = NIGHT
        started = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.diary.keep_up)
            await anyio.sleep(5)
            room.memory.make_way()
        assert anyio.current_time() - started == pytest.approx(5, abs=0.1)
        assert (len(summarizer.asked), summarizer.ended) == (1, 0)
        assert await rounds(room, 4) == 0, "the talk goes on"
        assert len(summarizer.asked) == 1
        assert await rounds(room, 1) == 2
        assert [attempt for *_, attempt in summarizer.asked] == [0, 0, 0], "that was no failure"


async def test_a_service_far_away_goes_on_while_somebody_talks(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = FakeSummarizer(seconds=30)
        room.tell(CAT)
        room.clock.moment = NIGHT
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.diary.keep_up)
            await anyio.sleep(5)
            room.memory.make_way()
        assert told(room) == [(27, CAT)]


async def test_a_model_that_gave_way_by_itself_has_not_failed(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        preempted = LlmError("llm-preempted", "Somebody talks.")
        room.memory.diary.summarizer = summarizer = FakeSummarizer(*[preempted] * 5)
        room.tell(CAT)
        room.clock.moment = NIGHT
        assert await rounds(room, 6) == 1
        assert [attempt for *_, attempt in summarizer.asked] == [0] * 6


async def test_a_store_that_cannot_be_read_is_told_and_the_next_round_goes_on(
    tmp_path: Path,
) -> None:
    class Locked(FakeSummarizer):
        async def summarize(self, talk: DayTalk, attempt: int, now: datetime) -> DaySummary:
            if not attempt:
                raise StoreError("store-locked", "held")
            return await super().summarize(talk, attempt, now)

    with opened(tmp_path) as room:
        room.memory.diary.summarizer = Locked()
        room.tell(CAT)
        assert await settle_at(room, NIGHT) == 0
        assert await rounds(room, 10) == 1


@pytest.mark.parametrize("steps", [(), ("おはよう。",)])
async def test_what_is_off_does_nothing(tmp_path: Path, steps: Sequence[str]) -> None:
    with opened(tmp_path, summaries={"engine": "off"}) as room:
        room.memory.diary.summarizer = summarizer = FakeSummarizer()
        room.tell(CAT, *steps)
        assert await settle_at(room, NIGHT + DAY) == 0
        assert summarizer.asked == []


async def test_a_day_of_courtesies_is_done_with_and_told_to_nobody(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.tell("おはよう。", "ありがとう。")
        assert await settle_at(room, NIGHT) == 1
        assert await rounds(room, 5) == 0
        assert (await room.memory.recall("hana", "おはよう", "ja")).days == ()


async def test_a_model_is_called_once_for_each_person_and_day(tmp_path: Path) -> None:
    def script(text: str) -> list[Step]:
        return [json.dumps({"summary": text, "follow_ups": ["猫の名前"]}, ensure_ascii=False)]

    llm = FakeLlm([], draws=[script("あなたは猫を飼い始めました。")])
    with opened(tmp_path) as room:
        room.memory.diary.summarizer = ModelSummarizer(llm, PromptFiles(PROMPTS))
        for person in ("hana", "taro"):
            room.tell(CAT, "かわいいよ。", "名前はまだないんだ。", person=person)
        room.clock.moment = NOON + DAY
        room.tell("今日も猫と遊んだよ。")
        assert await settle_at(room, NIGHT + DAY) == 3
        assert await rounds(room, 60) == 0
        assert len(llm.background_prompts) == 3
        recalled: Any = await room.memory.recall("hana", "おはよう", "ja")
        assert [day.follow_ups for day in recalled.days] == [("猫の名前",)] * 2
