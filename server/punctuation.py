"""The signs and abbreviations by which sentences are told apart, in Japanese, Chinese and English, and how they are joined."""

import re
from collections.abc import Iterable
from typing import Final

FULL_MARKS: Final = "。｡．！？‼⁇⁈⁉…‥♪♫♬"
"""Marks at the end of a sentence that need no blank behind them."""

MARKS: Final = FULL_MARKS + ".!?"

PAIRS: Final = {
    "「": "」",
    "『": "』",
    "（": "）",
    "(": ")",
    "[": "]",
    "【": "】",
    "〈": "〉",
    "《": "》",
    "〔": "〕",
    "“": "”",
    "«": "»",
    '"': '"',
}
"""Quotes and brackets, opener to closer."""

CLOSERS: Final = "」』）)]】〉》〕”»’｣"

TWO_FACED: Final = "\"'*_`~"
"""Signs that open and close alike: closers only where the text pauses behind them."""

CLAUSE_MARKS: Final = "、，；：､,;:"

NEVER_FIRST: Final = "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮーｰ々ゝゞヽヾ・" + CLAUSE_MARKS
"""No sentence begins with one of these, whatever stands before it."""

HAN_OR_KANA: Final = re.compile(
    r"[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]"
)
HIRAGANA: Final = re.compile(r"[\u3041-\u309f]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES: Final = _words(
    "mr mrs ms mx dr prof rev gen col capt lt sgt gov sen rep hon mt messrs mme e.g i.e eg ie vs viz cf approx ca"
)
"""Abbreviations that no sentence ends with."""

BEFORE_NUMBER: Final = _words(
    "no nos p pp fig figs vol ch sec art eq par jan feb mar apr jun jul aug sep sept oct nov dec"
)
"""Abbreviations in front of a number, words otherwise."""

MAY_END: Final = _words("inc ltd co corp jr sr st ave blvd rd dept est etc al bros u.s u.k u.n d.c")
"""Abbreviations that a sentence may end with."""

DOTTED: Final = re.compile(r"(?:[a-z]{1,3}\.)+[a-z]{1,3}")
"""Other abbreviations of that kind: a.m, Ph.D, U.S.A."""

STARTERS: Final = _words(
    "The This That These Those There It He She We You They I And But So Or In On At If When What Why How Who Where Then "
    "A An My Your His Her Our Their Is Are Was Do Does Did Can Could Would Will Let Please Yes No Not Now As For After "
    "Before While Maybe Also However It's I'm That's"
)
"""After "U.S." or "J." a capital letter is a name, unless it begins one of these words."""


def join_sentences(texts: Iterable[str]) -> str:
    """Put the texts of sentences together again, with a blank where the language needs one."""
    joined = ""
    for text in texts:
        needs_blank = joined[-1:].isascii() and text[:1].isascii()
        joined += (" " if joined and text and needs_blank else "") + text
    return joined
