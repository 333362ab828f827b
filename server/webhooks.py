"""Tells webhooks of safety events: at least once each, however long a webhook is away, with an id to know it again by."""

import hashlib
import hmac
import json
from collections.abc import Mapping

import anyio
import httpx2
import structlog

from server.config_safety import WebhookSection
from server.endpoint import open_client
from server.errors import OmoideError
from server.failures import log_fault
from server.memory.safety.described import describe_event
from server.memory.safety.models import Delivery
from server.memory.safety.outbox import Outbox
from server.memory.safety.watch import SafetyWatch
from server.ports import Clock

log = structlog.get_logger(__name__)

_ANSWER_SECONDS = 10.0
_MOST_ANSWER_BYTES = 65_536
_LOOK_SECONDS = 60.0
"""How long at most until the outbox is looked at again: a model notices signs, too, and wakes nobody."""
_TROUBLE_SECONDS = 5.0
_BUSY = frozenset({408, 425, 429})
"""Refusals that say nothing of the event itself."""


class WebhookSender:
    """Run `deliver` for as long as the program runs; close it when that has ended."""

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
        self._client = open_client(_ANSWER_SECONDS, _too_long, _MOST_ANSWER_BYTES, transport)

    async def deliver(self) -> None:
        """Tell webhooks what they have to be told, until cancelled."""
        while True:
            self._watch.noticed = anyio.Event()
            try:
                pause = await self._round()
            except OmoideError as error:  # the store; what waits is kept there
                log.warning("outbox-trouble", code=error.code)
                pause = _TROUBLE_SECONDS
            except Exception as error:
                log_fault("webhook-fault", error)
                pause = _TROUBLE_SECONDS
            with anyio.move_on_after(pause):
                await self._watch.noticed.wait()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _round(self) -> float:
        """Try everything that is due; return how many seconds nothing more is."""
        await self._outbox.take_up()
        async with anyio.create_task_group() as tasks:  # a slow one keeps no other waiting
            for name, section in self._webhooks.items():
                tasks.start_soon(self._serve, name, section)
        due = await self._outbox.next_due()
        if due is None:
            return _LOOK_SECONDS
        return min(max((due - self._clock.now()).total_seconds(), 0.0), _LOOK_SECONDS)

    async def _serve(self, name: str, section: WebhookSection) -> None:
        for delivery in await self._outbox.due(name):
            code = await self._post(delivery, section)
            if not code:
                await self._outbox.delivered(delivery)
                continue
            log.warning("webhook-trouble", webhook=name, code=code, attempts=delivery.attempts + 1)
            is_refused = code.startswith("refused")
            await self._outbox.put_off(delivery, all_due=not is_refused)
            if not is_refused:
                break

    async def _post(self, delivery: Delivery, section: WebhookSection) -> str:
        """Tell a webhook of an event; return what went wrong, in a word, or nothing."""
        told = {
            "id": delivery.event.id,
            "type": "safety-event",
            "event": describe_event(delivery.event),
        }
        body = json.dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace")
        headers = self._headers(delivery, section, body)
        try:
            with anyio.fail_after(_ANSWER_SECONDS):
                # The status is the receipt. What stands behind it may be long, or never end.
                async with self._client.stream(
                    "POST", section.url, content=body, headers=headers
                ) as answer:
                    pass
        except (httpx2.HTTPError, httpx2.InvalidURL, OmoideError, TimeoutError):
            return "unreachable"
        if answer.is_success:
            return ""
        is_refused = 400 <= answer.status_code < 500 and answer.status_code not in _BUSY
        return f"{'refused' if is_refused else 'failed'}-{answer.status_code}"

    def _headers(self, delivery: Delivery, section: WebhookSection, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "X-Omoide-Delivery": delivery.event.id}
        if secret := section.secret.get_secret_value():
            sent_at = str(int(self._clock.now().timestamp()))
            headers["X-Omoide-Timestamp"] = sent_at
            headers["X-Omoide-Signature"] = sign(secret, sent_at, body)
        return headers


def sign(secret: str, sent_at: str, body: bytes) -> str:
    """Return the signature of a request: HMAC-SHA256 over the time, a full stop and the body, in hexadecimal digits."""
    signed = hmac.new(secret.encode(), f"{sent_at}.".encode() + body, hashlib.sha256)
    return f"sha256={signed.hexdigest()}"


def _too_long(what: str) -> OmoideError:
    return OmoideError("webhook-answer", f"The webhook {what}")
