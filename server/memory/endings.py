"""Tells whether a new fact ends what an old one says, by its own words: a permission a wish for silence, a call-off a plan, a stop a medicine.

Rules stand here for what sets hold too few cases of to learn it from. Whether a fact says something else of the same matter is
judged elsewhere (`comparing`).
"""

from server.memory.called_off import calls_off, puts_elsewhen
from server.memory.ended import needs_no_more, tells_end
from server.memory.models import Fact
from server.memory.shelf import Entry
from server.memory.standing import StandingKind, standing_kind
from server.memory.terms import TELLING, Analysis, TermKind
from server.memory.touching import touches
from server.memory.unmentioned import allowed
from server.memory.wording import bare

_STOPPED = {StandingKind.MEDICINE, StandingKind.DIET, StandingKind.GOAL}
"""What somebody can have done with. Of an illness only what helped can be needless: a walking frame."""
_TREAT = {"doctor", "dentist", "caregiver"}
"""Who gives somebody medicine and takes it away."""


def ends(old: Entry, new: Entry) -> bool:
    """Say whether a new fact ends what an old one of the same person says."""
    before, after = old.fact, new.fact
    if before.said_at > after.said_at or before.about or after.about:
        return False
    return _allows(before, after) or _calls_off(old, new) or _stops(old, new)


def _allows(old: Fact, new: Fact) -> bool:
    """Say whether a new fact allows to mention what an old one asks never to mention."""
    if standing_kind(old) is not StandingKind.DO_NOT_MENTION:
        return False
    part = allowed(bare(new.text)) or allowed(new.quote)
    return bool(part) and touches(part, new.language, old)


def _calls_off(old: Entry, new: Entry) -> bool:
    """Say whether a new fact calls off what an old one says is to come, or puts it on another day.

    On the same days it may name anybody, else it has to name the matter and not only a person.
    """
    before, after = old.fact, new.fact
    ahead = before.event_to is not None and before.event_to >= after.said_at.date()
    if not ahead or (
        new.is_of_another and not old.is_of_another
    ):  # who stays away calls nothing off
        return False
    told = bare(after.text)
    if calls_off(bare(before.text), before.language):
        return False
    same_days = (before.event_from, before.event_to) == (after.event_from, after.event_to)
    shared = meant(old.terms) & meant(new.terms)
    people = (old.terms.names | old.terms.persons) - old.terms.places
    if puts_elsewhen(told, after.language, is_dated=after.event_from is not None):
        return not same_days and bool(shared - people)
    if not calls_off(told, after.language) or (after.event_from is not None and not same_days):
        return False
    return bool(shared if same_days else shared - people)


def _stops(old: Entry, new: Entry) -> bool:
    """Say whether a new fact says that what an old one keeps to, or takes, is over."""
    kind = standing_kind(old.fact)
    told, language = bare(new.fact.text), new.fact.language
    is_over = (kind in _STOPPED and tells_end(told, language)) or (
        kind is StandingKind.ILLNESS and needs_no_more(told, language)
    )
    if not is_over or is_of_others(old, new):
        return False
    return bool((meant(old.terms) & meant(new.terms)) - old.terms.persons)


def is_of_others(old: Entry, new: Entry) -> bool:
    """Say whether a new fact tells what somebody whom it names does or is, and the old one of the speaker. Who treats them does it to them."""
    somebody = (new.terms.persons - _TREAT) | new.terms.names
    return bool(somebody) and new.is_of_another and not old.is_of_another


def meant(terms: Analysis) -> set[str]:
    """Return the words that say what a text is about, names and people by their sound or class."""
    kinds = (TermKind.WORD, TermKind.NAME, TermKind.PERSON)
    return {
        term.sound if term.kind is TermKind.NAME else term.key
        for term in terms.terms
        if term.kind in kinds and term.weight >= TELLING
    }
