"""The store's database: durable settings, migration to the present shape, and errors that say what to do."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from alembic.config import Config as AlembicConfig
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    Row,
    Table,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.schema import CreateIndex, CreateTable

from server.errors import StoreError
from server.memory.cipher import (
    Cipher,
    check_form,
    connect,
    driver_of,
    errors_of,
    is_undecipherable,
    wrong_key,
)
from server.memory.schema import TRIGGERS, tables

log = structlog.get_logger(__name__)

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
BUSY_SECONDS = 10


class Database:
    """One SQLite file, for reading from any thread and for writing from one."""

    def __init__(self, file: Path, cipher: Cipher | None = None) -> None:
        """Open the file; see `open_database` for what is raised."""
        self.file = file
        self._cipher = cipher
        self._mark = file.with_name(f"{file.name}-unscrubbed")
        self.is_unscrubbed = self._mark.exists()
        """Whether what was deleted may still stand in the files. A file beside them keeps it over a restart."""
        self.engine = open_database(file, cipher)

    def rows(self, query: Executable) -> Sequence[Row[Any]]:
        """Return what a query finds."""
        with self.reading() as connection:
            return connection.execute(query).all()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Look several things up as they are at one moment."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except DatabaseError as error:
            raise explain(error, self.file) from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Make changes that happen together, or not at all."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except DatabaseError as error:
            raise explain(error, self.file) from error

    def scrub(self) -> None:
        """Write the file anew and empty the write-ahead log: what was deleted may still stand in both.

        SQLite overwrites what it deletes, but not the copies that it left in gaps when it moved the entries of an index
        from page to page. Takes about a second for 100,000 utterances. A failure is logged; `scrub_again` makes up for it.
        """
        self.owe_scrub()
        self.is_unscrubbed = False
        for step in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            code = ""
            try:
                with closing(self.engine.raw_connection()) as connection:
                    cursor = connection.cursor()
                    cursor.execute(step)
                    answer = cursor.fetchall()
                    cursor.close()
                    code = "store-locked" if answer and answer[0][0] else ""  # the log was busy
            except (DatabaseError, errors_of(self._cipher)) as error:
                code = explain(error, self.file).code
            if code:
                self.is_unscrubbed = True
                log.warning("scrub-failed", code=code)
        if not self.is_unscrubbed:
            with suppress(OSError):  # then it is scrubbed once more
                self._mark.unlink(missing_ok=True)

    def owe_scrub(self) -> None:
        """Note that something is about to be deleted: if the program ends before `scrub`, the next one makes up for it."""
        self.is_unscrubbed = True
        with suppress(OSError):  # on a full disk; then it is tried again until the program ends
            self._mark.touch(0o600)

    def scrub_again(self) -> None:
        """Scrub if that has failed: somebody was reading, or the disk was full."""
        if self.is_unscrubbed:
            self.scrub()

    def backup(self, target: Path) -> None:
        """Write a consistent copy to `target`, encrypted as this one is, while others may be using the database."""
        try:
            with (
                self.engine.connect() as connection,
                closing(connect(target, self._cipher, BUSY_SECONDS)) as copy,
            ):
                source: Any = connection.connection.driver_connection
                source.backup(copy)
        except (DatabaseError, errors_of(self._cipher)) as error:
            raise explain(error, target) from error

    def close(self) -> None:
        """Fold the write-ahead log into the file and let go of it."""
        self.engine.dispose()


def present(connection: Connection, table: Table, ids: Iterable[str]) -> set[str]:
    """Return those of `ids` that are in a table."""
    found = connection.execute(select(table.c.id).where(table.c.id.in_(list(ids))))
    return {row.id for row in found}


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    if rows:
        connection.execute(sqlite.insert(table).on_conflict_do_nothing(), rows)


def open_database(file: Path, cipher: Cipher | None = None) -> Engine:
    """Open the SQLite file, made and brought up to date as needed.

    Write-ahead log with full synchronisation: what is committed survives a kill and a power cut. Deleted text is
    overwritten in the file. Only its owner may read it and what is in its folder. The caller disposes of the engine.

    Raises:
        StoreError: ``store-newer``, ``store-damaged``, ``store-empty``, ``store-unwritable``, ``store-not-encrypted``,
            ``store-encrypted``, ``store-key-wrong``; the message says what to do.
    """
    try:
        is_new = _take_place(file)
    except OSError as error:
        raise explain(error, file) from error
    check_form(file, cipher)
    engine = create_engine(
        f"sqlite:///{file}",
        module=driver_of(cipher),
        creator=lambda: connect(file, cipher, BUSY_SECONDS),
        hide_parameters=True,  # they are what people said, and an error's text may get into a log
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    try:
        with engine.begin() as connection:
            migrate(connection, file)
    except BaseException as error:
        engine.dispose()
        if is_new and file.stat().st_size == 0:
            file.unlink()  # nobody shall take it for one that has lost what it held
        if cipher is not None and isinstance(error, DatabaseError) and is_undecipherable(error):
            raise wrong_key(file) from error
        if isinstance(error, (DatabaseError, OSError)):
            raise explain(error, file) from error
        raise
    return engine


def _take_place(file: Path) -> bool:
    """Make the file if it is missing, and close it and its folder to others; return whether it was made.

    Raises:
        StoreError: ``store-empty``.
        OSError: The file can't be made.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = not file.exists()
    if is_new:
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    elif file.is_file() and file.stat().st_size == 0:
        raise StoreError(
            "store-empty",
            f"{file} is empty (0 bytes): what was remembered is not in it any more. Run `omoide restore` with your last "
            "backup, or delete the file to begin with an empty memory.",
        )
    journals = (file.with_name(f"{file.name}-{end}") for end in ("wal", "shm"))
    with suppress(OSError):  # it may belong to another user, or be on a disk that knows no rights
        file.parent.chmod(0o700)
        for each in (file, *journals):
            if each.is_file():
                each.chmod(0o600)
    return is_new


