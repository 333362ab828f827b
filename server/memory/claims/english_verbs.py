"""Reads the verb of an English clause: which it is, when, and whether it is denied."""

import re
from collections.abc import Sequence

from server.memory import lexicon
from server.memory.claims.claim import Sense
from server.memory.claims.english_words import (
    AHEAD,
    BE,
    DO,
    ENDED,
    FORMER,
    HAVE,
    LEADING_TO_VERB,
    MODALS,
    NEGATIVE,
    OWNERS,
    PRESENT_FORMS,
    SKIPPED,
    WORD,
)
from server.memory.terms import verb_stem

_NO_NEGATION = re.compile(
    r"\b(?:not only|no doubt|no problem|can not wait|can not help|nothing but|no matter|not just|do not forget)\b",
    re.IGNORECASE,
)
_USED_TO = re.compile(r"\bused to\b", re.IGNORECASE)
_PLANNED = re.compile(r"\bplanned\b", re.IGNORECASE)
_PRONOUNS = frozenset({"i", "he", "she", "you", "we", "they"})
_TAKES_NOUN = frozenset({"like", "love", "get", "got", "need", "needs", "want", "wants", "wanted"})
"""What leads to a verb with "to" or "-ing" only."""
_NO_PAST = frozenset({"need", "feed", "breed"})
_SHORTEST = 4
"""Letters of a word whose ending shows that it is a verb."""


def is_verb_like(word: str) -> bool:
    """Say whether a word (lower case) is a form that verbs have: wants, moved, went, is."""
    if word in BE | HAVE | DO | MODALS or word in lexicon.irregular_verbs():
        return True
    has_ending = word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "'s")))
    return len(word) >= _SHORTEST and has_ending


def main_verb(rest: Sequence[str]) -> tuple[str, str, bool]:
    """Return the stem of the main verb, all words of the verb, and whether what was given begins with one.

    Args:
        rest: The words behind the subject.
    """
    words = [word for word in rest if word.lower() not in SKIPPED]
    if not words:
        return "", "", False
    place = 0
    while place < len(words) - 1 and _leads_on(words[place].lower(), words[place + 1]):
        place += 1
    words = [word.lower() for word in words]
    word = words[place - 1 if place and words[place] in ("to", "about", "of") else place]
    main = "be" if word in BE else "have" if word in HAVE else verb_stem(word)
    group = " ".join(words[: place + 1])
    return main, group, is_verb_like(words[0]) or words[0] in LEADING_TO_VERB


def is_passive(rest: Sequence[str]) -> bool:
    """Say whether a clause tells what is done to its subject, not what it does: "your cat is called Miso"."""
    words = [word.lower() for word in rest if word.lower() not in SKIPPED]
    return len(words) > 1 and words[0] in BE and _is_participle(words[1])


def _leads_on(word: str, following: str) -> bool:
    """Say whether a word of a verb leads to the one behind it: "am going", "want to", not "have a", "am tired"."""
    is_noun = following[0].isupper() or following in OWNERS | _PRONOUNS
    if word not in LEADING_TO_VERB or is_noun:
        return False
    is_form = following.endswith(("ing", "ed")) or following in lexicon.irregular_verbs()
    if word in BE:
        return is_form or following in LEADING_TO_VERB
    if word in HAVE:
        return is_form or following in ("to", "been")
    return word not in _TAKES_NOUN or following in ("to", "been") or following.endswith("ing")


def sense_of(rest: Sequence[str], clause: str) -> Sense | None:
    """Return where a clause lies in time.

    Args:
        rest: The words behind the subject.
        clause: All of it.
    """
    words = [word.lower() for word in rest if word.lower() not in SKIPPED - {"longer"}]
    first, then = (*words, "", "")[:2]
    if _USED_TO.search(clause) and FORMER.search(clause):
        return Sense.FORMER
    if not words or first.endswith("ing") or first == "to" or _is_perfect(first, then):
        return None
    if _is_past(first) and not _PLANNED.search(clause):
        return Sense.PAST
    if AHEAD.search(clause):
        return Sense.AHEAD
    return _present(first, then)


def _present(first: str, then: str) -> Sense | None:
    if first in BE and then.endswith("ing"):
        return Sense.UNDERWAY
    if first in BE:
        return Sense.RESULT if _is_participle(then) else Sense.STATE
    if first in ("can", "could", "may", "might"):
        return None
    return Sense.STATE if first in HAVE else Sense.PRESENT


def _is_perfect(first: str, then: str) -> bool:
    return first in ("have", "has") and _is_participle(then)


def _is_participle(word: str) -> bool:
    return word.endswith("ed") or word in lexicon.irregular_verbs()


def _is_past(word: str) -> bool:
    is_regular = len(word) >= _SHORTEST and word.endswith("ed") and word not in _NO_PAST
    return is_regular or (word in lexicon.irregular_verbs() and word not in PRESENT_FORMS)


def negations_in(clause: str) -> int:
    """Return how often a clause denies; "I dislike" and "I stopped" do, too."""
    words = WORD.findall(_NO_NEGATION.sub(" ", clause).lower())
    count = sum(word in NEGATIVE or _is_dislike(word) for word in words)
    return count + len(ENDED.findall(clause))


def _is_dislike(word: str) -> bool:
    known = lexicon.concepts("en")
    return any("dislike" in known.of(form) for form in (word, word.rstrip("sd")))
