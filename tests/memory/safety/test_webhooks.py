"""Webhooks are told of every event they want, at least once, in virtual time: also after an hour's outage and a restart."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import structlog

from server.config import Config
from server.memory.safety.outbox import Outbox
from server.memory.safety.watch import SafetyWatch
from server.memory.store import Store
from server.memory.writer import Writer
from server.webhooks import WebhookSender
from tests.memory.remembering import NOON, turn
from tests.virtual_time import VIRTUAL_TIME, Backend

NURSE = {"url": "https://nurse.example/hook", "secret": "correct-horse-battery"}


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


class LoopClock:
    """The wall clock goes with the loop."""

    def __init__(self) -> None:
        self._began = anyio.current_time()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=anyio.current_time() - self._began)


class Service:
    """Answers requests, or is away, and keeps what it was told."""

    def __init__(self) -> None:
        self.status: int | None = 200
        """None: nobody answers."""
        self.body: AsyncIterator[bytes] | bytes = b""
        self.told: list[httpx2.Request] = []
        self.asked = 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        if self.status is None:
            raise httpx2.ConnectError("nobody is there")
        if self.status == 200:
            self.told.append(request)
        return httpx2.Response(self.status, content=self.body)

    def quotes(self) -> list[str]:
        return [json.loads(request.content)["event"]["quote"] for request in self.told]


@asynccontextmanager
async def sending(
    folder: Path, service: Service, webhooks: dict[str, Any] | None = None, clock: Any = None
) -> AsyncIterator[SafetyWatch]:
    section = Config(safety={"webhooks": webhooks or {"nurse": NURSE}}).safety
    clock = clock or LoopClock()
    store = Store(folder / "memory.db")
    writer = Writer(store)
    watch = SafetyWatch(writer, section, lambda person: False)
    outbox = Outbox(store, writer, section, clock)
    sender = WebhookSender(outbox, watch, section.webhooks, clock, httpx2.MockTransport(service))
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sender.deliver)
            yield watch
            tasks.cancel_scope.cancel()
    finally:
        await sender.aclose()
        writer.close()
        store.close()


def say(watch: SafetyWatch, said: str, number: int = 0) -> None:
    watch.heed(turn(said, NOON + timedelta(minutes=number), language="en", id_=f"t{number}"))


async def test_an_event_is_told_at_once_signed_and_with_an_id(tmp_path: Path) -> None:
    service = Service()
    async with sending(tmp_path, service) as watch:
        say(watch, "My chest hurts.")
        await anyio.sleep(0.5)
    [request] = service.told
    told = json.loads(request.content)
    assert (told["event"]["quote"], told["event"]["severity"]) == ("My chest hurts.", "urgent")
    assert request.headers["X-Omoide-Delivery"] == told["id"] == told["event"]["id"]
    signed = f"{request.headers['X-Omoide-Timestamp']}.".encode() + request.content
    expected = hmac.new(b"correct-horse-battery", signed, hashlib.sha256).hexdigest()
    assert request.headers["X-Omoide-Signature"] == f"sha256={expected}"


async def test_a_webhook_that_is_down_for_an_hour_loses_none(tmp_path: Path) -> None:
    service = Service()
    service.status = None
    async with sending(tmp_path, service) as watch:
        for number in range(60):
            say(watch, f"I fell in the kitchen, number {number}.", number)
            await anyio.sleep(60)
        assert service.told == []
        tried_in_vain = service.asked
        service.status = 200
        await anyio.sleep(600)
    assert sorted(service.quotes()) == sorted(
        f"I fell in the kitchen, number {number}." for number in range(60)
    )
    assert tried_in_vain < 6 * 60  # it is not hammered


async def test_what_waits_survives_a_restart(tmp_path: Path) -> None:
    service, clock = Service(), LoopClock()
    service.status = 503
    async with sending(tmp_path, service, clock=clock) as watch:
        say(watch, "My chest hurts.")
        await anyio.sleep(1)
    service.status = 200
    await anyio.sleep(3600)
    async with sending(tmp_path, service, clock=clock):
        await anyio.sleep(1)
    assert service.quotes() == ["My chest hurts."]


async def test_an_event_that_is_refused_holds_up_no_other(tmp_path: Path) -> None:
    service = Service()
    service.status = 400
    async with sending(tmp_path, service) as watch:
        say(watch, "I fell in the bath.", 1)
        await anyio.sleep(1)
        service.status = 200
        say(watch, "My chest hurts.", 2)
        await anyio.sleep(1)
        assert service.quotes() == ["My chest hurts."]
        await anyio.sleep(60)
    assert service.quotes() == ["My chest hurts.", "I fell in the bath."]


async def test_a_webhook_is_told_only_of_the_kinds_and_severities_it_wants(tmp_path: Path) -> None:
    service = Service()
    falls = {**NURSE, "kinds": ["fall"], "min_severity": "watch"}
    async with sending(tmp_path, service, {"falls": falls}) as watch:
        say(watch, "My chest hurts.", 1)
        say(watch, "I nearly fell on the stairs.", 2)
        await anyio.sleep(1)
    assert service.quotes() == ["I nearly fell on the stairs."]


async def test_what_was_noticed_before_there_was_a_webhook_is_not_told_later(
    tmp_path: Path,
) -> None:
    service, clock = Service(), LoopClock()
    other = {"other": {**NURSE, "kinds": ["fall"]}}
    async with sending(tmp_path, service, other, clock) as watch:
        say(watch, "My chest hurts.")
        await anyio.sleep(1)
    async with sending(tmp_path, service, clock=clock):
        await anyio.sleep(100)
    assert service.told == []


async def test_a_redirect_is_not_followed_and_no_log_says_what_was_said(tmp_path: Path) -> None:
    service = Service()
    service.status = 302
    with structlog.testing.capture_logs() as logs:
        async with sending(tmp_path, service) as watch:
            say(watch, "My chest hurts.")
            await anyio.sleep(1)
    assert service.asked == 1
    assert any(line["event"] == "webhook-trouble" for line in logs)
    assert "chest" not in str(logs)
    assert "nurse.example" not in str(logs)


async def dripping() -> AsyncIterator[bytes]:
    """Send something now and then, and never end."""
    while True:
        yield b"."
        await anyio.sleep(5)


async def pouring() -> AsyncIterator[bytes]:
    """Send more than anybody wants to read."""
    for _ in range(20):
        yield b"x" * 65_536


@pytest.mark.parametrize("body", [pouring(), dripping()], ids=["huge", "endless"])
async def test_a_receipt_counts_whatever_is_written_behind_it(
    tmp_path: Path, body: AsyncIterator[bytes] | bytes
) -> None:
    service = Service()
    service.body = body
    async with sending(tmp_path, service) as watch:
        say(watch, "My chest hurts.")
        await anyio.sleep(3600)
    assert service.asked == 1
