"""What runs ahead of its reader: in order, errors behind what came before them, and never longer than the block."""

import anyio
import pytest

from server.ahead import Put, produced


async def test_items_come_in_order_and_an_error_behind_them() -> None:
    async def produce(put: Put[int]) -> None:
        for number in range(3):
            await put(number)
        raise ValueError("the end")

    async with produced(produce, 0) as numbers:
        assert [await numbers.next() for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="the end"):
            await numbers.next()


async def test_each_item_can_be_asked_for_in_a_loop() -> None:
    async def produce(put: Put[str]) -> None:
        await put("one")
        await put("two")

    async with produced(produce, 1) as words:
        assert [word async for word in words.each()] == ["one", "two"]


async def test_without_room_each_item_waits_for_its_reader() -> None:
    put_so_far: list[int] = []

    async def produce(put: Put[int]) -> None:
        for number in range(5):
            await put(number)
            put_so_far.append(number)

    async with produced(produce, 0) as numbers:
        assert await numbers.next() == 0
        await anyio.wait_all_tasks_blocked()
        assert put_so_far == [0]


async def test_leaving_the_block_ends_what_produces_and_closes_what_it_holds() -> None:
    closed: list[str] = []

    async def produce(put: Put[int]) -> None:
        try:
            async with anyio.create_task_group():
                await put(1)
                await anyio.sleep_forever()
        finally:
            closed.append("yes")

    async with produced(produce, 0) as numbers:
        assert await numbers.next() == 1
    assert closed == ["yes"]
