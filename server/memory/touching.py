"""Tells which of the facts that stand the talk touches: what may go against them, or is about the same.

A small model brings up whatever it is told, so it is told of an allergy only where somebody speaks of food.
"""

from functools import lru_cache
from typing import TypeAlias

from server.memory import lexicon
from server.memory.lexicon.expressions import expressions
from server.memory.models import Fact
from server.memory.standing import StandingKind, matter_of, meant
from server.memory.terms import read_as
from server.memory.wording import bare, plain_analysis
from server.query import normalize

_FIELDS = {
    StandingKind.ALLERGY: ("food", "allergy"),
    StandingKind.MEDICINE: ("medicine",),
    StandingKind.ILLNESS: ("medicine", "effort"),
    StandingKind.BEREAVEMENT: ("death",),
    StandingKind.DO_NOT_MENTION: (),
    StandingKind.DIET: ("food",),
    StandingKind.GOAL: (),
}
"""Classes of expressions in `lexicon/touching.yaml`; with them those that are called like the matter itself."""
_FED = {
    StandingKind.MEDICINE: frozenset({"insulin", "metformin", "warfarin", "blood_sugar"}),
    StandingKind.ILLNESS: frozenset({
        "diabetes", "blood_pressure", "cholesterol", "kidneys", "liver", "stomach", "gout", "swallowing", "heart", "pregnancy",
    }),
    StandingKind.GOAL: frozenset({"weight", "coffee", "sweets"}),
}  # fmt: skip
"""Matters in which it counts what one eats and drinks."""
_STRAINED = frozenset({"weight", "exertion", "exercise"})
"""Matters in which it counts how one moves."""
_OF_PEOPLE = (StandingKind.BEREAVEMENT, StandingKind.DO_NOT_MENTION)
_Words: TypeAlias = frozenset[str]


def touches(text: str, language: str, fact: Fact) -> bool:
    """Say whether what somebody says touches a fact that stands.

    Args:
        text: What is said.
        language: Two-letter code of it.
        fact: Of the person; one that need not stand is never touched.
    """
    matter = matter_of(fact)
    if matter is None:
        return False
    fields = {*_FIELDS[matter.kind], *matter.about}
    if matter.about & _FED.get(matter.kind, frozenset()):
        fields.add("food")
    if matter.about & _STRAINED:
        fields.add("effort")
    lists = expressions("touching", read_as(text, language))["of"]
    if any(field in lists and lists[field].search(text) for field in fields):
        return True
    told, asked = _words(bare(fact.text), fact.language), _words(normalize(text), language)
    if told[0] & asked[0]:
        return True
    return matter.kind in _OF_PEOPLE and bool(lexicon.may_be_among(told[1], asked[1]))


@lru_cache(maxsize=2_000)
def _words(text: str, language: str) -> tuple[_Words, _Words]:
    """Return the words that say what a text is about, and the classes of people in it."""
    meaning = plain_analysis(text, language)
    code = read_as(text, language)
    noise = expressions("standing", code)["around"]["noise"]
    words = {
        form
        for term in meant(meaning, code)
        for form in (term.key, term.sound)
        if not noise.fullmatch(form)
    }
    return frozenset(words), frozenset(meaning.persons)
