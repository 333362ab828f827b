"""The outbox: which webhook has still to be told of which event, and when it is tried again. It is a table, so it survives a restart."""

from datetime import datetime, timedelta
from functools import partial

from server.config_safety import SafetySection
from server.memory.safety.models import Delivery, SafetyEvent, Severity
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock

MOST_AT_ONCE = 20
_FIRST_PAUSE = timedelta(seconds=5)
_LONGEST_PAUSE = timedelta(minutes=5)
"""So soon after an outage everything is on its way again."""
_MOST_DOUBLINGS = 6


class Outbox:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it.

    All of it goes through the writer: what was noticed before a call is in it.
    """

    def __init__(self, store: Store, writer: Writer, section: SafetySection, clock: Clock) -> None:
        self._events = store.safety
        self._writer = writer
        self._section = section
        self._clock = clock

    async def take_up(self) -> None:
        """Put what is new into the outbox, for every webhook that wants it."""
        await self._writer.run(partial(self._events.post, self._wanted_by, self._clock.now()))

    async def due(self, webhook: str) -> list[Delivery]:
        """Return what a webhook is to be told now, some of it if it is very much."""
        now = self._clock.now()
        return await self._writer.run(partial(self._events.due, webhook, now, MOST_AT_ONCE))

    async def delivered(self, delivery: Delivery) -> None:
        """Be done with a delivery."""
        await self._writer.run(partial(self._events.delivered, delivery))

    async def put_off(self, delivery: Delivery, *, all_due: bool) -> None:
        """Try a delivery again later: the more often it has failed, the later.

        Args:
            delivery: Which one.
            all_due: Whether the webhook can't be told anything at the moment.
        """
        doublings = min(delivery.attempts, _MOST_DOUBLINGS)
        until = self._clock.now() + min(_FIRST_PAUSE * 2**doublings, _LONGEST_PAUSE)
        await self._writer.run(partial(self._events.put_off, delivery, until, all_due=all_due))

    async def next_due(self) -> datetime | None:
        """Return when a webhook is to be told something next; None if nothing waits."""
        return await self._writer.run(partial(self._events.next_due, [*self._section.webhooks]))

    def _wanted_by(self, event: SafetyEvent) -> list[str]:
        return [
            name
            for name, webhook in self._section.webhooks.items()
            if event.severity.rank >= Severity(webhook.min_severity).rank
            and (not webhook.kinds or event.kind in webhook.kinds)
        ]
