"""An event loop whose clock jumps to the next timer, so that a talk of 30 s takes milliseconds and always the same course.

Run with `anyio.run(…, backend_options=VIRTUAL_TIME[1])`; tests ask for it by the fixture `anyio_backend`, see
`tests.virtual_time`. `anyio.current_time`, `anyio.sleep` and every time-out follow the virtual clock. It stands still while something can run,
and while a worker thread of `anyio.to_thread` or an engine computes, and while a memory is being written. Not for talks over sockets or child processes: what comes from
outside takes real time, which this clock does not know.
"""

import asyncio
import selectors
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from anyio._backends._asyncio import WorkerThread

from server.memory.writer import writers_are_busy
from server.threads import engines_are_busy

Backend: TypeAlias = tuple[str, dict[str, Any]]
"""What pytest's fixture `anyio_backend` returns."""

_START_SECONDS = 1000
"""Not zero, so that code which takes "no time yet" for false is found out."""


class Deadlock(RuntimeError):  # noqa: N818 - it names a state
    """Nothing can run any more and no timer is set: every task waits for another one."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A selector event loop on a virtual clock.

    Raises `Deadlock` out of `run_until_complete` instead of hanging.
    """

    def __init__(self) -> None:
        self._clock_ns = _START_SECONDS * 10**9
        super().__init__(_JumpingSelector(self._pass_time, self._threads_are_busy))

    def time(self) -> float:
        """Return the virtual time in seconds. Kept in whole nanoseconds, so that it reads 0.06 and not 0.0600000001."""
        return self._clock_ns / 10**9

    def _pass_time(self, seconds: float | None) -> None:
        if seconds is None:
            raise Deadlock(
                "nothing can run and no timer is set. The tasks wait here:\n" + self._waiting()
            )
        self._clock_ns += max(1, round(seconds * 10**9))

    def _threads_are_busy(self) -> bool:
        # Those of `anyio` first: while one of them opens a memory, nobody may go through the writers.
        if any(
            thread.loop is self and thread.queue.unfinished_tasks > 0
            for thread in threading.enumerate()
            if isinstance(thread, WorkerThread)
        ):
            return True
        return engines_are_busy() or writers_are_busy()

    def _waiting(self) -> str:
        return "\n".join(
            f"  {task.get_name()}: {_awaits(task.get_coro())}" for task in asyncio.all_tasks(self)
        )


class _JumpingSelector(selectors.BaseSelector):
    """Never waits: when no socket is ready, it lets the waiting time pass on the virtual clock instead."""

    def __init__(
        self, pass_time: Callable[[float | None], None], threads_are_busy: Callable[[], bool]
    ) -> None:
        self._real = selectors.DefaultSelector()
        self._pass_time = pass_time
        self._threads_are_busy = threads_are_busy

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        # Asked before polling: a thread that ends in between has then already written to the loop's wake-up socket.
        busy = self._threads_are_busy()
        events = self._real.select(0)
        if events or timeout == 0:
            return events
        if busy:
            # The result wakes it. But a thread counts as busy for a moment longer, when no result will come any more.
            return self._real.select(0.001)
        self._pass_time(timeout)
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Any:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


def _awaits(coroutine: Any) -> str:
    """Return the chain of awaits in which a coroutine stands, outermost first."""
    places = []
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "ag_frame", None)
        if frame is not None:
            code = frame.f_code
            places.append(f"{Path(code.co_filename).name}:{frame.f_lineno} in {code.co_qualname}")
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None)
    return " > ".join(places)


VIRTUAL_TIME: Backend = ("asyncio", {"loop_factory": VirtualTimeLoop})
