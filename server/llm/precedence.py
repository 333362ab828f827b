"""Who goes first where models share one processor: a person who waits for an answer, always."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from anyio import Event


class Preemptible(Protocol):
    """Work that can be dropped."""

    def preempt(self) -> None:
        """End it at once; whoever waits for it is told why."""


class Precedence:
    """Lets replies go before background work. Belongs to the event loop in which it is used."""

    def __init__(self) -> None:
        self._replies = 0
        self._quiet: Event | None = None
        self._running: list[Preemptible] = []

    @contextmanager
    def reply(self) -> Iterator[None]:
        """Answer somebody: background work that runs is dropped, and what comes later waits until this has ended."""
        self._replies += 1
        for work in tuple(self._running):
            work.preempt()
        try:
            yield
        finally:
            self._replies -= 1
            if not self._replies and self._quiet is not None:
                self._quiet.set()

    async def wait_for_quiet(self) -> None:
        """Wait until nobody is being answered. Between this and `background` nothing may be awaited."""
        while self._replies:
            if self._quiet is None or self._quiet.is_set():
                self._quiet = Event()
            await self._quiet.wait()

    @contextmanager
    def background(self, work: Preemptible) -> Iterator[None]:
        """Do work that a reply may drop."""
        self._running.append(work)
        try:
            yield
        finally:
            self._running.remove(work)
