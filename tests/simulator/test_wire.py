"""The wire in memory, and a robot and a server on it, in virtual time."""

import anyio
import pytest
from websockets.exceptions import ConnectionClosed

from server.simulator.wire import WEAK, Link, WireEnd, open_wire
from tests.virtual_time import VIRTUAL_TIME, Backend


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def pass_on(link: Link, count: int, size: int, apart: float) -> tuple[list[float], WireEnd]:
    """Return when each message arrives after it was sent, in seconds since the wire was opened."""
    here, there = open_wire(link)
    began = anyio.current_time()
    arrivals: list[float] = []

    async def receive() -> None:
        try:
            while True:
                await there.recv()
                arrivals.append(anyio.current_time() - began)
        except ConnectionClosed:
            return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        for number in range(count):
            await anyio.sleep_until(began + number * apart)
            await here.send(bytes(size))
        await anyio.sleep(2.0)
        await here.close()
    return arrivals, here


async def test_a_link_is_as_slow_as_its_bandwidth() -> None:
    arrivals, _ = await pass_on(Link(bytes_per_second=1000, latency_ms=100), 3, 940, 0.0)
    assert arrivals == pytest.approx([1.1, 2.1, 3.1])


async def test_what_is_sent_while_the_link_stands_still_arrives_at_once_and_in_order() -> None:
    link = Link(latency_ms=0, stall_every_ms=1000, stall_ms=400)
    arrivals, _ = await pass_on(link, 30, 100, 0.1)
    assert arrivals[10:15] == pytest.approx([1.4] * 4 + [1.4], abs=0.01)
    assert arrivals[15] == pytest.approx(1.5)
    assert arrivals == sorted(arrivals)


async def test_what_is_lost_holds_up_everything_behind_it() -> None:
    arrivals, sender = await pass_on(WEAK, 1000, 100, 0.06)
    assert len(arrivals) == 1000
    assert arrivals == sorted(arrivals)
    assert 8 <= sender.lost <= 35
    late = [at for number, at in enumerate(arrivals) if at - number * 0.06 > 0.19]
    assert len(late) > sender.lost


async def test_behind_a_relay_packets_of_sound_are_lost_for_good_and_texts_are_not() -> None:
    link = Link(loss=0.02, resend_ms=0)
    arrivals, sender = await pass_on(link, 1000, 100, 0.06)
    assert 8 <= sender.lost <= 35
    assert len(arrivals) == 1000 - sender.lost
    here, there = open_wire(Link(loss=1.0, resend_ms=0))
    await here.send("text")
    assert await there.recv() == "text"


async def test_both_ends_learn_of_the_end() -> None:
    here, there = open_wire()
    await here.close(4002, "enough")
    for end in (here, there):
        with pytest.raises(ConnectionClosed) as caught:
            await end.recv()
        assert caught.value.rcvd is not None
        assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (4002, "enough")
