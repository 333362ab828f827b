"""Running a stream ahead of its reader, so that a stage works while the next one is busy or waits."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Generic, TypeAlias, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

T = TypeVar("T")
Put: TypeAlias = Callable[[T], Awaitable[None]]
"""Hands an item to the reader, and waits while there are too many that have not been read."""


class Ahead(Generic[T]):
    """The reading end of `ahead`."""

    def __init__(self, items: MemoryObjectReceiveStream[T], failures: list[Exception]) -> None:
        self._items = items
        self._failures = failures

    async def next(self) -> T | None:
        """Return the next item, None after the last. Safe to cancel: neither an item nor the source is lost.

        Raises:
            Exception: What the source raised, after the items that came before it.
        """
        try:
            return await self._items.receive()
        except anyio.EndOfStream:
            if self._failures:
                raise self._failures[0] from None
            return None

    async def each(self) -> AsyncGenerator[T, None]:
        """Yield the items; raises as `next` does."""
        while (item := await self.next()) is not None:
            yield item


@asynccontextmanager
async def ahead(source: AsyncGenerator[T, None], items: float) -> AsyncIterator[Ahead[T]]:
    """Run `source` ahead of its reader, by at most `items` items.

    A context manager, because it runs a task: that must not outlive the block. Leaving the block stops and closes the
    source, whether it was read to its end or not.
    """

    async def produce(put: Put[T]) -> None:
        async with aclosing(source):
            async for item in source:
                await put(item)

    async with produced(produce, items) as ready:
        yield ready


@asynccontextmanager
async def produced(
    produce: Callable[[Put[T]], Awaitable[None]], items: float
) -> AsyncIterator[Ahead[T]]:
    """Run a function that puts items, ahead of their reader.

    Unlike a generator it may hold context managers with tasks of their own while it puts. Leaving the block cancels it.

    Args:
        produce: Puts one item after another. What it raises comes out behind them.
        items: By how many it may be ahead; with 0 each waits for its reader.
    """
    send, receive = anyio.create_memory_object_stream[T](items)
    failures: list[Exception] = []

    async def pump() -> None:
        async with send:
            try:
                await produce(send.send)
            except anyio.BrokenResourceError:
                pass  # the reader has left
            except Exception as error:
                failures.append(error)

    raised: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pump)
        try:
            async with receive:
                yield Ahead(receive, failures)
        except Exception as error:
            raised = error  # outside the group, or it would come out wrapped in an exception group
        tasks.cancel_scope.cancel()
    if raised is not None:
        raise raised
