"""Puts together what memory offers for an answer: facts, exchanges, and what is known of the person, each in time or not at all."""

from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Container,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial

import anyio
import structlog
from anyio import to_thread

from server.config import RetrievalSection
from server.errors import OmoideError
from server.failures import log_fault
from server.memory.gist import says_something, telling_terms
from server.memory.lately import Lately
from server.memory.lines import Role
from server.memory.models import Candidate, Fact, Page
from server.memory.page_recall import PageCandidate, PageFindings, PageReader
from server.memory.priming import MOST_STANDING, Primer, Priming
from server.memory.recall import Reader, as_scores
from server.memory.standing import standing
from server.memory.store import Store
from server.memory.touching import touches
from server.memory.traits import Dimension
from server.memory.wording import bare
from server.turn import Missed, Recalled, RecalledDay, RecalledPage, Recollection

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Gathered:
    """What has come in time."""

    missed: dict[str, Missed] = field(default_factory=dict)
    """The parts that have not, by name."""
    facts: Sequence[Candidate] = ()
    pages: Sequence[RecalledPage] = ()
    priming: Priming = field(default_factory=Priming)
    touched: Sequence[str] = ()
    undrawn: Set[str] = frozenset()
    """Ids of facts that stand and are not stored yet."""


class Recollector:
    """Asks the readers of facts and of pages, and the primer."""

    def __init__(
        self,
        store: Store,
        reader: Reader,
        pages: PageReader,
        primer: Primer,
        lately: Lately,
        section: RetrievalSection,
        *,
        window: timedelta,
        agent: str,
        dimensions: Mapping[str, Dimension],
    ) -> None:
        """Put together what these find.

        Args:
            store: Where the exchanges are.
            reader: Finds facts.
            pages: Finds exchanges.
            primer: Knows the person as a whole.
            lately: Knows what was said lately.
            section: How much of each, and by when.
            window: Pause after which another talk begins.
            agent: Name of the robot.
            dimensions: Those of traits, by id.
        """
        self._window = window
        self._store = store
        self._reader = reader
        self._pages = pages
        self._primer = primer
        self._lately = lately
        self._section = section
        self._agent = agent
        self._dimensions = dimensions

    async def prepare(self, person: str, now: datetime) -> None:
        """Make ready what the first question of a person would have to wait for."""
        await self._primer.get(person, now)
        await self._pages.prepare(person)

    def drop(self, person: str) -> None:
        """Forget what was made ready for a person."""
        self._primer.drop(person)
        self._lately.drop()

    async def recollect(self, person: str, text: str, language: str, at: datetime) -> Recollection:
        """Return what memory offers for a query; what fails, or is late, is logged, named and left out.

        Nobody waits for what is late: its thread reads on, and what it has made ready is there for the next query.

        Args:
            person: Whose memory.
            text: The query, as transcribed.
            language: Two-letter code of it.
            at: The moment it is asked, aware, in the person's zone.
        """
        parts = {
            "facts": self._gather_facts,
            "pages": self._gather_pages,
            "priming": self._gather_priming,
        }
        got = _Gathered(dict.fromkeys(parts, Missed.LATE))
        with anyio.move_on_after(self._section.deadline_seconds) as scope:
            async with anyio.create_task_group() as tasks:
                for part, gather in parts.items():
                    asked = partial(gather, got, person, text, language, at)
                    tasks.start_soon(_or_nothing, part, asked, got)
        if scope.cancelled_caught:
            late = [part for part, why in got.missed.items() if why is Missed.LATE]
            log.warning("recall-late", seconds=self._section.deadline_seconds, parts=late)
        return self._composed(got, language)

    async def _gather_facts(
        self, got: _Gathered, person: str, text: str, language: str, at: datetime
    ) -> None:
        got.facts = await self._reader.candidates(person, text, language, at)

    async def _gather_priming(
        self, got: _Gathered, person: str, text: str, language: str, at: datetime
    ) -> None:
        got.priming = await self._primer.get(person, at)
        drawn = {page for fact in got.priming.standing for page in fact.sources}
        lately = await self._lately.standing(person, at)
        fresh = [fact for fact in lately if drawn.isdisjoint(fact.sources)]
        got.undrawn = {fact.id for fact in fresh}
        held = standing([*got.priming.standing, *fresh], MOST_STANDING, at)
        got.priming = replace(got.priming, standing=tuple(held))
        got.touched = await to_thread.run_sync(
            _touched, held, text, language, abandon_on_cancel=True
        )

    async def _gather_pages(
        self, got: _Gathered, person: str, text: str, language: str, at: datetime
    ) -> None:
        section = self._section.pages
        if not section.limit or self._section.mode == "article":
            return
        priming = await self._primer.get(person, at)
        findings = await self._pages.find(person, text, language, at, priming.speakers(self._agent))
        if findings.passed:
            got.pages = await to_thread.run_sync(
                self._read, findings, priming, text, language, abandon_on_cancel=True
            )

    def _read(
        self, findings: PageFindings, priming: Priming, text: str, language: str
    ) -> list[RecalledPage]:
        """Return the best pages, and those around them. Blocks."""
        asked = _keys(text, language)
        limit = self._section.pages.limit
        looked_at = dict.fromkeys(candidate.page for candidate in findings.candidates)
        found = self._store.pages.find(_enough(looked_at, limit, priming.lapsed))
        best: dict[str, PageCandidate] = {}
        chosen: list[RecalledPage] = []
        for candidate in findings.candidates:
            page = found.get(candidate.page)
            if page is None or page.id in best or len(best) == limit:
                continue
            rest = _holding(page, priming)
            if rest is not None and _is_found(page, rest, candidate.role, asked):
                best[page.id] = candidate
                chosen.append(_recalled(rest, candidate))
        known = set(best)
        for key, candidate in best.items():
            for page in self._around(found[key]):
                rest = None if page.id in known else _holding(page, priming)
                known.add(page.id)
                if rest is not None:
                    chosen.append(_recalled(rest, candidate, neighbour=True))
        return chosen

    def _around(self, middle: Page) -> Iterator[Page]:
        """Return the exchanges right before and after one, as far as they belong to the same talk."""
        reach = self._section.pages.neighbours
        earlier = self._store.pages.before(middle, reach)[::-1]
        for outwards in (earlier, self._store.pages.after(middle, reach)):
            last = middle
            for page in outwards:
                if not self._is_same_talk(last, page):
                    break
                yield page
                last = page

    def _is_same_talk(self, one: Page, next_one: Page) -> bool:
        pause = abs(next_one.at.astimezone(UTC) - one.at.astimezone(UTC))
        return pause <= self._window or (bool(one.chain) and one.chain == next_one.chain)

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
                    one.fact.about,
                    _days_before(one.fact),
                )
                for one in got.facts
                if one.passed
            ),
            pages=tuple(got.pages),
            standing=tuple(
                _held(fact, is_undrawn=fact.id in got.undrawn) for fact in priming.standing
            ),
            touched=tuple(got.touched),
            portrait=priming.portrait(language, self._dimensions),
            portrayed=priming.portrayed(self._dimensions),
            knowledge=tuple(map(_held, priming.knowledge)),
            days=tuple(
                RecalledDay(one.day, one.text, one.follow_ups, one.sources) for one in priming.days
            ),
            missed=dict(got.missed),
        )


