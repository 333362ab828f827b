"""Takes what a forgotten fact was drawn from out of a text, by whole sentences."""

import re
from collections.abc import Iterable

from server.memory.models import Fact
from server.memory.statements import sentences

_FEWEST_LETTERS = 6
"""A shorter quote, such as 好きだ, says nothing of what it was about: elsewhere it may mean something else."""


def holds(text: str, quote: str) -> bool:
    """Say whether a quote stands in a text, word for word and long enough to tell what it told there."""
    return len(_bare(quote)) >= _FEWEST_LETTERS and _stands_in(quote, text)


def tells(fact: Fact, person: str, said: str) -> bool:
    """Say whether a person said in a text what a fact was drawn from."""
    return fact.person == person and holds(said, fact.quote)


def without(said: str, quotes: Iterable[str]) -> str:
    """Return what was said without the sentences that a quote stands in, or that stand in a quote; empty if nothing is left."""
    known = [quote for quote in quotes if _bare(quote)]
    spoken = sentences(said)
    kept = [
        sentence
        for sentence in spoken
        if not any(_stands_in(quote, sentence) or _stands_in(sentence, quote) for quote in known)
    ]
    return said if len(kept) == len(spoken) else " ".join(kept)


def _stands_in(part: str, text: str) -> bool:
    """Compare without the marks at the ends; a Latin word is not part of another one."""
    bare = _bare(part)
    if not bare:
        return False
    before = r"(?<![A-Za-z0-9])" if bare[0].isascii() else ""
    behind = r"(?![A-Za-z0-9])" if bare[-1].isascii() else ""
    return re.search(before + re.escape(bare) + behind, text, re.IGNORECASE) is not None


def _bare(text: str) -> str:
    return re.sub(r"^[\W_]+|[\W_]+$", "", text)
