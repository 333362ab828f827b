"""What is pinned in a long-term memory, and how firmly: a name before a loss, these before all else, whatever their age."""

from enum import IntEnum
from functools import lru_cache

from server.memory.importance import names_family
from server.memory.lexicon.expressions import as_told, expressions
from server.memory.models import Fact, Importance
from server.memory.terms import read_as
from server.memory.wording import plain_analysis


class Pin(IntEnum):
    """Why something lasting must not be pushed out; the first are pinned the most firmly."""

    NAME = 0
    """The person's own."""
    LOSS = 1
    BODY = 2
    """Allergies, illnesses, medicine."""
    FIRM = 3
    """What is not to be mentioned, and hard preferences."""
    FAMILY = 4
    """By name, and births."""
    OTHER = 5


def pin_of(fact: Fact) -> Pin | None:
    """Return how firmly a fact about a person is pinned; None if it is not lasting."""
    return _read(fact.text, fact.language) if fact.importance is Importance.LASTING else None


def is_kept_by_agent(fact: Fact) -> bool:
    """Say whether a fact about the agent has to be kept: what it promised, or what it or something was named."""
    told = as_told(fact.text)
    signs = expressions("importance", read_as(told, fact.language))["of_agent"]
    is_lasting = fact.importance is Importance.LASTING
    return is_lasting or any(sign.search(told) for sign in signs.values())


@lru_cache(maxsize=20_000)
def _read(text: str, language: str) -> Pin:
    told = as_told(text)
    code = read_as(told, language)
    weighed, standing = expressions("importance", code), expressions("standing", code)
    always = weighed["lasting"]
    groups = (
        (Pin.NAME, (weighed["own"],)),
        (Pin.LOSS, (standing["bereavement"], {"loss": always["loss"]})),
        (Pin.BODY, (standing["allergy"], standing["illness"], standing["medicine"])),
        (Pin.FIRM, (standing["do_not_mention"], standing["diet"], {"firm": always["firm"]})),
        (Pin.FAMILY, ({"birth": always["birth"]},)),
    )
    for pin, signs in groups:
        if any(sign.search(told) for group in signs for sign in group.values()):
            return pin
    return Pin.FAMILY if names_family(plain_analysis(text, language)) else Pin.OTHER
