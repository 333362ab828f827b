"""What a robot has sent and its conversation has not taken yet."""

from collections import deque

import anyio
import anyio.lowlevel

from firmware_bridge import DeviceEvent

_EVENT_BYTES = 512
"""What an event takes besides its contents, so that many small ones count, too."""


class Inbox:
    """Events in order, from one task to another. When it is full the sender waits, and with it the robot's line."""

    def __init__(self, most_bytes: int) -> None:
        """Start empty; the event that goes beyond `most_bytes` is still taken."""
        self._most_bytes = most_bytes
        self._bytes = 0
        self._events: deque[tuple[DeviceEvent, int]] = deque()
        self._news = anyio.Event()
        self._room = anyio.Event()
        self._closed = False

    async def put(self, event: DeviceEvent, content_bytes: int) -> None:
        """Add an event as soon as there is room."""
        while self._bytes >= self._most_bytes:
            self._room = anyio.Event()
            await self._room.wait()
        size = content_bytes + _EVENT_BYTES
        self._bytes += size
        self._events.append((event, size))
        self._news.set()

    def close(self) -> None:
        """Say that nothing follows. What is in it can still be taken."""
        self._closed = True
        self._news.set()

    def __aiter__(self) -> "Inbox":
        """Return itself: there is one reader."""
        return self

    async def __anext__(self) -> DeviceEvent:
        """Take the next event. Waiting may be cancelled without losing one."""
        await anyio.lowlevel.checkpoint()
        while not self._events:
            if self._closed:
                raise StopAsyncIteration
            self._news = anyio.Event()
            await self._news.wait()
        event, size = self._events.popleft()
        self._bytes -= size
        self._room.set()
        return event
