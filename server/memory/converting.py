"""Encrypts a store that is plain, and the other way round: a whole new file takes the place of the old one."""

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from server.errors import StoreError
from server.folder_lock import DRAFT
from server.memory.cipher import Cipher, connect, errors_of, is_plain, is_undecipherable, wrong_key
from server.memory.store import Store

_JOURNALS: Final = ("-wal", "-shm", "-journal")
_SECONDS: Final = 5.0


def encrypt(file: Path, cipher: Cipher) -> None:
    """Encrypt a plain store. Nobody may have it open.

    The old file is deleted; what a disk keeps of a deleted file, and older backups, stay plain.

    Raises:
        StoreError: ``store-encrypted`` already, ``store-locked``, or the file can't be read or written.
    """
    if not is_plain(file):
        raise StoreError("store-encrypted", f"{file} is encrypted already, or is no store.")
    _convert(file, cipher, is_encrypted=False)


def decrypt(file: Path, cipher: Cipher) -> None:
    """Write an encrypted store as a plain file. Nobody may have it open.

    Raises:
        StoreError: ``store-not-encrypted``, ``store-key-wrong``, ``store-locked``, or the file can't be read or written.
    """
    if is_plain(file):
        raise StoreError("store-not-encrypted", f"{file} is not encrypted.")
    _convert(file, cipher, is_encrypted=True)


def _convert(file: Path, cipher: Cipher, *, is_encrypted: bool) -> None:
    """Export into a file beside it, look that over, and let it take the place.

    Args:
        file: The store.
        cipher: The key of the encrypted one of the two.
        is_encrypted: Whether that is the file as it is.
    """
    draft = file.with_name(f"{file.name}{DRAFT}")
    draft.unlink(missing_ok=True)  # of a conversion that was interrupted
    was, will_be = (cipher, None) if is_encrypted else (None, cipher)
    try:
        Store(file, was).close()  # brought up to date, its journal folded in
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(connect(file, cipher, _SECONDS, is_keyed=was is not None)) as connection:
            _export(connection, draft, cipher.literal if was is None else "")
        Store(draft, will_be).close()
        _check_same(file, was, draft, will_be)
        _sync(draft)
        draft.replace(file)
    except errors_of(cipher) as error:
        raise _explain(error, file) from error
    except OSError as error:
        raise StoreError(
            "store-unwritable", f"{file} can't be replaced ({error.strerror})."
        ) from error
    finally:
        for end in ("", *_JOURNALS):
            with suppress(OSError):
                draft.with_name(f"{draft.name}{end}").unlink(missing_ok=True)
    for end in _JOURNALS:
        file.with_name(f"{file.name}{end}").unlink(missing_ok=True)


def _export(connection: Any, draft: Path, target: str) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")  # somebody else would write what is not exported any more
    connection.execute("COMMIT")
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    connection.execute("ATTACH DATABASE ? AS draft KEY ?", (str(draft), target))
    connection.execute("SELECT sqlcipher_export('draft')").fetchall()
    connection.execute(f"PRAGMA draft.user_version = {int(version)}")
    connection.execute("DETACH DATABASE draft")


def _check_same(file: Path, was: Cipher | None, draft: Path, will_be: Cipher | None) -> None:
    if _content(file, was) != _content(draft, will_be):
        raise StoreError(
            "store-damaged", f"{file} could not be converted whole. Nothing was changed; try again."
        )


def _content(file: Path, cipher: Cipher | None) -> tuple[str, dict[str, int]]:
    """Return whether a file is sound, and how many rows are in each table."""
    with closing(connect(file, cipher, _SECONDS)) as connection:
        ask = connection.execute
        verdict = str(ask("PRAGMA quick_check").fetchone()[0])
        names = [row[0] for row in ask("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counts = {name: ask(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
    return verdict, counts


def _sync(file: Path) -> None:
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def _explain(error: Exception, file: Path) -> StoreError:
    if is_undecipherable(error):
        return wrong_key(file)
    if "locked" in str(error):
        return StoreError(
            "store-locked", f"{file} is in use. Stop the server that runs on it first."
        )
    return StoreError("store-unwritable", f"{file} can't be converted ({error}).")
