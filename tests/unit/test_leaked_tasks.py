"""The check that fails a test which leaves tasks behind."""

import asyncio

import anyio
import anyio.lowlevel
import pytest

from tests.leaked_tasks import LeakedTasks, without_leaks


async def test_a_task_left_running_fails_the_test() -> None:
    left: list[asyncio.Task[None]] = []

    @without_leaks
    async def careless() -> None:
        left.append(asyncio.get_running_loop().create_task(anyio.sleep_forever(), name="left over"))

    with pytest.raises(LeakedTasks, match="left over"):
        await careless()
    left[0].cancel()
    await asyncio.wait(left)


async def test_tasks_of_a_closed_group_are_no_leak() -> None:
    @without_leaks
    async def careful() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep, 0)

    await careful()


async def test_tasks_that_were_there_before_are_no_leak() -> None:
    @without_leaks
    async def innocent() -> None:
        await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep_forever)
        await innocent()
        tasks.cancel_scope.cancel()
