"""Back-channels: what listeners say to show that they listen, and to which nobody owes an answer."""

import re
import unicodedata

from server.memory.lexicon.expressions import LANGUAGES, expressions

_LIST = "back_channels"
_QUESTION_MARK = re.compile(r"[?？][\"'”’」』)）]*$")
_LONGEST = 24
"""Signs of the longest text that is looked at: who says more has something to say."""


def is_back_channel(text: str) -> bool:
    """Say whether a text is nothing but "uh-huh", うん and the like, in any language: so short a sound tells none.

    To a question the same words are an answer; see `asks`.
    """
    rest = unicodedata.normalize("NFKC", text).strip().casefold()
    if not rest or len(rest) > _LONGEST:
        return False
    return any(_without(rest, language) for language in LANGUAGES)


def asks(sentence: str, language: str) -> bool:
    """Say whether a sentence wants an answer."""
    end = expressions(_LIST, language)["question"].get("any")
    told = sentence.strip()
    return bool(_QUESTION_MARK.search(told) or (end is not None and end.search(told)))


def _without(text: str, language: str) -> bool:
    """Say whether nothing is left of a text without its back-channels."""
    left = expressions(_LIST, language)["back_channel"]["any"].sub("", text)
    return not any(map(str.isalnum, left)) and left != text
