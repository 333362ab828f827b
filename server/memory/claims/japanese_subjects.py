"""Reads who a Japanese clause is about: people and names by the particles behind them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER
from server.memory.terms import HONORIFICS, letters

_TOPICS = {"は", "も", "って"}
"""What they mark goes on into the next clause."""
_MARKS = {*_TOPICS, "が"}
_SELVES = {SPEAKER, LISTENER}
_PRONOUNS = {
    "私": SPEAKER, "僕": SPEAKER, "俺": SPEAKER, "うち": SPEAKER, "儂": SPEAKER, "貴方": LISTENER, "君": LISTENER, "御前": LISTENER,
    "彼": SOMEBODY, "彼奴": SOMEBODY, "此奴": SOMEBODY, "其奴": SOMEBODY,
}  # fmt: skip


@dataclass(slots=True)
class Subject:
    """Of whom a clause tells."""

    names: set[str] = field(default_factory=set)
    """As in `Claim.subject`."""
    told_of: set[str] = field(default_factory=set)
    """As in `Claim.told_of`."""
    goes_on: bool = False
    """Whether the next clause has it, too, if it has none of its own: は does, が does not."""


def read_subject(words: Sequence[Morpheme]) -> Subject:
    """Return whom the particles of a clause mark. Of 母の誕生日は it tells of the mother, but she is not the subject."""
    found = Subject()
    named: set[str] = set()
    is_owner = False
    for place, word in enumerate(words):
        surface = word.surface()
        after = words[place + 1].surface() if place + 1 < len(words) else ""
        somebody = _somebody(word, after, behind_name=bool(named))
        if somebody:
            named.add(somebody)
            is_owner = False
        elif surface in HONORIFICS or surface in ("の", "・", "達", "たち"):
            is_owner = surface == "の"
        elif is_owner and word.part_of_speech()[0] in ("名詞", "接尾辞", "接頭辞"):
            pass  # what the named one has
        else:
            if named and _is_mark(surface, after, opens=place == len(named)):
                _mark(found, named, surface, is_owner=is_owner)
            named, is_owner = set(), False
    return found


def _somebody(word: Morpheme, after: str, *, behind_name: bool) -> str:
    """Return the class of people, the name or the pronoun that a word is; empty if it is none."""
    surface, form = word.surface(), str(word.normalized_form())
    if behind_name and surface in HONORIFICS:
        return ""
    if form in _PRONOUNS:
        return _PRONOUNS[form]
    people = lexicon.persons("ja")
    classes = people.of(form) or people.of(surface)
    if classes:
        return classes[0]
    _, detail, more = word.part_of_speech()[:3]
    is_name = more == "人名" or (detail == "固有名詞" and (more != "地名" or after in HONORIFICS))
    is_pet = "pet" in lexicon.concepts("ja").of(form) and word.part_of_speech()[0] == "名詞"
    return letters(form) if is_name or is_pet else ""


def _is_mark(surface: str, after: str, *, opens: bool) -> bool:
    return (
        surface in _MARKS
        or (surface == "に" and after in ("は", "も"))
        or (surface == "、" and opens)  # 母、元気だよ
    )


def _mark(found: Subject, named: set[str], surface: str, *, is_owner: bool) -> None:
    others = named - _SELVES
    found.told_of |= others
    if not is_owner:
        found.names |= others or named
    found.goes_on = found.goes_on or surface != "が"
