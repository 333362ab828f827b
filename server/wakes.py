"""A scheduler that goes on waking when the clock of the machine is set back."""

import time
from collections.abc import Callable
from datetime import timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from server.clock import SystemClock

_LEAST = 1.0
"""Seconds; a clock that is slowed down while it is wrong goes back by less between two wakes."""


def _clock_ahead() -> float:
    """Return by how many seconds the clock is ahead of one that is never set."""
    return SystemClock("UTC").now().timestamp() - time.monotonic()


class SteadyScheduler(AsyncIOScheduler):  # type: ignore[misc]  # the library has no types
    """Its times are those of the clock on the wall: without this, one set back by nine hours would stop it for nine hours.

    It notices at the next wake that was due, so give it a job that comes round every minute. A clock that is set forward
    only makes wakes late; see ``misfire_grace_time``.
    """

    def __init__(self, ahead: Callable[[], float] = _clock_ahead, **settings: object) -> None:
        """Take the settings of the library.

        Args:
            ahead: Returns by how many seconds the clock is ahead of one that is never set.
            settings: Handed on.
        """
        super().__init__(**settings)
        self._ahead = ahead
        self._was_ahead = ahead()

    def _process_jobs(self) -> float | None:
        """Do what is due; return in how many seconds something will be."""
        ahead = self._ahead()
        back, self._was_ahead = self._was_ahead - ahead, ahead
        if back > _LEAST:
            for job in self.get_jobs():
                job.modify(next_run_time=job.next_run_time - timedelta(seconds=back))
        wait: float | None = super()._process_jobs()
        return wait
