"""How long what has failed is left alone: each time twice as long, up to a longest pause."""

from datetime import datetime, timedelta

_MOST_DOUBLINGS = 6


def pause_after(attempts: int, minutes: float) -> timedelta:
    """Return how long to wait after a failure.

    Args:
        attempts: How many failures came before it.
        minutes: The pause after the first one.
    """
    return timedelta(minutes=minutes * 2 ** min(attempts, _MOST_DOUBLINGS))


def latest_retry(now: datetime, minutes: float) -> datetime:
    """Return the moment up to which something may have been put off by now.

    What was put off to a later one was so while the clock was ahead: it has waited long enough.

    Args:
        now: The present moment.
        minutes: As in `pause_after`.
    """
    return now + pause_after(_MOST_DOUBLINGS, minutes)
