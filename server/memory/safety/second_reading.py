"""Reads what was said a second time for danger signs, when facts are drawn from it: by its likeness to known ones."""

from collections.abc import Sequence
from dataclasses import replace

import structlog
from anyio import to_thread

from server.errors import OmoideError
from server.memory.harvest import Harvest
from server.memory.models import Origin, Page
from server.memory.safety.likeness import Likeness
from server.memory.safety.models import HIDDEN, SafetyEvent, Severity
from server.memory.safety.noticing import make_event
from server.memory.safety.signals import find_signals, of_speaker_now
from server.ports import Embedder

log = structlog.get_logger(__name__)


class SecondReading:
    """Adds danger signs to what was drawn from pages."""

    def __init__(self, likeness: Likeness | None, embedder: Embedder) -> None:
        """Read for one store.

        Args:
            likeness: Made for the vectors of `embedder`; None if nothing is to be read.
            embedder: Slow next to the rules, so nothing that anybody waits for is read here.
        """
        self._likeness = likeness
        self._embedder = embedder

    async def add_to(self, harvest: Harvest, pages: Sequence[Page]) -> Harvest:
        """Return a harvest with the signs in its pages that neither the rules nor whoever drew it saw."""
        if self._likeness is None:
            return harvest
        try:
            noticed = await self._notice(self._likeness, pages)
        except OmoideError as error:  # facts are not to wait for this
            log.warning("second-reading-failed", code=error.code)
            return harvest
        events = {event.id: event for event in (*noticed, *harvest.events)}
        return replace(harvest, events=tuple(events.values()))

    async def _notice(self, likeness: Likeness, pages: Sequence[Page]) -> list[SafetyEvent]:
        told = await to_thread.run_sync(_unheard, pages)
        if not told:
            return []
        vectors = await self._embedder.embed([sentence for _, sentence in told], "passage")
        found: dict[str, SafetyEvent] = {}
        for (page, sentence), kind in zip(told, likeness.kinds(vectors), strict=True):
            if kind is not None:
                severity = Severity.CONCERN if kind in HIDDEN else Severity.WATCH
                event = make_event(page, kind, severity, sentence, Origin.MODEL)
                found.setdefault(event.id, event)
        return [*found.values()]


def _unheard(pages: Sequence[Page]) -> list[tuple[Page, str]]:
    """Return the sentences that tell of the speaker and in which the rules hear nothing. Blocks."""
    return [
        (page, sentence)
        for page in pages
        for sentence in of_speaker_now(page.said, page.language, page.at)
        if not find_signals(sentence, page.language, page.at)
    ]
