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
from server.memory.erasing import Order
from server.memory.safety.noticing import notice
from server.memory.safety.outbox import Outbox
from server.memory.safety.watch import SafetyWatch
from server.memory.selecting import Selector, select
from server.memory.store import Store
from server.memory.writer import Writer
from server.webhook_post import WebhookPost
from server.webhooks import WebhookSender
from tests.memory.remembering import NOON, page, turn
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


def erase(folder: Path, words: str, person: str = "") -> None:
    """Let somebody forget words, or a whole person, in a store that nobody else works in."""
    store = Store(folder / "memory.db")
    named = Selector(person, words=words) if words else Selector(person)
    selected = select(store, named)
    store.erasures.erase(selected.what, Order("test", selected.kind, NOON))
    store.close()


@pytest.mark.parametrize("words", ["blood pressure", ""], ids=["words", "the whole person"])
async def test_what_was_erased_before_it_was_delivered_is_told_once_without_the_words(
    tmp_path: Path, words: str
) -> None:
    service, clock = Service(), LoopClock()
    service.status = None
    async with sending(tmp_path, service, clock=clock) as watch:
        said = "I took my blood pressure pills twice this morning."
        watch._writer.add_page(page(said, NOON, "hana", id_="t0"))
        say(watch, said)
        await anyio.sleep(1)
    before = (tmp_path / "memory.db").read_bytes()
    erase(tmp_path, words, "hana")
    assert b"blood pressure" in before
    assert b"blood pressure" not in (tmp_path / "memory.db").read_bytes()
    service.status = 200
    async with sending(tmp_path, service, clock=clock):
        await anyio.sleep(3600)
    [request] = service.told
    event = json.loads(request.content)["event"]
    assert (event["erased"], event["quote"], event["page"]) == (True, "", "")
    assert (event["person"], event["kind"], event["state"]) == ("hana", "medication", "erased")


async def test_what_was_erased_before_it_was_sorted_out_whom_to_tell_is_told_too(
    tmp_path: Path,
) -> None:
    service = Service()
    store = Store(tmp_path / "memory.db")
    told = page("I fell in the bath.", NOON, "hana", id_="t0", language="en")
    store.pages.add(told)
    store.safety.add(notice(told))
    store.close()
    erase(tmp_path, "bath")
    async with sending(tmp_path, service):
        await anyio.sleep(1)
    assert [json.loads(one.content)["event"]["erased"] for one in service.told] == [True]


async def test_what_was_delivered_is_not_told_again_when_it_is_erased(tmp_path: Path) -> None:
    service, clock = Service(), LoopClock()
    async with sending(tmp_path, service, clock=clock) as watch:
        watch._writer.add_page(page("I fell in the bath.", NOON, "hana", id_="t0", language="en"))
        say(watch, "I fell in the bath.")
        await anyio.sleep(1)
    erase(tmp_path, "bath")
    async with sending(tmp_path, service, clock=clock):
        await anyio.sleep(3600)
    assert service.asked == 1


def test_what_was_erased_waits_a_week_for_a_webhook_and_no_longer(tmp_path: Path) -> None:
    store = Store(tmp_path / "memory.db")
    told = page("I fell in the bath.", NOON, "hana", id_="t0", language="en")
    store.pages.add(told)
    store.safety.add(notice(told))
    store.deliveries.post(lambda _: ["nurse"], NOON)
    later = NOON + timedelta(days=30)  # however long it waited before
    store.deliveries.post(lambda _: [], later)
    store.erasures.erase(select(store, Selector("hana")).what, Order("test", "person", later))
    store.deliveries.post(lambda _: [], later)
    store.deliveries.post(lambda _: [], later + timedelta(days=6))
    assert store.deliveries.standings()["nurse"].waiting == 1
    store.deliveries.post(lambda _: [], later + timedelta(days=8))
    assert store.deliveries.standings() == {}
    store.close()


class SlowService(Service):
    """One host takes nine seconds for everything."""

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:  # type: ignore[override]
        if request.url.host == "slow.example":
            await anyio.sleep(9)
        self.times.append((request.url.host, anyio.current_time()))
        return super().__call__(request)

    def __init__(self) -> None:
        super().__init__()
        self.times: list[tuple[str, float]] = []


async def test_a_webhook_that_is_slow_holds_up_no_other_and_what_is_urgent_goes_first(
    tmp_path: Path,
) -> None:
    service = SlowService()
    hooks = {"slow": {"url": "https://slow.example/a"}, "quick": {"url": "https://quick.example/"}}
    async with sending(tmp_path, service, hooks) as watch:
        for number in range(20):
            say(watch, f"I fell in the kitchen, number {number}.", number)
        await anyio.sleep(20)
        asked = anyio.current_time()
        say(watch, "My chest hurts.", 30)
        await anyio.sleep(200)
    quick = [
        moment
        for (host, moment), request in zip(service.times, service.told, strict=True)
        if host == "quick.example" and b"chest" in request.content
    ]
    slow = [r.content for r in service.told if r.url.host == "slow.example"]
    assert quick[0] - asked < 1
    assert len(slow) == 21
    assert b"chest" in slow[3]  # behind the one that was on its way


async def test_a_webhook_for_certain_persons_is_told_of_no_other(tmp_path: Path) -> None:
    service = Service()
    async with sending(tmp_path, service, {"son": {**NURSE, "persons": ["ken"]}}) as watch:
        say(watch, "I fell in the bath.", 1)
        watch.heed(turn("My chest hurts.", NOON, "ken", language="en", id_="t2"))
        await anyio.sleep(1)
    assert service.quotes() == ["My chest hurts."]


async def test_how_deliveries_stand_says_since_when_and_why(tmp_path: Path) -> None:
    service = Service()
    service.status = 503
    async with sending(tmp_path, service) as watch:
        say(watch, "I fell in the bath.")
        await anyio.sleep(8)
    store = Store(tmp_path / "memory.db")
    standing = store.deliveries.standings()["nurse"]
    store.close()
    assert (standing.waiting, standing.attempts, standing.error) == (1, 2, "failed-503")
    assert standing.since is not None
    assert abs(standing.since - NOON) < timedelta(seconds=1)


async def test_a_test_is_signed_and_tells_of_nobody(tmp_path: Path) -> None:
    service = Service()
    section = Config(safety={"webhooks": {"nurse": NURSE}}).safety.webhooks["nurse"]
    post = WebhookPost(LoopClock(), httpx2.MockTransport(service))
    assert await post.test(section) == ""
    service.status = 404
    assert await post.test(section) == "refused-404"
    await post.aclose()
    told = json.loads(service.told[0].content)
    assert (told["type"], told["event"]) == ("webhook-test", None)
    assert service.told[0].headers["X-Omoide-Signature"].startswith("sha256=")
