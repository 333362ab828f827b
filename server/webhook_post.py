"""Posts one message to one webhook, signed if it has a secret, and says in a word what went wrong."""

import hashlib
import hmac
import json
import uuid
from collections.abc import Mapping
from typing import Any

import anyio
import httpx2

from server.config_safety import WebhookSection
from server.endpoint import open_client
from server.errors import OmoideError
from server.memory.safety.described import describe_event
from server.memory.safety.models import Delivery
from server.ports import Clock

_ANSWER_SECONDS = 10.0
_MOST_ANSWER_BYTES = 65_536
_BUSY = frozenset({408, 425, 429})
"""Refusals that say nothing of the message itself."""


class WebhookPost:
    """Close it when nothing is posted any more."""

    def __init__(self, clock: Clock, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        """Open nothing yet.

        Args:
            clock: The time, for signatures.
            transport: What carries requests, instead of the network.
        """
        self._clock = clock
        self._client = open_client(_ANSWER_SECONDS, _too_long, _MOST_ANSWER_BYTES, transport)

    async def tell(self, delivery: Delivery, section: WebhookSection) -> str:
        """Tell a webhook of an event; return what went wrong, in a word, or nothing."""
        event = describe_event(delivery.event) | {"erased": delivery.is_erased}
        if delivery.is_erased:
            event["state"] = "erased"
        return await self._post(delivery.event.id, "safety-event", event, section)

    async def test(self, section: WebhookSection) -> str:
        """Send a webhook a message that tells of nobody; return what went wrong, in a word, or nothing."""
        return await self._post(uuid.uuid4().hex, "webhook-test", None, section)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _post(
        self, id_: str, kind: str, event: Mapping[str, Any] | None, section: WebhookSection
    ) -> str:
        told = {"id": id_, "type": kind, "event": event}
        body = json.dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace")
        headers = self._headers(id_, section, body)
        try:
            with anyio.fail_after(_ANSWER_SECONDS):
                # The status is the receipt. What stands behind it may be long, or never end.
                async with self._client.stream(
                    "POST", section.url, content=body, headers=headers
                ) as answer:
                    pass
        except (TimeoutError, httpx2.TimeoutException):
            return "timed-out"
        except (httpx2.HTTPError, httpx2.InvalidURL, OmoideError):
            return "unreachable"
        if answer.is_success:
            return ""
        is_refused = 400 <= answer.status_code < 500 and answer.status_code not in _BUSY
        return f"{'refused' if is_refused else 'failed'}-{answer.status_code}"

    def _headers(self, id_: str, section: WebhookSection, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "X-Omoide-Delivery": id_}
        if secret := section.secret.get_secret_value():
            sent_at = str(int(self._clock.now().timestamp()))
            headers["X-Omoide-Timestamp"] = sent_at
            headers["X-Omoide-Signature"] = sign(secret, sent_at, body)
        return headers


async def test_webhook(
    name: str, webhooks: Mapping[str, WebhookSection], clock: Clock
) -> dict[str, Any]:
    """Send a webhook a message that tells of nobody; return what came of it.

    Raises:
        OmoideError: ``webhook-unknown``.
    """
    if name not in webhooks:
        names = ", ".join(webhooks) or "none"
        raise OmoideError(
            "webhook-unknown",
            f"There is no webhook {name} under safety.webhooks. There is: {names}.",
        )
    post = WebhookPost(clock)
    try:
        code = await post.test(webhooks[name])
    finally:
        await post.aclose()
    return {"webhook": name, "ok": not code, "code": code}


def sign(secret: str, sent_at: str, body: bytes) -> str:
    """Return the signature of a request: HMAC-SHA256 over the time, a full stop and the body, in hexadecimal digits."""
    signed = hmac.new(secret.encode(), f"{sent_at}.".encode() + body, hashlib.sha256)
    return f"sha256={signed.hexdigest()}"


def _too_long(what: str) -> OmoideError:
    return OmoideError("webhook-answer", f"The webhook {what}")
