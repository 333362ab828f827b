"""The words that memory knows something about: people around the speaker, and everyday notions."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from server.memory.temporal.number_words import ENGLISH_NUMBERS, ENGLISH_ONES


@dataclass(
    frozen=True, slots=True, eq=False
)  # there is one of each: what is made of it can be kept by it
class Lexicon:
    """Classes of words in one language. Look a word up in its dictionary form, lower case."""

    words: dict[str, tuple[str, ...]]
    """Word to the classes that it belongs to."""
    phrases: dict[str, tuple[str, ...]]
    """Longer expression, as it stands in a text, to its classes."""

    def of(self, word: str) -> tuple[str, ...]:
        """Return the classes of a word; none if it is not known."""
        return self.words.get(word, ())

    def found_in(self, text: str) -> set[str]:
        """Return the classes of the phrases that occur in `text` (lower case)."""
        return {
            kind
            for phrase, kinds in self.phrases.items()
            if phrase in text and _stands_alone(phrase, text)
            for kind in kinds
        }


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C where PyYAML comes with it: the lists take it a tenth of the time."""


@cache
def written(name: str) -> Mapping[str, Any]:
    """Return a list as it stands in its file, read once for all languages. Nobody changes it.

    Args:
        name: Of the list, without the ending of its file.
    """
    text = (files(__package__) / f"{name}.yaml").read_text(encoding="utf-8")
    content: Mapping[str, Any] = yaml.load(text, Loader=_LOADER)
    return content


@cache
def persons(language: str) -> Lexicon:
    """Return the words for people (mother, friend, doctor …)."""
    return _sorted_out(written("persons"), language)


@cache
def concepts(language: str) -> Lexicon:
    """Return the words of everyday notions (food, work, travel …)."""
    return _sorted_out(written("concepts"), language)


@cache
def kinds(language: str) -> Lexicon:
    """Return words for things of one kind that are not one another: "animal/cat", "animal/dog"."""
    content = written("kinds")
    members = {
        f"{kind}/{member}": words
        for kind, group in content.items()
        for member, words in group.items()
    }
    return _sorted_out(members, language, is_long_phrase=True)


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the words that are grammar only. In Japanese the tokenizer tells them by their part of speech."""
    return _word_list(language, "function")


@cache
def frame_words(language: str) -> frozenset[str]:
    """Return the words that questions and statements are wrapped in, whatever they are about."""
    return _word_list(language, "frame")


@cache
def irregular_verbs() -> Mapping[str, str]:
    """Return irregular forms of English verbs with the plain form of each; a form may look the same."""
    content = written("words")
    return {form: verb for verb, forms in content["en"]["irregular"].items() for form in forms}


def base_form(word: str) -> str:
    """Return an English verb without the marks of person and tense if they are irregular: sold is sell."""
    return irregular_verbs().get(word.lower(), word.lower())


@cache
def living() -> frozenset[str]:
    """Return Japanese words for people and animals, beside those of `persons` and the pets of `concepts`."""
    return _word_list("ja", "living")


_WIDER = {
    "mother": "parents",
    "father": "parents",
    "older_sister": "sister",
    "younger_sister": "sister",
    "older_brother": "brother",
    "younger_brother": "brother",
    "husband": "partner",
    "wife": "partner",
    "son": "child",
    "daughter": "child",
}
"""Classes of people that are part of a wider one."""
KIN = frozenset(_WIDER) | {
    "parents", "sister", "brother", "child", "partner", "grandmother", "grandfather", "grandchild", "uncle", "aunt",
    "cousin", "nephew", "niece",
}  # fmt: skip
"""Classes of which everybody has few: what is known of one tells nothing of another."""


def may_be_among(persons: Set[str], others: Set[str]) -> set[str]:
    """Return those classes of people that may mean somebody in `others`: a sister may be the older one, a brother never is."""
    return {one for one in persons if any(_are_one(one, other) for other in others)}


def are_other_kinds(some: Set[str], others: Set[str]) -> bool:
    """Say whether two sets of `kinds` name things of one kind, and none of it in both: a cat and a dog."""
    groups = {one.partition("/")[0] for one in some} & {one.partition("/")[0] for one in others}
    return any(not any(one.startswith(f"{group}/") for one in some & others) for group in groups)


def _are_one(person: str, other: str) -> bool:
    return person == other or _WIDER.get(person) == other or _WIDER.get(other) == person


_COUNTED = {word: str(ENGLISH_NUMBERS[word]) for word in ENGLISH_ONES[:13]}
_NUMBERS = {**_COUNTED, "once": "1", "twice": "2", "thrice": "3"}


def number(word: str) -> str:
    """Return an English number word or a number in digits, else nothing."""
    return word if word[:1].isdigit() else _NUMBERS.get(word, "")


def _word_list(language: str, sort: str) -> frozenset[str]:
    return frozenset(written("words")[language][sort])


def _sorted_out(
    content: Mapping[str, Mapping[str, Sequence[str]]],
    language: str,
    *,
    is_long_phrase: bool = False,
) -> Lexicon:
    """Part words from phrases.

    With `is_long_phrase` a Japanese word of three signs or more is looked for as a phrase, so that it is found however
    it is cut: the name of a thing is hardly a part of other words.
    """
    words: dict[str, tuple[str, ...]] = {}
    phrases: dict[str, tuple[str, ...]] = {}
    for kind, by_language in content.items():
        for word in by_language.get(language, ()):
            is_phrase = _is_phrase(word, language) or (
                is_long_phrase and language == "ja" and len(word) > _SHORT
            )
            shelf = phrases if is_phrase else words
            shelf[word] = (*shelf.get(word, ()), kind)
    return Lexicon(words, phrases)


_SHORT = 2


def _is_phrase(word: str, language: str) -> bool:
    """Say whether a tokenizer would cut `word` into several words."""
    if language == "en":
        return not word.isalpha()
    if language == "zh":
        return True
    return (
        bool(
            re.search(
                r"ない|れない|けない|ちゃだめ|予定|やること|なりたい|したい|何する|行く", word
            )
        )
        and len(word) > 2
    )


def _stands_alone(phrase: str, text: str) -> bool:
    if not phrase.isascii():
        return True
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
