"""Checks that a sentence about a person rests on what the person said, and on nothing else."""

import re
from collections.abc import Sequence, Set
from difflib import SequenceMatcher

from server.memory.terms import Term, TermKind, analyse, letters
from server.memory.wording import plain_analysis

_QUOTE_SHARE = 0.85
"""Share of a quote's letters that must stand in the turn, in order: models mend spelling while they copy."""
_TERM_SHARE = 0.6
"""Share of the weight of a sentence's terms that must come from the turn; the rest is grammar and rewording."""
_COMPANY = re.compile(
    r"""
    (?:[一-龠ァ-ヶー]{1,6}の)?[一-龠ァ-ヶー]{1,6}(?:さん|ちゃん|くん)?と(?=[^いはも言聞思])
    | \b(?:with|for|to|from|at)\ (?:(?:my|our)\ )?\w+(?:\ [A-Z]\w+)?
    | [和跟给][^，。\s]{1,6}
    """,
    re.VERBOSE,
)
"""Those who take part in what the speaker did."""


def is_grounded(text: str, quote: str, said: str, language: str) -> bool:
    """Say whether the turn supports a drawn fact.

    The quote stands in what was said, every name and number was spoken, and most of the words were, those beside the
    times, too. What the quote tells of others stays theirs.

    Args:
        text: The sentence to be kept.
        quote: The words that it is said to come from.
        said: All that the person said in that turn.
        language: Of the turn.
    """
    if not quote or not _stands_in(quote, said) or not _keeps_subject(text, quote, language):
        return False
    spoken = analyse(said, language)
    known = spoken.forms
    said_letters = letters(said)
    whole = analyse(text, language)
    missing = [term for term in whole.terms if not _was_said(term, known, said_letters)]
    if any(term.kind in (TermKind.NAME, TermKind.NUMBER) for term in missing):
        return False
    return all(
        _mostly_said(analysis.terms, known, said_letters)
        for analysis in (whole, plain_analysis(text, language))
    )


def _mostly_said(terms: Sequence[Term], known: Set[str], said_letters: str) -> bool:
    weights = [
        (term.weight, _was_said(term, known, said_letters))
        for term in terms
        if term.kind is not TermKind.PERSON
    ]
    total = sum(weight for weight, _ in weights)
    return sum(weight for weight, was_said in weights if was_said) >= _TERM_SHARE * total


def _was_said(term: Term, known: Set[str], said_letters: str) -> bool:
    key = letters(term.key)
    return term.key in known or term.sound in known or (key != "" and key in said_letters)


def _keeps_subject(text: str, quote: str, language: str) -> bool:
    """Say whether a sentence names somebody of whom the quote tells: "my mother is ill" is not about the speaker."""
    told = analyse(_COMPANY.sub(" ", quote), language).persons
    return not told or not told.isdisjoint(analyse(text, language).persons)


def _stands_in(quote: str, said: str) -> bool:
    wanted, there = letters(quote), letters(said)
    if not wanted:
        return False
    if wanted in there:
        return True
    blocks = SequenceMatcher(None, wanted, there, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size > 1) >= _QUOTE_SHARE * len(wanted)
