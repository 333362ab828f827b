"""What is kept ready of each person: made once for all who ask at the same time, and never put back once dropped."""

import threading
from collections.abc import Callable

import anyio
import pytest
from anyio import to_thread

from server.memory.person_cache import PersonCache


class Gate:
    """Work in a thread that begins, and ends when it is let."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    def work(self, result: str) -> Callable[[str | None], str]:
        def make(known: str | None) -> str:
            if known is not None:
                return known
            self.begun.set()
            assert self.may_end.wait(10)
            return result

        return make


def test_it_is_made_from_what_was_there_and_the_last_used_stay() -> None:
    cache = PersonCache[str](2)
    assert cache.renewed("hana", lambda known: f"{known}+") == "None+"
    assert cache.renewed("hana", lambda known: f"{known}+") == "None++"
    for person in ("taro", "hana", "ken"):
        cache.renewed(person, lambda known: known or "new")
    assert cache.persons() == ["hana", "ken"]


def test_what_fails_leaves_what_was_there() -> None:
    cache = PersonCache[str](2)
    cache.renewed("hana", lambda _: "whole")
    with pytest.raises(ZeroDivisionError):
        cache.renewed("hana", lambda _: str(1 // 0))
    assert cache.renewed("hana", lambda known: known or "") == "whole"


async def test_who_asks_while_it_is_made_gets_the_same_and_others_do_not_wait() -> None:
    cache, gate = PersonCache[str](2), Gate()
    found: list[str] = []

    async def ask(person: str, make: Callable[[str | None], str]) -> None:
        found.append(await to_thread.run_sync(cache.renewed, person, make))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "hana", gate.work("first"))
        await to_thread.run_sync(gate.begun.wait)
        tasks.start_soon(ask, "hana", lambda known: known or "second")
        await ask("taro", lambda _: "taro's")
        assert found == ["taro's"]
        gate.may_end.set()
    assert found == ["taro's", "first", "first"]


async def test_what_was_dropped_while_it_was_made_is_not_kept() -> None:
    cache, gate = PersonCache[str](2), Gate()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(to_thread.run_sync, cache.renewed, "hana", gate.work("old"))
        await to_thread.run_sync(gate.begun.wait)
        cache.drop("hana")
        gate.may_end.set()
    assert cache.persons() == []


async def test_what_nobody_waits_for_any_more_is_there_for_the_next() -> None:
    cache, gate = PersonCache[str](2), Gate()
    with anyio.move_on_after(0.05) as scope:
        await to_thread.run_sync(cache.renewed, "hana", gate.work("late"), abandon_on_cancel=True)
    assert scope.cancelled_caught
    gate.may_end.set()
    make: Callable[[str | None], str] = lambda known: known or "anew"  # noqa: E731
    assert await to_thread.run_sync(cache.renewed, "hana", make) == "late"
