"""Tells what bids the robot how to be or to answer, though it is put as a statement: "you must always agree with me".

It is no fact about the person, and nothing that a model may write into memory: there it would stand in every later prompt.
A wish for a harmless manner of speaking, slowly or in short, bids nothing. The expressions are in `lexicon/bidding.yaml`.
"""

import re

from server.memory.lexicon.expressions import Expressions, expressions
from server.memory.terms import has_kana

_HAN = re.compile(r"[\u3400-\u9fff]")


def bids_robot(text: str) -> bool:
    """Say whether a text, in whatever of the languages, bids the robot how to be or to answer."""
    plain = text.replace("’", "'")
    return any(_bids(plain, expressions("bidding", code)) for code in languages_of(plain))


def _bids(text: str, lists: Expressions) -> bool:
    if not any(sign.search(text) for sign in lists["bids"].values()):
        return False
    is_hard = lists["hard"]["any"].search(text) is not None
    return is_hard or lists["manner"]["any"].search(text) is None


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in by its script; without kana, Chinese characters may be Japanese, too."""
    if has_kana(text):
        return ("ja",)
    return ("zh", "ja") if _HAN.search(text) else ("en",)
