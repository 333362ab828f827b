"""Memory, as a conversation sees it: recall for a query, remember a turn, the last exchanges.

So far it holds the working buffer alone: the last exchanges of every person, in this process. Nothing is recalled
from further back.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from server.config import HistorySection
from server.turn import Recollection, Turn

BUFFER_PAGES = 7
"""Exchanges that the working buffer keeps for a person (MemoryOS, short-term memory)."""
PERSONS = 500
"""Persons whose exchanges are kept at the same time. A guest counts as a new one each time, and there is no end of them."""


@dataclass(frozen=True, slots=True)
class Page:
    """One exchange."""

    said: str
    heard: str
    """The part of the reply that was really played."""
    at: datetime
    language: str = "ja"
    """Two-letter code of what was said."""
    interrupted: bool = False


class Memory:
    """The memory of all persons. A `TurnObserver`: give it every finished turn."""

    def __init__(self, history: HistorySection) -> None:
        self._history = history
        self._pages: OrderedDict[str, deque[Page]] = OrderedDict()
        """By person; who spoke last stands last."""

    async def recall(self, person: str, query: str) -> Recollection:
        """Return what is relevant to `query` in the memory of `person`; empty if nothing is."""
        return Recollection()

    def recent(self, person: str, now: datetime) -> list[Page]:
        """Return the last exchanges, oldest first; none if the last one is longer ago than the window."""
        pages = self._pages.get(person, ())
        window = timedelta(minutes=self._history.window_minutes)
        if not pages or _between(pages[-1].at, now) > window or not self._history.turns:
            return []
        return list(pages)[-self._history.turns :]

    def turn_finished(self, turn: Turn) -> None:
        """Keep a finished turn, if it was an exchange. Whoever has been silent longest gives way to a new person."""
        if turn.worth_keeping and turn.transcript is not None:
            said = turn.transcript
            page = Page(said.text, turn.heard, turn.started_at, said.language, turn.interrupted)
            self._pages.setdefault(turn.person, deque(maxlen=BUFFER_PAGES)).append(page)
            self._pages.move_to_end(turn.person)
            if len(self._pages) > PERSONS:
                self._pages.popitem(last=False)


def _between(earlier: datetime, later: datetime) -> timedelta:
    """Return the time that passed; within one zone, plain subtraction would count what clocks were changed by, too."""
    return later.astimezone(UTC) - earlier.astimezone(UTC)
