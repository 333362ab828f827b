"""Takes what a forgotten fact was drawn from out of a text, by whole sentences."""

import re
from collections.abc import Iterable, Iterator

from server.memory.models import Fact
from server.memory.statements import sentences
from server.memory.terms import letters

_FEWEST_LETTERS = 6
"""A shorter quote, such as 好きだ, says nothing of what it was about: elsewhere it may mean something else."""


def holds(text: str, quote: str) -> bool:
    """Say whether a quote stands in a text, word for word and long enough to tell what it told there."""
    return len(_bare(quote)) >= _FEWEST_LETTERS and _stands_in(quote, text)


def names(text: str, words: str) -> bool:
    """Say whether words stand in a text; those that are long enough, whatever blanks and marks are between their letters."""
    if not words.strip():
        return False
    bare = letters(words)
    return _stands_in(words, text) or (len(bare) >= _FEWEST_LETTERS and bare in letters(text))


def tells(fact: Fact, person: str, said: str) -> bool:
    """Say whether a person said in a text what a fact was drawn from."""
    return fact.person == person and holds(said, fact.quote)


def without(said: str, quotes: Iterable[str]) -> str:
    """Return what was said without the sentences that a quote stands in; empty if nothing is left.

    A quote that is nowhere in it may have been said in pieces, see `server.memory.passages`: the sentences that are a part
    of it are left out.
    """
    spoken, kept = _cut(said, quotes)
    return said if len(kept) == len(spoken) else " ".join(kept)


def cut_out(said: str, quotes: Iterable[str]) -> list[str]:
    """Return the sentences that `without` leaves out."""
    spoken, kept = _cut(said, quotes)
    return [sentence for sentence in spoken if sentence not in kept]


def without_any(said: str, parts: Iterable[str]) -> str:
    """Return the same as `without`, but leave what is itself only a part of one of these where it is."""
    return without(said, [part for part in parts if _stands_in(part, said)])


def _cut(said: str, quotes: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return all sentences, and those that stay."""
    spoken = sentences(said)
    places, end = [], 0
    for sentence in spoken:
        start = said.index(sentence, end)
        end = start + len(sentence)
        places.append((start, end))
    gone: set[str] = set()
    for quote in filter(_bare, quotes):
        found = [match.span() for match in _finds(quote, said)]
        gone.update(
            sentence
            for sentence, (start, end) in zip(spoken, places, strict=True)
            if any(start < last and first < end for first, last in found)
            or (not found and _stands_in(sentence, quote))
        )
    return spoken, [sentence for sentence in spoken if sentence not in gone]


def _stands_in(part: str, text: str) -> bool:
    return next(_finds(part, text), None) is not None


def _finds(part: str, text: str) -> Iterator[re.Match[str]]:
    """Compare without the marks at the ends; a Latin word is not part of another one."""
    bare = _bare(part)
    if not bare or bare.casefold() not in text.casefold():  # far quicker than a pattern for each
        return iter(())
    before = r"(?<![A-Za-z0-9])" if bare[0].isascii() else ""
    behind = r"(?![A-Za-z0-9])" if bare[-1].isascii() else ""
    return re.finditer(before + re.escape(bare) + behind, text, re.IGNORECASE)


def _bare(text: str) -> str:
    return re.sub(r"^[\W_]+|[\W_]+$", "", text)
