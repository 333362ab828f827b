"""How often each household may do something: so many times a minute, and that many at once."""

from collections import OrderedDict

import anyio

from server.allowance import Allowance

_MOST = 4096
"""Households that are counted; whoever came longest ago starts anew."""


class Rates:
    """An allowance for each. For use inside the event loop only."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left: OrderedDict[str, Allowance] = OrderedDict()

    def take(self, household: str) -> bool:
        """Count once more; return whether that was still within the allowance."""
        return self._of(household).take(anyio.current_time()) >= 0

    def is_spent(self, household: str) -> bool:
        """Whether the next time would be too much. Counts nothing."""
        return household in self._left and self._of(household).take(anyio.current_time(), 0) < 1

    def _of(self, household: str) -> Allowance:
        allowance = self._left.pop(household, None) or Allowance(
            self._per_minute / 60, self._per_minute
        )
        self._left[household] = allowance
        while len(self._left) > _MOST:
            self._left.popitem(last=False)
        return allowance
