"""Finds grave matters in a text: death, crime, sex, illness and the like, of which nobody may be said to have spoken who did not.

A model words what was said in other words, and that is well. What it words as a death, though, or as a debt, has to rest on
something of the same group that was said. The expressions are in `lexicon/grave.yaml` and `lexicon/standing.yaml`.
"""

from collections.abc import Iterable, Iterator

from server.memory.lexicon.expressions import expressions
from server.memory.terms import read_as

_OF_BODY = ("illness", "allergy")
"""Groups of `lexicon/standing.yaml`."""
_COMMON = frozenset({
    "back", "legs", "hands", "joints", "bones", "hearing", "sight", "skin", "sleep", "stomach", "migraine", "swallowing", "gout",
    "blood_pressure", "cholesterol", "anaemia",
})  # fmt: skip
"""Complaints that have many names, and are no grave ones."""
_CUT_SHORT = ("wish_to_die", "violence")
"""Matters of which a part says something else: "I want to kill" of "I want to kill this bug"."""


def grave_matters(text: str, language: str) -> frozenset[str]:
    """Return the grave matters that a text names: groups, and of illnesses which it is."""
    code = read_as(text, language)
    return frozenset(
        (*_named("grave", None, text, code), *_named("standing", _OF_BODY, text, code))
    )


def is_borne_out(text: str, told: Iterable[str], language: str) -> bool:
    """Say whether everything grave in a text was named in what was told.

    Args:
        text: What somebody made of it.
        told: The words of the person.
        language: Two-letter code.
    """
    named = grave_matters(text, language)
    return not named or named <= {one for each in told for one in grave_matters(each, language)}


def means_less_in_part(text: str, language: str) -> bool:
    """Say whether a text names something of which a part must not be told for the whole."""
    return not grave_matters(text, language).isdisjoint(_CUT_SHORT)


def _named(list_: str, groups: Iterable[str] | None, text: str, code: str) -> Iterator[str]:
    lists = expressions(list_, code)
    for group in groups or lists:
        for sort, sign in lists[group].items():
            if sort not in _COMMON and sign.search(text):
                yield group if sort == "any" else f"{group}/{sort}"
