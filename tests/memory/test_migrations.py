"""The steps from one revision to the next: they lose nothing, and end where the program expects it."""

import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from server.memory.database import MIGRATIONS
from server.memory.models import Importance
from server.memory.schema import tables
from server.memory.store import Store
from tests.memory.remembering import NOON, page


def migrate(file: Path, revision: str) -> None:
    """Make a database as a program of that revision made it."""
    script = ScriptDirectory(str(MIGRATIONS))

    def steps(present: Any, _context: Any) -> Any:
        return script._upgrade_revs(revision, present)

    engine = create_engine(f"sqlite:///{file}")
    with (
        engine.begin() as connection,
        EnvironmentContext(Config(), script, fn=steps) as environment,
    ):
        environment.configure(connection=connection)
        environment.run_migrations()
    engine.dispose()


def old_store(file: Path) -> None:
    """Make a store of revision 0001 with two pages, of which one gave two facts."""
    migrate(file, "0001")
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            """
            INSERT INTO pages VALUES
                ('1', 'hana', 'robot', '猫を飼い始めた', 'いいね', 'ja', '2026-09-26T16:00:00.000000Z',
                 'Asia/Tokyo', 0, '2026-09-26T17:00:00.000000Z', 0, NULL),
                ('2', 'hana', 'robot', 'late', '', 'en', '2026-09-27T02:30:00.000000Z',
                 '-05:00', 1, NULL, 1, '2026-09-27T03:00:00.000000Z');
            INSERT INTO facts VALUES
                ('a', 'hana', '東京に住む', 'ja', 'profile', '', '2026-09-26T16:00:00.000000Z', 'Asia/Tokyo',
                 NULL, NULL, 'rules', '2026-09-26T17:00:00.000000Z', 'b', '2026-09-26T17:00:00.000000Z'),
                ('b', 'hana', '大阪に住む', 'ja', 'profile', '', '2026-09-26T16:00:00.000000Z', 'Asia/Tokyo',
                 '2026-09-26', '2026-09-27', 'rules', '2026-09-26T17:00:00.000000Z', '', NULL);
            INSERT INTO fact_sources VALUES ('a', '1'), ('b', '1');
            INSERT INTO vectors VALUES ('b', 'm', x'0000803f00000000');
            INSERT INTO changes VALUES ('hana', 41);
            """
        )


def test_a_store_of_the_first_revision_is_read_as_it_was(tmp_path: Path) -> None:
    old_store(tmp_path / "memory.db")
    with closing(Store(tmp_path / "memory.db")) as store:
        first, second = store.pages.of("hana")
        assert (first.said, first.heard, first.segment, first.chain) == (
            "猫を飼い始めた",
            "いいね",
            "",
            "",
        )
        assert (second.at.isoformat(), second.interrupted) == ("2026-09-26T21:30:00-05:00", True)
        old, new = store.facts_of("hana")
        assert (old.text, old.superseded_by, old.sources) == ("東京に住む", "b", ("1",))
        assert (new.importance, new.about) == (Importance.ORDINARY, "")
        assert (new.event_from, new.event_to) == (date(2026, 9, 26), date(2026, 9, 27))
        assert store.vectors.of("hana", "m")["b"].tolist() == [1, 0]
        assert store.change_count("hana") == 41
        assert list(store.queue.waiting()) == ["hana"]


def test_pages_of_the_first_revision_have_days_and_wait_for_lines(tmp_path: Path) -> None:
    old_store(tmp_path / "memory.db")
    with closing(Store(tmp_path / "memory.db")) as store:
        assert [each.id for each in store.pages.of_day("hana", date(2026, 9, 27))] == ["1"]
        assert [each.id for each in store.pages.of_day("hana", date(2026, 9, 26))] == ["2"]
        due = store.portrait.not_in_summary(NOON - timedelta(days=2))
        assert [one.at.date().day for one in due] == [27, 26]
        assert len(store.lines.pages_without("hana", "1")) == 2


def test_a_store_of_the_first_revision_goes_on_and_forgets(tmp_path: Path) -> None:
    old_store(tmp_path / "memory.db")
    with closing(Store(tmp_path / "memory.db")) as store:
        store.pages.add(page("犬も", id_="3"))
        assert store.forget(["a", "b"]) == 2
        assert store.change_count("hana") == 42
        assert [each.id for each in store.pages.of("hana")] == ["2", "3"]
        assert store.forget_person("hana") == 0
        assert store.persons() == []


def shape(file: Path) -> dict[str, list[Any]]:
    """Return what SQLite says of every table: its columns, keys, indexes and triggers."""
    with closing(sqlite3.connect(file)) as connection:

        def told(question: str) -> list[Any]:
            return connection.execute(question).fetchall()

        names = [name for (name,) in told("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [
                sorted(column[1:] for column in told(f"PRAGMA table_xinfo({name})")),
                sorted(key[2:] for key in told(f"PRAGMA foreign_key_list({name})")),
                sorted(
                    (index[1:], [part[2] for part in told(f"PRAGMA index_info({index[1]})")])
                    for index in told(f"PRAGMA index_list({name})")
                ),
                sorted(
                    told(
                        f"SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{name}'"
                    )
                ),
            ]
            for name in names
        }


def test_the_migrations_end_at_the_tables_that_the_program_expects(tmp_path: Path) -> None:
    migrate(tmp_path / "memory.db", "head")
    engine = create_engine(f"sqlite:///{tmp_path / 'memory.db'}")
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), tables)
    engine.dispose()
    assert differences == []


@pytest.mark.parametrize("first", ["0001", "head"])
def test_a_new_store_is_what_the_steps_make_of_an_old_one(tmp_path: Path, first: str) -> None:
    migrate(tmp_path / "old.db", first)
    Store(tmp_path / "old.db").close()
    Store(tmp_path / "new.db").close()

    made = shape(tmp_path / "new.db")

    assert "pages" in made
    assert made == shape(tmp_path / "old.db")
    revisions = []
    for name in ("old.db", "new.db"):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            revisions.append(connection.execute("SELECT * FROM alembic_version").fetchall())
    assert revisions[0] == revisions[1] != []
