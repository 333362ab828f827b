"""The loop on which talks are tested: no real time passes, and the order is always the same."""

import asyncio
import threading
import time
from contextlib import closing
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from server.memory.store import Store
from server.memory.writer import Writer
from tests.virtual_time import VIRTUAL_TIME, Backend, Deadlock, VirtualTimeLoop


@pytest.fixture(scope="module")
def anyio_backend() -> Backend:
    return VIRTUAL_TIME


async def test_a_day_of_sleep_takes_no_real_time() -> None:
    really = time.monotonic()
    begun = anyio.current_time()

    await anyio.sleep(3 * 86_400)

    assert anyio.current_time() - begun == 3 * 86_400
    assert time.monotonic() - really < 10


async def test_many_short_sleeps_add_up_without_drift() -> None:
    begun = anyio.current_time()

    for _ in range(500):
        await anyio.sleep(0.06)

    assert anyio.current_time() - begun == pytest.approx(30.0, abs=1e-9)


async def test_tasks_wake_in_the_order_of_their_timers() -> None:
    woken: list[tuple[str, float]] = []
    begun = anyio.current_time()

    async def sleeper(name: str, seconds: float) -> None:
        await anyio.sleep(seconds)
        woken.append((name, round(anyio.current_time() - begun, 6)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sleeper, "late", 20.0)
        tasks.start_soon(sleeper, "early", 0.02)
        tasks.start_soon(sleeper, "middle", 1.5)

    assert woken == [("early", 0.02), ("middle", 1.5), ("late", 20.0)]


async def test_the_clock_stands_still_while_something_can_run() -> None:
    begun = anyio.current_time()

    for _ in range(1000):
        await anyio.lowlevel.checkpoint()

    assert anyio.current_time() == begun


async def test_time_outs_follow_the_virtual_clock() -> None:
    begun = anyio.current_time()

    with pytest.raises(TimeoutError), anyio.fail_after(8):
        await anyio.sleep_forever()

    assert anyio.current_time() - begun == 8


async def test_the_clock_waits_for_worker_threads() -> None:
    begun = anyio.current_time()
    release = threading.Event()
    finished_at: list[float] = []

    async def compute() -> None:
        await anyio.to_thread.run_sync(release.wait)
        finished_at.append(anyio.current_time() - begun)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(compute)
        threading.Timer(0.05, release.set).start()
        await anyio.sleep(5)

    assert finished_at == [0]
    assert anyio.current_time() - begun == 5


async def test_the_clock_waits_for_a_memory_that_is_being_written(tmp_path: Path) -> None:
    begun = anyio.current_time()
    release = threading.Event()
    written_at: list[float] = []
    loop = asyncio.get_running_loop()
    with closing(Store(tmp_path / "memory.db")) as store, closing(Writer(store)) as writer:
        threading.Timer(0.05, release.set).start()
        writer.submit(release.wait)
        writer.submit(lambda: written_at.append(loop.time() - begun))
        await anyio.sleep(5)
        assert written_at == [0]


async def forever_waiting() -> None:
    await anyio.Event().wait()


def test_a_deadlock_is_an_error_that_says_where_everybody_waits() -> None:
    with (
        pytest.raises(Deadlock, match=r"test_virtual_time\.py:\d+ in forever_waiting"),
        asyncio.Runner(loop_factory=VirtualTimeLoop) as runner,
    ):
        runner.run(forever_waiting())
