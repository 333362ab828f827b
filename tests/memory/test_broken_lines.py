"""What is stored of an utterance may be broken, and clocks may be changed between two of them: search goes on."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from server.memory.lines import VERSION, Role
from server.memory.page_shelf import PageShelf
from server.memory.page_shelves import PageShelves
from server.memory.schema import line_vectors
from server.memory.store import Store
from server.memory.stored_lines import StoredLine
from server.memory.wording import Aligned
from server.memory.writer import Writer
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON, page

NEW_YORK = ZoneInfo("America/New_York")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path / "memory.db")) as opened:
        for number, said in enumerate(("猫を飼っているよ。", "犬も飼い始めたんだ。")):
            opened.pages.add(page(said, NOON + timedelta(minutes=number), id_=str(number)))
        yield opened


async def shelf_of(store: Store) -> PageShelf:
    with closing(Writer(store)) as writer:
        shelves = PageShelves(store, writer, FakeEmbedder(), Aligned())
        await shelves.make_lines("hana")
        return await shelves.get("hana")


@pytest.mark.parametrize("role", [Role.SAID, Role.HEARD])
@pytest.mark.parametrize("data", [b"", b"x", bytes(7), b"\xff" * 24])
async def test_a_broken_line_is_read_anew_and_told_of_once(
    store: Store, data: bytes, role: Role
) -> None:
    whole = await shelf_of(store)
    store.lines.put([StoredLine("0", role, VERSION, data)])
    with capture_logs() as logs:
        mended = await shelf_of(store)
    assert mended.table.pages == whole.table.pages
    assert mended.table.roles.tolist() == whole.table.roles.tolist()
    assert mended.table.words.tolist() == whole.table.words.tolist()
    told = [(line["code"], line["count"]) for line in logs if line["event"] == "lines-broken"]
    assert told == [("store-line-broken", 1)]
    assert "猫" not in str(logs)


@pytest.mark.parametrize("data", [b"x", bytes(6), b"\xff" * 128])
async def test_a_torn_vector_is_left_out_told_and_made_anew(store: Store, data: bytes) -> None:
    with closing(Writer(store)) as writer:
        shelves = PageShelves(store, writer, FakeEmbedder("first", 64), Aligned())
        await shelves.embed_missing()
        shelf = await shelves.get("hana")
        whole = shelf.said_vectors("01")
        torn = line_vectors.c.page == "0", line_vectors.c.role == 0
        with store._database.writing() as connection:
            connection.execute(update(line_vectors).where(*torn).values(data=data))
        shelves.drop("hana")
        with capture_logs() as logs:
            shelf = await shelves.get("hana")
            assert set(shelf.said_vectors("01")) == {"1"}
        [told] = [line for line in logs if line["log_level"] == "warning"]
        assert (told["code"], told["count"]) == ("vector-torn", 1)
        await writer.settle()
        assert await shelves.embed_missing() == 1
        shelf = await shelves.get("hana")
        assert shelf.said_vectors("01")["0"].tolist() == whole["0"].tolist()


@pytest.mark.parametrize(
    ("day", "times", "follows"),
    [
        # Clocks go from 2:00 to 3:00: a quarter of an hour passes.
        ("2026-03-08", ("01:50-05:00", "03:05-04:00"), True),
        # Clocks go from 2:00 back to 1:00: nearly an hour and a half passes.
        ("2026-11-01", ("01:30-04:00", "01:55-05:00"), False),
        ("2026-06-01", ("01:30-04:00", "01:55-04:00"), True),
    ],
)
def test_a_pause_is_what_really_passed(
    tmp_path: Path, day: str, times: tuple[str, str], follows: bool
) -> None:
    first, second = (datetime.fromisoformat(f"{day}T{time}").astimezone(NEW_YORK) for time in times)
    with closing(Store(tmp_path / "other.db")) as store, closing(Writer(store)) as writer:
        greeting = page("Hello.", first, language="en", id_="1")
        store.pages.add(replace(greeting, heard="The sky is grey."))
        store.pages.add(page("It rains.", second, language="en", id_="2"))
        embedder = FakeEmbedder()
        anyio.run(PageShelves(store, writer, embedder, Aligned()).embed_missing)
    [embedded] = [text for text, _ in embedder.embedded if text.endswith("it rains")]
    assert embedded.startswith("the sky is grey") == follows
