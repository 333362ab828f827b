"""How words sound: what a recogniser leaves similar when it gets the spelling wrong."""

from functools import lru_cache

from server.memory.terms import letters, reading

_KANA = str.maketrans("ァィゥェォッャュョヮヂヅ", "アイウエオツヤユヨワジズ", "ー")
_SHORTEST = {"ja": 3, "zh": 2}
"""Length from which a sound inside another is no coincidence."""
_SHORTEST_LATIN = 5


def sound(text: str, language: str) -> str:
    """Return a text as it sounds, without gaps: katakana for Japanese, letters otherwise."""
    return folded(reading(text)) if language == "ja" else letters(text)


def folded(word_sound: str) -> str:
    """Return the sound of a word as `sound` writes it."""
    return letters(word_sound).translate(_KANA) if not word_sound.isascii() else letters(word_sound)


@lru_cache(maxsize=100_000)
def likeness(one: str, other: str) -> float:
    """Return how alike two words sound, from 0 to 1: Dice coefficient of pairs of letters, nothing under one half."""
    if one == other:
        return 1.0
    if min(len(one), len(other)) < 3:
        return 0.0
    pairs, others = _pairs(one), _pairs(other)
    share = 2 * len(pairs & others) / (len(pairs) + len(others))
    return share if share >= 0.5 else 0.0


def occurs_in(word_sound: str, text_sound: str, language: str) -> float:
    """Return how surely a word is heard inside a longer sound, from 0 to 1.

    A long word may be heard with an error: most of its pairs of letters have to be there.
    """
    wanted = folded(word_sound)
    shortest = _SHORTEST.get(language, _SHORTEST_LATIN)
    if len(wanted) < shortest:
        return 0.0
    if wanted in text_sound:
        return min(1.0, len(wanted) / 5)
    if len(wanted) <= shortest:
        return 0.0
    pairs = _inner_pairs(wanted)
    share = len(pairs & _inner_pairs(text_sound)) / len(pairs)
    return share * min(1.0, len(wanted) / 7) if share >= _HEARD_SHARE else 0.0


_HEARD_SHARE = 0.65


@lru_cache(maxsize=20_000)
def _inner_pairs(sound_: str) -> frozenset[str]:
    return frozenset(sound_[place : place + 2] for place in range(len(sound_) - 1))


def _pairs(word: str) -> frozenset[str]:
    return _inner_pairs(f"_{word}_")
