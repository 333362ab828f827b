"""The writer: what is handed in is stored in order, and nothing is lost while the store can't be written."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from structlog.testing import capture_logs

from server.errors import StoreError
from server.memory.store import Store
from server.memory.writer import Writer
from tests.memory.remembering import page
from tests.memory.test_store import full_disk

LONG = "長い話" * 20_000
"""Does not fit into what is left of the last pages of the file."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened:
        yield opened


@pytest.fixture
def writer(store: Store) -> Iterator[Writer]:
    with closing(Writer(store)) as opened:
        yield opened


def said(store: Store) -> list[str]:
    return [each.id for each in store.pages.of("hana")]


async def test_what_is_handed_in_is_stored_in_order(store: Store, writer: Writer) -> None:
    for number in range(20):
        writer.add_page(page("話", id_=f"{number:02}"))
    await writer.settle()
    assert said(store) == [f"{number:02}" for number in range(20)]


async def test_a_full_disk_loses_nothing(store: Store, writer: Writer) -> None:
    with full_disk(store), capture_logs() as logs:
        for number in range(3):
            writer.add_page(page(LONG, id_=str(number)))
        await writer.settle()
        assert said(store) == []
        assert writer.trouble is not None
        assert writer.trouble.code == "store-full"
    warnings = [line for line in logs if line["event"] == "store-trouble"]
    assert len(warnings) == 1, "one trouble is told once"
    assert "長い" not in str(logs)
    writer.add_page(page("短い話", id_="3"))
    await writer.settle()
    assert said(store) == ["0", "1", "2", "3"]
    assert writer.trouble is None


async def test_what_could_not_be_stored_is_stored_before_the_next_change(
    store: Store, writer: Writer
) -> None:
    """Else somebody who is forgotten would come back from what was still to be stored."""
    with full_disk(store):
        writer.add_page(page(LONG, id_="1"))
        await writer.settle()
    await writer.run(lambda: store.forget_person("hana"))
    writer.add_page(page("話", person="taro"))
    await writer.settle()
    assert store.persons() == ["taro"]


async def test_what_still_waits_is_stored_at_the_end(store: Store) -> None:
    writer = Writer(store)
    for number in range(50):
        writer.add_page(page("話", id_=str(number)))
    await to_thread.run_sync(writer.close)
    assert len(said(store)) == 50


async def test_at_the_end_it_is_told_how_much_could_not_be_stored(store: Store) -> None:
    writer = Writer(store)
    with full_disk(store), capture_logs() as logs:
        writer.add_page(page(LONG))
        await to_thread.run_sync(writer.close)
    lost = [line for line in logs if line["event"] == "exchanges-lost"]
    assert [line["count"] for line in lost] == [1]


async def test_an_exchange_that_no_store_can_take_does_not_hold_up_the_others(
    store: Store, writer: Writer
) -> None:
    naive = page("himitsu").at.replace(tzinfo=None)
    with capture_logs() as logs:
        writer.add_page(page("himitsu", naive, id_="bad"))
        writer.add_page(page("話", id_="good"))
        await writer.settle()
    assert said(store) == ["good"]
    assert "store-fault" in [line["event"] for line in logs]
    assert "himitsu" not in str(logs)


async def test_a_change_that_fails_says_so_and_the_next_one_is_made(writer: Writer) -> None:
    def fail() -> None:
        raise StoreError("store-full", "no")

    with pytest.raises(StoreError):
        await writer.run(fail)
    assert await writer.run(lambda: 7) == 7


async def test_a_change_that_has_begun_is_waited_for_even_by_who_is_cancelled(
    writer: Writer,
) -> None:
    begun, goes_on, done = threading.Event(), threading.Event(), threading.Event()

    def change() -> None:
        begun.set()
        goes_on.wait(10)
        done.set()

    async def ask() -> None:
        await writer.run(change)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await to_thread.run_sync(begun.wait, 10)
        tasks.cancel_scope.cancel()
        goes_on.set()
    assert done.is_set()
