"""Deletes what is known of a person, wherever it is kept: memory, recordings, the last turns and those that are running."""

from pathlib import Path

from anyio import to_thread

from server.memory.archive import Archive
from server.recording import RECORDINGS, RecentTurns, erase_recordings
from server.trace import Turns


class Forgetting:
    """What has to be done together. Memory goes first: if it can't be changed, nothing else is."""

    def __init__(self, archive: Archive, data: Path, recent: RecentTurns, turns: Turns) -> None:
        """Say where things are kept.

        Args:
            archive: Of the memory, open for writing.
            data: The folder for everything that is kept.
            recent: The last turns.
            turns: The turns that are running.
        """
        self._archive = archive
        self._recordings = data / RECORDINGS
        self._recent = recent
        self._turns = turns

    async def forget_person(self, person: str) -> int:
        """Delete everything about a person; return how many facts there were.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        with self._turns.forgetting(lambda turn: turn.person == person):
            gone = await self._archive.forget_person(person)
        self._recent.forget(person)
        await to_thread.run_sync(erase_recordings, self._recordings, person)
        return gone
