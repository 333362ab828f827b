"""Locks that keep two processes from working in one folder; the system lets go of them if the holder is killed."""

import errno
import os
import sys
from pathlib import Path
from typing import Final, Self

import structlog

from server.errors import StoreError
from server.private_folder import close_to_others

log = structlog.get_logger(__name__)

_NAME: Final = "omoide.lock"
DRAFT: Final = ".converted.new"
"""How the name of a store ends that is being written anew, encrypted or plain."""
_HELD: Final = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Holds a file, made as needed, until `release`, or for a block."""

    def __init__(self, file: Path) -> None:
        """Take the lock.

        Raises:
            BlockingIOError: Another process, or another object in this one, holds it.
            OSError: The file can't be made or locked.
        """
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._descriptor)
        except OSError as error:
            os.close(self._descriptor)
            if error.errno in _HELD:
                raise BlockingIOError(errno.EAGAIN, "held by another process") from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let another process in."""
        os.close(self._descriptor)


def lock_data(data: Path) -> FileLock:
    """Take a data folder, made as needed, for a server or for a command that changes what is in it, and close it to others.

    Raises:
        StoreError: ``data-locked``, ``data-unwritable``.
    """
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(data / _NAME)
    except BlockingIOError as error:
        raise StoreError(
            "data-locked",
            f"A server, or another command, works in {data}. If it is a server, let this command ask it with --url, e.g. "
            "http://127.0.0.1:8003; else wait for it or stop it. A second server needs a folder of its own: --data.",
        ) from error
    except OSError as error:
        raise StoreError(
            "data-unwritable",
            f"{data} can't be used ({error.strerror}). Check that it is a folder that may be written, or name another with "
            "--data.",
        ) from error
    _sweep(data)
    close_to_others(data)
    return lock


def _sweep(data: Path) -> None:
    """Delete what a conversion that was killed has left: it may be the whole memory, and not encrypted.

    Only who holds the folder converts, so nobody works on it.
    """
    for left in data.glob(f"*/*{DRAFT}*"):
        try:
            left.unlink(missing_ok=True)
        except OSError as error:
            log.warning("draft-undeletable", file=str(left), reason=error.strerror)
