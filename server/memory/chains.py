"""Links exchanges that follow from each other into dialogue chains (MemoryOS, section 3.1)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from server.memory.gist import Rarity, shortened, telling_sentence, telling_terms
from server.memory.harvest import Harvest
from server.memory.models import Chain, Page
from server.memory.statements import is_question, sentences
from server.memory.wording import plain_analysis
from server.query import normalize

LONGEST_SUMMARY = 160
_GAP = " … "
_MOST_ANSWER_TERMS = 2
"""Telling terms that a short answer has at most."""
_REFERS = re.compile(
    r"""
    (?:それ|その|そこ|そっち|そう(?!い?え?ば)|あれ|あの|あそこ|これ|この|彼女?[はがも]|だから|だって|でも|けど|じゃあ|だったら|他に[はも]|ほかに[はも]|あとは
        |もっと|もう[一少]|続き|なんで|なぜ|どうして|本当|ほんと)
    | (?:it|its|it's|that|that's|this|those|these|they|them|he|he's|she|she's|him|her|and|but|because|so|then|also|too|there
        |what\ about|how\ about|why|how\ come|really|tell\ me\ more|more|another|which|who\ else|what\ else)\b
    | (?:那|这|它|他|她|还有|然后|但|可是|不过|所以|因为|为什么|真的|另外|此外|继续|再|也)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""How a sentence begins that can't be understood without the one before."""


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
    """Those that exchanges came to, with a summary of all their pages."""
    chain_of: Mapping[str, str] = field(default_factory=dict)
    """Page to chain: those of the batch, and those before it that a summary was written from."""


def link_pages(
    pages: Sequence[Page],
    harvest: Harvest,
    running: Running | None,
    *,
    rarity: Rarity,
    window: timedelta,
) -> Linked:
    """Put every page of a batch into a chain, whose id is that of its first page.

    Args:
        pages: Of one person, oldest first.
        harvest: Where a model says which pages go on it is believed; where it says nothing rules decide (`follows`), as
            they do for the first page: the model has not seen what was before.
        running: The last chain before the batch, which may go on; None if there is none.
        rarity: How telling a term is, for the summaries.
        window: Pause after which another talk begins.
    """
    linked: list[list[Page]] = []
    before = running.pages[-1] if running else None
    has_opinion = bool(harvest.continued or harvest.chain_summary)
    for number, page in enumerate(pages):
        if before is None:
            goes_on = False
        elif has_opinion and number > 0:
            goes_on = page.id in harvest.continued
        else:
            goes_on = follows(before, page, window)
        if goes_on and not linked and running:
            linked.append([*running.pages])
        if goes_on:
            linked[-1].append(page)
        else:
            linked.append([page])
        before = page
    return Linked()


def follows(before: Page, page: Page, window: timedelta) -> bool:
    """Say whether an exchange follows from the one right before it.

    It belongs to the same talk, and points back, answers shortly what was asked, says nothing by itself, or shares a
    telling term or an everyday notion with it.
    """
    if page.at.timestamp() - before.at.timestamp() > window.total_seconds():
        return False
    if not telling_terms(page.said, page.language) or _REFERS.match(normalize(page.said)):
        return True
    if _asks(before.heard) and _answers_shortly(page):
        return True
    return not _subjects(before.said, before.heard, language=before.language).isdisjoint(
        _subjects(page.said, language=page.language)
    )


def _asks(heard: str) -> bool:
    """Say whether what the robot said ends with a question."""
    last = sentences(heard)[-1:]
    return any(map(is_question, last))


def _answers_shortly(page: Page) -> bool:
    first = sentences(page.said)[0]
    return not is_question(first) and len(telling_terms(first, page.language)) <= _MOST_ANSWER_TERMS


def _subjects(*texts: str, language: str) -> set[str]:
    """Return the keys of the telling terms and the notions of texts."""
    found: set[str] = set()
    for text in texts:
        found.update(term.key for term in telling_terms(text, language))
        found.update(f"#{notion}" for notion in plain_analysis(text, language).notions)
    return found
