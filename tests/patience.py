"""How long a test waits for what comes from outside, such as a socket or another process, before it says that it never came."""

from collections.abc import Callable

import anyio

SECONDS = 60
"""Longer than it takes on the busiest machine: who waits for less fails for no fault of the program."""
RETRIEVAL = {"embed_timeout_seconds": 30.0, "deadline_seconds": 30.0}
"""What recall may take, for tests that are not about its being late."""


async def until(condition: Callable[[], object]) -> None:
    """Wait in real time. See `tests.talks.until` for virtual time."""
    with anyio.fail_after(SECONDS):
        while not condition():
            await anyio.sleep(0.005)
