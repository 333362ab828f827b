"""Folders for work that ends in a file or a folder elsewhere. What a killed one has left goes with the next."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.file_lock import FileLock

_LOCK = ".lock"


@contextmanager
def scratch(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that only its owner may read, which is gone after the block unless it was moved away.

    Raises:
        OSError: It can't be made.
    """
    sweep_scratch(parent, prefix)
    folder = parent / f"{prefix}{secrets.token_hex(6)}"
    mark = folder.with_name(f"{folder.name}{_LOCK}")
    with FileLock(mark):  # first, so that nobody takes the folder for one that was left
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                mark.unlink(missing_ok=True)


def sweep_scratch(parent: Path, prefix: str) -> None:
    """Delete such folders that nobody works in any more: they may hold a whole memory."""
    for folder in parent.glob(f"{prefix}*") if parent.is_dir() else ():
        if folder.name.endswith(_LOCK) or folder.is_symlink() or not _is_mine(folder):
            continue
        mark = folder.with_name(f"{folder.name}{_LOCK}")
        with suppress(OSError), FileLock(mark):  # else somebody works in it
            shutil.rmtree(folder, ignore_errors=True)
            mark.unlink(missing_ok=True)


def _is_mine(folder: Path) -> bool:
    with suppress(OSError):
        return folder.is_dir() and (
            not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
        )
    return False
