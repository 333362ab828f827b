"""The outbox: which webhook has still to be told of which event, and when it is tried again. It is a table, so it survives a restart."""

from datetime import datetime, timedelta
from functools import partial

from server.config_safety import SafetySection
from server.memory.safety.models import Delivery, SafetyEvent, Severity, Standing
from server.memory.store import Store
from server.memory.writer import Writer
from server.ports import Clock

_FIRST_PAUSE = timedelta(seconds=5)
_LONGEST_PAUSE = timedelta(minutes=5)
"""So soon after an outage everything is on its way again."""
_MOST_DOUBLINGS = 6


class Outbox:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it.

    All of it goes through the writer: what was noticed before a call is in it.
    """

    def __init__(self, store: Store, writer: Writer, section: SafetySection, clock: Clock) -> None:
        self._deliveries = store.deliveries
        self._writer = writer
        self._section = section
        self._clock = clock

    async def take_up(self) -> None:
        """Put what is new into the outbox, for every webhook that wants it."""
        await self._writer.run(partial(self._deliveries.post, self._wanted_by, self._clock.now()))

    async def next(self, webhook: str) -> Delivery | None:
        """Return what a webhook is to be told first of what is due; None if nothing is."""
        now = self._clock.now()
        found = await self._writer.run(partial(self._deliveries.due, webhook, now, 1))
        return found[0] if found else None

    async def delivered(self, delivery: Delivery) -> None:
        """Be done with a delivery."""
        await self._writer.run(partial(self._deliveries.delivered, delivery))

    async def put_off(self, delivery: Delivery, error: str, *, all_due: bool) -> None:
        """Try a delivery again later: the more often it has failed, the later.

        Args:
            delivery: Which one.
            error: What went wrong, in a word.
            all_due: Whether the webhook can't be told anything at the moment.
        """
        doublings = min(delivery.attempts, _MOST_DOUBLINGS)
        until = self._clock.now() + min(_FIRST_PAUSE * 2**doublings, _LONGEST_PAUSE)
        work = partial(self._deliveries.put_off, delivery, until, error, all_due=all_due)
        await self._writer.run(work)

    async def next_due(self, webhook: str) -> datetime | None:
        """Return when a webhook is to be told something next; None if nothing waits."""
        return await self._writer.run(partial(self._deliveries.next_due, webhook))

    async def standings(self) -> dict[str, Standing]:
        """Return how it stands with each webhook of the configuration, by its name."""
        found = await self._writer.run(self._deliveries.standings)
        return {name: found.get(name, Standing(0)) for name in self._section.webhooks}

    def _wanted_by(self, event: SafetyEvent) -> list[str]:
        return [
            name
            for name, webhook in self._section.webhooks.items()
            if event.severity.rank >= Severity(webhook.min_severity).rank
            and (not webhook.kinds or event.kind in webhook.kinds)
            and (not webhook.persons or event.person in webhook.persons)
        ]
