"""Deletes what is kept for a time only: what has faded, with the sentence it was drawn from, and whatever else is over."""

from collections.abc import Sequence, Set
from datetime import datetime, timedelta
from functools import partial

import structlog
from anyio import to_thread

from server.config import FadingSection, RetentionSection
from server.memory.expiring import expire_exchanges, expire_notes, expire_summaries
from server.memory.fading import is_over
from server.memory.models import Fact, Page
from server.memory.remainder import lapsed
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock

log = structlog.get_logger(__name__)


class Retention:
    """Ends what is kept for a time only. Whatever else forgets, forgets because somebody asked for it."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        section: FadingSection,
        kept: RetentionSection,
        catch_up_days: int,
        clock: Clock,
    ) -> None:
        """Say how long things are kept.

        Args:
            store: Where they are.
            writer: Of the store.
            section: For facts.
            kept: For all else.
            catch_up_days: So long the summary of a day would be made anew.
            clock: Tells the time in the person's zone.
        """
        self._store = store
        self._writer = writer
        self._section = section
        self._kept = kept
        self._catch_up_days = catch_up_days
        self._clock = clock

    async def keep_up(self) -> int:
        """Delete what is over, of everybody; return how many facts that were.

        Raises:
            StoreError: The store can't be read or written.
        """
        gone = await self._end_facts()
        expired = await self._writer.run(self._expire)
        if any(expired.values()):
            log.info("retention", **expired)
        return gone

    async def _end_facts(self) -> int:
        if not self._section.retention_days or not (await to_thread.run_sync(self._found))[0]:
            return 0
        # Looked for again by the one who writes: what was found may have been needed since.
        gone = await self._writer.run(self._delete)
        log.info("facts-over", count=gone)
        return gone

    def _expire(self) -> dict[str, int]:
        """Delete the words of exchanges, summaries and notes that are over; return how many by kind. Blocks."""
        now, kept = self._clock.now(), self._kept
        expired: dict[str, int] = {}
        if kept.exchanges_days:
            before = now - timedelta(days=kept.exchanges_days)
            work = partial(expire_exchanges, before=before)
            expired["exchanges"] = self._store.erasures.expire(work, "exchanges", now)
        if kept.summaries_days:
            days = max(kept.summaries_days, self._catch_up_days + 1)
            last = (now - timedelta(days=days)).date()
            work = partial(expire_summaries, before=last)
            expired["summaries"] = self._store.erasures.expire(work, "summaries", now)
        if kept.notes_days:
            before = now - timedelta(days=kept.notes_days)
            work = partial(expire_notes, before=before)
            expired["notes"] = self._store.erasures.expire(work, "notes", now)
        if any(expired.values()):
            self._store.scrub_again()
        return expired

    def _delete(self) -> int:
        return self._store.end(*self._found(), self._clock.now())

    def _found(self) -> tuple[list[str], list[Page]]:
        """Return what can be deleted: ids of facts, and what is to be left of the pages that say something else, too."""
        ended: list[str] = []
        left: list[Page] = []
        now = self._clock.now()
        for person in self._store.persons():
            facts = self._store.facts_of(person)
            over = {fact.id for fact in facts if is_over(fact, now, self._section)}
            drawn = lapsed(facts, over)
            pages = self._store.pages.find([*drawn])
            rests = {key: drawn[key].rest_of(page) for key, page in pages.items()}
            unclear = {key for key, rest in rests.items() if rest is None}
            needed = self._store.portrait.pages_needed(person) | unclear
            gone = removable(facts, needed, now, self._section)
            touched = {page for fact in facts if fact.id in gone for page in fact.sources}
            ended += gone
            left += [rest for key, rest in rests.items() if rest and rest.said and key in touched]
        return ended, left


def removable(
    facts: Sequence[Fact], needed: Set[str], now: datetime, section: FadingSection
) -> list[str]:
    """Return the ids of the facts that can be deleted without loss of anything that is still kept.

    Args:
        facts: All of one person.
        needed: Pages that profile, traits or notes rest on, or in which it can't be told what a fact was drawn from. They
            stay, and with them the facts from them, or the exchange would be found word for word again.
        now: Aware.
        section: When a fact is over.
    """
    over = {fact.id for fact in facts if is_over(fact, now, section)}
    known = -1
    while len(over) != known:
        known = len(over)
        kept = [fact for fact in facts if fact.id not in over]
        replacing = {fact.superseded_by for fact in kept}  # what they replaced would hold again
        pages = {*needed, *(page for fact in kept for page in fact.sources)}
        over = {
            fact.id
            for fact in facts
            if fact.id in over - replacing and pages.isdisjoint(fact.sources)
        }
    return sorted(over)
