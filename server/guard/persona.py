"""What is fixed of the persona, and sentences that leave it: another name, another word for "I", a forbidden topic."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from server.guard.lines import Spoken, filled, folded, has, signs
from server.memory.layers.character import character_of
from server.memory.layers.persona import Persona as LayeredPersona
from server.memory.terms import read_as

_FIRST_PERSONS_JA = (
    ("私", "わたし", "わたくし", "ワタシ"),
    ("僕", "ぼく", "ボク"),
    ("俺", "おれ", "オレ"),
    ("あたし", "アタシ"),
    ("わし", "ワシ"),
    ("うち", "ウチ"),
    ("自分",),
    ("吾輩", "我輩", "わがはい"),
    ("拙者",),
)
"""Words for "I", by what sounds the same. What is a common noun as well (うち, 自分) is never taken for a fault."""
_NOUNS_JA = frozenset({"うち", "ウチ", "自分"})
_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"]*\"")


_TOLD = re.compile(
    r"\b(?:sa(?:y|ys|id|ying)|told|tells?|asks?|asked|writes?|wrote|thinks?|thought|sings?|reads?|goes)\b.*",
    re.IGNORECASE,
)
"""What somebody else says: "the mouse said, I'm Max"."""
_NAME = re.compile(
    r"[A-Z][\w-]+|[ァ-ヶー]{2,}|(?<=名前は)[^。、「」\s]{1,12}|(?<=叫)[\u4e00-\u9fff]{1,6}"
)


@dataclass(frozen=True, slots=True)
class Persona:
    """The fields of a persona that the robot must keep to; an empty one asks for nothing."""

    names: tuple[str, ...] = ()
    """By which it may call itself, in any script."""
    first_person: str = ""
    """The Japanese word by which it calls itself, e.g. ``ぼく``."""
    forbidden_topics: tuple[str, ...] = ()
    """Words that must not come up."""


def persona_of(layers: LayeredPersona) -> Persona:
    """Return what of the Soul and the Identity a reply must not leave."""
    character = character_of(layers)
    free = [name for text in layers.free.values() for name in _NAME.findall(text or "")]
    first_person = next(iter(character.first_person), "")
    return Persona((*character.names, *free), first_person, character.forbidden_topics)


def leaves_persona(sentence: Spoken, persona: Persona) -> bool:
    """Say whether a sentence goes against what is fixed of a persona."""
    return (
        _has_other_name(sentence, persona)
        or _has_other_first_person(sentence, persona)
        or _is_on_forbidden_topic(sentence, persona)
    )


def _has_other_name(sentence: Spoken, persona: Persona) -> bool:
    if not persona.names:
        return False
    lists = signs("persona", sentence.language)
    for found in lists["named"].finditer(sentence.text):
        name = next((part for part in found.groups() if part), "")
        if name and not _is_own(name, persona) and _is_comparable(name, persona):
            return True
    if any(_is_another(name, sentence, persona) for name in _plain_names(sentence)):
        return True
    assistants = lists["assistants"].pattern
    am = filled("persona", "am", sentence.language, name=f"(?:{assistants})")
    claimed = am.search(sentence.text) if am else None
    return claimed is not None and not _is_own(claimed.group(), persona)


def _plain_names(sentence: Spoken) -> Iterator[str]:
    """Yield what stands behind a bare "I am", or alone as the answer to who it is, where it looks like a name."""
    lists = signs("persona", sentence.language)
    text = _TOLD.sub("", _QUOTED.sub("", sentence.text))
    sorts = ["plainly"]
    asks = signs("persona", read_as(sentence.question, sentence.language))["asks_name"]
    if "alone" in lists and not sentence.said and asks.search(folded(sentence.question)):
        sorts.append("alone")
    for sort in sorts:
        for found in lists[sort].finditer(text):
            yield from (part for part in found.groups() if part)


def _is_another(name: str, sentence: Spoken, persona: Persona) -> bool:
    if _is_own(name, persona) or not _is_comparable(name, persona):
        return False
    no_name = signs("persona", sentence.language)["no_name"]
    return no_name.fullmatch(name) is None


def _is_own(name: str, persona: Persona) -> bool:
    return any(own.casefold() in name.casefold() for own in persona.names)


def _is_comparable(name: str, persona: Persona) -> bool:
    """Say whether a name is written in a script that one of its own is written in: 奥莫 may well be Omo."""
    return any(_script(name) == _script(own) for own in persona.names)


def _script(name: str) -> str:
    if name.isascii():
        return "latin"
    return "kana" if re.search(r"[\u3040-\u30ff]", name) else "han"


def _has_other_first_person(sentence: Spoken, persona: Persona) -> bool:
    if not persona.first_person or sentence.language != "ja":
        return False
    other = _other_first_persons(persona.first_person)
    return other.search(_QUOTED.sub("", sentence.text)) is not None


@cache
def _other_first_persons(own: str) -> re.Pattern[str]:
    others = [
        word
        for words in _FIRST_PERSONS_JA
        if own not in words
        for word in words
        if word not in _NOUNS_JA
    ]
    return re.compile(
        rf"(?<![一-龠])(?:{'|'.join(others)})(?=[はがもをにのとで、って])(?!たち[がは]住む)"
    )


def _is_on_forbidden_topic(sentence: Spoken, persona: Persona) -> bool:
    if not persona.forbidden_topics or has("persona", "declines", sentence):
        return False
    return _any_of(persona.forbidden_topics).search(sentence.text) is not None


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    patterns = [rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in words]
    return re.compile("|".join(patterns), re.IGNORECASE)
