"""Memory, as the rest of the program sees it: recall for a query, remember a turn, draw facts, list, forget.

The truth is the SQL store; vectors, shelves and the working buffer are made from it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

import structlog

from server.errors import OmoideError, StoreError
from server.memory.archive import Archive
from server.memory.consenting import Consenting
from server.memory.consolidate import Consolidator
from server.memory.diary import Diary
from server.memory.eraser import Eraser
from server.memory.grounds import grounds_of
from server.memory.index import VectorIndex
from server.memory.known import Knowing
from server.memory.models import Candidate, Fact, Page
from server.memory.page_shelves import PageShelves
from server.memory.recall import Reader
from server.memory.recollecting import Recollector
from server.memory.retention import Retention
from server.memory.safety.desk import SafetyDesk
from server.memory.safety.outbox import Outbox
from server.memory.safety.watch import SafetyWatch
from server.memory.shelves import Shelves
from server.memory.statements import sentences
from server.memory.store import Store
from server.memory.working import WorkingBuffer
from server.memory.writer import Writer
from server.ports import Clock
from server.punctuation import join_sentences
from server.turn import Recollection, Transcript, Turn

log = structlog.get_logger(__name__)

__all__ = ["Memory", "Page", "TalkMemory", "exchange_of", "page_of"]


class TalkMemory(Protocol):
    """What a conversation needs of memory."""

    async def prepare(self, person: str) -> None:
        """Make ready what the first recall for a person would have to wait for."""

    async def recall(self, person: str, query: str, language: str) -> Recollection:
        """Return what is relevant to `query` in the memory of `person`; empty if nothing is."""

    def recent(self, person: str, now: datetime) -> list[Page]:
        """Return the last exchanges, oldest first; none if the last one is longer ago than the window."""

    def make_way(self) -> None:
        """Note that somebody talks: a local model stops its work in the background."""


class Overheard:
    """The words of guests while they talk, so that an answer fits what was said before. A `TurnObserver` for their turns."""

    def __init__(self, working: WorkingBuffer) -> None:
        self._working = working

    def turn_finished(self, turn: Turn) -> None:
        """Keep what a guest said and heard until the talk is over; nothing of it is stored."""
        if turn.is_guest and (exchange := exchange_of(turn)) is not None:
            self._working.add(exchange)


class Memory:
    """The memory of all persons. A `TurnObserver`: give it every finished turn. Close it when no turn runs any more."""

    def __init__(
        self,
        *,
        store: Store,
        writer: Writer,
        index: VectorIndex,
        shelves: Shelves,
        reader: Reader,
        page_shelves: PageShelves,
        recollector: Recollector,
        consolidator: Consolidator,
        diary: Diary,
        retention: Retention,
        consenting: Consenting,
        knowing: Knowing,
        safety: SafetyWatch,
        desk: SafetyDesk,
        outbox: Outbox,
        working: WorkingBuffer,
        clock: Clock,
    ) -> None:
        self.consenting = consenting
        self.knowing = knowing
        self.consolidator = consolidator
        self.diary = diary
        self.retention = retention
        self.safety = safety
        self.desk = desk
        self.outbox = outbox
        eraser = Eraser(
            store,
            writer,
            shelves,
            page_shelves,
            recollector,
            working,
            reader=reader,
            clock=clock,
            consenting=consenting,
        )
        self.archive = Archive(store, writer, shelves, eraser, consenting)
        self._store = store
        self._writer = writer
        self._index = index
        self._shelves = shelves
        self._reader = reader
        self._page_shelves = page_shelves
        self._recollector = recollector
        self._working = working
        self.overheard = Overheard(working)
        self._clock = clock

    @property
    def kept_in(self) -> tuple[Store, Writer]:
        """The store, and what alone writes to it: for what is kept beside what people said."""
        return self._store, self._writer

    def load(self) -> None:
        """Take up the talks that were going on when the program ended. Blocks.

        Raises:
            StoreError: The store can't be read.
        """
        self.consenting.load()
        for page in self._store.pages.since(
            self._clock.now().astimezone(UTC) - self._working.window
        ):
            self._working.add(page)

    async def prepare(self, person: str) -> None:
        """Make ready what the next question of a person needs. What goes wrong is told by the first recall."""
        with suppress(OmoideError):
            now = self._clock.now()
            await self._shelves.get(person, now)
            await self._recollector.prepare(person, now)

    async def recall(
        self, person: str, query: str, language: str, at: datetime | None = None
    ) -> Recollection:
        """Return what is relevant to `query` in the memory of `person`; empty if nothing is.

        Memory that fails, or is late, is logged and left out: an answer without it is better than none.
        Who does not want to be remembered is not.
        """
        if self.consenting.withholds(person):
            return Recollection(is_allowed=False)
        moment = at or self._clock.now()
        found = await self._recollector.recollect(person, query, language, moment)
        return replace(found, rules=self.consenting.rules(person))

    async def search(
        self, person: str, query: str, language: str, at: datetime | None = None
    ) -> list[Candidate]:
        """Return every fact that was looked at for a query, best first, with its scores and whether it passed.

        Args:
            person: Whose memory.
            query: As transcribed.
            language: Two-letter code of it.
            at: When it is asked: what was said later is left out, and what was replaced later holds. None for now.

        Raises:
            StoreError: The store can't be read.
        """
        moment = at or self._clock.now()
        return await self._reader.candidates(person, query, language, moment, as_of=at is not None)

    def recent(self, person: str, now: datetime) -> list[Page]:
        """Return the last exchanges, oldest first; none if the last one is longer ago than the window.

        Of who does not want to be remembered, only those of this talk.
        """
        return self._working.recent(person, now, this_talk=self.consenting.withholds(person))

    def turn_finished(self, turn: Turn) -> None:
        """Keep what was said in a finished turn in the store, and what was answered in the buffer, for the next question."""
        if (page := page_of(turn)) is not None:
            before = [one.id for one in self._working.recent(turn.person, turn.started_at)]
            grounds = grounds_of(turn.recalled, turn.answers, before)
            self._writer.add_page(replace(page, grounds=grounds))
        if (exchange := exchange_of(turn)) is not None:
            self._working.add(exchange, passing=not turn.may_be_shown)
        if reached := _pages_told(turn):
            self._writer.submit(partial(self._store.tiers.visit, reached, self._clock.now()))

    async def extract(self, person: str | None = None, *, put_off: bool = False) -> list[Fact]:
        """Draw facts from everything that waits, the last exchange too; see `Consolidator.extract`.

        Raises:
            OmoideError: As there, or exchanges can't be stored at the moment, so that more wait than the store knows of.
        """
        await self._writer.settle()
        if (trouble := self.trouble) is not None:
            raise StoreError(trouble.code, str(trouble)) from trouble
        facts = await self.consolidator.extract(person, put_off=put_off)
        for whose in {fact.person for fact in facts}:
            await self.prepare(whose)  # the next question must not wait until all is read anew
        return facts

    @property
    def trouble(self) -> StoreError | None:
        """Why finished exchanges can't be stored at the moment; None while all is well."""
        return self._writer.trouble

    def make_way(self) -> None:
        """Note that somebody talks: a local model stops its work in the background."""
        self.consolidator.make_way()
        self.diary.make_way()

    async def add(self, facts: Sequence[Fact], *, keep_all: bool = False) -> list[Fact]:
        """Put facts of one person in; return those that were new."""
        return await self.consolidator.add(facts, keep_all=keep_all)

    async def keep_up(self) -> None:
        """Do what comes round every minute: try again what could not be stored, drawn or embedded before."""
        await self._writer.run(self._store.scrub_again)
        await self._shelves.forget_again()
        with suppress(OmoideError):
            await self.catch_up()
        await self.consolidator.keep_up()

    async def catch_up(self) -> int:
        """Embed what has no vector of the present model yet, e.g. after a change of model; return how many."""
        return await self._shelves.embed_all_missing() + await self._page_shelves.embed_missing()

    def close(self) -> None:
        """Store what was handed in and let go of the files."""
        self._writer.close()
        self._index.close()
        self._store.close()


