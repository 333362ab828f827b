"""A folder that belongs to one process at a time."""

import shutil
import uuid
from pathlib import Path
from typing import Final

from server.errors import StoreError
from server.file_lock import FileLock

_LOCK: Final = "lock"
_GONE: Final = ".gone-"
LEAST_FREE_BYTES: Final = 64 * 2**20
"""The engines map files that grow when they are written to; on a full disk that kills the process, not the call."""


class IndexFolder:
    """Holds the folder of an index until `release`; the system releases it if the process is killed."""

    def __init__(self, path: Path) -> None:
        """Make the folder as needed and take it.

        Raises:
            StoreError: ``index-locked``, ``index-failed``.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(path / _LOCK)
        except BlockingIOError as error:
            raise StoreError(
                "index-locked",
                f"Another process works with the vector index in {path}. If that is the server, let this command ask it "
                "with --url; else stop that one first, or give this one a data folder of its own, with a memory of its own.",
            ) from error
        except OSError as error:
            raise StoreError(
                "index-failed",
                f"The vector index can't be kept in {path} ({error.strerror}). Check that the folder may be written.",
            ) from error
        self._sweep()

    def check_space(self, least_free_bytes: int) -> None:
        """Refuse to go on when the disk is nearly full.

        Raises:
            StoreError: ``index-full``.
        """
        free = shutil.disk_usage(self.path).free
        if free < least_free_bytes:
            raise StoreError(
                "index-full",
                f"Only {free // 2**20} MB are left for the vector index in {self.path}; it needs {least_free_bytes // 2**20} "
                "MB. Free some space. Nothing is lost: it is filled again from the store.",
            )

    def remove(self, path: Path) -> None:
        """Delete a folder inside this one. If that is interrupted, the rest goes when the index is next opened."""
        if not path.exists():
            return
        gone = self.path / f"{_GONE}{uuid.uuid4().hex}"
        try:
            path.rename(gone)
            shutil.rmtree(gone)
        except OSError as error:
            raise StoreError(
                "index-failed",
                f"{path} can't be deleted ({error.strerror}). Delete it by hand while Omoide is stopped.",
            ) from error

    def release(self) -> None:
        """Let another process in."""
        self._lock.release()

    def _sweep(self) -> None:
        for rest in self.path.glob(f"{_GONE}*"):
            shutil.rmtree(rest, ignore_errors=True)
