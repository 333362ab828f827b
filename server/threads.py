"""Blocking work of engines: models that are loaded once, and computed with one call at a time, in threads.

Both leave a cancelled caller free at once. What its thread was doing goes on to its end, because native code can't be
stopped, and the result is kept (a loaded model) or thrown away (a computation).
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from anyio import CapacityLimiter, to_thread

from server.trace import stage
from server.turn import Stage

T = TypeVar("T")


class Lazy(Generic[T]):
    """A model that is loaded when it is first needed, once, however many callers wait for it."""

    def __init__(self, load: Callable[[], T]) -> None:
        """Remember how to load. `load` runs in a thread; if it fails, the next call of `get` tries again."""
        self._load = load
        self._entry = CapacityLimiter(1)
        self._lock = threading.Lock()
        self._loaded: T | None = None

    @property
    def loaded(self) -> T | None:
        """The model if it is there already."""
        return self._loaded

    async def get(self, wait: Stage | None = None) -> T:
        """Return the model, loading it if need be. Raises whatever loading raises.

        Args:
            wait: The stage of the turn under which a wait is recorded; None if the caller does it.
        """
        if self._loaded is not None:
            return self._loaded
        with stage(wait) if wait else nullcontext():
            return await to_thread.run_sync(
                self._load_once, abandon_on_cancel=True, limiter=self._entry
            )

    def drop(self) -> None:
        """Let go of the model; it is loaded again if somebody asks for it."""
        self._loaded = None

    def _load_once(self) -> T:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


@dataclass(frozen=True, slots=True)
class Computed(Generic[T]):
    """The result of a piece of work, and how long it had to wait for its turn."""

    value: T
    waited_seconds: float


class OneAtATime:
    """Runs the blocking calls of one engine, never two at once.

    A call whose caller has left before its turn came is not made, so abandoned work can't pile up.
    """

    def __init__(self) -> None:
        # One call runs and one stands ready behind it; the others wait without a thread.
        self._threads = CapacityLimiter(2)
        self._engine = threading.Lock()

    async def run(self, work: Callable[[], T]) -> Computed[T]:
        """Do `work` in a thread as soon as no other work runs. Raises whatever `work` raises."""
        left = threading.Event()
        asked = time.monotonic()  # threads have no event loop whose clock they could read
        try:
            return await to_thread.run_sync(
                partial(self._take_turn, work, left, asked),
                abandon_on_cancel=True,
                limiter=self._threads,
            )
        finally:
            left.set()

    def _take_turn(self, work: Callable[[], T], left: threading.Event, asked: float) -> Computed[T]:
        with self._engine:
            if left.is_set():
                raise _CallerLeft
            waited = time.monotonic() - asked
            return Computed(work(), waited)


class _CallerLeft(Exception):  # noqa: N818 - nobody is there to see it
    """The caller was cancelled while the call waited for its turn."""


def cores() -> int:
    """Return how many processor cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Windows and macOS
        return os.cpu_count() or 1
