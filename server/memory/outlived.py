"""Which values of a profile hold no longer: those that only facts tell of which have been replaced."""

from collections.abc import Mapping, Sequence

from server.memory.models import MANY_VALUED, Fact, ProfileEntry
from server.memory.standing import standing_kind
from server.memory.terms import TELLING, Analysis, letters
from server.memory.wording import bare, plain_analysis


def still_held(profile: Sequence[ProfileEntry], facts: Sequence[Fact]) -> list[ProfileEntry]:
    """Return the entries of a profile without those that have been taken back or replaced.

    One is, if facts were drawn from its pages that say the same, all of them have been replaced, and what replaced them
    does not say it, too.

    Args:
        profile: Of one person.
        facts: All of that person.
    """
    by_id = {fact.id: fact for fact in facts}
    return [entry for entry in profile if not _is_outlived(entry, facts, by_id)]


def _is_outlived(entry: ProfileEntry, facts: Sequence[Fact], by_id: Mapping[str, Fact]) -> bool:
    tellers = [
        fact
        for fact in facts
        if not fact.about
        and not set(entry.sources).isdisjoint(fact.sources)
        and _says(fact, entry.value)
    ]
    return bool(tellers) and not any(
        fact.current or _is_said_again(entry, fact, _heir(fact, by_id)) for fact in tellers
    )


def _heir(fact: Fact, by_id: Mapping[str, Fact]) -> Fact:
    """Return what replaced a fact and has not been replaced itself."""
    passed = {fact.id}
    while fact.superseded_by in by_id.keys() - passed:
        fact = by_id[fact.superseded_by]
        passed.add(fact.id)
    return fact


def _is_said_again(entry: ProfileEntry, old: Fact, new: Fact) -> bool:
    """Say whether what replaced a fact tells the same value: it adds to it, and takes nothing back."""
    before, after = _meaning(old), _meaning(new)
    is_other = entry.field not in MANY_VALUED and not _named(after) <= _named(before)
    return (
        new.current
        and _says(new, entry.value)
        and not is_other
        and before.negated == after.negated
        and standing_kind(old) == standing_kind(new)
    )


def _says(fact: Fact, value: str) -> bool:
    if any(letters(value) in letters(text) for text in (bare(fact.text), fact.quote)):
        return True
    terms = plain_analysis(value, fact.language).terms
    meant = {term.key for term in terms if term.weight >= TELLING}
    spoken = plain_analysis(fact.quote, fact.language).forms if fact.quote else frozenset()
    return bool(meant) and meant <= _meaning(fact).forms | spoken


def _meaning(fact: Fact) -> Analysis:
    return plain_analysis(fact.text, fact.language)


def _named(meaning: Analysis) -> frozenset[str]:
    return meaning.names | meaning.places | meaning.proper
