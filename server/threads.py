"""Blocking work of engines: models that are loaded once, and computed with one call at a time, in threads.

Both leave a cancelled caller free at once. What its thread was doing goes on to its end, because native code can't be
stopped, and the result is kept (a loaded model) or thrown away (a computation).
"""

import asyncio
import os
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakSet

from anyio import CapacityLimiter, Event, current_time, to_thread

from server.trace import stage
from server.turn import Stage

T = TypeVar("T")

_SWITCH_SECONDS = 0.0005
"""How long who waits for the interpreter waits at most until a thread that computes in Python lets go of it. Python's own
5 ms are waited for at every hop to a thread and back, of which a turn makes dozens: while memory draws facts by its rules, four
hops take 38 ms by them and 6 ms by these."""


@contextmanager
def talk_first() -> Iterator[None]:
    """Let nobody who talks wait long for what computes in the background, within the block. For the whole process."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


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


class Overtaken(Exception):  # noqa: N818 - it says what happened to the call
    """A call was not made: the same caller asked for newer ones while it waited."""


@dataclass(slots=True, eq=False)
class _Place:
    """A place in the queue of an engine."""

    caller: str
    called: Event = field(default_factory=Event)
    overtaken: bool = False


class OneAtATime:
    """Runs the blocking calls of one engine, never two at once, in a thread of its own.

    Whoever waits is served in turn with the others, however many calls one caller makes. A call whose caller has left
    before its turn came is not made. Belongs to the event loop in which it is used.
    """

    def __init__(self, waiting_each: int | None = None) -> None:
        """Make an engine's queue.

        Args:
            waiting_each: How many calls of one caller may wait; one more takes the place of the oldest. None for any
                number.
        """
        self._waiting_each = waiting_each
        self._thread = ThreadPoolExecutor(1)
        self._busy = False
        _engines.add(self)
        self._queues: OrderedDict[str, deque[_Place]] = OrderedDict()
        """Who waits, by caller. The first caller is the next one, the last one was served last."""

    @property
    def busy(self) -> bool:
        """Whether a call runs, wanted or abandoned."""
        return self._busy

    async def run(self, work: Callable[[], T], caller: str = "") -> Computed[T]:
        """Do `work` in a thread as soon as no other work runs.

        Args:
            work: What to do.
            caller: Who asks, e.g. a device. Callers take turns.

        Raises:
            Overtaken: The caller asked for more than may wait, and this was the oldest call.
            Exception: Whatever `work` raises.
        """
        asked = current_time()
        await self._wait_for_turn(caller)
        waited = current_time() - asked
        done = Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            self._call_next(caller)
            done.set()

        def report(_: Future[T]) -> None:
            try:
                loop.call_soon_threadsafe(end)
            except RuntimeError:  # the loop is closed: nobody waits any more
                self._busy = False

        future = self._thread.submit(copy_context().run, work)
        future.add_done_callback(report)
        await done.wait()
        return Computed(future.result(), waited)

    async def _wait_for_turn(self, caller: str) -> None:
        if not self._busy:
            self._busy = True
            return
        place = self._queue(caller)
        try:
            await place.called.wait()
        except BaseException:
            self._leave(place)
            raise
        if place.overtaken:
            raise Overtaken

    def _queue(self, caller: str) -> _Place:
        place = _Place(caller)
        queue = self._queues.setdefault(caller, deque())
        queue.append(place)
        if self._waiting_each is not None and len(queue) > self._waiting_each:
            oldest = queue.popleft()
            oldest.overtaken = True
            oldest.called.set()
        return place

    def _leave(self, place: _Place) -> None:
        queue = self._queues.get(place.caller, deque())
        if place in queue:
            queue.remove(place)
            self._drop_empty(place.caller)
        elif not place.overtaken:  # its turn had just come
            self._call_next(place.caller)

    def _call_next(self, served: str) -> None:
        """Give the engine to whoever comes next; `served` comes last."""
        if served in self._queues:
            self._queues.move_to_end(served)
        self._busy = bool(self._queues)
        if self._busy:
            caller, queue = next(iter(self._queues.items()))
            queue.popleft().called.set()
            self._drop_empty(caller)

    def _drop_empty(self, caller: str) -> None:
        if not self._queues[caller]:
            del self._queues[caller]


_engines: WeakSet[OneAtATime] = WeakSet()


def engines_are_busy() -> bool:
    """Whether any engine of this process computes, for a clock that must not run ahead of its results."""
    return any(engine.busy for engine in _engines)


def cores() -> int:
    """Return how many processor cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Windows and macOS
        return os.cpu_count() or 1
