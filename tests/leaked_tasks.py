"""A test must not leave tasks behind: whoever starts one waits for it."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

_LAST_STEPS = 10
"""How often the loop may go round for tasks that are just about to end, such as a socket being closed."""


class LeakedTasks(AssertionError):  # noqa: N818 - it names what was found
    """Tasks outlived the test that started them."""


def without_leaks(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Wrap an async test so that it fails with `LeakedTasks` if it leaves a task running."""

    @functools.wraps(test)
    async def checked(*args: Any, **kwargs: Any) -> None:
        before = asyncio.all_tasks()
        await test(*args, **kwargs)
        for _ in range(_LAST_STEPS):
            leaked = asyncio.all_tasks() - before
            if not leaked:
                return
            await asyncio.sleep(0)
        names = "\n".join(f"  {task!r}" for task in leaked)
        raise LeakedTasks(f"these tasks outlived the test:\n{names}")

    return checked
