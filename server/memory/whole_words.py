"""Looks for Japanese words in a text where they stand as words: だれ asks for somebody, the bib よだれかけ does not.

Japanese is written without spaces, so that a short word occurs by chance inside others and across their ends.
"""

import re

from server.memory.terms import words_of


def occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Say whether a pattern matches somewhere in a text.

    Args:
        pattern: What its group `word` takes has to begin where a word begins; a match without it counts anywhere.
        text: In Japanese, where the group takes something.
    """
    if "word" not in pattern.groupindex:
        return pattern.search(text) is not None
    starts = {match.start("word") for match in pattern.finditer(text)}
    if -1 in starts:  # a match without the group
        return True
    return bool(starts) and any(word.begin() in starts for word in words_of(text))
