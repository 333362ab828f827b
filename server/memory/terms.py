"""Cuts a text into the terms that carry its meaning: words by dictionary form, people, names, numbers, notions.

Questions and facts go through the same function, so that they can be compared term by term.
"""

import re
import threading
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Literal

import Stemmer
from sudachipy import Dictionary, Morpheme, SplitMode, Tokenizer

from server.memory import lexicon
from server.memory.temporal.english_words import WEEKDAYS


class TermKind(StrEnum):
    """What a term is."""

    WORD = "word"
    NAME = "name"
    PERSON = "person"
    """A class of people, e.g. mother."""
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Term:
    """One meaningful word."""

    key: str
    """What has to be equal: dictionary form or stem; the class for a person."""
    sound: str
    """How it is said (katakana) or spelt: what a recogniser's error leaves similar."""
    kind: TermKind
    weight: float
    """From 0 to 1: how much it says, whatever its frequency."""


@dataclass(frozen=True)  # without slots, as what is asked for again and again is worked out once
class Analysis:
    """The meaning of a text, as far as words show it."""

    terms: tuple[Term, ...]
    notions: frozenset[str]
    """Everyday notions that it touches, e.g. food."""
    negated: bool
    """Whether the main statement is a negation."""
    places: frozenset[str] = frozenset()
    """Names of places, by sound."""
    proper: frozenset[str] = frozenset()
    """What else has a name of its own (people, pets, shops, things), by sound."""
    kinds: frozenset[str] = frozenset()
    """What it names of things that are told apart by kind, e.g. "animal/cat"."""

    @cached_property
    def persons(self) -> frozenset[str]:
        """Classes of people that it mentions."""
        return frozenset(term.key for term in self.terms if term.kind is TermKind.PERSON)

    @cached_property
    def names(self) -> frozenset[str]:
        """Proper names, by sound."""
        return frozenset(term.sound for term in self.terms if term.kind is TermKind.NAME)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Numbers."""
        return frozenset(term.key for term in self.terms if term.kind is TermKind.NUMBER)

    @cached_property
    def forms(self) -> frozenset[str]:
        """Keys and sounds of all terms: a word of another text that is among them is the same word."""
        return frozenset(form for term in self.terms for form in (term.key, term.sound))


def analyse(text: str, language: str) -> Analysis:
    """Cut a text into terms. Time expressions should be taken out before: they are compared as dates.

    Args:
        text: Normalized (`server.query.normalize`).
        language: Two-letter code; the script of the text wins where they disagree.
    """
    readers = {"ja": _japanese, "zh": _chinese, "en": _english}
    return readers[read_as(text, language)](text)


def read_as(text: str, language: str) -> Literal["ja", "zh", "en"]:
    """Return the language by whose rules a text is read: its script wins where it disagrees with `language`."""
    if has_kana(text):
        return "ja"
    if re.search(r"[\u3400-\u9fff]", text):
        return "ja" if language == "ja" else "zh"
    return "en"


TELLING = 0.5
"""Weight of a term from which it is more than the frame of what is said: pairs of Chinese characters included."""


# Japanese -------------------------------------------------------------------------------------------------------------

HONORIFICS = {"さん", "ちゃん", "君", "くん", "様", "先生"}
_SILENT_JA = {
    "助詞", "助動詞", "補助記号", "記号", "空白", "接頭辞", "接続詞", "感動詞", "連体詞", "代名詞",
}  # fmt: skip
_WORKS_AS_JA = re.compile(
    r"[一-龠ァ-ヶー](?:(?<!恩)師|(?<!紳)(?<!同)(?<!武)士|員|官|(?<!我)(?<!実)(?<!借)家|(?<!若)(?<!患)者|屋|長|マン|ニア|ナー|ター)(?:として|を(?:し|や)(?:て|っ))"
)
"""How people tell what they do without a word for work: 看護師をしている."""
_CALLED_JA = re.compile(r"(?:という|と言う|っていう|って)(?:名前の|名の)?([一-龠ァ-ヶー]{1,4})")
"""How they tell a name without a word for it: ペッパーという猫."""
_QUOTED_JA = re.compile(r"[「『]([^「」『』]{1,20})[」』]")


class _Sudachi(threading.local):
    """A tokenizer for each thread: it has a buffer of its own."""

    def __init__(self) -> None:
        self.tokenizer: Tokenizer = _dictionary().tokenizer(mode=SplitMode.A)


@cache
def _dictionary() -> Dictionary:
    return Dictionary(dict="core")


@cache
def _sudachi() -> _Sudachi:
    return _Sudachi()


def has_kana(text: str) -> bool:
    """Say whether a text is Japanese by its script."""
    return re.search(r"[\u3040-\u30ff]", text) is not None


def words_of(text: str) -> list[Morpheme]:
    """Cut Japanese into words, with their parts of speech."""
    return [*_sudachi().tokenizer.tokenize(text[:_LONGEST])]


def _japanese(text: str) -> Analysis:
    morphemes = words_of(text)
    people, notions, kinds = lexicon.persons("ja"), lexicon.concepts("ja"), lexicon.kinds("ja")
    terms: list[Term] = []
    places: set[str] = set()
    proper = set(_QUOTED_JA.findall(text))
    touched, named = set(notions.found_in(text)), set(kinds.found_in(text))
    if _WORKS_AS_JA.search(text):
        touched.add("work")
    called = {
        match.start()
        for match in _CALLED_JA.finditer(text)
        if people.of(match[1]) or "pet" in notions.of(match[1])
    }
    if called:
        touched.add("name")
    for place, morpheme in enumerate(morphemes):
        following = morphemes[place + 1].surface() if place + 1 < len(morphemes) else ""
        term = _japanese_term(morpheme, following, people)
        for form in (morpheme.normalized_form(), morpheme.surface()):
            touched.update(notions.of(form))
            named.update(kinds.of(form))
        if term is None:
            continue
        terms.append(term)
        _, detail, more = morpheme.part_of_speech()[:3]
        if more == "地名":
            places.add(term.sound)
        elif (
            morpheme.end() in called
            or detail == "固有名詞"
            or term.kind is TermKind.NAME
            or morpheme.surface().isascii()
        ):
            proper.add(term.sound)
    return Analysis(
        tuple(terms),
        frozenset(touched),
        _is_negated_ja(morphemes),
        frozenset(places),
        frozenset(proper),
        frozenset(named),
    )


def _japanese_term(morpheme: Morpheme, following: str, people: lexicon.Lexicon) -> Term | None:
    part, detail, more = morpheme.part_of_speech()[:3]
    form, surface = morpheme.normalized_form().casefold(), morpheme.surface()
    classes = people.of(form) or people.of(surface)
    if classes:
        return Term(classes[0], classes[0], TermKind.PERSON, 1.0)
    if part in _SILENT_JA or (part == "接尾辞" and surface in HONORIFICS) or not surface.strip():
        return None
    if detail == "数詞":
        return Term(letters(form), letters(form), TermKind.NUMBER, 0.5)
    sound = morpheme.reading_form() or surface
    if surface.isascii():
        return _latin_term(surface)
    if more == "人名" or (detail == "固有名詞" and following in HONORIFICS):
        return Term(form, sound, TermKind.NAME, 1.0)
    return Term(form, sound, TermKind.WORD, _weight_ja(part, detail, form))


def _weight_ja(part: str, detail: str, form: str) -> float:
    if form in lexicon.frame_words("ja") or part in ("接尾辞",):
        return 0.1
    if detail == "非自立可能" and part == "動詞":
        return 0.2
    return 1.0 if part == "名詞" else 0.6


def _is_negated_ja(morphemes: list[Morpheme]) -> bool:
    return any(
        morpheme.normalized_form() in ("ない", "無い", "ぬ", "ず") for morpheme in morphemes[-4:]
    )


# English --------------------------------------------------------------------------------------------------------------

_NEGATION_EN = re.compile(r"\b(?:not|no|never|n't|cannot|\w+n't|no longer|without)\b")
_BEFORE_PLACE_EN = re.compile(r"\b(?:in|at|to|from|near|on|of) (?:the )?(?:[A-Z][\w'-]* )*$")
_WORD_EN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+(?:[.,:]\d+)*")
_NEVER_NAMES = {
    "i", "i'm", "i've", "i'll", "i'd", "ok", "tv", "mr", "mrs", "ms", "dr",
    *WEEKDAYS, *(f"{day}s" for day in WEEKDAYS),
}  # fmt: skip


class _English(threading.local):
    """A stemmer for each thread: it has a cache of its own."""

    def __init__(self) -> None:
        self.stemmer = Stemmer.Stemmer("english")


@cache
def _stemmer() -> _English:
    return _English()


def _english(text: str) -> Analysis:
    text = re.sub(r"-in-laws?\b", "inlaw", text[:_LONGEST].replace("’", "'"))
    notions, kinds = lexicon.concepts("en"), lexicon.kinds("en")
    terms: list[Term] = []
    places: set[str] = set()
    proper: set[str] = set()
    touched = set(notions.found_in(text.casefold()))
    named = set(kinds.found_in(text.casefold()))
    starts_sentence = True
    for match in _WORD_EN.finditer(text):
        word = match.group()
        term = _english_term(word, starts_sentence)
        starts_sentence = text[match.end() : match.end() + 1] in (".", "!", "?")
        touched.update(_classes_en(notions, word))
        named.update(_classes_en(kinds, word))
        if term is None:
            continue
        terms.append(term)
        if term.kind is TermKind.NAME:
            (places if _BEFORE_PLACE_EN.search(text[: match.start()]) else proper).add(term.sound)
    return Analysis(
        tuple(terms),
        frozenset(touched),
        _NEGATION_EN.search(text.casefold()) is not None,
        frozenset(places),
        frozenset(proper),
        frozenset(named),
    )


def _english_term(word: str, starts_sentence: bool) -> Term | None:
    low = word.casefold().removesuffix("'s")
    classes = _classes_en(lexicon.persons("en"), low)
    if classes:
        return Term(classes[0], classes[0], TermKind.PERSON, 1.0)
    if low in lexicon.function_words("en"):
        return None
    number = lexicon.number(low)
    if number:
        return Term(number, number, TermKind.NUMBER, 0.5)
    if word[0].isupper() and not starts_sentence and low not in _NEVER_NAMES:
        return Term(stem(low), low, TermKind.NAME, 1.0)
    return _latin_term(low)


def _latin_term(word: str) -> Term:
    low = word.casefold()
    return Term(stem(low), low, TermKind.WORD, 0.1 if low in lexicon.frame_words("en") else 1.0)


def _classes_en(words: lexicon.Lexicon, word: str) -> tuple[str, ...]:
    low = word.casefold().removesuffix("'s")
    return words.of(low) or words.of(_singular(low)) or _stemmed(words).get(stem(low), ())


@cache
def _stemmed(words: lexicon.Lexicon) -> dict[str, tuple[str, ...]]:
    return {stem(word): kinds for word, kinds in words.words.items()}


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") else word


def stem(word: str) -> str:
    """Return the stem of an English word."""
    return str(_stemmer().stemmer.stemWord(word))


def verb_stem(word: str) -> str:
    """Return what all forms of an English verb have in common, also of an irregular one."""
    return stem(lexicon.base_form(word))


# Chinese --------------------------------------------------------------------------------------------------------------


def _chinese(text: str) -> Analysis:
    """Cut into pairs of characters, none of them a function word: no dictionary is needed."""
    text = text[:_LONGEST]
    people = lexicon.persons("zh")
    terms = [Term(kind, kind, TermKind.PERSON, 1.0) for kind in sorted(people.found_in(text))]
    for run in re.findall(r"[\u3400-\u9fff]+", text):
        pairs = [run[place : place + 2] for place in range(len(run) - 1)]
        terms += [
            Term(pair, pair, TermKind.WORD, 0.5)
            for pair in pairs
            if not lexicon.function_words("zh").intersection(pair) and not people.phrases.get(pair)
        ]
    terms += [_latin_term(word) for word in re.findall(r"[A-Za-z]+", text)]
    terms += [Term(number, number, TermKind.NUMBER, 0.5) for number in re.findall(r"\d+", text)]
    negated = re.search(r"不|没|別|别", text) is not None
    notions, named = lexicon.concepts("zh").found_in(text), lexicon.kinds("zh").found_in(text)
    return Analysis(tuple(terms), frozenset(notions), negated, kinds=frozenset(named))


_DIGITS = str.maketrans("〇一二三四五六七八九", "0123456789")

_LONGEST = 2_000
"""Characters that are looked at; facts and questions are far shorter."""


def reading(text: str) -> str:
    """Return Japanese text in katakana, as it is read."""
    return "".join(word.reading_form() or word.surface() for word in words_of(text))


def letters(text: str) -> str:
    """Return the letters and digits of `text`, folded: what is left when spelling habits are taken away."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_DIGITS)
    return "".join(character for character in plain if character.isalnum())
