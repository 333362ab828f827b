"""The one thread that changes the store: what is handed in is done in order, and finished before the program ends."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakSet

import anyio
import structlog
from anyio import to_thread

from server.errors import StoreError
from server.failures import log_fault
from server.memory.models import Page
from server.memory.safety.models import SafetyEvent
from server.memory.store import Store

T = TypeVar("T")

log = structlog.get_logger(__name__)

MOST_UNSAVED = 10_000
"""Exchanges that are kept in memory while the store can't be written; more than a day of talk."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What was said, to be stored: the exchange itself, or the danger signs in one that still runs."""

    page: Page
    events: Sequence[SafetyEvent] = ()


class Writer:
    """Writes to one store. Close it before the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memory-writer")
        self._unfinished: set[Future[Any]] = set()
        self._unsaved: deque[_Said] = deque(maxlen=MOST_UNSAVED)
        self.trouble: StoreError | None = None
        """Why finished exchanges can't be stored at the moment; None while all is well."""
        _writers.add(self)

    @property
    def busy(self) -> bool:
        """Whether something that was handed in is not done yet."""
        return bool(self._unfinished)

    def add_page(self, page: Page) -> "Future[None]":
        """Store a finished exchange; returns at once.

        If the store can't be written the exchange is kept, and stored with the next one or before the next change.
        """
        return self._add(_Said(page))

    def add_events(self, page: Page, events: Sequence[SafetyEvent]) -> "Future[None]":
        """Store danger signs in an exchange, which itself is not stored yet, as `add_page` stores one."""
        return self._add(_Said(page, events))

    def _add(self, said: _Said) -> "Future[None]":
        def save() -> None:
            self._unsaved.append(said)
            self._save_said()

        return self._submit(save)

    def give_up(self, is_meant: Callable[[Page], bool]) -> None:
        """Never store those exchanges that could not be stored so far and are meant. Only for a change that `run` makes."""
        kept = [said for said in self._unsaved if not is_meant(said.page)]
        self._unsaved.clear()
        self._unsaved.extend(kept)

    def submit(self, change: Callable[[], object]) -> None:
        """Make a change in its turn that nobody waits for; what goes wrong is logged."""

        def in_order() -> None:
            try:
                change()
            except StoreError as error:
                log.warning("store-trouble", code=error.code, reason=str(error))
            except Exception as error:
                log_fault("store-fault", error)

        self._submit(in_order)

    async def run(self, change: Callable[[], T]) -> T:
        """Make a change after all those that were handed in before. Raises what it raises.

        A cancelled caller waits for it: a change is never left half known.
        """

        def in_order() -> T:
            self._save_said()
            return change()

        done = self._submit(in_order)
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(wait, [done])
        return done.result()

    async def settle(self) -> None:
        """Try, or try again, to store everything that was handed in before, and wait for that."""
        await self.run(lambda: None)

    def close(self) -> None:
        """Finish what was handed in."""
        self._thread.shutdown(wait=True)
        if self._unsaved:
            log.error("exchanges-lost", count=len(self._unsaved), code="store-full")

    def _submit(self, work: Callable[[], T]) -> "Future[T]":
        future = self._thread.submit(work)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def _save_said(self) -> None:
        try:
            while self._unsaved:
                said = self._unsaved[0]
                if said.events:
                    self._store.safety.add(said.events)
                else:
                    self._store.pages.add(said.page)
                self._unsaved.popleft()
        except StoreError as error:
            if self.trouble is None:
                log.warning("store-trouble", code=error.code, reason=str(error))
            self.trouble = error
        except Exception as error:
            log_fault("store-fault", error)
            self._unsaved.popleft()  # a page that no store can take must not hold up the others
        else:
            self.trouble = None


_writers: WeakSet[Writer] = WeakSet()


def writers_are_busy() -> bool:
    """Whether any store of this process is being written, for a clock that must not run ahead of it."""
    return any(writer.busy for writer in _writers)
