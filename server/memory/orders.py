"""Tells what bids the robot something for good: "from now on always call me Captain", whether that is harmless or not.

Nothing of it holds before somebody has agreed: what is said once must not change every later talk.
"""

from collections.abc import Iterator

from server.memory.bidding import bids_robot, languages_of
from server.memory.lexicon.expressions import Expressions, expressions
from server.memory.statements import is_order


def bids_for_good(sentence: str) -> bool:
    """Say whether a sentence bids the robot something for good. A question does not, nor what the speaker means to do."""
    plain = sentence.replace("’", "'").strip()
    if plain.endswith(("?", "？")):
        return False
    return bids_robot(plain) or any(_lasts(plain, lists) for lists in _lists(plain))


def is_of_manner(sentence: str) -> bool:
    """Say whether what a sentence bids is no more than a harmless manner of speaking: slowly, in short."""
    plain = sentence.replace("’", "'")
    return any(
        one["manner"]["any"].search(plain) and not one["hard"]["any"].search(plain)
        for one in _lists(plain)
    )


def _lasts(sentence: str, lists: Expressions) -> bool:
    """Say whether a sentence is an order for good as a whole, or is an order of any kind, or a duty, and says for how long."""
    signs = lists["for_good"]
    if signs["harmless"].search(sentence) and not lists["hard"]["any"].search(sentence):
        return False
    if signs["whole"].search(sentence):
        return True
    if not signs["lasting"].search(sentence):
        return False
    if signs["duty"].search(sentence):
        return True
    return is_order(sentence) and not signs["told"].search(sentence)


def _lists(plain: str) -> Iterator[Expressions]:
    return (expressions("bidding", code) for code in languages_of(plain))
