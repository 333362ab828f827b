"""Tells in what language a text is, by its script."""

import re

KANA = re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")
LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
HAN = re.compile(r"[\u4e00-\u9fff]")
FEW_FOREIGN_WORDS = 2
"""Up to so many English words inside another language are read by that language's own voice."""
FEW_LETTERS = 4
"""Shorter words than this, such as "OK", belong to every language: they are in that of the talk."""


def spoken_language(text: str, expected: str) -> str:
    """Return the language whose voice can read `text`; `expected` unless its script says otherwise."""
    if KANA.search(text):
        return "ja"
    if HAN.search(text):
        return expected if expected in ("ja", "zh") else "zh"
    if len(LATIN_WORD.findall(text)) > FEW_FOREIGN_WORDS and expected in ("ja", "zh"):
        return "en"
    return expected


def written_language(text: str, expected: str, talked: str = "") -> str:
    """Return the language that somebody typed in.

    Args:
        text: What they typed.
        expected: What it is where nothing says otherwise.
        talked: That of the talk so far, if there is one. It decides where the script leaves it open: "Yes.", 好的。
    """
    if KANA.search(text):
        return "ja"
    if HAN.search(text):
        return talked if talked in ("ja", "zh") else spoken_language(text, expected)
    if len(re.findall(r"[A-Za-z]", text)) >= FEW_LETTERS:
        return "en" if expected in ("ja", "zh") else expected
    return talked or expected
