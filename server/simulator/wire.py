"""A wire in memory between a robot and a server, good or weak: two ends that look like WebSockets, in virtual time or real.

A message takes its way after the one before it: the link is as slow, stands still and loses as it is told.
"""

import math
import random
from collections import deque
from dataclasses import dataclass

import anyio
import anyio.lowlevel
from websockets.exceptions import ConnectionClosedOK
from websockets.frames import Close

from firmware_bridge.codec import WireMessage

_FRAME_BYTES = 60
"""What TCP, IP and radio add to a message."""
_SOCKET_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Link:
    """How a link behaves, each way for itself."""

    bytes_per_second: float = math.inf
    latency_ms: float = 5.0
    stall_every_ms: float = 0.0
    """How often it stands still; 0 = never."""
    stall_ms: float = 0.0
    loss: float = 0.0
    """What part of the messages is lost on the way ..."""
    resend_ms: float = 200.0
    """... and comes so much later, as TCP sends it again, with everything behind it. 0 = packets of sound do not come at
    all, as behind a relay that passes them on by UDP."""
    seed: int = 1

    def after_stalls(self, seconds: float) -> float:
        """Return when the link works, at some moment since it was opened or after it."""
        if not self.stall_every_ms or seconds * 1000 < self.stall_every_ms:
            return seconds
        into_ms = seconds * 1000 % self.stall_every_ms
        return seconds + max(0.0, self.stall_ms - into_ms) / 1000


GOOD = Link()
WEAK = Link(bytes_per_second=40 * 1024, latency_ms=30, stall_every_ms=5000, stall_ms=400, loss=0.02)
"""40 KiB/s, 400 ms of standstill every 5 s, 2 % of the messages lost and sent again."""


@dataclass(frozen=True, slots=True)
class _Message:
    arrives_at: float
    content: WireMessage | Close


class _Way:
    """What is on its way in one direction."""

    def __init__(self) -> None:
        self._messages: deque[_Message] = deque()
        self._news = anyio.Event()

    def put(self, message: _Message) -> None:
        self._messages.append(message)
        self._news.set()

    async def get(self) -> _Message:
        while not self._messages:
            self._news = anyio.Event()
            await self._news.wait()
        return self._messages.popleft()


class WireEnd:
    """One end: what a `Connection` of the server or a `Line` of a robot needs of its socket. Made by `open_wire`."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._chance = random.Random(link.seed)
        self._opened_at = anyio.current_time()
        self._free_at = 0.0
        """When the link has passed on all that was sent."""
        self.incoming = self.outgoing = _Way()
        """Where the other end takes what this one sends."""
        self.lost = 0
        """How many messages of this end were lost, be it that they were sent again."""

    @property
    def transport(self) -> "WireEnd":
        """Itself: it can be aborted."""
        return self

    async def send(self, message: WireMessage) -> None:
        """Send a message. Waits as long as more is on its way than a socket keeps."""
        now = anyio.current_time() - self._opened_at
        begins = self._link.after_stalls(max(now, self._free_at))
        self._free_at = begins + (len(message) + _FRAME_BYTES) / self._link.bytes_per_second
        is_lost = self._chance.random() < self._link.loss
        self.lost += is_lost
        if is_lost and self._link.resend_ms:
            self._free_at += self._link.resend_ms / 1000
        if not is_lost or self._link.resend_ms or isinstance(message, str):
            arrives = self._opened_at + self._free_at + self._link.latency_ms / 1000
            self.outgoing.put(_Message(arrives, message))
        backlog_seconds = _SOCKET_BYTES / self._link.bytes_per_second
        await anyio.sleep(max(0.0, self._free_at - now - backlog_seconds))

    async def recv(self) -> WireMessage:
        """Wait for the next message.

        Raises:
            ConnectionClosed: The other end has hung up, or this one.
        """
        message = await self.incoming.get()
        await anyio.sleep_until(message.arrives_at)
        if isinstance(message.content, Close):
            raise ConnectionClosedOK(message.content, None)
        return message.content

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Hang up."""
        now = anyio.current_time()
        for way in (self.incoming, self.outgoing):
            way.put(_Message(now, Close(code, reason)))
        await anyio.lowlevel.checkpoint()

    def abort(self) -> None:
        """Lose the connection."""
        for way in (self.incoming, self.outgoing):
            way.put(_Message(anyio.current_time(), Close(1006, "")))


def open_wire(link: Link = GOOD) -> tuple[WireEnd, WireEnd]:
    """Return the two ends of a connection; both ways are alike."""
    one, other = WireEnd(link), WireEnd(link)
    one.outgoing, other.outgoing = other.incoming, one.incoming
    return one, other
