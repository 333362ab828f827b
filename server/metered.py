"""A WebSocket connection that is measured as its bytes come in, before anything is done with them."""

from websockets.asyncio.server import ServerConnection
from websockets.protocol import Event, State

from server.allowance import Allowance
from server.config import LimitsSection
from server.connection import POLICY, TRY_LATER

_BURST_SECONDS = 5
"""After a stall of the radio link, or of this process, everything of the meantime arrives at once."""
_FRAMES_PER_SECOND = 100
"""Of sound that was recorded before it is sent, in the shortest frames that robots use: 10 ms."""
_BYTES_PER_SECOND = 96_000
"""Raw sound at the highest rate that a robot may have. Nothing else that robots send comes near."""
_SLACK = 2
"""Twice what the limits for sound let in: there is text as well, and too much sound is first dropped, then punished."""
_PIECE_BYTES = 4096
"""A client is stopped in the middle of what it sends, not after a quarter of a megabyte of tiny frames."""
_UNREAD_BYTES = 1_048_576
"""Far more than a reply sends ahead: what piles up here are the answers to pings of a client that does not read."""
_CLOSE_SECONDS = 2.0


class MeteredConnection(ServerConnection):
    """Ends itself, with a code, when the client sends too much or leaves too much unread.

    Every frame counts: pings, pongs and pieces of messages, too, which the library answers or collects by itself.
    """

    _frames: Allowance | None = None
    _bytes: Allowance | None = None
    _arrived = 0
    _is_ending = False

    def meter(self, limits: LimitsSection) -> None:
        """Set the limits. Call before the connection is used."""
        per_second = limits.messages_per_second
        kept = _FRAMES_PER_SECOND * limits.sound_burst_seconds
        self._frames = Allowance(per_second, max(per_second * _BURST_SECONDS, kept))
        most = _BYTES_PER_SECOND * _SLACK
        self._bytes = Allowance(most * limits.sound_speed, most * limits.sound_burst_seconds)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport."""
        for start in range(0, len(data), _PIECE_BYTES):
            piece = data[start : start + _PIECE_BYTES]
            self._arrived = 0
            super().data_received(piece)
            if not self._is_ending:
                self._weigh(len(piece))

    def process_event(self, event: Event) -> None:
        """Take one frame from the parser."""
        self._arrived += 1
        super().process_event(event)

    def _weigh(self, octets: int) -> None:
        if self._frames is None or self._bytes is None:
            return
        now = self.loop.time()
        if self._frames.take(now, self._arrived) < 0:
            self._fail(POLICY, "too many messages a second")
        elif self._bytes.take(now, octets) < 0:
            self._fail(POLICY, "too many bytes a second")
        elif self.transport.get_write_buffer_size() > _UNREAD_BYTES:
            self._fail(TRY_LATER, "too slow: answers piled up")
        if self.protocol.close_expected():
            # The library would wait for a client that does not want to end, and go on taking what it sends.
            self._is_ending = True
            self.loop.call_later(_CLOSE_SECONDS, self.transport.abort)

    def _fail(self, code: int, reason: str) -> None:
        """Tell the client why, and throw away whatever else it sends."""
        if self.protocol.state is State.CONNECTING:
            self.transport.abort()
            return
        self.protocol.fail(code, reason)
        self.send_data()
