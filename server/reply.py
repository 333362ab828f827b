"""The answering half of a turn: the half that a barge-in cancels."""

from dataclasses import dataclass, field

import anyio

from server.playback import Playback

LAST_WORDS_SECONDS = 4.0
"""How long recognition may go on when the server stops; the door waits a little longer."""


@dataclass(slots=True, eq=False)
class Reply:
    """What has to be cancelled, and when, to end one reply."""

    playback: Playback
    hearing: anyio.CancelScope = field(default_factory=lambda: anyio.CancelScope(shield=True))
    """Around the recognition of what was said, which outlives the answer and the talk: its words are to be kept."""
    understood: bool = False
    """Whether recognition is over, however it ended."""
    waiting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    """Around the task that fills the silence before the reply."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    finished: anyio.Event = field(default_factory=anyio.Event)
    asked_at: float = field(default_factory=anyio.current_time)
    """When the person had finished: the end of the voice, or the arrival of the text."""
    unwanted: bool = False
    """Whether the person asked for silence: then the question is not answered later either."""
    previous: "Reply | None" = None
    """The one before, which has to be over before this one begins."""
    interrupts: "Reply | None" = None
    """The one that is held until it is known what was said."""
    is_void: bool = False
    """Whether there is nothing to answer: what it interrupted goes on as if it had not been."""

    def cancel(self) -> None:
        """Fall silent at once and stop thinking."""
        self.playback.stop()
        self.scope.cancel()

    async def is_next(self) -> None:
        """Wait until every reply before this one is over: one that was none may be over long before the one it interrupted."""
        while (before := self.previous) is not None:
            await before.finished.wait()
            if self.previous is before:  # somebody else may have waited, too
                self.previous = before.previous

    def follows(self, other: "Reply") -> bool:
        """Say whether all that came between another reply and this one is over."""
        before = self.previous
        while before is not None and before is not other and before.finished.is_set():
            before = before.previous
        return before is other

    def hurry(self) -> None:
        """Bound recognition: the server stops."""
        self.hearing.deadline = anyio.current_time() + LAST_WORDS_SECONDS

    def release(self) -> None:
        """Give up the answer while recognition goes on: nobody has to wait for this reply any more."""
        self.unwanted = True
        self.waiting.cancel()
        self.cancel()
        self.finished.set()
