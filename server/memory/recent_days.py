"""Chooses what of the last days' summaries is told today.

Nothing that the person does not want to speak of or that has been replaced, nothing to ask about that was called off or is long
past, and each thing once. A summary stays as it was made: what was asked for later counts when it is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from server.memory.called_off import calls_off
from server.memory.models import DaySummary, Fact
from server.memory.standing import StandingKind, standing_kind
from server.memory.statements import sentences
from server.memory.terms import letters
from server.memory.touching import touches
from server.memory.unmentioned import asks_for_silence
from server.memory.wording import bare, plain_analysis, without_frame
from server.punctuation import join_sentences

_ALIKE = 0.4
"""Share of what a question is about that a fact has to have for it to be about that fact."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What days are read with.

    Attributes:
        facts: All of the person, those that were replaced too.
        today: By the clock of the person.
        follow_up_days: So long after its day a thing may be asked about.
        elsewhere: The facts that are told elsewhere whatever is asked.
    """

    facts: Sequence[Fact]
    today: date
    follow_up_days: int
    elsewhere: Sequence[Fact] = ()


def told_today(days: Sequence[DaySummary], reading: Reading) -> list[DaySummary]:
    """Return what is to be told of some days; those of which nothing is left are left out.

    Args:
        days: Of one person, newest last.
        reading: What to read them with.
    """
    silent = [
        fact
        for fact in reading.facts
        if fact.current and standing_kind(fact) is StandingKind.DO_NOT_MENTION
    ]
    told: list[DaySummary] = []
    known = _replaced(reading.facts) | {letters(bare(fact.text)) for fact in reading.elsewhere}
    for day in reversed(days):
        spoken = sentences(day.text)
        text = [one for one in spoken if _may_be_told(one, day, silent)]
        text = [one for one in text if _said(one) not in known]
        known.update(map(_said, text))
        asked = [
            one
            for one in day.follow_ups
            if may_be_asked_about(one, day.language)
            and _may_be_told(one, day, silent)
            and _is_open(one, day, reading)
        ]
        whole = len(text) == len(spoken)
        left = day.text if whole else join_sentences(text)
        kept = replace(day, text=left, follow_ups=tuple(asked))
        if kept.text or kept.follow_ups:
            told.insert(0, kept)
    return told


def may_be_asked_about(text: str, language: str) -> bool:
    """Say whether something may be asked about by what it says: it neither asks for silence nor calls something off."""
    return not asks_for_silence(text) and not calls_off(text, language)


def _may_be_told(text: str, day: DaySummary, silent: Sequence[Fact]) -> bool:
    said = without_frame(text)
    return not asks_for_silence(said) and not any(
        touches(said, day.language, fact) for fact in silent
    )


def _replaced(facts: Sequence[Fact]) -> set[str]:
    """Return the words of the facts that have been replaced and are not said again."""
    holding = {letters(bare(fact.text)) for fact in facts if fact.current}
    return {letters(bare(fact.text)) for fact in facts if not fact.current} - holding


def _said(text: str) -> str:
    return letters(without_frame(text))


def _is_open(asked: str, day: DaySummary, reading: Reading) -> bool:
    """Say whether something may still be asked about: it was not called off, and its day is not long past."""
    fact = _fact_of(asked, day, reading.facts)
    if fact is not None and not fact.current:
        return False
    is_about = fact.event_to if fact is not None and fact.event_to is not None else day.day
    return reading.today - is_about <= timedelta(days=reading.follow_up_days)


def _fact_of(asked: str, day: DaySummary, facts: Sequence[Fact]) -> Fact | None:
    """Return the fact of a day that something to ask about is about; None if it is about none."""
    drawn = [
        fact for fact in facts if not fact.about and not set(fact.sources).isdisjoint(day.sources)
    ]
    alike = {fact.id: _likeness(asked, fact, day.language) for fact in drawn}
    best = max(drawn, key=lambda fact: (alike[fact.id], fact.current), default=None)
    return best if best is not None and alike[best.id] >= _ALIKE else None


def _likeness(asked: str, fact: Fact, language: str) -> float:
    """Return the share of what something to ask about tells that a fact tells, too."""
    if letters(bare(fact.text)).startswith(letters(asked)):
        return 1.0
    weights = {term.key: term.weight for term in plain_analysis(asked, language).terms}
    told = {term.key for term in plain_analysis(fact.text, fact.language).terms}
    shared = sum(weight for key, weight in weights.items() if key in told)
    return min(shared / (sum(weights.values()) + 0.01), 0.99)
