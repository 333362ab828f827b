"""Finds rows of digits in what somebody says, however speech recognition writes them: 4111, "four one one one", 四一一一."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAMES = {
    "0": "zero|oh|o|ゼロ|れい|まる|零|〇|０",
    "1": "one|いち|イチ|一|幺|壱|１",
    "2": "two|にい(?!ち)|に|ニ|二|两|２",
    "3": "three|さん|サン|三|３",
    "4": "four|よん|ヨン|し|四|４",
    "5": "five|ごお(?!く)|ご|ゴ|五|５",
    "6": "six|ろく|ロク|六|６",
    "7": "seven|なな|しち|ナナ|七|７",
    "8": "eight|はち|ハチ|八|８",
    "9": "nine|きゅう|キュウ|く|九|９",
}
_DIGITS = {
    name.partition("(")[0]: digit for digit, names in _NAMES.items() for name in names.split("|")
}
_DIGITS |= {digit: digit for digit in _NAMES}
_LATIN = "|".join(name for name in _DIGITS if name.isascii() and name.isalpha())
_ALL = "|".join(_NAMES.values()).split("|") + list(_NAMES)
_OTHER = "|".join(
    sorted((name for name in _ALL if not (name.isascii() and name.isalpha())), key=len)[::-1]
)
_ONE = rf"(?:\b(?P<times>double|triple) )?(?:\b(?P<word>{_LATIN})\b|(?P<sign>{_OTHER}))"
_TOKEN = re.compile(_ONE, re.IGNORECASE)
_BETWEEN = re.compile(r"[ \-－―‐,，、.・]{0,2}の?[ ]?")
_PLACES = re.compile(r"[十百千万億兆]|\b(?:hundred|thousand|million|dozen)\b", re.IGNORECASE)
_OFTEN = {"double": 2, "triple": 3}


class DigitRow(NamedTuple):
    """Digits one behind the other, and where they stand."""

    digits: str
    start: int
    end: int


def digit_rows(text: str, fewest: int) -> Iterator[DigitRow]:
    """Return the rows of at least so many digits. What is counted (千二百) is a number, and no row."""
    digits, start, end = "", 0, -1
    for match in _TOKEN.finditer(text):
        digit = _DIGITS[(match["word"] or match["sign"]).lower()]
        goes_on = bool(digits) and _BETWEEN.fullmatch(text, end, match.start()) is not None
        if not goes_on:
            if len(digits) >= fewest:
                yield DigitRow(digits, start, end)
            digits, start = "", match.start()
        digits += digit * _OFTEN.get((match["times"] or "").lower(), 1)
        end = match.end()
    if len(digits) >= fewest:
        yield DigitRow(digits, start, end)


def is_counted(text: str, row: DigitRow) -> bool:
    """Say whether a row is part of a number that is counted: 三千 or 一百, or of a date or an amount."""
    around = text[max(0, row.start - 1) : row.start] + text[row.end : row.end + 1]
    return _PLACES.search(around) is not None
