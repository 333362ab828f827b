"""Deletes what has faded once its time is over: the fact, and the sentence that it was drawn from."""

from collections.abc import Sequence, Set
from datetime import datetime

import structlog
from anyio import to_thread

from server.config import FadingSection
from server.memory.fading import is_over
from server.memory.models import Fact, Page
from server.memory.remainder import lapsed
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock

log = structlog.get_logger(__name__)


class Retention:
    """Ends what is kept for a time only. Whatever else forgets, forgets because somebody asked for it."""

    def __init__(self, store: Store, writer: Writer, section: FadingSection, clock: Clock) -> None:
        self._store = store
        self._writer = writer
        self._section = section
        self._clock = clock

    async def keep_up(self) -> int:
        """Delete the facts of everybody that are over; return how many.

        Raises:
            StoreError: The store can't be read or written.
        """
        if not self._section.retention_days or not (await to_thread.run_sync(self._found))[0]:
            return 0
        # Looked for again by the one who writes: what was found may have been needed since.
        gone = await self._writer.run(self._delete)
        log.info("facts-over", count=gone)
        return gone

    def _delete(self) -> int:
        return self._store.end(*self._found())

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
