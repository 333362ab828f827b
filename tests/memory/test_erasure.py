"""What is forgotten stands in no file any more, in whatever table it was."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from server.memory.models import Level, ProfileField
from server.memory.schema import changes, tables
from server.memory.store import Store
from server.memory.stored_lines import StoredLine
from server.memory.tiers import Sorting
from tests.memory.remembering import NOON, fact, page
from tests.memory.test_store import bytes_of
from tests.memory.tiers import chain, entry, note, segment, summary, trait


def tell(store: Store, person: str, word: str, number: int) -> None:
    """Say something, and let it get into every table."""
    said, id_ = f"{word} {number} " * (1 + number * 7), f"{person} {number}"
    vector = np.full(64, 0.123, np.float32)
    store.pages.add(page(said, person=person, id_=id_))
    store.add_facts(
        [fact(said, person=person, id_=f"{person}-{number}", sources=(id_,))],
        NOON,
        drawn_from=[id_],
        vectors_by_fact={f"{person}-{number}": vector},
        stamp="m",
        sorting=Sorting(
            [segment(f"{person} s{number // 4}", said, said, word, person=person)],
            [chain(f"{person} c{number // 8}", said, person)],
            {id_: f"{person} s{number // 4}"},
            {id_: f"{person} c{number // 8}"},
        ),
        profile=[
            entry(ProfileField.NAME, said, NOON, id_, person=person),
            entry(ProfileField.FAMILY, said, NOON, id_, person=person),
        ],
        traits=[trait(f"{word} {number % 3}", Level.HIGH, NOON, id_, person=person)],
        notes=[note(id_, said, person=person)],
    )
    store.lines.put([StoredLine(id_, role, "1", said.encode()) for role in (0, 1)])
    store.lines.put_vectors({(id_, 0): vector}, "m")
    store.portrait.put_summary(summary(NOON, id_, text=said, person=person))


def counts(file: Path, word: str = "%") -> dict[str, int]:
    """Return how many rows of each table hold a word in any column."""
    with closing(sqlite3.connect(file)) as connection:
        return {
            table.name: connection.execute(
                f"SELECT count(*) FROM {table.name} WHERE "
                + " OR ".join(f"CAST({column.name} AS TEXT) LIKE ?" for column in table.c),
                [word] * len(table.c),
            ).fetchone()[0]
            for table in tables.sorted_tables
        }


def test_nothing_of_a_forgotten_person_is_left_in_any_file(tmp_path: Path) -> None:
    """Row 66: SQLite keeps deleted text in free pages, and in the write-ahead log."""
    with closing(Store(tmp_path / "memory.db")) as store:
        for person, word in (("hana", "himitsu"), ("taro", "koukai"), ("jun", "himitsu")):
            for number in range(40):
                tell(store, person, word, number)
        assert all(counts(tmp_path / "memory.db", "%hana%").values()), "a table is not filled"
        before = counts(tmp_path / "memory.db", "%taro%")
        assert b"himitsu" in bytes_of(tmp_path)
        assert store.forget_person("hana") == 40
        assert store.forget([f"jun-{number}" for number in range(40)]) == 40
        left = bytes_of(tmp_path)
        assert b"himitsu" not in left
        assert b"hana" not in left
        assert counts(tmp_path / "memory.db", "%taro%") == before
        assert store.change_count("hana") == 0
        assert store.persons() == ["taro"]
    assert b"himitsu" not in bytes_of(tmp_path)


def test_a_forgotten_fact_leaves_nothing_of_its_page_in_any_table(tmp_path: Path) -> None:
    """The pages around it stay, and so does what was drawn from them."""
    with closing(Store(tmp_path / "memory.db")) as store:
        for number, word in enumerate(("koukai", "himitsu", "koukai")):
            tell(store, "hana", word, number)
        store.forget(["hana-1"])
        left = counts(tmp_path / "memory.db", "%himitsu%")
        assert left == dict.fromkeys(left, 0)
        assert b"himitsu" not in bytes_of(tmp_path)
        assert [each.id for each in store.pages.of("hana")] == ["hana 0", "hana 2"]
        assert len(store.portrait.profile_of("hana")) == 3


def test_every_table_but_the_counters_is_somebodys_or_goes_with_what_is(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "memory.db")) as store:
        tell(store, "hana", "himitsu", 1)
        store.forget_person("hana")
    assert counts(tmp_path / "memory.db") == dict.fromkeys(tables.tables, 0)
    assert changes.name in tables.tables
