"""`omoide restore`: put the data folder back as a backup holds it; what was there before is kept aside."""

import json
import shutil
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path, PurePosixPath, PureWindowsPath

from server.clock import SystemClock
from server.commands.backup import DATABASE, FORMAT, MANIFEST, MODELS, check_whole
from server.commands.report import Report, Tell, counted
from server.config import Config
from server.errors import OmoideError, StoreError
from server.folder_lock import lock_data, restoring
from server.memory.cipher import Cipher, cipher_of, connect, errors_of
from server.memory.index_folder import IndexFolder
from server.memory.store import Store
from server.scratch import scratch

NOTHING: Mapping[str, object] = {"data": "", "files": 0, "kept_aside": None, "error": None}

_SPARE_BYTES = 64 * 2**20
"""What is to be left on the disk."""


def restore(source: Path, config: Config, data: Path, tell: Tell) -> Report:
    """Unpack a backup beside the data folder, look it over, and let the two change places.

    Whatever goes wrong before that leaves the data folder as it was.

    Raises:
        OmoideError: ``backup-invalid``; ``data-in-use``: a server runs on the folder; ``restore-failed``; or the database
            in the backup can't be used.
    """
    data = data.absolute()
    cipher = cipher_of(config.store)
    _check_idle(data, cipher)
    with _unpacked(source, data) as (draft, count):
        _check_database(draft / DATABASE, source, cipher)
        stamp = f"{SystemClock(config.server.timezone).now():%Y%m%d-%H%M%S}"
        aside = _free_name(data, stamp) if data.exists() else None
        _check_idle(data, cipher)
        _exchange(data, draft, aside)
    tell(f"{data}: {counted(count, 'file is', 'files are')} back.")
    if aside is not None:
        tell(f"What was there before is in {aside}. Delete it when all is well.")
    tell("The vector index is made anew at the next start.")
    kept = str(aside) if aside else None
    return Report({**NOTHING, "data": str(data), "files": count, "kept_aside": kept})


def _check_idle(data: Path, cipher: Cipher | None) -> None:
    """Refuse if a server, or another command, works in the data folder."""
    index, database = data / "memory" / "index", data / DATABASE
    try:
        if data.is_dir():
            lock_data(data).release()
        if index.is_dir():
            IndexFolder(index).release()
        if database.exists():
            _claim(database, cipher)
    except StoreError as error:
        raise OmoideError(
            "data-in-use",
            f"{data} is in use ({error.code}). Stop the server that runs on it first, or restore into another folder with --data.",
        ) from error


def _claim(database: Path, cipher: Cipher | None) -> None:
    """Fold the journal into a database, which only works while nobody else has it open."""
    with closing(connect(database, cipher, 0.5)) as connection:
        try:
            connection.execute("PRAGMA journal_mode=DELETE")
        except errors_of(cipher) as error:
            if "locked" in str(error):
                raise StoreError("store-locked", "The database is open elsewhere.") from error
            # Else it is damaged, or has another key: that is what backups are for.


@contextmanager
def _unpacked(source: Path, data: Path) -> Iterator[tuple[Path, int]]:
    """Unpack an archive into a folder beside `data`, which is gone after the block unless it was moved away."""
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        place = ExitStack()
        draft = place.enter_context(scratch(data.parent, restoring(data)))
    except OSError as error:
        raise _failed(f"{data.parent} can't be written", error) from error
    with place:
        yield draft, _unpack(source, draft)


def _unpack(source: Path, draft: Path) -> int:
    try:
        with tarfile.open(source, "r:gz") as archive:
            members = archive.getmembers()
            _check_members(source, members)
            _check_manifest(source, archive)
            _check_space(draft, sum(member.size for member in members))
            files = [member for member in members[1:] if member.isfile()]
            for member in files:
                _write_member(archive, member, draft)
    except (tarfile.TarError, EOFError) as error:
        raise _invalid(source, f"it is no whole tar.gz ({error})") from error
    except FileNotFoundError as error:
        raise _invalid(source, "it is not there") from error
    except OSError as error:
        raise _failed(f"{source} can't be read or unpacked", error) from error
    return len(files)


def _check_members(source: Path, members: Sequence[tarfile.TarInfo]) -> None:
    """Let nothing through that is no plain file or that would land outside the folder."""
    if not members or members[0].name != MANIFEST:
        raise _invalid(source, "it is no backup of Omoide")
    for member in members:
        if not _is_inside(member.name):
            raise _invalid(source, f"it holds {member.name!r}, which leaves the folder")
        if not (member.isfile() or member.isdir()):
            raise _invalid(source, f"it holds {member.name!r}, which is no plain file")


def _is_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    foreign = "\\" in name or "\0" in name or PureWindowsPath(name).drive
    return bool(parts) and not foreign and not name.startswith("/") and ".." not in parts


def _check_manifest(source: Path, archive: tarfile.TarFile) -> None:
    file = archive.extractfile(MANIFEST)
    with suppress(ValueError, AttributeError, RecursionError):
        found = json.loads(file.read()) if file else None
        written = found.get("format") if isinstance(found, dict) else None
        if written == FORMAT:
            return
        if isinstance(written, int) and written > FORMAT:
            raise _invalid(source, "a newer Omoide made it; update this one")
    raise _invalid(source, "its first file can't be read")


def _check_space(folder: Path, needed_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + _SPARE_BYTES:
        raise OmoideError(
            "restore-failed",
            f"The backup unpacks to {needed_bytes // 2**20} MB and {free // 2**20} MB are free. Free some space.",
        )


def _write_member(archive: tarfile.TarFile, member: tarfile.TarInfo, draft: Path) -> None:
    content = archive.extractfile(member)
    assert content is not None
    target = draft / PurePosixPath(member.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with content, target.open("xb") as file:
        shutil.copyfileobj(content, file)
    target.chmod(0o600)


def _check_database(database: Path, source: Path, cipher: Cipher | None) -> None:
    """Open the database as a server would, which brings it up to date, too."""
    if database.exists():
        check_whole(database, source, cipher)
        store = Store(database, cipher)
        try:
            store.persons()
        finally:
            store.close()


def _free_name(data: Path, stamp: str) -> Path:
    name, number = data.with_name(f"{data.name}.before-{stamp}"), 1
    while name.exists():
        number += 1
        name = data.with_name(f"{data.name}.before-{stamp}-{number}")
    return name


def _exchange(data: Path, draft: Path, aside: Path | None) -> None:
    try:
        if aside is not None:
            data.rename(aside)
    except OSError as error:
        hint = "It may be a mounted folder: restore into one below it with --data, and move the files yourself."
        raise _failed(f"{data} can't be renamed. {hint}", error) from error
    try:
        draft.rename(data)
    except OSError as error:
        if aside is not None:
            aside.rename(data)
        raise _failed(f"{data} can't be put in place; the old one is back", error) from error
    if aside is not None:
        with suppress(OSError):  # they would only be unpacked or fetched once more
            (aside / MODELS).rename(data / MODELS)


def _invalid(source: Path, reason: str) -> OmoideError:
    return OmoideError("backup-invalid", f"{source} can't be restored: {reason}.")


def _failed(what: str, error: OSError) -> OmoideError:
    return OmoideError("restore-failed", f"{what} ({error.strerror or error}).")
