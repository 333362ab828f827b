"""Which facts say no more than the profile does: "I live in Leeds" beside the home Leeds."""

from collections.abc import Sequence

from server.memory.models import Fact, ProfileEntry, ProfileField
from server.memory.terms import TELLING, TermKind, letters
from server.memory.wording import bare, plain_analysis

_NOTIONS = {
    ProfileField.NAME: "name",
    ProfileField.BIRTH: "birthday",
    ProfileField.HOME: "home",
    ProfileField.WORK: "work",
}
"""By which a fact is about a field, in the words of the lexicon."""


def untold(facts: Sequence[Fact], profile: Sequence[ProfileEntry]) -> list[Fact]:
    """Return the facts that say anything that no entry of the profile says.

    Args:
        facts: Of one person.
        profile: Of that person, as it is told.
    """
    return [fact for fact in facts if not any(_restates(fact, entry) for entry in profile)]


def _restates(fact: Fact, entry: ProfileEntry) -> bool:
    notion = _NOTIONS.get(entry.field)
    if notion is None or set(entry.sources).isdisjoint(fact.sources):
        return False
    terms = plain_analysis(fact.text, fact.language)
    if notion not in terms.notions or terms.negated:
        return False
    if letters(entry.value) not in letters(bare(fact.text)):
        return False
    value = plain_analysis(entry.value, fact.language).forms
    rest = [term for term in terms.terms if term.weight >= TELLING and term.key not in value]
    # The word for the field itself may be left: "live".
    return len(rest) <= 1 and all(term.kind is TermKind.WORD for term in rest)
