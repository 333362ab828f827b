"""The working buffer: the last exchanges of every person, word for word (MemoryOS's short-term memory)."""

from collections import OrderedDict, deque
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from server.config import HistorySection
from server.memory.models import Page

MOST_PERSONS = 1_000


class WorkingBuffer:
    """What was said a moment ago. In memory; filled from the store at the start."""

    def __init__(self, history: HistorySection) -> None:
        self._history = history
        self._pages: OrderedDict[str, deque[Page]] = OrderedDict()
        self._passing: dict[str, set[str]] = {}
        """By person, ids of the exchanges that are out of mind when their talk is over."""

    @property
    def window(self) -> timedelta:
        """How long ago the last exchange may be for the talk to go on."""
        return timedelta(minutes=self._history.window_minutes)

    def add(self, page: Page, *, passing: bool = False) -> None:
        """Keep an exchange, unless nothing was answered: a model would see a question that it passed over.

        The oldest goes, and at last the person who has not talked for longest.

        Args:
            page: The exchange.
            passing: Whether it goes when its talk is over.
        """
        if not page.heard:
            return
        pages = self._pages.setdefault(page.person, deque(maxlen=self._history.buffer))
        if pages and _between(pages[-1].at, page.at) > self.window:
            self.forget_pages(page.person, self._passing.pop(page.person, ()))
        if passing:
            self._passing.setdefault(page.person, set()).add(page.id)
        pages.append(page)
        self._pages.move_to_end(page.person)
        if len(self._pages) > MOST_PERSONS:
            gone, _ = self._pages.popitem(last=False)
            self._passing.pop(gone, None)

    def recent(self, person: str, now: datetime, *, this_talk: bool = False) -> list[Page]:
        """Return the last exchanges, oldest first; none if the last one is longer ago than the window.

        Args:
            person: Whose.
            now: Aware.
            this_talk: Leave out those of earlier talks.
        """
        pages = self._pages.get(person, ())
        if not pages or _between(pages[-1].at, now) > self.window or not self._history.turns:
            return []
        last = list(pages)[-self._history.turns :]
        gaps = [
            place
            for place in range(1, len(last))
            if _between(last[place - 1].at, last[place].at) > self.window
        ]
        return last[gaps[-1] :] if this_talk and gaps else last

    def forget(self, person: str) -> None:
        """Forget what was said a moment ago."""
        self._pages.pop(person, None)
        self._passing.pop(person, None)

    def since(self, person: str, page_ids: Collection[str]) -> list[str]:
        """Return these exchanges and those after them in the same talk, in which they may have come up again."""
        found: list[str] = []
        before: Page | None = None
        for page in tuple(self._pages.get(person, ())):
            follows = before is not None and before.id in found
            goes_on = before is not None and _between(before.at, page.at) <= self.window
            if page.id in page_ids or (follows and goes_on):
                found.append(page.id)
            before = page
        return found

    def forget_pages(self, person: str, page_ids: Collection[str]) -> None:
        """Forget some of what was said a moment ago."""
        pages = self._pages.get(person)
        if pages is not None:
            kept = [page for page in pages if page.id not in page_ids]
            pages.clear()
            pages.extend(kept)


def _between(earlier: datetime, later: datetime) -> timedelta:
    """Return the time that passed; within one zone, plain subtraction would count what clocks were changed by, too."""
    return later.astimezone(UTC) - earlier.astimezone(UTC)
