"""What waits for a conversation: in order, bounded, and never lost."""

import anyio
import pytest

from firmware_bridge import TextSaid
from server.inbox import Inbox


def said(number: int) -> TextSaid:
    return TextSaid(str(number))


async def test_events_come_out_in_order_and_end_with_the_last() -> None:
    inbox = Inbox(10_000)
    for number in range(3):
        await inbox.put(said(number), 1)
    inbox.close()
    assert [event async for event in inbox] == [said(0), said(1), said(2)]


@pytest.mark.parametrize(("content_bytes", "fit"), [(100_000, 2), (0, 300)])
async def test_a_full_inbox_makes_the_sender_wait_whether_events_are_large_or_many(
    content_bytes: int, fit: int
) -> None:
    inbox = Inbox(150_000)
    put: list[int] = []

    async def fill() -> None:
        for number in range(1000):
            await inbox.put(said(number), content_bytes)
            put.append(number)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fill)
        await anyio.wait_all_tasks_blocked()
        assert abs(len(put) - fit) <= fit // 10
        waiting = len(put)
        assert await anext(inbox) == said(0)
        await anyio.wait_all_tasks_blocked()
        assert len(put) == waiting + 1
        assert [await anext(inbox) for _ in range(999)] == [
            said(number) for number in range(1, 1000)
        ]


async def test_waiting_for_an_event_may_be_given_up_without_losing_one() -> None:
    inbox = Inbox(10_000)
    with anyio.move_on_after(0.01):
        await anext(inbox)
    await inbox.put(said(1), 1)
    with anyio.CancelScope() as given_up:
        given_up.cancel()
        await anext(inbox)
    assert await anext(inbox) == said(1)


async def test_who_waits_at_the_end_is_told() -> None:
    inbox = Inbox(10_000)
    events: list[object] = []

    async def read() -> None:
        events.extend([event async for event in inbox])
        events.append("end")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        inbox.close()
    assert events == ["end"]
