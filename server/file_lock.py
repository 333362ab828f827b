"""A file that one process holds at a time; the system lets go of it if the holder is killed."""

import errno
import os
import sys
from pathlib import Path
from typing import Final, Self

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
