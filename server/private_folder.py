"""What is kept belongs to the server's user alone, whatever rights files had before and whatever mask the program was started with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK
from typing import Final

import structlog

log = structlog.get_logger(__name__)

_OURS: Final = frozenset(
    {
        "api-keys.json", "api-token", "devices.json", "devices.json.broken", "firmware", "memory", "models", "omoide.lock",
        "recordings", "secret",
    }
)  # fmt: skip
"""Names in a data folder. Of what else lies there the server knows nothing: somebody may have named their home as the folder."""
_FOLDER, _FILE = 0o700, 0o600


@contextmanager
def owner_only() -> Iterator[None]:
    """Let every file that is made in the block, by whatever library, belong to its owner alone. For the whole process."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def close_to_others(data: Path) -> int:
    """Take from others what they may do with what we keep in a data folder; return of how many files and folders.

    The folder itself is closed, too, unless it holds what is not ours. What can't be changed is left, and said once.
    """
    entries = sorted(data.iterdir())
    ours = [entry for entry in entries if entry.name in _OURS]
    changed = sum(_close(path) for entry in ours for path in _with_contents(entry))
    if len(ours) == len(entries):
        changed += _close(data)
    if changed:
        log.warning(
            "data-closed-to-others",
            folder=str(data),
            count=changed,
            hint="Others on this computer could read or change these before.",
        )
    return changed


def _with_contents(entry: Path) -> Iterator[Path]:
    yield entry
    if entry.is_symlink():
        return
    for folder, names, files in os.walk(entry):
        yield from (Path(folder, name) for name in (*names, *files))


def _close(path: Path) -> bool:
    """Set the rights of a file or folder; return whether others had some."""
    with suppress(OSError):  # gone meanwhile, somebody else's, or on a disk that knows no rights
        mode = path.lstat().st_mode
        right = _FOLDER if S_ISDIR(mode) else _FILE
        if not S_ISLNK(mode) and S_IMODE(mode) != right:
            path.chmod(right)
            return bool(S_IMODE(mode) & 0o077) and S_IMODE(path.stat().st_mode) == right
    return False
