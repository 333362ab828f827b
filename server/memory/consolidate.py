"""The write path: from pages that are stored to facts, segments and the portrait of a person, in the background, until nothing waits.

A page stays queued until its facts, or the finding that there are none, are committed together with it. So a crash, a
model that fails and a model that talks nonsense all lead to the same place: the pages are tried again.
"""

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

import anyio
import structlog
from anyio import to_thread

from server.config import ExtractionSection, SegmentsSection
from server.errors import OmoideError, OutdatedError
from server.failures import log_fault
from server.memory.comparing import Closeness, Relation, relations
from server.memory.extract import Extractor
from server.memory.harvest import Harvest
from server.memory.heat import hot
from server.memory.models import Fact, Page, Segment
from server.memory.pace import Pace
from server.memory.passages import batches, passages
from server.memory.pauses import latest_retry, pause_after
from server.memory.safety.second_reading import SecondReading
from server.memory.shelf import Entry, Shelf, make_entry
from server.memory.shelves import Shelves
from server.memory.sorting import Sorter
from server.memory.store import Store, Vector
from server.memory.tiers import Sorting
from server.memory.writer import Writer
from server.ports import Clock

log = structlog.get_logger(__name__)

_Result = TypeVar("_Result")

_NEAREST = 30
"""Stored facts that a new one is compared with."""
_BATCHES_PORTRAYED = 2
"""As many turns as in so many full batches have to be new in hot segments before the profile is updated from them."""
_MOST_PORTRAYED = 40
"""Pages of hot segments that the profile is updated from at once; a batch if that has more, or they would pile up."""


