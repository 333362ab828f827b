"""How much of something a client may use: so much a second, and some of it at once."""


class Allowance:
    """A purse that fills with time, up to a limit, and that may be overdrawn.

    Radio links stall and then deliver everything of the meantime at once, so what counts is the average.
    """

    def __init__(self, per_second: float, at_once: float) -> None:
        """Start full.

        Args:
            per_second: How fast it fills.
            at_once: How much there can be in it.
        """
        self._per_second = per_second
        self._at_once = at_once
        self._left = at_once
        self._counted_at: float | None = None

    def take(self, now_seconds: float, amount: float = 1) -> float:
        """Take something out, whether it is there or not; return what is left: below zero, it was too much."""
        if self._counted_at is not None:
            gained = (now_seconds - self._counted_at) * self._per_second
            self._left = min(self._left + gained, self._at_once)
        self._counted_at = now_seconds
        self._left -= amount
        return self._left
