"""What memory offers when a part of it fails or is late."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from structlog.testing import capture_logs

from server.turn import Missed
from tests.memory.remembering import CAT, DOG, fact, opened
from tests.patience import SECONDS

EVERYTHING = {"gate": 0.0, "pages": {"gate": 0.0}}
QUESTION = "猫を飼い始めたのはいつ?"


@pytest.mark.parametrize("broken", ["facts", "pages"])
async def test_a_fault_in_one_part_leaves_the_other_its_say(broken: str, tmp_path: Path) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ValueError("himitsu")

    with opened(tmp_path, retrieval=EVERYTHING) as room:
        room.tell(CAT)
        await room.memory.extract()
        recollector = room.memory._recollector
        if broken == "facts":
            recollector._reader.candidates = fail  # type: ignore[method-assign, assignment]
        else:
            recollector._pages.find = fail  # type: ignore[method-assign, assignment]
        with capture_logs() as logs:
            found = await room.memory.recall("hana", QUESTION, "ja")
    assert bool(found.lines) == (broken != "facts")
    assert [page.said for page in found.pages] == ([] if broken == "pages" else [CAT])
    assert found.missed == {broken: Missed.FAILED}
    told = [line for line in logs if line["log_level"] != "debug"]
    assert [(line["event"], line["part"]) for line in told] == [("recall-fault", broken)]
    assert "himitsu" not in str(logs)


class Counted:
    """A function that counts how often it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self._function(*args)


class Held:
    """A function that waits in its thread until it is let go."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.begun, self.free = threading.Event(), threading.Event()
        self.calls = 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        self.begun.set()
        assert self.free.wait(10)
        return self._function(*args)


async def test_nobody_waits_for_what_is_late_and_the_next_question_has_it(tmp_path: Path) -> None:
    in_no_time = {"deadline_seconds": 0.3, **EVERYTHING}
    with opened(tmp_path, retrieval=in_no_time) as room:
        room.tell(CAT)
        await room.memory.extract()
        await room.memory.prepare("hana")
        await room.memory.add([fact("あなたは犬を飼っている。")])  # so all facts are read anew
        slow = Held(room.memory._store.facts_of)
        room.memory._store.facts_of = slow  # type: ignore[method-assign, assignment]
        with capture_logs() as logs, anyio.fail_after(SECONDS):
            found = await room.memory.recall("hana", QUESTION, "ja")
        assert found.lines == () == found.pages
        assert set(found.missed) == {"facts", "pages", "priming"}
        assert set(found.missed.values()) == {Missed.LATE}
        [told] = [line for line in logs if line["event"] == "recall-late"]
        assert told["parts"] == ["facts", "pages", "priming"]
        while slow.calls < 2:  # by the facts and the priming
            await anyio.sleep(0.01)
        slow.free.set()
        assert len(await room.memory.search("hana", QUESTION, "ja")) == 2
        await room.memory.prepare("hana")
        assert slow.calls == 2, "it was read on while nobody waited"


async def test_after_an_extraction_no_question_has_to_wait_for_facts_to_be_read(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        await room.memory.prepare("hana")
        room.tell(CAT)
        await room.memory.extract()
        read = Counted(room.memory._store.facts_of)
        room.memory._store.facts_of = read  # type: ignore[method-assign, assignment]
        assert await room.recalled(QUESTION)
        assert read.calls == 0


async def test_search_in_pages_goes_on_while_pages_are_sorted(tmp_path: Path) -> None:
    with opened(tmp_path, retrieval=EVERYTHING) as room:
        room.tell(CAT)
        await room.memory.extract()
        sorter = room.memory.consolidator._sorter
        slow = Held(sorter._sorted)
        sorter._sorted = slow  # type: ignore[method-assign, assignment]
        room.tell(DOG)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(room.memory.extract)
            await to_thread.run_sync(slow.begun.wait)
            found = await room.memory.recall("hana", QUESTION, "ja")
            slow.free.set()
        assert CAT in [page.said for page in found.pages]
        assert found.missed == {}
