"""The wakes: facts are drawn after enough turns, after silence, and after a restart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from server.clock import SystemClock
from server.config import ExtractionSection
from server.errors import StoreError
from server.jobs import Jobs
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.models import Fact
from server.turn import Turn
from tests.memory.remembering import HandClock, Room, opened, turn
from tests.patience import until

LONG_MINUTES = 1000.0
"""A silence that no test waits for."""
SHORT_MINUTES = 0.001
ZONE = SystemClock("Asia/Tokyo")


@asynccontextmanager
async def working(room: Room, **section: Any) -> AsyncIterator[Jobs]:
    jobs = Jobs(room.memory, ExtractionSection(**section), ZONE)
    await jobs.start()
    yield jobs
    jobs.stop()


def said(number: int = 0, person: str = "hana") -> Turn:
    return turn(f"猫を{number}匹飼ってるよ。", ZONE.now(), person, id_=f"{person} {number}")


def finish(room: Room, jobs: Jobs, *turns: Turn) -> None:
    for each in turns:
        room.memory.turn_finished(each)
        jobs.turn_finished(each)


def facts(room: Room, person: str = "hana") -> list[Fact]:
    return room.memory._store.facts_of(person)


async def test_after_silence_facts_are_drawn(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        async with working(room, silence_minutes=SHORT_MINUTES) as jobs:
            finish(room, jobs, said())
            await until(lambda: len(facts(room)) == 1)
            finish(room, jobs, said(1), said(2, "taro"))
            await until(lambda: len(facts(room)) == 2 and len(facts(room, "taro")) == 1)


async def test_after_enough_turns_facts_are_drawn_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        async with working(room, silence_minutes=LONG_MINUTES, turns=3) as jobs:
            finish(room, jobs, said(0), said(1), said(0, "taro"))
            finish(room, jobs, said(2))
            await until(lambda: len(facts(room)) == 3)
            assert facts(room, "taro") == []
            assert jobs._turns == {"taro": 1}
            finish(room, jobs, said(3), said(4), said(5))
            await until(lambda: len(facts(room)) == 6)


class Asking(RulesExtractor):
    asks_a_model = True


@pytest.mark.parametrize(("extractor", "enough"), [(RulesExtractor(), 3), (Asking(), 8)])
async def test_what_costs_no_call_of_a_model_is_drawn_before_the_last_exchanges_are_forgotten(
    extractor: RulesExtractor, enough: int, tmp_path: Path
) -> None:
    with opened(tmp_path, extractor) as room:
        async with working(room, silence_minutes=LONG_MINUTES) as jobs:
            for number in range(1, enough + 1):
                assert facts(room) == []
                finish(room, jobs, said(number))
                await room.memory._writer.settle()
            await until(lambda: len(facts(room)) == enough)


async def test_turns_in_which_nothing_was_said_do_not_count(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        async with working(room, silence_minutes=LONG_MINUTES, turns=3) as jobs:
            silent, failed = said(1), said(2)
            silent.transcript = None
            failed.error = "llm-timeout"  # and yet something was said
            finish(room, jobs, said(0), silent, failed)
            wakes = [job.id for job in jobs._scheduler.get_jobs()]
            assert sorted(wakes) == [
                "extract hana",
                "housekeeping",
                "repair",
                "retention",
                "summaries",
            ]
            assert jobs._turns == {"hana": 2}
            wake = jobs._scheduler.get_job("extract hana").next_run_time
            assert wake > ZONE.now() + timedelta(minutes=LONG_MINUTES / 2)


async def test_after_a_restart_what_was_said_before_is_drawn(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        room.memory.turn_finished(said())
    with opened(tmp_path) as room:
        async with working(room, silence_minutes=SHORT_MINUTES):
            await until(lambda: len(facts(room)) == 1)


async def test_what_is_said_while_facts_are_drawn_is_not_missed(tmp_path: Path) -> None:
    """The scheduler skips a job that is still running, unless it is told otherwise."""
    with opened(tmp_path) as room:
        lock = room.memory.consolidator._one_at_a_time
        async with working(room, silence_minutes=LONG_MINUTES, turns=1) as jobs:
            async with lock:
                finish(room, jobs, said(0))
                await until(lambda: lock.statistics().tasks_waiting == 1)
                finish(room, jobs, said(1))
                await until(lambda: lock.statistics().tasks_waiting == 2)
            await until(lambda: len(facts(room)) == 2)


async def test_a_wake_that_fails_is_told_in_one_line(tmp_path: Path) -> None:
    class Full(RulesExtractor):
        async def extract(self, *_: object) -> Harvest:
            raise StoreError("store-full", "no space")

    with opened(tmp_path, Full()) as room, capture_logs() as logs:
        async with working(room, silence_minutes=LONG_MINUTES, turns=1) as jobs:
            finish(room, jobs, said())
            await until(lambda: any(line["event"] == "memory-trouble" for line in logs))
            room.memory._store.queue.overdue = None  # type: ignore[assignment, method-assign]
            await jobs._keep_up()
    faults = [line for line in logs if line["event"] == "memory-fault"]
    assert [line["where"].split()[0] for line in faults] == ["TypeError"]
    assert "猫" not in str(logs)


async def test_days_that_are_over_are_summed_up_and_a_fault_is_told_in_one_line(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, clock=HandClock(ZONE.now() - timedelta(days=2))) as room:
        async with working(room, silence_minutes=LONG_MINUTES) as jobs:
            room.tell("猫を飼ってるよ。")
            room.clock.pass_time(days=2)
            await jobs._sum_up()
            [summary] = room.memory._store.portrait.summaries_of("hana", 9)
            assert "猫" in summary.text
            room.memory._store.portrait.not_in_summary = None  # type: ignore[assignment, method-assign]
            with capture_logs() as logs:
                await jobs._sum_up()
    assert [line["event"] for line in logs if line["log_level"] == "error"] == ["memory-fault"]


async def test_after_the_end_nothing_is_woken(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        async with working(room, turns=1) as jobs:
            pass
        await until(lambda: not jobs._scheduler.running)
        jobs.stop()
        finish(room, jobs, said())
        await room.memory._writer.settle()
        assert facts(room) == []
