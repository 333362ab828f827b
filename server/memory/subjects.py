"""Tells whether a Japanese phrase is about a living being: いくつ asks the age of a daughter, and the number of eggs."""

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.terms import HONORIFICS, words_of

_BESIDE_THE_SUBJECT = {
    "助詞", "助動詞", "補助記号", "記号", "空白", "接頭辞", "接続詞", "感動詞", "副詞", "連体詞",
}  # fmt: skip


def is_about_somebody(phrase: str) -> bool:
    """Say whether the last thing that a phrase names is a person or an animal; also if it names nothing at all."""
    for word in reversed(words_of(phrase)):
        part, detail, more = word.part_of_speech()[:3]
        if part in _BESIDE_THE_SUBJECT or more == "副詞可能":  # such as 今年
            continue
        is_named = detail == "固有名詞" and more != "地名"
        return is_named or word.surface() in HONORIFICS or _is_living(word)
    return True


def _is_living(word: Morpheme) -> bool:
    form = word.normalized_form()
    notions = lexicon.concepts("ja").of(form)
    return (
        form in lexicon.living()
        or bool(lexicon.persons("ja").of(form) or lexicon.persons("ja").of(word.surface()))
        or not {"pet", "age"}.isdisjoint(notions)
    )
