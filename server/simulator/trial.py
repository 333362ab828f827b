"""A robot and a server in one loop, on a wire in memory: whole talks in virtual time, with the codecs, queues and guards of real ones."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
from anyio import to_thread

from firmware_bridge.xiaozhi import XiaozhiDeviceCodec
from server.simulator.habits import Habits
from server.simulator.line import Line
from server.simulator.robot import Robot, run_robot
from server.simulator.virtual_time import VIRTUAL_TIME
from server.simulator.wire import GOOD, Link, WireEnd, open_wire

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

T = TypeVar("T")

Serve = Callable[[WireEnd], Coroutine[Any, Any, None]]
"""Runs the server's side of a connection until it ends."""


@asynccontextmanager
async def robot_on_wire(
    serve: Serve, habits: Habits, link: Link = GOOD
) -> AsyncIterator[tuple[Robot, WireEnd]]:
    """Connect a robot to a server; the block gets it, and the robot's end of the wire.

    Args:
        serve: The server.
        habits: How the robot behaves; it speaks xiaozhi.
        link: How good the line is.
    """
    ours, theirs = open_wire(link)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, theirs)
        line = Line(cast("ClientConnection", ours), XiaozhiDeviceCodec(dtx=habits.dtx), None)
        async with run_robot(line, habits) as robot:
            yield robot, ours
        await ours.close()


async def in_virtual_time(work: Callable[[], Awaitable[T]]) -> T:
    """Run something on a loop of its own, whose clock jumps, in a thread beside this one."""
    return await to_thread.run_sync(lambda: anyio.run(work, backend_options=VIRTUAL_TIME[1]))
