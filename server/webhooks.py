"""Tells webhooks of safety events: at least once each, however long a webhook is away, with an id to know it again by."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import anyio
import httpx2
import structlog

from server.config_safety import WebhookSection
from server.errors import OmoideError
from server.failures import log_fault
from server.memory.safety.outbox import Outbox
from server.memory.safety.watch import SafetyWatch
from server.ports import Clock
from server.webhook_post import WebhookPost

log = structlog.get_logger(__name__)

_LOOK_SECONDS = 60.0
"""How long at most until the outbox is looked at again: a model notices signs, too, and wakes nobody."""
_TROUBLE_SECONDS = 5.0


class WebhookSender:
    """Run `deliver` for as long as the program runs; close it when that has ended.

    Each webhook has a course of its own, so a slow one keeps no other waiting; in each, what is urgent goes first.
    """

    def __init__(
        self,
        outbox: Outbox,
        watch: SafetyWatch,
        webhooks: Mapping[str, WebhookSection],
        clock: Clock,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """Remember the parts; nothing is opened yet.

        Args:
            outbox: What has to be told.
            watch: Says when there is something new.
            webhooks: Who is told, by name.
            clock: The time.
            transport: What carries requests, instead of the network.
        """
        self._outbox = outbox
        self._watch = watch
        self._webhooks = webhooks
        self._clock = clock
        self._post = WebhookPost(clock, transport)
        self._bells: dict[str, anyio.Event] = {}

    async def deliver(self) -> None:
        """Tell webhooks what they have to be told, until cancelled."""
        async with anyio.create_task_group() as tasks:
            for name in self._webhooks:
                tasks.start_soon(self._serve, name)
            await self._take_up()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._post.aclose()

    async def _take_up(self) -> None:
        """Put what is new into the outbox, and ring for those who have to tell it."""
        while True:
            self._watch.noticed = anyio.Event()
            pause = await _guarded(self._sort_out)
            with anyio.move_on_after(pause):
                await self._watch.noticed.wait()

    async def _sort_out(self) -> float:
        await self._outbox.take_up()
        for bell in self._bells.values():
            bell.set()
        return _LOOK_SECONDS

    async def _serve(self, name: str) -> None:
        """Tell one webhook what it has to be told, one thing after another."""
        while True:
            bell = self._bells[name] = anyio.Event()
            pause = await _guarded(partial(self._tell_next, name))
            with anyio.move_on_after(pause):
                await bell.wait()

    async def _tell_next(self, name: str) -> float:
        """Tell a webhook what comes first; return how many seconds nothing more is due."""
        delivery = await self._outbox.next(name)
        if delivery is None:
            due = await self._outbox.next_due(name)
            if due is None:
                return _LOOK_SECONDS
            return min(max((due - self._clock.now()).total_seconds(), 0.0), _LOOK_SECONDS)
        code = await self._post.tell(delivery, self._webhooks[name])
        if not code:
            await self._outbox.delivered(delivery)
            return 0.0
        log.warning("webhook-trouble", webhook=name, code=code, attempts=delivery.attempts + 1)
        await self._outbox.put_off(delivery, code, all_due=not code.startswith("refused"))
        return 0.0


async def _guarded(work: Callable[[], Awaitable[float]]) -> float:
    """Do something, and return how many seconds to wait behind it: a while, if it fails."""
    try:
        return await work()
    except OmoideError as error:  # the store; what waits is kept there
        log.warning("outbox-trouble", code=error.code)
    except Exception as error:
        log_fault("webhook-fault", error)
    return _TROUBLE_SECONDS
