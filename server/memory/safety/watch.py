"""Watches what people say for danger signs, as soon as it is understood: keeps the events, and says what the robot has to say."""

from collections.abc import Callable

import anyio
import structlog

from server.config_safety import SafetySection
from server.memory.consent import Wish, wish_of
from server.memory.forget_requests import forget_request
from server.memory.models import Page
from server.memory.safety.models import Severity, SignalKind
from server.memory.safety.noticing import notice
from server.memory.safety.signals import find_signals
from server.memory.writer import Writer
from server.turn import Kept, Transcript, Turn

log = structlog.get_logger(__name__)


class SafetyWatch:
    """A part of the memory: it writes to the same store."""

    def __init__(
        self, writer: Writer, section: SafetySection, withholds: Callable[[str], bool]
    ) -> None:
        """Watch for a store.

        Args:
            writer: Writes to it.
            section: Whether, and what is said.
            withholds: Says of whom nothing may be written: they get their answer all the same.
        """
        self._withholds = withholds
        self.noticed = anyio.Event()
        """Set when there are new events; whoever waits for it puts a new one in its place."""
        self._writer = writer
        self._section = section

    def heed(self, turn: Turn) -> None:
        """Keep the danger signs in what was said in a turn; returns at once."""
        said = turn.transcript
        if not self._section.enabled or not said or turn.kept is Kept.NOTHING:
            return
        if turn.is_guest or self._withholds(turn.person):
            return
        page = Page(
            said=said.text,
            heard="",
            at=turn.started_at,
            language=said.language,
            id=turn.id,
            person=turn.person,
            device=turn.device,
        )
        events = notice(page)
        if events and _is_unwanted(
            said
        ):  # an urgent sign is answered instead of the wish, and is kept all the same
            events = [event for event in events if event.severity is Severity.URGENT]
        if events:
            log.info("safety-events", turn=turn.id, count=len(events))
            self._writer.add_events(page, events)
            self.noticed.set()

    def escalation(self, turn: Turn) -> str:
        """Return what has to be said at once instead of an answer; empty unless something urgent was said.

        What was said in turns before this one, and is still unanswered, counts, too.
        """
        said = turn.question
        if not said or not self._kinds(turn, Severity.URGENT):
            return ""
        lines = self._section.escalation
        return {"ja": lines.ja, "zh": lines.zh}.get(said.language, lines.en)

    def concerns(self, turn: Turn) -> frozenset[SignalKind]:
        """Return the kinds of signs in what was said that somebody should look at the same day."""
        return self._kinds(turn, Severity.CONCERN)

    def _kinds(self, turn: Turn, severity: Severity) -> frozenset[SignalKind]:
        said = turn.question
        if not self._section.enabled or not said:
            return frozenset()
        signals = find_signals(said.text, said.language, turn.started_at)
        return frozenset(signal.kind for signal in signals if signal.severity is severity)


def _is_unwanted(said: Transcript) -> bool:
    """Say whether somebody wants, in the same breath, that what they say is not kept."""
    wished = wish_of(said.text)
    if wished is not None and wished.wish is not Wish.RESUME:
        return True
    return forget_request(said.text, said.language) is not None
