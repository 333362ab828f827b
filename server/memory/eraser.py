"""Takes things out of memory: what is meant, what goes with it, and letting go of every copy."""

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import structlog
from anyio import to_thread

from server.errors import OmoideError
from server.memory.audit import Actor
from server.memory.consenting import Consenting
from server.memory.erasing import Erased, Erasing, Order
from server.memory.grounds import Resting, matter_of
from server.memory.lines import Role
from server.memory.models import Page
from server.memory.page_shelves import PageShelves
from server.memory.recall import Reader
from server.memory.recollecting import Recollector
from server.memory.redaction import names, tells
from server.memory.selecting import (
    Selected,
    Selector,
    select,
    selected_facts,
    selected_pages,
    whose,
)
from server.memory.shelves import Shelves
from server.memory.spoken_words import SpokenWords
from server.memory.store import Store
from server.memory.terms import read_as
from server.memory.unfinished import Unfinished
from server.memory.working import WorkingBuffer
from server.memory.writer import Writer
from server.ports import Clock

log = structlog.get_logger(__name__)

_LEAST_RELEVANCE = 0.5
"""From which a fact that says something else is taken for what is meant."""


class Forgotten(NamedTuple):
    """What went when facts were forgotten."""

    facts: int
    """How many there were."""
    turns: Mapping[str, frozenset[str]]
    """By person, the turns in which they were said or may have been told."""


class _Plan(NamedTuple):
    """What is erased at once."""

    what: Erasing
    turns: Mapping[str, frozenset[str]]
    """By person, those that lose their answers or go."""
    is_meant: Callable[[Page], bool]
    """Says of an exchange that could not be stored so far whether it never is."""


