"""Numbers as people write and say them, and characters that are read as others."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

_FULL_WIDTH: Final = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}

FOLDED: Final[Mapping[int, str]] = _FULL_WIDTH | {
    0x3000: " ",
    0x00A0: " ",
    0x301C: "~",
    0x2019: "'",
    0x2013: "-",
    0x2014: "-",
    0x2212: "-",
    0x3007: "零",
}
"""Characters read as others, one for one: full-width digits, marks and blanks, the several dashes."""

_TRADITIONAL: Final = "週後點號個兩禮鐘過時間節國慶聖誕勞動這淩陽單雙母親兒婦現剛"
_SIMPLIFIED: Final = "周后点号个两礼钟过时间节国庆圣诞劳动这凌阳单双母亲儿妇现刚"

FOLDED_CHINESE: Final[Mapping[int, str]] = {
    **FOLDED,
    **{ord(old): new for old, new in zip(_TRADITIONAL, _SIMPLIFIED, strict=True)},
}

_DIGITS: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "两": 2,
    "〇": 0,
    "廿": 20,
}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}

KANJI: Final = "[零一二三四五六七八九十百千两]"
NUMBER: Final = rf"(?:[0-9]{{1,4}}|{KANJI}{{1,5}})"
"""A whole number up to 9999 in digits or in characters. Bounded, so that a long run of them costs no more than its length."""

ENGLISH_ONES: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS: Final = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]


def _english_numbers() -> dict[str, int]:
    known = {word: value for value, word in enumerate(ENGLISH_ONES)}
    for tens, word in enumerate(_TENS, start=2):
        known[word] = tens * 10
        for ones, one in enumerate(ENGLISH_ONES[1:10], start=1):
            known[f"{word}-{one}"] = known[f"{word} {one}"] = tens * 10 + ones
    return known | {"a": 1, "an": 1, "a couple of": 2, "a couple": 2, "couple of": 2}


def _english_ordinals() -> dict[str, int]:
    known = {word: value for value, word in enumerate(_ORDINALS, start=1)}
    for ones, word in enumerate(_ORDINALS[:9], start=1):
        known[f"twenty-{word}"] = known[f"twenty {word}"] = 20 + ones
    known["thirtieth"] = 30
    known["thirty-first"] = known["thirty first"] = 31
    return known


ENGLISH_NUMBERS: Final[Mapping[str, int]] = _english_numbers()
ENGLISH_ORDINALS: Final[Mapping[str, int]] = _english_ordinals()


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, the longest first.

    Words that begin alike share their beginning, so that a text is compared with it once: there are thousands of words
    in the patterns that every question is read with.
    """
    return _branches([*words])


def _branches(words: Collection[str]) -> str:
    """Return a pattern for any of some words, or for the empty one if it is among them and nothing longer matches."""
    by_first: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + _branches(rest) for first, rest in by_first.items()]
    if len(branches) == 1 and "" not in words:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if '' in words else ''}" if branches else ""


def to_number(written: str) -> int:
    """Return the value of digits or of characters: 12, 十二, 二十三, 二零二六.

    Raises:
        ValueError: It is no number.
    """
    if written.isascii():
        return int(written)
    if not any(char in _UNITS for char in written):
        return int("".join(str(_digit(char)) for char in written))
    total, pending = 0, 0
    for char in written:
        unit = _UNITS.get(char)
        if unit is None:
            pending = _digit(char)
        else:
            total += (pending or 1) * unit
            pending = 0
    return total + pending


def _digit(char: str) -> int:
    if char not in _DIGITS:
        message = "not a digit"
        raise ValueError(message)
    return _DIGITS[char]


def from_english(written: str) -> int:
    """Return the value of an English number or ordinal, in digits or words."""
    word = written.lower()
    known = ENGLISH_NUMBERS.get(word, ENGLISH_ORDINALS.get(word))
    if known is not None:
        return known
    return int("".join(char for char in word if char.isdigit()))