async def _or_nothing(part: str, gather: Callable[[], Awaitable[None]], got: _Gathered) -> None:
    """Let one part fail alone, for a fault in the program too: an answer without it is better than none."""
    try:
        await gather()
        del got.missed[part]
    except OmoideError as error:
        got.missed[part] = Missed.FAILED
        log.warning("recall-failed", part=part, code=error.code, reason=str(error))
    except Exception as error:
        got.missed[part] = Missed.FAILED
        log_fault("recall-fault", error, part=part)


def _enough(pages: Collection[str], limit: int, lapsed: Container[str]) -> list[str]:
    """Return the first pages, so many that `limit` are left even if of all that lapsed nothing is."""
    sure = [number for number, page in enumerate(pages, 1) if page not in lapsed]
    return list(pages)[: sure[limit - 1] if len(sure) >= limit else None]


def _holding(page: Page, priming: Priming) -> Page | None:
    """Return what of an exchange still holds and matters; None if there is nothing, or it can't be told apart."""
    drawn = priming.lapsed.get(page.id)
    if drawn is None:
        return page
    rest = drawn.rest_of(page)
    if rest is None:
        return page if drawn.held else None
    is_bare = rest.said != page.said and not rest.heard and not says_something(rest)
    return None if is_bare else rest


def _is_found(page: Page, rest: Page, role: int, asked: Set[str]) -> bool:
    """Say whether an exchange may have been found for what is left of it, and not for what it says no longer."""
    if role == Role.HEARD or rest.said == page.said:
        return bool(rest.heard if role == Role.HEARD else rest.said)
    whole = asked & _keys(page.said, page.language)
    return not whole or not whole.isdisjoint(_keys(rest.said, rest.language))


def _keys(text: str, language: str) -> set[str]:
    return {term.key for term in telling_terms(text, language)}


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


def _touched(standing: Sequence[Fact], text: str, language: str) -> list[str]:
    """Return the ids of the facts that stand and that a query touches. Blocks."""
    return [fact.id for fact in standing if touches(text, language, fact)]


def _held(fact: Fact, *, is_undrawn: bool = False) -> Recalled:
    """Return a fact that is told whatever is asked."""
    return Recalled(
        bare(fact.text),
        fact.last_said_at,
        1.0,
        {},
        fact.id,
        fact.sources,
        fact.about,
        _days_before(fact),
        is_undrawn=is_undrawn,
    )


def _days_before(fact: Fact) -> tuple[date, ...]:
    """Return the days on which a fact was said before it was last said."""
    said = (fact.said_at, *fact.repeated_at)
    return tuple(moment.date() for moment in said[:-1])
