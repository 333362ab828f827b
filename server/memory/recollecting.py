"""Puts together what memory offers for an answer: facts, exchanges, and what is known of the person, each in time or not at all."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial

import anyio
import structlog
from anyio import to_thread

from server.config import RetrievalSection
from server.errors import OmoideError
from server.memory.models import Candidate, Fact, Page
from server.memory.page_recall import PageCandidate, PageFindings, PageReader
from server.memory.priming import Primer, Priming
from server.memory.recall import Reader, as_scores
from server.memory.store import Store
from server.memory.touching import touches
from server.memory.traits import Dimension
from server.memory.wording import bare
from server.turn import Recalled, RecalledDay, RecalledPage, Recollection

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Gathered:
    """What has come in time."""

    facts: Sequence[Candidate] = ()
    pages: Sequence[RecalledPage] = ()
    priming: Priming = field(default_factory=Priming)
    touched: Sequence[str] = ()


class Recollector:
    """Asks the readers of facts and of pages, and the primer."""

    def __init__(
        self,
        store: Store,
        reader: Reader,
        pages: PageReader,
        primer: Primer,
        section: RetrievalSection,
        *,
        agent: str,
        dimensions: Mapping[str, Dimension],
    ) -> None:
        self._store = store
        self._reader = reader
        self._pages = pages
        self._primer = primer
        self._section = section
        self._agent = agent
        self._dimensions = dimensions

    async def prepare(self, person: str, now: datetime) -> None:
        """Make ready what the first question of a person would have to wait for."""
        await self._primer.get(person, now)
        await self._pages.prepare(person)

    async def recollect(self, person: str, text: str, language: str, at: datetime) -> Recollection:
        """Return what memory offers for a query; what fails, or is late, is logged and left out.

        Args:
            person: Whose memory.
            text: The query, as transcribed.
            language: Two-letter code of it.
            at: The moment it is asked, aware, in the person's zone.
        """
        got = _Gathered()
        with anyio.move_on_after(self._section.deadline_seconds) as scope:
            async with anyio.create_task_group() as tasks:
                for part, gather in (
                    ("facts", self._gather_facts),
                    ("pages", self._gather_pages),
                    ("priming", self._gather_priming),
                ):
                    asked = partial(gather, got, person, text, language, at)
                    tasks.start_soon(_or_nothing, part, asked)
        if scope.cancelled_caught:
            log.warning("recall-late", seconds=self._section.deadline_seconds)
        return self._composed(got, language)

    async def _gather_facts(
        self, got: _Gathered, person: str, text: str, language: str, at: datetime
    ) -> None:
        got.facts = await self._reader.candidates(person, text, language, at)

    async def _gather_priming(
        self, got: _Gathered, person: str, text: str, language: str, at: datetime
    ) -> None:
        got.priming = await self._primer.get(person, at)
        got.touched = await to_thread.run_sync(_touched, got.priming, text, language)

    async def _gather_pages(
        self, got: _Gathered, person: str, text: str, language: str, at: datetime
    ) -> None:
        section = self._section.pages
        if not section.limit or self._section.mode == "article":
            return
        priming = await self._primer.get(person, at)
        findings = await self._pages.find(person, text, language, at, priming.speakers(self._agent))
        if findings.passed:
            chosen = await to_thread.run_sync(self._read, findings, priming)
            got.pages = chosen

    def _read(self, findings: PageFindings, priming: Priming) -> list[RecalledPage]:
        """Return the best pages, and those around them. Blocks."""
        best: dict[str, PageCandidate] = {}
        for candidate in findings.candidates:
            if candidate.page not in priming.outdated:
                best.setdefault(candidate.page, candidate)
        wanted = list(best)[: self._section.pages.limit]
        found = self._store.pages.find(wanted)
        chosen = [_recalled(found[key], best[key]) for key in wanted if key in found]
        known = {page.id for page in chosen}
        reach = self._section.pages.neighbours
        for key, middle in found.items():
            around = (
                *self._store.pages.before(middle, reach),
                *self._store.pages.after(middle, reach),
            )
            for page in around:
                if page.id not in known | priming.outdated:
                    known.add(page.id)
                    chosen.append(_recalled(page, best[key], neighbour=True))
        return chosen

    def _composed(self, got: _Gathered, language: str) -> Recollection:
        priming = got.priming
        return Recollection(
            lines=tuple(
                Recalled(
                    one.fact.text,
                    one.fact.last_said_at,
                    round(one.score, 4),
                    as_scores(one),
                    one.fact.id,
                    one.fact.sources,
                    _days_before(one.fact),
                )
                for one in got.facts
                if one.passed
            ),
            pages=tuple(got.pages),
            standing=tuple(map(_held, priming.standing)),
            touched=tuple(got.touched),
            portrait=priming.portrait(language, self._dimensions),
            knowledge=tuple(map(_held, priming.knowledge)),
            days=tuple(RecalledDay(one.day, one.text, one.follow_ups) for one in priming.days),
        )


async def _or_nothing(part: str, gather: Callable[[], Awaitable[None]]) -> None:
    """Let one part fail alone: an answer without it is better than none."""
    try:
        await gather()
    except OmoideError as error:
        log.warning("recall-failed", part=part, code=error.code, reason=str(error))


def _recalled(page: Page, candidate: PageCandidate, *, neighbour: bool = False) -> RecalledPage:
    parts = {name: round(value, 4) for name, value in candidate.signs.items()}
    return RecalledPage(
        page.id,
        page.said,
        page.heard,
        page.at,
        round(candidate.score, 4),
        parts,
        neighbour,
        page.language,
    )


def _touched(priming: Priming, text: str, language: str) -> list[str]:
    """Return the ids of the facts that stand and that a query touches. Blocks."""
    return [fact.id for fact in priming.standing if touches(text, language, fact)]


def _held(fact: Fact) -> Recalled:
    """Return a fact that is told whatever is asked."""
    return Recalled(
        bare(fact.text),
        fact.last_said_at,
        1.0,
        {},
        fact.id,
        fact.sources,
        _days_before(fact),
    )


def _days_before(fact: Fact) -> tuple[date, ...]:
    """Return the days on which a fact was said before it was last said."""
    said = (fact.said_at, *fact.repeated_at)
    return tuple(moment.date() for moment in said[:-1])
