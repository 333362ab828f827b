"""What stands in the files of a folder."""

from contextlib import suppress
from pathlib import Path


def bytes_of(folder: Path) -> bytes:
    """Return all bytes of all files. A file that somebody deletes meanwhile has none."""
    read = []
    for file in sorted(folder.rglob("*")):
        with suppress(FileNotFoundError, IsADirectoryError):
            read.append(file.read_bytes())
    return b"".join(read)
