"""Sums up each day of each person once it is over, in the background: what was missed later, what failed again, what changed anew.

A day is due as long as it has an exchange that no summary was made from, or none since facts and notes were drawn from it. So
a machine that was off, an exchange that came late, one that was drawn from late and one that was forgotten all lead to the
same place: the day is summed up.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import NamedTuple

import anyio
import structlog
from anyio import to_thread

from server.config import SummariesSection
from server.errors import OmoideError
from server.failures import log_fault
from server.memory.day_summaries import DaySummarizer, DayTalk, RulesSummarizer
from server.memory.days import dates_of, day_of, end_of
from server.memory.pauses import latest_retry, pause_after
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock

log = structlog.get_logger(__name__)

_LONGEST_WAIT = timedelta(hours=1)
"""After it was said; by then facts have been drawn from it, or can't be drawn for now."""


class _Day(NamedTuple):
    """A day of a person."""

    person: str
    day: date


@dataclass(frozen=True, slots=True)
class _Trouble:
    """That a day could not be summed up. Not kept on disk: after a restart the model is asked again."""

    attempts: int
    again_at: datetime


class Diary:
    """Keeps the day summaries of all persons up to date. `summarizer` may be replaced at any time."""

    def __init__(
        self,
        *,
        store: Store,
        writer: Writer,
        section: SummariesSection,
        clock: Clock,
        silence: timedelta,
    ) -> None:
        """Keep the summaries of a store, by rules until another `summarizer` is set.

        Args:
            store: Where the exchanges are.
            writer: Of the same store.
            section: When a day ends, and how often a model is asked.
            clock: Tells the time.
            silence: So long after a talk a model of the house may work.
        """
        self._rules = RulesSummarizer()
        self.summarizer: DaySummarizer = self._rules
        self._store = store
        self._writer = writer
        self._section = section
        self._clock = clock
        self._silence = silence
        self._troubles: dict[_Day, _Trouble] = {}
        self._one_at_a_time = anyio.Lock()
        self._running: anyio.CancelScope | None = None
        self._talked_at: datetime | None = None

    async def keep_up(self) -> int:
        """Sum up the days that are over and due, the newest first; return how many.

        What fails is logged and tried again later, each time after a longer pause, and at last done by rules. Nothing
        is done while somebody talks, if the summarizer gives way.

        Raises:
            StoreError: The store can't be read.
        """
        if self._section.engine == "off":
            return 0
        async with self._one_at_a_time:
            await self._writer.settle()
            due = await to_thread.run_sync(self._due, self._clock.now())
            self._troubles = {day: self._troubles[day] for day in due if day in self._troubles}
            made = 0
            for day in due:
                if self._is_talked_to():
                    break
                if not self._is_put_off(day):
                    made += await self._sum_up_in_silence(day)
        return made

    def make_way(self) -> None:
        """Note that somebody talks: what a local model is writing at the moment is dropped, and written later."""
        self._talked_at = self._clock.now()
        if self._running is not None and self.summarizer.gives_way:
            self._running.cancel()

    def _due(self, now: datetime) -> list[_Day]:
        """Return the days that are over wherever the person was, and not summed up as they stand. Blocks.

        A day waits for facts and notes to be drawn, but not for ever: the model may be out of order.
        """
        hour, reach = self._section.hour, self._section.catch_up_days
        oldest = day_of(now, hour) - timedelta(days=reach)
        is_due: dict[_Day, bool] = {}
        for person, at, waits in self._store.portrait.not_in_summary(
            now - timedelta(days=reach + 2)
        ):
            day = _Day(person, day_of(at, hour))
            is_over = day.day >= oldest and now >= end_of(day.day, hour, at.tzinfo)
            is_patient = waits and now.astimezone(UTC) - at.astimezone(UTC) <= _LONGEST_WAIT
            is_due[day] = is_due.get(day, True) and is_over and not is_patient
        due = [day for day, ready in is_due.items() if ready]
        return sorted(due, key=lambda day: (-day.day.toordinal(), day.person))

    def _is_talked_to(self) -> bool:
        if self._talked_at is None or not self.summarizer.gives_way:
            return False
        passed = self._clock.now().astimezone(UTC) - self._talked_at.astimezone(UTC)
        return timedelta() <= passed < self._silence  # else the clock was ahead then

    def _is_put_off(self, day: _Day) -> bool:
        trouble = self._troubles.get(day)
        now = self._clock.now().astimezone(UTC)
        latest = latest_retry(now, self._section.retry_minutes)
        return trouble is not None and now < trouble.again_at <= latest

    async def _sum_up_in_silence(self, day: _Day) -> bool:
        """Sum up a day and say whether that is done; it is not if it fails, or somebody begins to talk."""
        with anyio.CancelScope() as scope:
            self._running = scope
            try:
                return await self._sum_up(day)
            except OmoideError as error:
                if error.code != "llm-preempted":  # somebody talks: no fault of the model
                    self._put_off(day, error.code)
            except Exception as error:
                log_fault("summary-fault", error)
                self._put_off(day, "summary-failed")
            finally:
                self._running = None
        return False

    async def _sum_up(self, day: _Day) -> bool:
        now = self._clock.now()  # what is drawn while it is read comes after it
        cuts = await to_thread.run_sync(self._store.cuts.count, day.person)
        talk = await to_thread.run_sync(self._read, day)
        if not talk.pages:  # forgotten a moment ago
            return False
        trouble = self._troubles.get(day)
        attempt = trouble.attempts if trouble else 0
        summarizer = self.summarizer if attempt < self._section.attempts else self._rules
        summary = await summarizer.summarize(talk, attempt, now)
        # Not stored if something was forgotten meanwhile: then the day is still due.
        put = partial(self._store.portrait.put_summary, summary, {day.person: cuts})
        stored = await self._writer.run(put)
        if stored:
            log.info("day-summed-up", by=str(summary.origin), pages=len(talk.pages))
        return stored

    def _read(self, day: _Day) -> DayTalk:
        """Return what is known of a day. Blocks."""
        person, hour = day.person, self._section.hour
        found = [
            page
            for part in dates_of(day.day, hour)
            for page in self._store.pages.of_day(person, part)
            if day_of(page.at, hour) == day.day
        ]
        pages = sorted(found, key=lambda page: (page.at.timestamp(), page.id))
        if not pages:
            return DayTalk(day.day, ())
        ids = {page.id for page in pages}
        facts = [fact for fact in self._store.facts_of(person) if not ids.isdisjoint(fact.sources)]
        notes = [
            note for note in self._store.portrait.notes_of(person, pages[0].at) if note.page in ids
        ]
        return DayTalk(day.day, pages, facts, notes)

    def _put_off(self, day: _Day, code: str) -> None:
        known = self._troubles.get(day)
        attempts = known.attempts if known else 0
        pause = pause_after(attempts, self._section.retry_minutes)
        again = self._clock.now().astimezone(UTC) + pause
        self._troubles[day] = _Trouble(attempts + 1, again)
        log.warning("summary-put-off", code=code, attempts=attempts + 1)
