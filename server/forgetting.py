"""Deletes everything about a person, wherever it is kept: memory, recordings, the last turns."""

from pathlib import Path

from anyio import to_thread

from server.memory.archive import Archive
from server.recording import RECORDINGS, RecentTurns, erase_recordings


async def forget_person(
    person: str, archive: Archive, data: Path, recent: RecentTurns | None = None
) -> int:
    """Delete everything about a person; return how many facts there were.

    Args:
        person: Who is forgotten.
        archive: Of the memory, open for writing.
        data: The folder for everything that is kept.
        recent: The last turns, if a server runs.

    Raises:
        StoreError: Something can't be deleted; the message says what.
    """
    gone = await archive.forget_person(person)
    if recent is not None:
        recent.forget(person)
    await to_thread.run_sync(erase_recordings, data / RECORDINGS, person)
    return gone
