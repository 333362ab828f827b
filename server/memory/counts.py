"""Which number belongs to which noun: two cats and three dogs are not three cats and two dogs."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.temporal.number_words import ENGLISH_NUMBERS, KANJI, alternatives, to_number
from server.memory.terms import has_kana, stem, words_of

_WORD_EN = re.compile(r"[^\W\d_][\w'-]*|\d+(?:[.,:]\d+)*|[.,;!?]")
_NUMBER_EN = rf"\b{alternatives({word: 0 for word in ENGLISH_NUMBERS if len(word) > 2})}\b"
_KANJI_RUN = re.compile(rf"{KANJI}{{2,}}")
"""A number that is cut wrongly as it stands: 三十分 is no 十分."""
_PEOPLE_JA = re.compile(rf"([0-9]|{KANJI})人")
"""A number of people that is one word."""
_REACH = 3
"""Words between a number and its noun."""
_COUNT_ZH = re.compile(
    rf"([0-9]+|{KANJI}+)(?:[个只条本块元名口位台辆张件杯瓶把间套颗])?([\u3400-\u9fffA-Za-z]?)"
)


def counted(text: str, language: str) -> dict[str, set[str]]:
    """Return the numbers of each noun that has one; a text without times, which are compared otherwise."""
    if has_kana(text) or language == "ja":
        pairs = _japanese(text)
    elif re.search(r"[\u3400-\u9fff]", text):
        pairs = _chinese(text)
    else:
        pairs = _english(text)
    found: dict[str, set[str]] = {}
    for noun, number in pairs:
        found.setdefault(noun, set()).add(number)
    return found


def numbers_in(text: str, language: str) -> set[str]:
    """Return all numbers of a text in figures, however they are written: twenty and 二十 are 20."""
    found = {_figures(number) for number in re.findall(rf"[0-9]+|{KANJI}+", text)}
    if language == "en" or text.isascii():
        words = re.sub(r"[^a-z -]", " ", text.lower())
        found |= {str(ENGLISH_NUMBERS[word]) for word in re.findall(_NUMBER_EN, words)}
    return found


def _english(text: str) -> Iterator[tuple[str, str]]:
    words = _WORD_EN.findall(text.lower())
    for place, word in enumerate(words):
        number = lexicon.number(word)
        if not number:
            continue
        for after in words[place + 1 : place + 1 + _REACH]:
            if not after[0].isalpha() or lexicon.number(after):
                break
            if after not in lexicon.function_words("en"):
                yield stem(after), number
                break


def _japanese(text: str) -> Iterator[tuple[str, str]]:
    """Read 犬を二匹 and 二匹の犬."""
    words = words_of(_KANJI_RUN.sub(lambda run: _figures(run.group()), text))
    last, figures = "", ""
    for place, word in enumerate(words):
        part, detail = word.part_of_speech()[:2]
        after = words[place + 1] if place + 1 < len(words) else None
        people = _PEOPLE_JA.fullmatch(word.surface())
        if detail == "数詞" or people:
            figures += people.group(1) if people else word.surface()
            if after is not None and after.part_of_speech()[1] == "数詞":
                continue
            name = _behind(words[place + 1 : place + 4]) or last
            if name:
                yield name, _figures(figures)
            figures = ""
        elif part == "名詞" and (place == 0 or words[place - 1].part_of_speech()[1] != "数詞"):
            last = word.normalized_form()


def _behind(words: Sequence[Morpheme]) -> str:
    """Return the noun that の leads to: 匹の犬."""
    for word, after in pairwise(words):
        if word.surface() == "の":
            return str(after.normalized_form())
    return ""


def _chinese(text: str) -> Iterator[tuple[str, str]]:
    for match in _COUNT_ZH.finditer(text):
        if match.group(2):
            yield match.group(2), _figures(match.group(1))


def _figures(written: str) -> str:
    return (
        written
        if written.isascii() or not re.fullmatch(f"{KANJI}+", written)
        else str(to_number(written))
    )
