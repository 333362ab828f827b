"""Reads claims in whatever language a sentence is written."""

import re
from dataclasses import replace

from server.memory.claims.chinese import chinese_claims, chinese_matter
from server.memory.claims.claim import LISTENER, SPEAKER, Claim
from server.memory.claims.english import english_claims, english_matter
from server.memory.claims.japanese import japanese_claims, japanese_matter
from server.memory.claims.quotations import claims_with_quotations
from server.memory.terms import has_kana, read_as

LONGEST = 500
"""Characters of a sentence that are looked at."""


def claims_of(sentence: str, language: str) -> list[Claim]:
    """Return what somebody's sentence claims, clause by clause; the script wins where it disagrees with the language."""
    return _read(sentence[:LONGEST], language)


def claims_of_fact(text: str, language: str) -> list[Claim]:
    """Return what a fact claims; in it "you" is the one who talked."""
    return [
        replace(
            claim, subject=frozenset(SPEAKER if one == LISTENER else one for one in claim.subject)
        )
        for claim in _read(text[:LONGEST], language)
    ]


def _read(text: str, language: str) -> list[Claim]:
    readers = {"ja": japanese_claims, "zh": chinese_claims, "en": english_claims}
    code = read_as(text, language)
    return claims_with_quotations(text, code, readers[code])


def without_form(text: str, language: str) -> str:
    """Return a text without the words that `claims_of` reads as negation, time and wish: what is left is its matter."""
    if has_kana(text) or (language == "ja" and not text.isascii()):
        return japanese_matter(text)
    return chinese_matter(text) if re.search(r"[\u3400-\u9fff]", text) else english_matter(text)
