"""Sentences that call the person as an order bids that nobody has agreed to: "aye, Captain!"."""

import re
from collections.abc import Sequence
from functools import cache

from server.guard.lines import Spoken, filled, folded, signs
from server.memory.terms import read_as


def names_in(orders: Sequence[str], language: str) -> tuple[str, ...]:
    """Return by what names orders bid the robot to call the person.

    Args:
        orders: Those that nobody has agreed to.
        language: Two-letter code of them.
    """
    return tuple(
        name[1].strip()
        for order in orders
        for name in signs("order", read_as(order, language))["name"].finditer(folded(order))
    )


def calls_so(sentence: Spoken, names: tuple[str, ...]) -> bool:
    """Say whether a sentence speaks to the person by one of these names; to name it is no fault."""
    if not names:
        return False
    sign = filled("order", "calls", sentence.language, name=_any_of(names))
    return sign is not None and sign.search(sentence.text) is not None


@cache
def _any_of(names: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, names))