class Eraser:
    """A part of `server.memory.Memory`. Every method raises `StoreError` if the store can't do it.

    In this order: select, erase, let_go, then delete what was recorded, finish.
    """

    def __init__(
        self,
        store: Store,
        writer: Writer,
        shelves: Shelves,
        page_shelves: PageShelves,
        recollector: Recollector,
        working: WorkingBuffer,
        *,
        reader: Reader,
        clock: Clock,
        consenting: Consenting,
    ) -> None:
        self._store = store
        self._writer = writer
        self._shelves = shelves
        self._page_shelves = page_shelves
        self._recollector = recollector
        self._working = working
        self._reader = reader
        self._clock = clock
        self._consenting = consenting

    async def said_in(self, selected: Selected) -> list[Page]:
        """Return the exchanges that have words of what was selected."""
        return await to_thread.run_sync(self._said_in, selected)

    def _said_in(self, selected: Selected) -> list[Page]:
        what = selected.what
        telling = self._store.cuts.pages_telling(what.facts)
        return [*self._store.pages.find([*telling, *what.pages, *what.sentences]).values()]

    async def select(self, selector: Selector) -> Selected:
        """Return what a selector stands for; see `server.memory.selecting.select`.

        Words are looked for by their meaning, too, where an embedder has one for them.
        """
        near: Collection[str] = ()
        if selector.kind == "words":
            person = await to_thread.run_sync(whose, self._store, selector.person)
            near = await self._near(person, selector)
        return await to_thread.run_sync(select, self._store, selector, near)

    async def _near(self, person: str, selector: Selector) -> list[str]:
        """Return the facts that a question of these words would recall; none if search does not work."""
        language = selector.language or read_as(selector.words, "ja")
        try:
            found = await self._reader.candidates(
                person, selector.words, language, self._clock.now()
            )
        except OmoideError as error:
            log.warning("forgetting-by-words-only", code=error.code)
            return []
        # Whatever the gate of recall is: to forget too much is worse than to tell too much.
        return [
            one.fact.id
            for one in found
            if one.passed and one.parts.get("relevance", 1.0) >= _LEAST_RELEVANCE
        ]

    async def facts_named(self, fact_ids: Sequence[str]) -> Selected:
        """Return these facts as what is to be forgotten, as far as they are there."""
        return await to_thread.run_sync(selected_facts, self._store, fact_ids)

    async def everything_of(self, person: str) -> Selected:
        """Return all of a person, known or not, as what is to be forgotten."""
        facts = await to_thread.run_sync(self._store.facts_of, person)
        return Selected("person", Erasing(person=person), tuple(facts))

    async def pages_named(self, page_ids: Sequence[str]) -> Selected:
        """Return these exchanges, of one person, as what is to be forgotten, as far as they are there."""
        await self._writer.settle()
        return await to_thread.run_sync(selected_pages, self._store, page_ids)

    async def said_lately(self, person: str, now: datetime) -> list[str]:
        """Return the ids of the last exchanges of the talk that goes on, oldest first, those without an answer, too."""
        await self._writer.settle()
        found = {page.id: page for page in self._working.recent(person, now, this_talk=True)}
        begun = min((page.at for page in found.values()), default=now - self._working.window)
        stored = await to_thread.run_sync(self._store.pages.since, begun.astimezone(UTC))
        found |= {page.id: page for page in stored if page.person == person}
        return sorted(found, key=lambda id_: found[id_].at.astimezone(UTC))

    async def would_erase(self, selected: Selected, told_in: Collection[str] = ()) -> Erased:
        """Return what would go with it, by kind; nothing changes."""
        return await self._writer.run(
            lambda: self._store.erasures.would_erase(self._plan(selected, told_in).what)
        )

    async def erase(
        self,
        selected: Selected,
        actor: Actor,
        told_in: Collection[str] = (),
        recorded: Mapping[str, Set[str]] = MappingProxyType({}),
    ) -> tuple[Forgotten, Erased]:
        """Delete what was selected, what was made of it, and the answers that tell of it.

        The database still owes the overwriting of what was deleted, and the caller the recordings: call `finish` then.

        Args:
            selected: What.
            actor: Who wants it.
            told_in: Turns whose answers go, too.
            recorded: By person, other turns whose recordings go.
        """
        order = Order(actor, selected.kind, self._clock.now())
        work = partial(self._erase, selected, order, told_in, recorded)
        plan, erased = await self._writer.run(work)
        for person, turns in plan.turns.items():
            if selected.what.person:
                self._working.forget(person)
                self._consenting.drop(person)
            else:
                self._working.forget_pages(person, turns)
        for person in plan.turns:
            self.drop(person)
        await self._writer.run(self._consenting.reload)
        return Forgotten(erased.facts, plan.turns), erased

    async def unfinished(self) -> list[Unfinished]:
        """Return the erasures whose files have still to be gone through."""
        return await to_thread.run_sync(self._store.erasures.unfinished)

    async def let_go(self, erasures: Sequence[Unfinished]) -> None:
        """Delete the copies that were made of what was kept, in memory and in the index."""
        persons = {one.owner for one in erasures}
        await self._shelves.forget(persons)
        for person in persons:
            self.drop(person)

    async def finish(self, erasures: Sequence[Unfinished]) -> None:
        """Note that the files are gone through, and overwrite what was deleted from the database."""
        ids = [one.id for one in erasures]
        await self._writer.run(partial(self._store.erasures.finish, ids))

    def drop(self, person: str) -> None:
        """Let go of copies that were made of what is kept."""
        self._page_shelves.drop(person)
        self._recollector.drop(person)

    def _erase(
        self,
        selected: Selected,
        order: Order,
        told_in: Collection[str],
        recorded: Mapping[str, Set[str]],
    ) -> tuple[_Plan, Erased]:
        plan = self._plan(selected, told_in)
        turns = {
            person: frozenset(plan.turns.get(person, frozenset()) | recorded.get(person, set()))
            for person in {*plan.turns, *recorded}
        }
        whole = bool(selected.what.person)
        erased = self._store.erasures.erase(plan.what, replace(order, turns=turns, is_whole=whole))
        self._writer.give_up(plan.is_meant)
        return plan, erased

    def _plan(self, selected: Selected, told_in: Collection[str]) -> _Plan:
        """Add the answers that tell of what was selected. Blocks."""
        what = selected.what
        if what.person:
            return _Plan(what, {what.person: frozenset()}, lambda page: page.person == what.person)
        said_in = {page.id for page in self._said_in(selected)}
        persons = {fact.person for fact in selected.facts}
        persons |= {page.person for page in selected.pages}
        touched = {*said_in, *what.answers, *told_in}
        turns = {one: self._told_in(one, selected, said_in, touched) for one in persons}
        all_turns = frozenset().union(*turns.values()) - set(what.pages)

        def is_meant(page: Page) -> bool:
            is_told = any(tells(fact, page.person, page.said) for fact in selected.facts)
            return is_told or (page.person in persons and names(page.said, what.words))

        return _Plan(replace(what, answers=tuple(sorted(all_turns))), turns, is_meant)

    def _told_in(
        self, person: str, selected: Selected, said_in: Set[str], touched: Set[str]
    ) -> frozenset[str]:
        """Return the exchanges of a person whose answers go: those that are touched, and those that may tell of it again."""
        # In a talk one thing leads to another: what was answered after the first of them may tell of it again.
        going = {*touched, *self._working.since(person, touched)}
        grounds = self._store.cuts.grounds_of(person)
        said = self._store.pages.find([*said_in])
        gone = {*(fact.id for fact in selected.facts), *said_in}
        gone |= {page.at.date().isoformat() for page in said.values()}
        whole = [said[id_] for id_ in selected.what.pages if id_ in said]
        if not grounds:
            return frozenset(going)
        matter = matter_of(selected.facts, whole)
        quiet = SpokenWords(self._store, person).without(matter.keys)
        silent = {page for page, role in quiet if role == Role.HEARD and (page, Role.SAID) in quiet}
        resting = Resting(gone, matter, silent)
        for page in self._store.pages.of(person):
            if page.id in going:
                resting.add(page.id)
            elif page.id in grounds and page.heard and resting.goes(page, grounds[page.id]):
                going.add(page.id)
        return frozenset(going)
