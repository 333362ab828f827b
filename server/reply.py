"""The answering half of a turn: the half that a barge-in cancels."""

from dataclasses import dataclass, field

import anyio

from server.speaking import Playback


@dataclass(slots=True, eq=False)
class Reply:
    """What has to be cancelled, and when, to end one reply."""

    playback: Playback
    hearing: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    """What to cancel to give up the recognition of what was said."""
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    """Around the task that fills the silence before the reply."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    finished: anyio.Event = field(default_factory=anyio.Event)
    asked_at: float = field(default_factory=anyio.current_time)
    """When the person had finished: the end of the voice, or the arrival of the text."""
    unwanted: bool = False
    """Whether the person asked for silence: then the question is not answered later either."""

    def cancel(self) -> None:
        """Fall silent at once and stop thinking."""
        self.playback.stop()
        self.scope.cancel()