def migrate(connection: Connection, file: Path) -> None:
    """Bring the tables to the newest revision, inside the transaction of `connection`.

    A database without a table is given them as they are now; only what an older program made takes its steps.

    Raises:
        StoreError: ``store-newer``.
    """
    script = _steps()
    present = _revision(connection)
    if present is None and not inspect(connection).get_table_names():
        MigrationContext.configure(connection).stamp(script, "head")
        for statement in _as_they_are_now():
            connection.exec_driver_sql(statement)
        return
    if present is not None and present not in {step.revision for step in script.walk_revisions()}:
        raise StoreError(
            "store-newer",
            f"{file} was written by a newer Omoide (revision {present}). Update Omoide, or restore a backup made before.",
        )
    if present == script.get_current_head():
        return

    def steps(revision: Any, _context: Any) -> Any:
        return script._upgrade_revs("head", revision)  # noqa: SLF001 - what alembic's own command does

    with EnvironmentContext(AlembicConfig(), script, fn=steps) as environment:
        environment.configure(connection=connection, transactional_ddl=True)
        environment.run_migrations()


@cache
def _steps() -> ScriptDirectory:
    """Return the steps from one revision to the next."""
    return ScriptDirectory(str(MIGRATIONS))


@cache
def _as_they_are_now() -> tuple[str, ...]:
    """Return what makes the tables of the newest revision, their indexes and triggers."""
    dialect = sqlite.dialect()
    made: list[str] = []
    for table in tables.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        made += [str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes]
    return (*made, *TRIGGERS)


def explain(error: Exception, file: Path) -> StoreError:
    """Turn a database's or the system's complaint into one that says what to do."""
    reason = str(getattr(error, "orig", None) or error)
    if any(
        sign in reason
        for sign in ("malformed", "not a database", "disk image", "file is encrypted")
    ):
        return StoreError(
            "store-damaged",
            f"{file} is damaged ({reason}). Nothing was changed. Move it away and run `omoide restore` with your last backup.",
        )
    if "disk is full" in reason or "No space left" in reason or "disk I/O" in reason:
        return StoreError(
            "store-full",
            f"{file} can't be written: the disk is full. Nothing was changed. Free some space; what was said meanwhile is kept in memory and written then.",
        )
    if isinstance(error, OperationalError) and "locked" in reason:
        return StoreError(
            "store-locked",
            f"{file} is held by another program for more than {BUSY_SECONDS} s. Close that program.",
        )
    return StoreError(
        "store-unwritable",
        f"{file} can't be used ({reason}). Check that the folder exists, may be written, and has space left.",
    )


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


def _prepare(connection: Any, _record: Any) -> None:
    # The driver's own transaction control would commit between the steps of a migration.
    connection.isolation_level = None
    cursor = connection.cursor()
    for setting in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