def _pages_told(turn: Turn) -> list[str]:
    """Return the pages that came to mind and reached the prompt of a turn: word for word, or as a fact drawn from them.

    What stands in every prompt did not come to mind for that: it would heat its segments at every turn.
    """
    found: dict[str, tuple[str, ...]] = {page.id: (page.id,) for page in turn.recalled.pages}
    found |= {line.id: line.sources for line in turn.recalled.lines}
    return sorted({page for key in turn.told for page in found.get(key, ())})


def page_of(turn: Turn) -> Page | None:
    """Return what may be stored of a finished turn: what was said and what was heard in it; None if nothing.

    An apology is no part of it, nor is an answer to what may not be stored.
    """
    page = _page(turn, turn.transcript)
    if page is None or turn.off_record:
        return None
    if turn.introduced and page.said.strip().startswith(turn.introduced):
        said = page.said.strip()[len(turn.introduced) :].strip()
        if not said:
            return None
        page = replace(page, said=said)
    if not turn.withheld:
        return page
    said = join_sentences(one for one in sentences(page.said) if one not in turn.withheld)
    return replace(page, said=said, heard="") if said else None


def exchange_of(turn: Turn) -> Page | None:
    """Return all of it, with the question as the model was asked it: for the talk, in which it is in mind."""
    return _page(turn, turn.question)


def _page(turn: Turn, said: Transcript | None) -> Page | None:
    if not said:
        return None
    return Page(
        said=said.text,
        heard="" if turn.error else turn.heard,
        at=turn.started_at,
        language=said.language,
        interrupted=turn.interrupted,
        id=turn.id,
        person=turn.person,
        device=turn.device,
    )
