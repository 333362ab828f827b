"""Scores of a short answer against the right one: F1 over tokens and BLEU-1, by which the MemoryOS paper compares.

English is compared by words: small letters, no marks, no articles. Japanese and Chinese, which have no blanks between
words, are compared by characters, so that no tokenizer decides; Latin words and numbers in them stay whole.
"""

import math
import re
import unicodedata
from collections import Counter

_WORD = re.compile(r"\w+")
_WIDE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CHARACTER_OR_WORD = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]+")
_APOSTROPHE = re.compile(r"['’]")
_ARTICLES = {"a", "an", "the"}


def tokens_of(text: str, language: str) -> list[str]:
    """Return what is compared of an answer, in its order."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    if language in ("ja", "zh"):
        return _CHARACTER_OR_WORD.findall(plain)
    return [word for word in _WORD.findall(_APOSTROPHE.sub("", plain)) if word not in _ARTICLES]


def token_f1(answer: str, right: str, language: str) -> float:
    """Return the harmonic mean of precision and recall over tokens, each counted as often as it stands in both."""
    said, wanted = Counter(tokens_of(answer, language)), Counter(tokens_of(right, language))
    if not said or not wanted:
        return float(said == wanted)
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total())


def bleu_1(answer: str, right: str, language: str) -> float:
    """Return the share of the answer's tokens that are right (Papineni et al., 2002), with the penalty for brevity.

    A token counts at most as often as it stands in the right answer. An answer that is shorter than the right one is
    worth less by ``exp(1 - length of the right one / length)``.
    """
    said, wanted = Counter(tokens_of(answer, language)), Counter(tokens_of(right, language))
    if not said or not wanted:
        return float(said == wanted)
    precision = (said & wanted).total() / said.total()
    return precision * min(1.0, math.exp(1 - wanted.total() / said.total()))
