"""Finds the best place to cut text in which no sentence ends: behind a clause, at a blank, between Japanese phrases."""

import re
from typing import Final

from server.emotions import is_emoji
from server.punctuation import CLOSERS, HAN_OR_KANA, HIRAGANA, MARKS, NEVER_FIRST, PAIRS

_CONJUNCTION = re.compile(r"(?:and|but|or|so|because|which|who|when|while|where|if)\b")
_PHRASE_ENDINGS: Final = "はがをにでともへのてばらたる"
"""Particles and verb endings: a word in kanji or katakana behind one of them most likely begins a phrase."""

# How good it is to cut at a place, from best to worst.
CLAUSE = 4
BEFORE_CONJUNCTION = 3
BLANK = 2
PHRASE = 1
ANYWHERE = 0
INSIDE_WORD = -1


def best_cut(
    text: str, places: range, *, at_least: int = ANYWHERE, best: int = CLAUSE
) -> int | None:
    """Return the first of the best of `places`, None if none is good enough.

    Args:
        text: What to cut.
        places: Where it may be cut, the preferred ones first.
        at_least: How good the place must be.
        best: Which places count as equally good: this good and better.
    """
    rated = [(min(best, _rate_cut(text, place)), place) for place in places]
    good = [rating for rating, _ in rated if rating >= at_least]
    if not good:
        return None
    return next(place for rating, place in rated if rating == max(good))


def _rate_cut(text: str, place: int) -> int:
    """Rate cutting `text` before the character at `place`."""
    before, after = text[place - 1], text[place : place + 1]
    if before.isspace():
        return BEFORE_CONJUNCTION if _CONJUNCTION.match(text, place) else BLANK
    if before in "、，；：､" or (before in ",;:" and after.isspace()):
        return CLAUSE if after not in CLOSERS or not after else INSIDE_WORD
    if after == "" or _belongs_together(before, after):
        return INSIDE_WORD
    if before in _PHRASE_ENDINGS and after.isalnum() and not HIRAGANA.match(after):
        return PHRASE
    return ANYWHERE


def _belongs_together(before: str, after: str) -> bool:
    if after in MARKS + CLOSERS + NEVER_FIRST or before in PAIRS or is_emoji(after):
        return True
    if before.isascii() and after.isascii():
        return not after.isspace()
    if not after.isalnum() and not after.isspace() and after.isprintable():
        return after not in PAIRS  # combining characters and signs
    return before.isdecimal() or not (HAN_OR_KANA.match(before) or HAN_OR_KANA.match(after))
