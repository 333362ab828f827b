"""Keeps what was made of the records of each person ready: of the latest used ones, made by one thread at a time."""

import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class PersonCache(Generic[T]):
    """For threads. One that nobody waits for any more goes on, and what it makes is there for the next caller."""

    def __init__(self, most: int) -> None:
        """Keep what was made for at most so many persons."""
        self._most = most
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._making: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._drops: Counter[str] = Counter()
        self._lock = threading.Lock()
        """Of all of these; held for moments only."""

    def persons(self) -> list[str]:
        """Return of whom something is kept, the last used at the end."""
        with self._lock:
            return list(self._kept)

    def renewed(self, person: str, renew: Callable[[T | None], T]) -> T:
        """Return what `renew` makes of what is kept of a person, and keep that instead. Blocks.

        Who asks while it is made for another waits for it. What was dropped meanwhile is returned and not kept.
        """
        with self.nothing_made(person):
            with self._lock:
                known, drops = self._kept.get(person), self._drops[person]
            made = renew(known)
            with self._lock:
                if self._drops[person] == drops:
                    self._kept[person] = made
                    self._kept.move_to_end(person)
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        return made

    @contextmanager
    def nothing_made(self, person: str) -> Iterator[None]:
        """Wait until nothing is being made for a person; nothing is inside the block. Blocks."""
        with self._lock:
            making = self._making[person]
        with making:
            yield

    def drop(self, person: str) -> None:
        """Forget what is kept of a person, and what is being made at the moment."""
        with self._lock:
            self._drops[person] += 1
            self._kept.pop(person, None)
