"""Reads claims in whatever language a sentence is written."""

import re

from server.memory.claims.chinese import chinese_claims, chinese_matter
from server.memory.claims.claim import Claim
from server.memory.claims.english import english_claims, english_matter
from server.memory.claims.japanese import japanese_claims, japanese_matter
from server.memory.terms import has_kana

LONGEST = 500
"""Characters of a sentence that are looked at."""


def claims_of(sentence: str, language: str) -> list[Claim]:
    """Return what a sentence claims, clause by clause; the script wins where it disagrees with the language."""
    text = sentence[:LONGEST]
    if has_kana(text):
        return japanese_claims(text)
    if re.search(r"[\u3400-\u9fff]", text):
        return japanese_claims(text) if language == "ja" else chinese_claims(text)
    return english_claims(text)


def without_form(text: str, language: str) -> str:
    """Return a text without the words that `claims_of` reads as negation, time and wish: what is left is its matter."""
    if has_kana(text) or (language == "ja" and not text.isascii()):
        return japanese_matter(text)
    return chinese_matter(text) if re.search(r"[\u3400-\u9fff]", text) else english_matter(text)
