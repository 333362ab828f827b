"""Reads who an English clause is about."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.memory import lexicon
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER
from server.memory.claims.english_verbs import is_verb_like
from server.memory.claims.english_words import OWN, OWNERS, PREPOSITIONS, REPORTS, SKIPPED, THINGS
from server.memory.terms import TermKind, analyse, letters, verb_stem

_NOBODY: frozenset[str] = frozenset()
_PRONOUNS = {
    "i": SPEAKER, "we": SPEAKER, "you": LISTENER, "he": SOMEBODY, "she": SOMEBODY,
}  # fmt: skip
_LONGEST_PHRASE = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """Of whom a clause tells."""

    names: frozenset[str]
    """As in `Claim.subject`."""
    told_of: frozenset[str]
    """As in `Claim.told_of`."""
    end: int
    """Words of the clause up to the end of it; 0 if there is none."""


def read_subject(words: Sequence[str]) -> Subject:
    """Return the first noun phrase or pronoun before the verb; times and places may stand before it."""
    place = 0
    while place < len(words):
        low = words[place].lower()
        if low in PREPOSITIONS:
            place = _behind_phrase(words, place)
            continue
        found = _subject_at(words, place)
        if found is not None:
            return found
        if is_verb_like(low):
            break
        place += 1
    return Subject(_NOBODY, _NOBODY, 0)


def _behind_phrase(words: Sequence[str], place: int) -> int:
    """Return the place behind "in", "my" and "opinion"."""
    place += 2
    while place < len(words) and words[place - 1].lower() in OWNERS:
        place += 1
    return place


def _subject_at(words: Sequence[str], place: int) -> Subject | None:
    low = words[place].lower()
    if low in _PRONOUNS:
        one = frozenset({_PRONOUNS[low]})
        return Subject(one, one & {SOMEBODY}, place + 1)
    if low in THINGS:
        return Subject(_NOBODY, _NOBODY, place + 1)
    if low in OWNERS and place + 1 < len(words):
        return _noun_phrase(words, place)
    return _named(words, place) if _is_name(words[place]) else None


def _named(words: Sequence[str], place: int) -> Subject:
    """Read a subject that looks like a name. Any word may begin a sentence: "nature makes me calm" tells of nobody."""
    low = words[place].lower()
    names = frozenset({letters(low), verb_stem(low)})
    if place:
        return Subject(names, names, place + 1)
    moves_speaker = not {"me", "us"}.isdisjoint(word.lower() for word in words)
    reports = REPORTS.search(" ".join(words[1:3])) is not None
    return Subject(_NOBODY if moves_speaker and not reports else names, _NOBODY, 1)


def _noun_phrase(words: Sequence[str], start: int) -> Subject:
    """Read "my mother", "my friend Ken", "my mother's birthday", "the car"."""
    end = start + 2
    while end < min(len(words), start + _LONGEST_PHRASE) and not _ends_phrase(words[end].lower()):
        end += 1
    phrase = words[start:end]
    found = analyse(" ".join([phrase[0].lower(), *phrase[1:]]), "en")
    people = found.persons | {letters(name.removesuffix("'s")) for name in found.names}
    is_theirs = any(word.lower().endswith("'s") for word in phrase)
    is_subject = phrase[0].lower() in OWN and not is_theirs
    pets = {letters(word) for word in phrase if "pet" in lexicon.concepts("en").of(word.lower())}
    return Subject(people | pets if is_subject else _NOBODY, people, end)


def _ends_phrase(low: str) -> bool:
    return is_verb_like(low) or low in SKIPPED | PREPOSITIONS


def _is_name(word: str) -> bool:
    low = word.lower()
    is_common = low in SKIPPED | lexicon.function_words("en") | lexicon.frame_words("en")
    if not word[0].isupper() or is_common or low.endswith("ing"):
        return False
    terms = analyse(f"x {word}", "en").terms  # not at the beginning, where capitals say nothing
    return bool(terms) and terms[-1].kind is TermKind.NAME