class Consolidator:
    """Draws facts from finished exchanges and puts them beside, or in the place of, those that are known."""

    def __init__(
        self,
        *,
        store: Store,
        writer: Writer,
        shelves: Shelves,
        sorter: Sorter,
        extractor: Extractor,
        rules: Extractor,
        second_reading: SecondReading,
        section: ExtractionSection,
        segments: SegmentsSection,
        closeness: Closeness,
        clock: Clock,
    ) -> None:
        self.extractor = extractor
        self._store = store
        self._writer = writer
        self._shelves = shelves
        self._section = section
        self._segments = segments
        self._sorter = sorter
        self._closeness = closeness
        self._clock = clock
        self._rules = rules
        self._second_reading = second_reading
        self._pace = Pace(section.facts_per_hour)
        self._one_at_a_time = anyio.Lock()
        self._admitting = anyio.Lock()
        self._running: anyio.CancelScope | None = None
        self._is_interrupted = False

    async def extract(self, person: str | None = None, *, put_off: bool = False) -> list[Fact]:
        """Draw facts from all pages that wait, of one person or of everybody; return the new facts.

        Args:
            person: Whose pages; None for everybody's.
            put_off: Try those, too, that a failure has put off to a later time.

        Raises:
            OmoideError: The last batch of somebody could not be drawn; its pages stay queued. What was drawn before is
                stored.
        """
        stored: list[Fact] = []
        failure: OmoideError | None = None
        async with self._one_at_a_time:
            due = None if put_off else self._clock.now()
            waiting = await to_thread.run_sync(self._store.queue.waiting, due, person)
            self._is_interrupted = False
            for whose in waiting:
                if self._is_interrupted:  # the model has to be free for the talk, whosoever's it is
                    break
                try:
                    stored += await self._work_off(whose, due)
                except OmoideError as error:
                    failure = error
        if failure is not None and not stored:
            raise failure
        return stored

    @property
    def gave_way(self) -> bool:
        """Whether the last extraction ended early because somebody began to talk."""
        return self._is_interrupted

    def last_waiting(self) -> dict[str, datetime]:
        """Return when each person last said something that facts have not been drawn from yet. Blocks."""
        waiting = self._store.queue.waiting(self._clock.now())
        return {person: pages[-1].at for person, pages in waiting.items()}

    async def keep_up(self) -> None:
        """Draw facts from what was put off, interrupted or missed, of those who are silent.

        Raises:
            StoreError: The store can't be used.
        """
        now = self._clock.now().astimezone(UTC)
        silent_since = now - timedelta(minutes=self._section.silence_minutes)
        latest = latest_retry(now, self._section.retry_minutes)
        await self._writer.run(partial(self._store.queue.bring_forward, latest, now))
        for person in await to_thread.run_sync(self._store.queue.overdue, now, silent_since):
            with suppress(OmoideError):  # logged where it happened
                await self.extract(person)

    def make_way(self) -> None:
        """Drop what a local model is drawing at the moment: somebody talks. It is drawn again later."""
        if self._running is not None and self.extractor.gives_way:
            self._running.cancel()

    async def add(self, facts: Sequence[Fact], *, keep_all: bool = False) -> list[Fact]:
        """Put facts in that come from elsewhere; return those that were new.

        Args:
            facts: Of one person, in the order in which they were said.
            keep_all: Store a repetition, too.
        """
        return await self._admit(Harvest(facts=tuple(facts)), keep_all=keep_all)

    async def replace(self, old: Fact, new: Fact) -> bool:
        """Put a fact in the place of one; return False if that holds no longer.

        Raises:
            StoreError: It can't be stored.
        """
        vectors = await self._embed([new])
        async with self._admitting:  # and no longer: nobody waits for a model that draws facts
            known = await to_thread.run_sync(self._store.fact, old.id)
            if known is None or not known.current:
                return False
            await self._writer.run(
                partial(
                    self._store.add_facts,
                    [new],
                    self._clock.now(),
                    superseded={old.id: new.id},
                    vectors_by_fact=vectors,
                    stamp=self._shelves.stamp,
                )
            )
        return True

    async def _work_off(self, person: str, due: datetime | None) -> list[Fact]:
        """Draw facts from all pages of a person that wait; from what is left of them, if something is forgotten meanwhile."""
        stored: list[Fact] = []
        while True:
            cuts = await to_thread.run_sync(self._store.cuts.count, person)
            waiting = await to_thread.run_sync(self._store.queue.waiting, due, person)
            try:
                await self._work_off_pages(waiting.get(person, []), {person: cuts}, stored)
            except OutdatedError:
                log.info("extraction-outdated")
            else:
                return stored

    async def _work_off_pages(
        self, pages: Sequence[Page], read_at: Mapping[str, int], stored: list[Fact]
    ) -> None:
        for batch in await to_thread.run_sync(batches, pages, self._section.turns):
            drawn = await self._in_silence(self._draw(batch, read_at))
            if drawn is not None:
                facts, sorting = drawn
                stored += facts
                stored += await self._in_silence(self._portray(batch, sorting)) or ()
            if self._is_interrupted:
                log.info("extraction-interrupted", pages=len(batch))
                break

    async def _in_silence(self, work: Awaitable[_Result]) -> _Result | None:
        """Return what some work leads to; None if somebody began to talk."""
        with anyio.CancelScope() as scope:
            self._running = scope
            try:
                return await work
            finally:
                self._running = None
        self._is_interrupted = True
        return None

    async def _draw(
        self, batch: Sequence[Page], read_at: Mapping[str, int]
    ) -> tuple[list[Fact], Sorting]:
        """Store what is drawn from a batch, and where its pages lie; both are returned."""
        ids = [each for page in batch for each in page.turns]
        attempts = await to_thread.run_sync(self._store.queue.attempts, ids)
        try:
            harvest = await self._choose(attempts).extract(batch, attempts)
            harvest = await self._second_reading.add_to(harvest, batch)
            sorting = await self._sorter.sort(batch, harvest, self._clock.now())
            return await self._admit(harvest, ids, sorting, read_at=read_at), sorting
        except OmoideError as error:
            if isinstance(error, OutdatedError) or error.code == "llm-preempted":
                raise  # something was forgotten, or somebody talks: no fault of the model
            failure = error
        except Exception as error:
            log_fault("extraction-fault", error)
            failure = OmoideError("extraction-failed", "A fault in the program ended extraction.")
        pause = pause_after(attempts, self._section.retry_minutes)
        again = self._clock.now().astimezone(UTC) + pause
        await self._writer.run(partial(self._store.queue.put_off, ids, again))
        log.warning("extraction-put-off", code=failure.code, pages=len(ids), attempts=attempts + 1)
        raise failure

    def _choose(self, attempts: int) -> Extractor:
        """After a model has failed often enough, keep what was said in the person's own words."""
        return self.extractor if attempts < self._section.attempts else self._rules

    async def _portray(self, batch: Sequence[Page], sorting: Sorting) -> list[Fact]:
        """Update the profile from the segments that have turned hot; return what was learnt of the agent.

        A batch has just been looked at as a whole, so this is for what it adds to earlier ones, and waits until there is
        enough to read: it costs as much as a batch. What goes wrong is logged, and fails nothing, as the batch is stored:
        the segments stay hot, and are looked at again when something is added.
        """
        try:
            return await self._portray_hot(batch, sorting)
        except OmoideError as error:
            log.warning("portrait-put-off", code=error.code)
        except Exception as error:
            log_fault("portrait-fault", error)
        return []

    async def _portray_hot(self, batch: Sequence[Page], sorting: Sorting) -> list[Fact]:
        person = batch[0].person
        cuts = await to_thread.run_sync(self._store.cuts.count, person)
        added = {sorting.segment_of[turn] for page in batch for turn in page.turns}
        segments = await to_thread.run_sync(self._store.tiers.segments_of, person)
        ready = [
            segment
            for segment in hot(segments, self._clock.now(), self._segments)
            if segment.id in added
        ]
        if sum(segment.unread for segment in ready) < _BATCHES_PORTRAYED * self._section.turns:
            return []
        pages, left = await to_thread.run_sync(self._unread, ready)
        known = await to_thread.run_sync(self._store.portrait.traits_of, person)
        whole = await to_thread.run_sync(passages, pages)
        harvest = await self.extractor.portray(whole, known, 0)
        if harvest is None:
            return []
        stored = await self._admit(harvest, read_at={person: cuts})
        for segment_id, count in left.items():
            await self._writer.run(partial(self._store.tiers.leave_unread, segment_id, count))
        return stored

    def _unread(self, segments: Sequence[Segment]) -> tuple[list[Page], dict[str, int]]:
        """Return pages that the profile has not been updated from, oldest first, and how many more each segment has. Blocks.

        If there are very many, those of the first segments, and of the last one of these the oldest.
        """
        room = max(_MOST_PORTRAYED, self._section.turns)
        pages: list[Page] = []
        left: dict[str, int] = {}
        for segment in segments:
            unread = self._store.pages.of_segment(segment.person, segment.id, segment.unread)
            first = unread[: room - len(pages)]
            pages += first
            left[segment.id] = len(unread) - len(first)
        return sorted(pages, key=lambda page: page.at), left

    async def _admit(
        self,
        harvest: Harvest,
        page_ids: Sequence[str] = (),
        sorting: Sorting | None = None,
        *,
        keep_all: bool = False,
        read_at: Mapping[str, int] | None = None,
    ) -> list[Fact]:
        drawn = self._pace.let(harvest.facts, self._clock.now()) if page_ids else harvest.facts
        vectors = await self._embed(drawn) if drawn else {}
        async with self._admitting:  # what is compared with must hold until it is stored
            shelf = await self._shelves.get(drawn[0].person, self._clock.now()) if drawn else None
            chosen = _Admission(shelf, self._closeness, keep_all)
            await to_thread.run_sync(chosen.take_all, drawn, vectors)
            return await self._writer.run(
                partial(
                    self._store.add_facts,
                    chosen.new,
                    self._clock.now(),
                    superseded=chosen.superseded,
                    more_sources=chosen.repeated,
                    vectors_by_fact=chosen.vectors,
                    stamp=self._shelves.stamp,
                    drawn_from=page_ids,
                    is_worded=harvest.is_worded,
                    sorting=sorting,
                    profile=harvest.profile,
                    traits=harvest.traits,
                    notes=harvest.notes,
                    events=harvest.events,
                    read_at=read_at,
                )
            )

    async def _embed(self, facts: Sequence[Fact]) -> Mapping[str, Vector]:
        """Embed facts; without vectors they are kept all the same and get theirs later."""
        try:
            return await self._shelves.embed(facts)
        except OmoideError as error:
            log.warning("facts-without-vectors", code=error.code, count=len(facts))
            return {}


