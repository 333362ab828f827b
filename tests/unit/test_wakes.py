"""The scheduler goes on when the clock is set back."""

from datetime import timedelta

import anyio
import pytest

from server.clock import SystemClock
from server.wakes import SteadyScheduler
from tests.patience import until

AHEAD = 9 * 3600.0
"""Seconds."""


@pytest.mark.parametrize("is_set_back", [True, False])
async def test_what_is_due_in_a_moment_stays_so_when_the_clock_is_set_back(
    is_set_back: bool,
) -> None:
    """The job has the time that a clock nine hours ahead would show now."""
    ahead = AHEAD
    rung: list[str] = []
    scheduler = SteadyScheduler(lambda: ahead, job_defaults={"misfire_grace_time": 3600})
    scheduler.start()
    soon = SystemClock("UTC").now() + timedelta(seconds=AHEAD)
    scheduler.add_job(rung.append, "date", args=["rung"], run_date=soon)
    await anyio.sleep(0.1)
    assert rung == []
    if is_set_back:
        ahead = 0.0
    scheduler.wakeup()
    if is_set_back:
        await until(lambda: rung == ["rung"])
    else:
        await anyio.sleep(0.1)
        assert rung == []
    scheduler.shutdown(wait=False)
