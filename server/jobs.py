"""Wakes memory at the right moments: after silence, after enough turns, when a day is over, and when something has to be tried again."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta

import structlog
from anyio import to_thread

from server.clock import SystemClock
from server.config import ExtractionSection
from server.errors import OmoideError
from server.failures import log_fault, quieten
from server.memory import Memory
from server.ports import Clock
from server.turn import Turn
from server.wakes import SteadyScheduler

log = structlog.get_logger(__name__)

_HOUSEKEEPING_SECONDS = 60
_RETENTION_DELAY = timedelta(minutes=10)
"""After the start, when nobody waits for the models any more; then once a day."""
_TURNS_WITHOUT_MODEL = 3
"""After so many turns facts are drawn if no model has to be asked: what the last exchanges no longer hold is known then."""
_GRACE_SECONDS = 3600
"""How late a wake may come and still be followed: the machine may have slept."""


class Jobs:
    """The wakes of one server. A `TurnObserver`. Nothing is kept on disk: at the start they are made from memory."""

    def __init__(self, memory: Memory, section: ExtractionSection, clock: Clock) -> None:
        self._memory = memory
        self._section = section
        self._clock = clock
        self._turns: dict[str, int] = {}
        self.also: Callable[[], Awaitable[object]] | None = None
        """What else is deleted when its time is over."""
        self.repair: Callable[[], Awaitable[object]] | None = None
        """What else is tried again every minute, besides what memory could not do."""
        # Two at once: while one draws facts, what is said meanwhile is the work of the next.
        self._scheduler = SteadyScheduler(
            job_defaults={"misfire_grace_time": _GRACE_SECONDS, "max_instances": 2}
        )

    async def start(self) -> None:
        """Begin to wake, first for everybody whose last talk has not been worked off. Call `stop` at the end."""
        quieten("apscheduler", "scheduler-trouble")
        self._scheduler.start()
        # Apart, so that a slow model keeps nothing from being stored.
        works = {
            "housekeeping": self._keep_up,
            "summaries": self._sum_up,
            "repair": self._try_again,
        }
        for name, work in works.items():
            self._scheduler.add_job(
                work, "interval", seconds=_HOUSEKEEPING_SECONDS, id=name, max_instances=1
            )
        self._scheduler.add_job(
            self._end_retention,
            "interval",
            hours=24,
            next_run_time=SystemClock("UTC").now() + _RETENTION_DELAY,
            id="retention",
            max_instances=1,
        )
        waiting = await to_thread.run_sync(self._memory.consolidator.last_waiting)
        for person, last in waiting.items():
            since = self._clock.now().astimezone(UTC) - last.astimezone(UTC)
            self._wake(person, max(self._silence - since, timedelta()))

    def stop(self) -> None:
        """Wake no more."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def turn_finished(self, turn: Turn) -> None:
        """Set the wake of a person: now if enough was said, else after silence."""
        if not turn.worth_keeping:
            return
        count = self._turns.get(turn.person, 0) + 1
        self._turns[turn.person] = count
        enough = count >= self._enough
        self._wake(turn.person, timedelta() if enough else self._silence)

    @property
    def _enough(self) -> int:
        asks = self._memory.consolidator.extractor.asks_a_model
        return self._section.turns if asks else min(self._section.turns, _TURNS_WITHOUT_MODEL)

    @property
    def _silence(self) -> timedelta:
        return timedelta(minutes=self._section.silence_minutes)

    def _wake(self, person: str, wait: timedelta) -> None:
        if self._scheduler.running:
            self._scheduler.add_job(
                self._extract,
                "date",
                run_date=SystemClock("UTC").now() + wait,  # the scheduler knows no other time
                args=[person],
                id=f"extract {person}",
                replace_existing=True,
            )

    async def _extract(self, person: str) -> None:
        self._turns.pop(person, None)
        with self._logging_faults():
            stored = await self._memory.extract(person)
            log.info("facts-drawn", count=len(stored))

    async def _keep_up(self) -> None:
        with self._logging_faults():
            await self._memory.keep_up()

    async def _sum_up(self) -> None:
        with self._logging_faults():
            await self._memory.diary.keep_up()

    async def _try_again(self) -> None:
        if self.repair is not None:
            with self._logging_faults():
                await self.repair()

    async def _end_retention(self) -> None:
        with self._logging_faults():
            await self._memory.retention.keep_up()
        if self.also is not None:
            with self._logging_faults():
                await self.also()

    @contextmanager
    def _logging_faults(self) -> Iterator[None]:
        try:
            yield
        except OmoideError as error:  # what was drawn from is put off
            log.warning("memory-trouble", code=error.code, reason=str(error))
        except Exception as error:
            log_fault("memory-fault", error)
