"""Takes out of what is read back what may not be stored however it comes: secrets, and orders for good that nobody agreed to."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from server.memory.dossier import Dossier
from server.memory.models import Fact, Page
from server.memory.orders import bids_for_good
from server.memory.statements import sentences

Clean: TypeAlias = Callable[[str, str], str]
"""Takes secrets out of a text in a language."""


def cleaned(dossier: Dossier, clean: Clean, *, orders: bool) -> Dossier:
    """Return a dossier as it would have been stored had it been said here.

    Args:
        dossier: As an import has read it.
        clean: Takes secrets out.
        orders: Whether orders for good stay as they were said.
    """
    bidding = set() if orders else {one.id for one in dossier.facts if _bids(one)}
    facts = [
        _without(fact, clean, fact.superseded_by in bidding)
        for fact in dossier.facts
        if fact.id not in bidding
    ]
    spoken = {page.id: page.language for page in dossier.pages}
    return replace(
        dossier,
        facts=facts,
        pages=[_said(page, clean, orders=orders) for page in dossier.pages],
        chains=[replace(one, summary=clean(one.summary, "")) for one in dossier.chains],
        segments=[
            replace(one, summary=clean(one.summary, one.language)) for one in dossier.segments
        ],
        profile=[replace(one, value=clean(one.value, "")) for one in dossier.profile],
        notes=[
            replace(
                one,
                text=clean(one.text, spoken.get(one.page, "")),
                quote=clean(one.quote, spoken.get(one.page, "")),
            )
            for one in dossier.notes
        ],
        safety=[replace(one, quote=clean(one.quote, one.language)) for one in dossier.safety],
        days=[
            replace(
                one,
                text=clean(one.text, one.language),
                follow_ups=tuple(clean(text, one.language) for text in one.follow_ups),
            )
            for one in dossier.days
        ],
    )


def _bids(fact: Fact) -> bool:
    return any(bids_for_good(sentence) for sentence in sentences(fact.quote or fact.text))


def _without(fact: Fact, clean: Clean, holds_again: bool) -> Fact:
    plain = replace(
        fact, text=clean(fact.text, fact.language), quote=clean(fact.quote, fact.language)
    )
    return replace(plain, superseded_by="", superseded_at=None) if holds_again else plain


def _said(page: Page, clean: Clean, *, orders: bool) -> Page:
    said = page.said
    if not orders:
        for sentence in sentences(said):
            said = said.replace(sentence, "") if bids_for_good(sentence) else said
    return replace(
        page, said=clean(said.strip(), page.language), heard=clean(page.heard, page.language)
    )
