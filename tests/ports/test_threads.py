"""Blocking work in threads: loaded once, never two at once, left behind when the caller goes."""

import asyncio
import threading

import anyio
import pytest

from server.threads import Lazy, OneAtATime, Overtaken


class Gate:
    """A blocking call that ends when it is told to, and counts how many run at once."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.leave = threading.Semaphore(0)
        self.calls = 0
        self.running = 0
        self.most_running = 0
        self._count = threading.Lock()

    def __call__(self) -> int:
        with self._count:
            self.calls += 1
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            number = self.calls
        self.entered.release()
        self.leave.acquire(timeout=30)
        with self._count:
            self.running -= 1
        return number

    async def wait_until_entered(self) -> None:
        await anyio.to_thread.run_sync(self.entered.acquire)

    def let_go(self, times: int = 1) -> None:
        self.leave.release(times)


class Waiters:
    """Callers of an engine, and what became of their calls, in the order in which they ended."""

    def __init__(self, engine: OneAtATime) -> None:
        self.engine = engine
        self.ended: list[str] = []

    async def call(self, name: str, caller: str) -> None:
        try:
            await self.engine.run(lambda: None, caller)
        except Overtaken:
            name += " overtaken"
        self.ended.append(name)


async def test_a_model_is_loaded_once_for_many_callers() -> None:
    gate = Gate()
    lazy = Lazy(gate)
    results: list[int] = []

    async def call() -> None:
        results.append(await lazy.get())

    async with anyio.create_task_group() as callers:
        for _ in range(5):
            callers.start_soon(call)
        await gate.wait_until_entered()
        gate.let_go()
    assert results == [1] * 5
    assert gate.calls == 1


async def test_loading_goes_on_when_the_caller_leaves() -> None:
    gate = Gate()
    lazy = Lazy(gate)
    async with anyio.create_task_group() as callers:
        callers.start_soon(lazy.get)
        await gate.wait_until_entered()
        callers.cancel_scope.cancel()
    gate.let_go()
    assert await lazy.get() == 1
    assert gate.calls == 1


async def test_a_failed_load_is_tried_again() -> None:
    outcomes: list[OSError | str] = [OSError("no room"), "model"]

    def load() -> str:
        outcome = outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    lazy = Lazy(load)
    with pytest.raises(OSError, match="no room"):
        await lazy.get()
    assert await lazy.get() == "model"
    lazy.drop()
    assert lazy.loaded is None


async def test_calls_of_an_engine_never_overlap() -> None:
    gate = Gate()
    engine = OneAtATime()
    gate.let_go(6)
    async with anyio.create_task_group() as callers:
        for _ in range(6):
            callers.start_soon(engine.run, gate)
    assert (gate.calls, gate.most_running) == (6, 1)


async def test_a_running_call_that_is_abandoned_still_keeps_others_out() -> None:
    gate = Gate()
    engine = OneAtATime()
    async with anyio.create_task_group() as callers:
        callers.start_soon(engine.run, gate)
        await gate.wait_until_entered()
        callers.cancel_scope.cancel()
    async with anyio.create_task_group() as callers:
        callers.start_soon(engine.run, gate)
        gate.let_go(2)
    assert (gate.calls, gate.most_running) == (2, 1)


async def test_a_call_that_is_abandoned_before_its_turn_is_never_made() -> None:
    gate = Gate()
    engine = OneAtATime()
    async with anyio.create_task_group() as callers:
        callers.start_soon(engine.run, gate)
        await gate.wait_until_entered()
        for _ in range(4):
            with anyio.move_on_after(0.01):
                await engine.run(gate)
        gate.let_go(10)
    last = await engine.run(gate)
    assert last.value == 2


async def test_the_wait_for_the_turn_is_told() -> None:
    gate = Gate()
    engine = OneAtATime()
    waits: list[float] = []

    async def call() -> None:
        waits.append((await engine.run(gate)).waited_seconds)

    async with anyio.create_task_group() as callers:
        callers.start_soon(call)
        await gate.wait_until_entered()
        callers.start_soon(call)
        await anyio.sleep(0.05)
        gate.let_go(2)
    assert waits[1] > 0.04
    assert waits[1] > waits[0]


async def test_an_error_reaches_the_caller_and_frees_the_engine() -> None:
    engine = OneAtATime()

    def fail() -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await engine.run(fail)
    assert (await engine.run(lambda: 1)).value == 1


async def test_callers_take_turns_however_much_one_of_them_asks() -> None:
    gate = Gate()
    engine = OneAtATime()
    waiters = Waiters(engine)
    async with anyio.create_task_group() as callers:
        callers.start_soon(engine.run, gate, "greedy")
        await gate.wait_until_entered()
        for name in ("greedy 1", "greedy 2", "greedy 3", "modest 1", "third 1", "modest 2"):
            callers.start_soon(waiters.call, name, name.split()[0])
            await anyio.wait_all_tasks_blocked()
        gate.let_go()
    assert waiters.ended == [
        "modest 1",
        "third 1",
        "greedy 1",
        "modest 2",
        "greedy 2",
        "greedy 3",
    ]


async def test_who_asks_for_more_than_may_wait_loses_the_oldest_call() -> None:
    gate = Gate()
    engine = OneAtATime(2)
    waiters = Waiters(engine)
    async with anyio.create_task_group() as callers:
        callers.start_soon(engine.run, gate, "greedy")
        await gate.wait_until_entered()
        for name in ("greedy 1", "greedy 2", "modest 1", "greedy 3", "greedy 4"):
            callers.start_soon(waiters.call, name, name.split()[0])
            await anyio.wait_all_tasks_blocked()
        assert waiters.ended == ["greedy 1 overtaken", "greedy 2 overtaken"]
        gate.let_go()
    assert waiters.ended[2:] == ["modest 1", "greedy 3", "greedy 4"]


async def test_a_call_that_was_given_up_does_not_count_as_waiting() -> None:
    gate = Gate()
    engine = OneAtATime(1)
    waiters = Waiters(engine)
    async with anyio.create_task_group() as callers:
        callers.start_soon(engine.run, gate, "device")
        await gate.wait_until_entered()
        with anyio.move_on_after(0.01):
            await engine.run(gate, "device")
        callers.start_soon(waiters.call, "wanted", "device")
        await anyio.wait_all_tasks_blocked()
        gate.let_go()
    assert waiters.ended == ["wanted"]
    assert gate.calls == 1


async def test_a_caller_that_leaves_as_its_turn_comes_passes_it_on() -> None:
    engine = OneAtATime()
    waiters = Waiters(engine)
    loop = asyncio.get_running_loop()
    begun, leave = threading.Event(), threading.Event()

    async with anyio.create_task_group() as callers, anyio.create_task_group() as leaving:

        def work() -> None:
            begun.set()
            leave.wait(timeout=30)
            loop.call_soon_threadsafe(leaving.cancel_scope.cancel)  # just before the turn is given

        callers.start_soon(engine.run, work, "first")
        await anyio.to_thread.run_sync(begun.wait)
        leaving.start_soon(waiters.call, "leaving", "second")
        await anyio.wait_all_tasks_blocked()
        callers.start_soon(waiters.call, "staying", "third")
        await anyio.wait_all_tasks_blocked()
        leave.set()
    assert waiters.ended == ["staying"]
    assert (await engine.run(lambda: 1)).value == 1
