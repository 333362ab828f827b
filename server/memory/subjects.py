"""Tells whether Japanese words are about a living being: いくつ asks the age of a daughter, and the number of eggs."""

from collections.abc import Sequence

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.terms import HONORIFICS, words_of

_BESIDE_THE_SUBJECT = {
    "助詞", "助動詞", "補助記号", "記号", "空白", "接頭辞", "接続詞", "感動詞", "副詞", "連体詞",
}  # fmt: skip

_MARKS_SUBJECT = {"は", "が", "も"}


def is_about_somebody(phrase: str) -> bool:
    """Say whether the last thing that a phrase names is a person or an animal; also if it names nothing at all."""
    for word in reversed(words_of(phrase)):
        part, detail, more = word.part_of_speech()[:3]
        if part in _BESIDE_THE_SUBJECT or more == "副詞可能":  # such as 今年
            continue
        is_named = detail == "固有名詞" and more != "地名"
        return is_named or word.surface() in HONORIFICS or _is_living(word)
    return True


def has_living_subject(sentence: str) -> bool:
    """Say whether a sentence tells what a person or an animal does or is: 娘は, おばあちゃんが, 妻とは."""
    words = words_of(sentence)
    return any(
        word.surface() in _MARKS_SUBJECT
        and word.part_of_speech()[0] == "助詞"
        and _names_somebody(
            words[place - 2 : place]
            if words[place - 1].surface() == "と"
            else words[place - 1 : place]
        )
        for place, word in enumerate(words[1:], start=1)
    )


def _names_somebody(words: Sequence[Morpheme]) -> bool:
    word = words[0] if words else None
    if word is None or word.part_of_speech()[0] in _BESIDE_THE_SUBJECT:
        return False
    is_named = word.part_of_speech()[2] == "人名"
    return is_named or word.surface() in HONORIFICS or _is_living(word)


def _is_living(word: Morpheme) -> bool:
    form = word.normalized_form()
    notions = lexicon.concepts("ja").of(form)
    return (
        form in lexicon.living()
        or bool(lexicon.persons("ja").of(form) or lexicon.persons("ja").of(word.surface()))
        or not {"pet", "age"}.isdisjoint(notions)
    )
