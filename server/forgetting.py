"""Deletes what is known of a person, wherever it is kept: memory, recordings, the last turns and those that are running."""

import json
from collections.abc import Iterator, Sequence, Set
from functools import partial
from pathlib import Path

from anyio import to_thread

from server.memory.archive import Archive
from server.memory.models import Fact
from server.memory.redaction import holds, tells
from server.recording import RECORDINGS, RecentTurns, erase_recordings, erase_turns
from server.trace import Turns
from server.turn import Turn


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

        def is_theirs(turn: Turn) -> bool:
            return turn.person == person

        with self._turns.forgetting(is_theirs):
            gone = await self._archive.forget_person(person)
        self._recent.forget(is_theirs)
        await to_thread.run_sync(erase_recordings, self._recordings, person)
        return gone

    async def forget_facts(self, fact_ids: Sequence[str]) -> int:
        """Delete facts and their words, wherever they were said or told; return how many facts there were.

        A turn that is running is not kept if one of them was said in it; if it has one in mind, its answer is not.

        Raises:
            StoreError: Something can't be deleted; the message says what.
        """
        found = [await self._archive.fact(fact_id) for fact_id in fact_ids]
        facts = [fact for fact in found if fact is not None]
        told_in = {source for fact in facts for source in fact.sources}
        told_in.update(await self._archive.said_in(fact_ids))
        is_said = partial(_is_said_in, facts)
        is_meant = partial(_is_told_in, facts, told_in)
        # Oldest first: what was told in one, a later one may have in mind.
        for turn in self._recent.list():
            if is_meant(turn):
                told_in.add(turn.id)
        with self._turns.forgetting(is_said, is_meant):
            forgotten = await self._archive.forget(fact_ids, told_in)
        for person, turns in forgotten.turns.items():
            self._recent.forget(lambda turn, gone=turns: turn.id in gone or is_meant(turn))  # type: ignore[misc]
            theirs = [fact for fact in facts if fact.person == person]
            in_record = partial(_is_told_by, theirs, told_in)
            await to_thread.run_sync(erase_turns, self._recordings, person, turns, in_record)
        return forgotten.facts


def _is_said_in(facts: Sequence[Fact], turn: Turn) -> bool:
    """Say whether one of these facts was said in a turn."""
    words = turn.transcript
    return words is not None and any(tells(fact, turn.person, words.text) for fact in facts)


def _is_told_in(facts: Sequence[Fact], told_in: Set[str], turn: Turn) -> bool:
    """Say whether one of these facts was said in a turn, or was in mind for its answer: offered by memory, or said just before."""
    if _is_said_in(facts, turn) or not told_in.isdisjoint((turn.id, *turn.answers)):
        return True
    gone = told_in | {fact.id for fact in facts}
    if any(ids <= gone for ids in turn.recalled.rests_on):
        return True
    asked = turn.asked.text if turn.asked else ""
    texts = (asked, *(page.said for page in turn.recalled.pages))
    return any(tells(fact, turn.person, text) for fact in facts for text in texts)


def _is_told_by(facts: Sequence[Fact], told_in: Set[str], record: str) -> bool:
    """Say whether the written record of a turn tells of one of these facts; one that is broken is searched as it is."""
    try:
        whole = json.loads(record)
    except ValueError:
        whole = record
    gone = told_in | {fact.id for fact in facts}
    offered = whole.get("rests_on") if isinstance(whole, dict) else None
    for ids in offered if isinstance(offered, list) else ():
        names = set(_texts(ids))
        if names and names <= gone:
            return True
    return any(
        fact.id in text or holds(text, fact.quote) for fact in facts for text in _texts(whole)
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
