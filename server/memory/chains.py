"""Links exchanges that follow from each other into dialogue chains (MemoryOS, section 3.1)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from server.memory import temporal
from server.memory.gist import Rarity, says_something, shortened, summary_of, telling_terms
from server.memory.harvest import Harvest
from server.memory.models import Chain, Page
from server.memory.statements import is_question, sentences
from server.memory.wording import plain_analysis, without
from server.query import normalize

LONGEST_SUMMARY = 160
_BETWEEN = " … "
_MOST_ANSWER_TERMS = 2
"""Telling terms that the first sentence of a short answer has at most."""
_REFERS = re.compile(
    r"""
    (?:それ|その|そこ|そっち|そう(?!いえば)|あれ|あの|あそこ|これ|この|彼女?[はがも]|だから|だって|でも|けど|じゃあ|だったら|他に[はも]|ほかに[はも]|あとは
        |もっと|もう[一少]|続き|なんで|なぜ|どうして|本当|ほんと)
    | (?:it|it's|its|that|that's|this|those|these|they|them|he|he's|she|she's|him|her|and|but|because|so|then|also|too
        |what\ about|how\ about|why|how\ come|really|tell\ me\ more|more|another|which|who\ else|what\ else)\b
    | (?:那|这|它|他|她|还有|然后|但|可是|不过|所以|因为|为什么|真的|另外|此外|继续|再|也)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""How something begins that can't be understood without what was said before."""


@dataclass(frozen=True, slots=True)
class Running:
    """The chain that the last exchange before a batch belongs to."""

    chain: Chain
    pages: Sequence[Page]
    """All of it, oldest first; at least one."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The chains of a batch."""

    chains: Sequence[Chain] = ()
    """Those that exchanges came to, oldest first, with a summary of all their pages."""
    chain_of: Mapping[str, str] = field(default_factory=dict)
    """Page to chain, for the batch and for those before it that a summary was written from."""


def link_pages(
    pages: Sequence[Page],
    harvest: Harvest,
    running: Running | None,
    *,
    rarity: Rarity,
    window: timedelta,
) -> Linked:
    """Put every page of a batch into one chain, whose id is that of its first page.

    A model that has said anything about chains is believed; else rules decide (`follows`). They always decide about the
    first page: the model has not seen what was before it.

    Args:
        pages: Of one person, oldest first.
        harvest: What was drawn from these pages; `continued` and `chain_summary` are looked at.
        running: The last chain before the batch, which may go on; None if there is none.
        rarity: How telling a term is, for summaries.
        window: Pause after which another talk begins.
    """
    is_told = bool(harvest.continued or harvest.chain_summary)
    id_, own = (running.chain.id, [*running.pages]) if running else ("", [])
    linked: dict[str, list[Page]] = {}
    for number, page in enumerate(pages):
        if is_told and number > 0:
            goes_on = page.id in harvest.continued
        else:
            goes_on = bool(own) and follows(own, page, window)
        if not goes_on:
            id_, own = page.turns[0], []
        own.append(page)
        linked[id_] = own
    chains = [Chain(key, its[0].person, chain_summary(its, rarity)) for key, its in linked.items()]
    if harvest.chain_summary and chains:
        before = running.pages if running and id_ == running.chain.id else ()
        chains[-1] = replace(chains[-1], summary=_joined(before, harvest.chain_summary, rarity))
    return Linked(
        chains, {turn: key for key, its in linked.items() for page in its for turn in page.turns}
    )


def follows(chain: Sequence[Page], page: Page, window: timedelta) -> bool:
    """Say whether an exchange follows from a chain whose last page is the one right before it, by rules.

    It belongs to the same talk, and says nothing by itself, points back, answers shortly what was asked, or shares a
    telling term or an everyday notion with the last page, or with the last one in which the person named anything.
    """
    last = chain[-1]
    if page.at.timestamp() - last.at.timestamp() > window.total_seconds():
        return False
    if not says_something(page) or _points_back(page):
        return True
    if _asks(last.heard) and _answers_shortly(page):
        return True
    spoken = next((before for before in reversed(chain) if says_something(before)), last)
    subjects = _subjects(spoken.said, spoken.language) | _subjects(last.heard, last.language)
    return not subjects.isdisjoint(_subjects(page.said, page.language))


def _points_back(page: Page) -> bool:
    """Say whether an exchange begins with a reference. "This week" is none."""
    said = normalize(page.said)
    times = temporal.find_times(said, page.language, page.at)
    return _REFERS.match(without(said, times)) is not None


def _asks(heard: str) -> bool:
    """Say whether what the robot said ends with a question."""
    return any(map(is_question, sentences(heard)[-1:]))


def _answers_shortly(page: Page) -> bool:
    first = sentences(page.said)[0]
    return not is_question(first) and len(telling_terms(first, page.language)) <= _MOST_ANSWER_TERMS


def _subjects(text: str, language: str) -> set[str]:
    """Return the keys of the telling terms, and the notions, of a text."""
    found = {term.key for term in telling_terms(text, language)}
    return found | {f"#{notion}" for notion in plain_analysis(text, language).notions}


def chain_summary(own: Sequence[Page], rarity: Rarity) -> str:
    """Return how a chain began and what came last, from its pages, oldest first; at least one."""
    telling = [page for page in own if says_something(page)] or own
    return _joined(telling, summary_of(telling[-1:], rarity), rarity)


def _joined(before: Sequence[Page], newest: str, rarity: Rarity) -> str:
    """Put the first of some exchanges, in a sentence of the person, before what is said of the last ones."""
    telling = [page for page in before if says_something(page)][:1]
    first = summary_of(telling, rarity)
    if first in ("", newest):
        return shortened(newest, LONGEST_SUMMARY)
    room = LONGEST_SUMMARY - len(first) - len(_BETWEEN)
    return f"{first}{_BETWEEN}{shortened(newest, room)}"
