"""How long a fact is worth knowing, by rules: what must never fade, and what is of no interest within weeks.

To forget what mattered is the worst that can happen. So one sign that something lasts is enough, while only a short, sure
sentence about a small thing of the last days is fleeting; all the rest is ordinary. The signs are in `lexicon/importance.yaml`.
"""

import re
from collections.abc import Mapping
from itertools import pairwise

from server.memory.bidding import bids_robot
from server.memory.lexicon.expressions import FAMILY, as_told, expressions
from server.memory.models import Importance, Kind
from server.memory.terms import Analysis, TermKind, read_as
from server.memory.wording import bare, plain_analysis

_LASTING_KINDS = frozenset({Kind.HEALTH, Kind.PROFILE, Kind.RELATION})
_FLEETING_KINDS = frozenset({Kind.EVENT, Kind.OTHER})
"""A habit of watching television is not fleeting, a plan to have a bath neither."""
_STANDING = (
    "allergy",
    "medicine",
    "illness",
    "condition",
    "bereavement",
    "do_not_mention",
    "diet",
)
"""Groups of expressions in `lexicon/standing.yaml` that tell of what lasts, whoever it is of."""
_SEEN = frozenset({"television", "score"})
"""What is fleeting though it names somebody: who acts or plays there is not met."""
_LONGEST = {"ja": 40, "en": 90, "zh": 30}
"""Characters; a longer sentence has room for more than the small thing."""


def importance_of(text: str, language: str, kind: Kind) -> Importance:
    """Return how long a fact is worth knowing.

    Args:
        text: The fact, with or without dates in brackets and the frame around a quotation.
        language: Two-letter code; of one without expressions, those for English are taken.
        kind: What it is about.
    """
    told = as_told(text)
    if bids_robot(told):  # never lasting, whatever else it names
        return Importance.ORDINARY
    rest = _without_passing(told, read_as(told, language))
    is_sorted = kind in _LASTING_KINDS and (kind is not Kind.HEALTH or rest == told)
    if is_sorted or _is_lasting(text, rest, language):
        return Importance.LASTING
    if kind in _FLEETING_KINDS and _is_fleeting(text, language):
        return Importance.FLEETING
    return Importance.ORDINARY


def _without_passing(told: str, code: str) -> str:
    """Leave out a cold or a headache, unless it comes back again and again: it is over within days."""
    lists = expressions("importance", code)
    if _found({"often": lists["kept"]["often"]}, told):
        return told
    for sign in lists["passing"].values():
        told = sign.sub(" ", told)
    return told


def _is_lasting(text: str, told: str, language: str) -> bool:
    """Say whether a fact has a sign of what lasts, without what passes in `told`."""
    code = read_as(told, language)
    groups = [expressions("importance", code)["lasting"]]
    groups += [expressions("standing", code)[group] for group in _STANDING]
    return any(_found(signs, told) for signs in groups) or names_family(
        plain_analysis(bare(text), language)
    )


def names_family(meaning: Analysis) -> bool:
    """Say whether one of the family is called by name: "your brother Owen"."""
    return any(
        one.kind is TermKind.PERSON and one.key in FAMILY and other.kind is TermKind.NAME
        for one, other in pairwise(meaning.terms)
    )


def _is_fleeting(text: str, language: str) -> bool:
    told = as_told(text)
    code = read_as(told, language)
    lists = expressions("importance", code)
    small = _found(lists["fleeting"], told)
    if not small or len(told) > _LONGEST[code] or _found(lists["kept"], told):
        return False
    meaning = plain_analysis(bare(text), language)
    names_something = bool(meaning.names or meaning.proper or meaning.places) and not small & _SEEN
    return not (meaning.negated or meaning.persons or names_something)


def _found(signs: Mapping[str, re.Pattern[str]], told: str) -> set[str]:
    return {sort for sort, sign in signs.items() if sign.search(told)}
