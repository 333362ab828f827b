"""Keeps a flood of facts out of memory: who is shouted at for an hour, or met by a model in a loop, remembers a bounded part of it."""

from collections import defaultdict, deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog

from server.memory.models import Fact

log = structlog.get_logger(__name__)

_WINDOW = timedelta(hours=1)


class Pace:
    """Counts in memory: a restart begins anew. What is left out still stands in the exchanges, and is found there."""

    def __init__(self, per_hour: int) -> None:
        """Let so many new facts of one person through in an hour; 0 for any number."""
        self._per_hour = per_hour
        self._let: defaultdict[str, deque[datetime]] = defaultdict(deque)

    def let(self, facts: Sequence[Fact], now: datetime) -> list[Fact]:
        """Return those of some facts, of one person, that may be stored now, the first of them."""
        if not facts or not self._per_hour:
            return [*facts]
        moment = now.astimezone(UTC)
        before = self._let[facts[0].person]
        while before and moment - before[0] > _WINDOW:
            before.popleft()
        kept = [*facts[: max(0, self._per_hour - len(before))]]
        before.extend([moment] * len(kept))
        if len(kept) < len(facts):
            log.warning("facts-capped", code="facts-capped", left_out=len(facts) - len(kept))
        return kept