class _Admission:
    """Decides, fact by fact, what is new, what repeats and what replaces."""

    def __init__(self, shelf: Shelf | None, closeness: Closeness, keep_all: bool) -> None:
        self._shelf = shelf
        self._closeness = closeness
        self._keep_all = keep_all
        self._admitted: dict[str, Entry] = {}
        self.superseded: dict[str, str] = {}
        self.repeated: dict[str, tuple[str, ...]] = {}

    def take_all(self, facts: Sequence[Fact], vectors: Mapping[str, Vector]) -> None:
        """Decide about facts in their order. Blocks."""
        for fact in facts:
            self._take(fact, vectors.get(fact.id))

    def _take(self, fact: Fact, vector: Vector | None) -> None:
        new = make_entry(fact, vector)
        known = self._neighbours(new)
        replaced = []
        for old, relation in zip(known, relations(new, known, self._closeness), strict=True):
            if old.fact.id == fact.id or (relation is Relation.SAME and not self._keep_all):
                self._repeat(old.fact, fact)
                return
            if relation is Relation.REPLACES:
                replaced.append(old.fact.id)
        self.superseded.update(dict.fromkeys(replaced, fact.id))
        self._admitted[fact.id] = new

    @property
    def new(self) -> list[Fact]:
        """The facts that are new, in order."""
        return [entry.fact for entry in self._admitted.values()]

    @property
    def vectors(self) -> dict[str, Vector]:
        """Their vectors."""
        found = ((key, entry.vector) for key, entry in self._admitted.items())
        return {key: vector for key, vector in found if vector is not None}

    def _repeat(self, old: Fact, fact: Fact) -> None:
        self.repeated[old.id] = self.repeated.get(old.id, ()) + fact.sources

    def _neighbours(self, new: Entry) -> list[Entry]:
        """Return the known facts nearest to a new one, and those of this batch; not those that have been replaced."""
        near = list(self._admitted.values())
        if self._shelf is not None:
            near += self._shelf.neighbours(new.fact.id, new.vector, _NEAREST)
        return [
            entry
            for entry in near
            if entry.fact.id not in self.superseded and entry.fact.about == new.fact.about
        ]
