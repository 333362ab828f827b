"""Deletes what is known of a person, wherever it is kept: memory, recordings, the last turns and those that are running."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from anyio import to_thread

from server.memory.archive import Archive
from server.memory.audit import Actor
from server.memory.erasing import Erased
from server.memory.selecting import Selected, Selector
from server.memory.telling import Telling
from server.recording import (
    RECORDINGS,
    RecentTurns,
    erase_recordings,
    erase_turns,
    expire_recordings,
    turns_recorded,
)
from server.trace import Turns
from server.turn import Recollection


class Forgetting:
    """What has to be done together. Memory goes first: if it can't be changed, nothing else is.

    What is committed there will be finished, if need be at the next start: see `finish_begun`.
    """

    def __init__(self, archive: Archive, data: Path, recent: RecentTurns, turns: Turns) -> None:
        """Say where things are kept.

        Args:
            archive: Of the memory, open for writing.
            data: The folder for everything that is kept.
            recent: The last turns.
            turns: The turns that are running.
        """
        self._archive = archive
        self._eraser = archive.eraser
        self._recordings = data / RECORDINGS
        self._recent = recent
        self._turns = turns

    async def look(self, selector: Selector) -> tuple[Selected, Erased]:
        """Return what a selector stands for, and how much would go with it. Nothing changes.

        Raises:
            OmoideError: As in `server.memory.selecting.select`.
        """
        selected = await self._eraser.select(selector)
        telling = await self._telling(selected)
        return selected, await self._eraser.would_erase(selected, self._told_in(telling))

    async def forget(self, selector: Selector, actor: Actor) -> Erased:
        """Delete what a selector stands for; return what went.

        Raises:
            OmoideError: As in `server.memory.selecting.select`.
            StoreError: Something can't be deleted; the message says what.
        """
        return await self.erase(await self._eraser.select(selector), actor)

    async def forget_person(self, person: str, actor: Actor = Actor.API) -> int:
        """Delete everything about a person, of whom nothing need be known; return how many facts there were.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        return (await self.erase(await self._eraser.everything_of(person), actor)).facts

    async def forget_facts(self, fact_ids: Sequence[str], actor: Actor = Actor.API) -> int:
        """Delete facts and their words, wherever they were said or told; return how many of them there were.

        A turn that is running is not kept if one of them was said in it; if it has one in mind, its answer is not.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        selected = await self._eraser.facts_named(fact_ids)
        await self.erase(selected, actor)
        return len(selected.facts)

    async def forget_pages(self, page_ids: Sequence[str], actor: Actor) -> Erased:
        """Delete exchanges of one person, as far as they are there, and what was made of them; return what went.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        return await self.erase(await self._eraser.pages_named(page_ids), actor)

    async def said_lately(self, person: str, now: datetime) -> list[str]:
        """Return the ids of the last exchanges of the talk that goes on, oldest first, those without an answer, too."""
        return await self._eraser.said_lately(person, now)

    async def knows(self, person: str) -> bool:
        """Say whether anything is stored of a person."""
        return person in await self._archive.persons()

    async def erase(self, selected: Selected, actor: Actor) -> Erased:
        """Delete what was selected; return what went.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        telling = await self._telling(selected)
        told_in = self._told_in(telling)
        recorded = {
            person: await to_thread.run_sync(
                turns_recorded, self._recordings, person, telling.is_in_record
            )
            for person in telling.persons
        }
        with self._turns.forgetting(telling.is_said_in, telling.is_in_mind):
            forgotten, erased = await self._eraser.erase(selected, actor, told_in, recorded)
        telling.turns.update(*forgotten.turns.values())
        self._drop_recent(telling)
        await self.finish_begun()
        return erased

    async def finish_begun(self) -> int:
        """Finish what was begun, also before the program was started; return how many erasures that were.

        Raises:
            StoreError: Something can't be deleted; the message says what. It is tried again with the next one.
        """
        begun = await self._eraser.unfinished()
        await self._eraser.let_go(begun)
        for one in begun:
            if one.is_whole:
                await to_thread.run_sync(erase_recordings, self._recordings, one.owner)
            else:
                await to_thread.run_sync(erase_turns, self._recordings, one.owner, one.turns)
        await self._eraser.finish(begun)
        return len(begun)

    async def end_recordings(self, now: datetime, days: float) -> int:
        """Delete the recordings that are older than so many days; return of how many days.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        if not days:
            return 0
        before = (now - timedelta(days=days)).date()
        return await to_thread.run_sync(expire_recordings, self._recordings, before)

    async def _telling(self, selected: Selected) -> Telling:
        return Telling(selected, await self._eraser.said_in(selected))

    def _told_in(self, telling: Telling) -> set[str]:
        """Return the turns that tell of it, as far as the last turns show. Oldest first: a later one may rest on it."""
        for turn in self._recent.list():
            telling.goes(turn)
        return telling.turns

    def _drop_recent(self, telling: Telling) -> None:
        """Forget the last turns that tell of it; of those that only had it in mind, what memory offered."""
        self._recent.forget(lambda turn: turn.id in telling.turns or telling.is_said_in(turn))
        for turn in self._recent.list():
            if telling.is_in_mind(turn):
                turn.recalled, turn.told = Recollection(), ()
