"""Locks that keep two processes from working in one folder; the system lets go of them if the holder is killed."""

from pathlib import Path
from typing import Final

import structlog

from server.errors import StoreError
from server.file_lock import FileLock
from server.private_folder import close_to_others
from server.scratch import sweep_scratch

log = structlog.get_logger(__name__)

_NAME: Final = "omoide.lock"
DRAFT: Final = ".converted.new"
"""How the name of a store ends that is being written anew, encrypted or plain."""


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


def restoring(data: Path) -> str:
    """Return how the name begins of a folder beside this one into which a backup is unpacked."""
    return f".{data.absolute().name}.restoring-"


def _sweep(data: Path) -> None:
    """Delete what a conversion or a restore that was killed has left: it may be the whole memory, and not encrypted.

    Only who holds the folder converts, so nobody works on it.
    """
    sweep_scratch(data.absolute().parent, restoring(data))
    for left in data.glob(f"*/*{DRAFT}*"):
        try:
            left.unlink(missing_ok=True)
        except OSError as error:
            log.warning("draft-undeletable", file=str(left), reason=error.strerror)
