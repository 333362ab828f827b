"""`omoide backup`: everything that a server keeps, in one file, while it may be running."""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from server.clock import SystemClock
from server.commands.report import Report, Tell, counted
from server.config import Config
from server.errors import OmoideError, StoreError
from server.memory.cipher import (
    Cipher,
    check_form,
    cipher_of,
    connect,
    errors_of,
    is_undecipherable,
    wrong_key,
)
from server.memory.store import Store
from server.scratch import scratch, sweep_scratch

NOTHING: Mapping[str, object] = {"file": "", "files": 0, "bytes": 0, "error": None}

MANIFEST: Final = "omoide-backup.json"
"""First in every archive, so that nothing else is taken for one."""
FORMAT: Final = 1
_SECONDS: Final = 5.0
DATABASE: Final = PurePosixPath("memory/memory.db")
MODELS: Final = PurePosixPath("models")
_DERIVED: Final = (PurePosixPath("memory/index"), MODELS)
"""Made anew from the database and from installed packages."""
_SCRATCH: Final = ".omoide-backup-"
"""Where it is put together, beside the archive; what a killed one has left there goes with the next."""
_OLD_SCRATCH: Final = "omoide-backup-"
"""In the system's folder for such things, where earlier versions did so."""
_JOURNALS: Final = tuple(f"{DATABASE.name}-{end}" for end in ("wal", "shm", "journal"))


def backup(target: Path, config: Config, data: Path, tell: Tell) -> Report:
    """Write the data folder into a ``tar.gz`` that only its owner may read: it holds what people said, and secrets.

    The copy of the database is consistent, also beside a server that is writing. The vector index is left out.

    Raises:
        OmoideError: ``data-missing``, ``backup-exists`` (something that is no backup has that name),
            ``backup-unwritable``; or the database can't be read.
    """
    if not data.is_dir():
        raise OmoideError("data-missing", f"{data} does not exist. Name the folder with --data.")
    if target.exists() and not is_backup(target):
        raise OmoideError(
            "backup-exists", f"{target} is there already and is no backup. Name another file."
        )
    made_at = SystemClock(config.server.timezone).now().isoformat(timespec="seconds")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        count = _write(target, data, made_at, cipher_of(config.store))
        size = target.stat().st_size
    except OSError as error:
        raise OmoideError(
            "backup-unwritable",
            f"{target} can't be written ({error}). Check the folder and the space in it.",
        ) from error
    tell(
        f"{target}: {counted(count, 'file')}, {size / 2**20:.1f} MB. Keep it as safe as the data itself."
    )
    return Report({**NOTHING, "file": str(target), "files": count, "bytes": size})


def is_backup(path: Path) -> bool:
    """Whether a file begins as our archives do."""
    with suppress(tarfile.TarError, OSError, EOFError), tarfile.open(path, "r:gz") as archive:
        first = archive.next()
        return first is not None and first.name == MANIFEST
    return False


def _write(target: Path, data: Path, made_at: str, cipher: Cipher | None) -> int:
    """Write the archive beside its place and move it there when it is whole."""
    sweep_scratch(Path(tempfile.gettempdir()), _OLD_SCRATCH)
    with scratch(target.parent, _SCRATCH) as folder:
        draft = folder / target.name
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
                _add_bytes(archive, MANIFEST, _manifest(made_at))
                count = _add_database(archive, data, folder / DATABASE.name, cipher)
                for path in _files(data):
                    is_mine = _SCRATCH in str(path.relative_to(data))
                    if not is_mine and path.resolve() != target.resolve():
                        count += _add_file(archive, path, path.relative_to(data).as_posix())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    return count


def _manifest(made_at: str) -> bytes:
    return json.dumps({"format": FORMAT, "made_at": made_at}).encode()


def _files(data: Path) -> Iterator[Path]:
    """Return what is kept, but for the database: no links, no journals, no locks, nothing that is derived."""
    for path in sorted(data.rglob("*")):
        inside = PurePosixPath(path.relative_to(data).as_posix())
        is_derived = any(inside.is_relative_to(one) for one in _DERIVED)
        is_passing = inside.name.endswith((".new", ".lock")) or inside.name in _JOURNALS
        if is_derived or is_passing or inside == DATABASE:
            continue
        if path.is_file() and not path.is_symlink():
            yield path


def _add_database(archive: tarfile.TarFile, data: Path, copy: Path, cipher: Cipher | None) -> int:
    source = data / DATABASE
    if not source.exists():
        return 0
    copy_database(source, copy, cipher)
    return _add_file(archive, copy, str(DATABASE))


def copy_database(source: Path, target: Path, cipher: Cipher | None = None) -> None:
    """Write a consistent copy of a database that others may be using; of an encrypted one, encrypted with the same key.

    Raises:
        StoreError: It can't be read, or the copy can't be written.
    """
    store = Store(source, cipher)
    try:
        store.backup(target)
    finally:
        store.close()
    check_whole(target, source, cipher)


def check_whole(database: Path, source: Path, cipher: Cipher | None = None) -> None:
    """Read a whole database to see whether it is sound.

    Args:
        database: The file.
        source: What it is a copy of, for the message.
        cipher: What it is encrypted with.

    Raises:
        StoreError: ``store-damaged``, ``store-not-encrypted``, ``store-key-wrong``.
    """
    check_form(database, cipher)
    try:
        with closing(connect(database, cipher, _SECONDS)) as connection:
            verdict = str(connection.execute("PRAGMA quick_check").fetchone()[0])
    except errors_of(cipher) as error:
        if cipher is not None and is_undecipherable(error):
            raise wrong_key(source) from error
        verdict = str(error)
    if verdict != "ok":
        raise StoreError(
            "store-damaged",
            f"The database in {source} is damaged ({verdict[:200]}). Take the last backup from before that.",
        )


def _add_file(archive: tarfile.TarFile, path: Path, name: str) -> int:
    try:
        file = path.open("rb")
    except FileNotFoundError:  # a recording that was tidied away just now
        return 0
    with file:
        info = tarfile.TarInfo(name)
        status = os.fstat(file.fileno())
        info.size, info.mtime, info.mode = status.st_size, int(status.st_mtime), 0o600
        archive.addfile(info, file)
    return 1


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    archive.addfile(info, io.BytesIO(content))
