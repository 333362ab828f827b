"""Whose situation words tell of: the speaker's own, or that of somebody else whom the sentence names.

"My mother has diabetes" tells nothing of the speaker's health. The rules look at one sentence: the subject that was named
last before the words is theirs; in Japanese, where the speaker is left out, nobody else may be named before or behind.
"""

import re
from collections.abc import Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from server.memory import lexicon
from server.memory.claims import claims_of
from server.memory.statements import in_earnest
from server.memory.terms import analyse, letters

_NEAR_SHARE = 0.5
"""Part of a quote that must stand in a sentence in one piece, where the model mended its spelling."""

_SELF = {
    "ja": r"(?:私|わたし|わたくし|僕|ぼく|俺|おれ|あたし|わし|うち|自分)(?:たち)?(?:は|が|も|って|の|に|、)",
    "en": r"\b(?:i|me|my|mine|we|us|our)\b",
    "zh": r"[我咱]们?的?",
}
_THEY = {
    "ja": r"(?:彼女?|あの[人子方]|その[人子方])(?:は|が|も|って|の)",
    "en": r"\b(?:he|she|they|his|her|their)\b",
    "zh": r"[他她它]们?",
}
_PARTICLE_JA = (
    r"(?:さん|ちゃん|くん|様)?(?:の[一-龠々ァ-ヶー]{1,8}){0,3}(?:は|が|も|って|には|にも)"
)
_NAMED_JA = re.compile(
    rf"(?P<head>[一-龠々ァ-ヶーA-Za-z]{{1,8}}?)(?:さん|ちゃん|くん|君|先生)?{_PARTICLE_JA}"
)
_NAMED_EN = re.compile(
    r"\b(?P<head>(?!(?:I|It|That|This|There|What|He|She|They|We|You|My|Our|Who|And|But|So)\b)[A-Z][a-z]+)"
    r"(?='s\b|\ (?:is|was|has|had|lives|works|takes|likes|loves|hates|got|can't|doesn't|says|said|told|went)\b)"
)
_SCOPE_ENDS_JA = re.compile(r"(?:ので|から|けれど|けど|のに|たら|れば|とき|時|し)、?")
"""Behind it, a subject that was marked with が no longer holds."""
_CLOSE = lexicon.KIN | {"friend", "neighbour", "colleague", "classmate", "roommate", "pet"}
"""Of whom one speaks as "a cousin"; "a nurse" may be the speaker."""
_BESIDE_EN = "".join(
    rf"(?<!\b{word}\ )" for word in ("with", "for", "to", "from", "at", "of", "like")
)
_BESIDE_ZH = "和跟与同给对像"
_DENIED_BEHIND = {
    "ja": re.compile(
        r"(?:じゃ|では|でも|には|にも|に|は|が|も|を|で)?(?:[一-龠][ぁ-ん]{0,6}?)?(?:な[いかく]|(?:あり|[しきちりみびぎべれい])?ません)"
    ),
    "en": re.compile(r"[^.;]*\b(?:any ?more|no longer)\b", re.IGNORECASE),
    "zh": re.compile(r"[的都也]?[不没]"),
}
_DENIED_BEFORE = {
    "en": re.compile(r"\b(?:not|no|never|without|\w+n't|cannot)\b", re.IGNORECASE),
    "zh": re.compile(r"[不没無无别]"),
}


@dataclass(frozen=True, slots=True)
class _Subject:
    """Somebody whom a sentence names."""

    head: str
    """The word for somebody else; empty for the speaker."""
    end: int
    """Where the mention ends in the sentence."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """How one language names somebody."""

    people: re.Pattern[str]
    subjects: re.Pattern[str]
    """Mentions of others (group "other") and of the speaker, as subjects or owners."""
    owner: re.Pattern[str] | None
    """What ends in front of words that are somebody's."""
    described: re.Pattern[str] | None
    """What begins behind words that describe somebody: "who lives in"."""
    inverted: re.Pattern[str] | None
    """The subject at the end of a sentence."""


def sentences_around(quote: str, said: str) -> list[str]:
    """Return the sentences of a turn that a quote was taken from; none if it stands nowhere in it, or in a joke only."""
    wanted = letters(quote)
    told = [(sentence, letters(sentence)) for sentence in in_earnest(said)]
    if not wanted or not told:
        return []
    found = [sentence for sentence, key in told if key and (wanted in key or key in wanted)]
    if found:
        return found
    shared = {sentence: _longest_shared(wanted, key) for sentence, key in told}
    nearest = max(shared, key=lambda sentence: shared[sentence])
    return [nearest] if shared[nearest] >= _NEAR_SHARE * len(wanted) else []


def other_before(sentence: str, place: int, language: str) -> str:
    """Return the word for somebody else who is the subject at a place in a sentence; empty if it is the speaker."""
    subject = _subject_before(sentence, place, language)
    return subject.head if subject is not None else ""


def is_of_speaker(words: str, sentence: str, language: str) -> bool:
    """Say whether a sentence tells words of the speaker, and not of a relative, a pet or somebody with a name.

    Args:
        words: What is told; words that do not stand in the sentence as they are count as its last ones.
        sentence: Of the speaker.
        language: Of the sentence; one without rules is read as English.
    """
    start, end = place_of(words, sentence)
    rules = _rules(language)
    subject = _subject_before(sentence, start, language)
    if subject is not None and subject.head:
        return False
    if rules.owner is not None and rules.owner.search(sentence[:start]):
        return False
    behind = sentence[end:]
    if rules.described is not None and rules.described.match(behind):
        return False
    return subject is not None or rules.inverted is None or rules.inverted.search(behind) is None


def is_denied(words: str, sentence: str, language: str) -> bool:
    """Say whether a sentence says of words that they are *not* so, where the words do not say so themselves."""
    if analyse(words, language).negated:
        return False
    start, end = place_of(words, sentence)
    if _DENIED_BEHIND.get(language, _DENIED_BEHIND["en"]).match(sentence[end:]):
        return True
    if language == "ja":
        return False
    subject = _subject_before(sentence, start, language)
    lead = sentence[subject.end if subject else 0 : start]
    return _DENIED_BEFORE.get(language, _DENIED_BEFORE["en"]).search(lead) is not None


def is_conditional(words: str, sentence: str, language: str) -> bool:
    """Say whether a sentence tells words only in a clause with a condition: "if I live in Leeds, …" names no home."""
    claims = claims_of(sentence, language)
    wanted = letters(words)
    telling = [claim for claim in claims if wanted in letters(claim.words)] or claims
    return bool(telling) and all(claim.conditional for claim in telling)


def place_of(words: str, sentence: str) -> tuple[int, int]:
    """Return where words begin and end in a sentence; both are its end if they do not stand in it letter by letter."""
    start = sentence.casefold().find(words.casefold())
    return (start, start + len(words)) if start >= 0 else (len(sentence), len(sentence))


def _longest_shared(wanted: str, key: str) -> int:
    match = SequenceMatcher(None, wanted, key, autojunk=False).find_longest_match()
    return match.size


def _subject_before(sentence: str, place: int, language: str) -> _Subject | None:
    """Return the last subject that is named before a place."""
    rules = _rules(language)
    found = [
        _Subject(_head(match, rules), match.end()) for match in rules.subjects.finditer(sentence)
    ]
    named = _NAMED_JA if language == "ja" else _NAMED_EN
    found += [
        _Subject(match["head"], match.end())
        for match in named.finditer(sentence)
        if _is_name(match["head"], language)
    ]
    found = [subject for subject in found if subject.end <= place]
    if language == "ja":
        found = [subject for subject in found if _still_holds(subject, sentence, place)]
    return max(found, key=lambda subject: subject.end, default=None)


def _head(match: re.Match[str], rules: _Rules) -> str:
    """Return the word for the other; empty where the speaker is meant."""
    if match["other"] is None:
        return ""
    who = rules.people.search(match["other"])
    return who.group() if who else match["other"]


def _still_holds(subject: _Subject, sentence: str, place: int) -> bool:
    is_topic = sentence[: subject.end].endswith(("は", "って"))
    return is_topic or _SCOPE_ENDS_JA.search(sentence, subject.end, place) is None


def _is_name(head: str, language: str) -> bool:
    if language != "ja":
        return True
    meaning = analyse(head, language)
    return bool(meaning.names - meaning.places) and not meaning.persons


@cache
def _rules(language: str) -> _Rules:
    known = language if language in _SELF else "en"
    everybody = _words(known, frozenset())
    others, owner, described, inverted = _OTHERS[known](everybody, _words(known, _CLOSE))
    subjects = rf"(?P<other>{others}|{_THEY[known]})|(?:{_SELF[known]})"
    return _Rules(
        people=re.compile(everybody, re.IGNORECASE),
        subjects=re.compile(subjects, re.IGNORECASE),
        owner=re.compile(owner) if owner else None,
        described=re.compile(described) if described else None,
        inverted=re.compile(inverted) if inverted else None,
    )


def _others_ja(people: str, close: str) -> tuple[str, str, str, str]:
    return (
        rf"(?:{people}){_PARTICLE_JA}",
        rf"(?:{people})(?:さん|ちゃん|くん)?の$",
        rf"[^、。はが]{{0,10}}?(?:の|な|る|た|ない)(?:うちの|私の)?(?:{people})",
        rf"(?:{people})(?:さん|ちゃん)?[がは]?[ねさよ]?[。.!！…]*$",
    )


def _others_en(people: str, close: str) -> tuple[str, str, str, str]:
    whose = r"\b(?:my|our|his|her|their)\ (?:[\w-]+\ ){0,2}?"
    some = r"\b(?:an?|two|three|four)\ (?:[\w-]+\ )?"
    mentioned = rf"{_BESIDE_EN}{whose}(?:{people})s?\b|{some}(?:{close})s?\b"
    return rf"{mentioned}|{whose}(?:{people})s?,?\ (?=who)", "", "", ""


def _others_zh(people: str, close: str) -> tuple[str, str, str, str]:
    whose = rf"(?<![{_BESIDE_ZH}])我们?家?的?(?:{people})"
    return (
        rf"{whose}|(?<![{_BESIDE_ZH}我们家的])(?:{people})",
        "",
        rf"[^，。]{{0,6}}?的(?:{people})",
        "",
    )


_OTHERS = {"ja": _others_ja, "en": _others_en, "zh": _others_zh}


def _words(language: str, classes: Set[str]) -> str:
    """Return a pattern for the words for people and pets of some classes, longest first; of all if none are given."""
    people, notions = lexicon.persons(language), lexicon.concepts(language)
    pets = {
        word: ("pet",)
        for word, kinds in (notions.words | notions.phrases).items()
        if "pet" in kinds and word not in _KEEPING
    }
    found = people.words | people.phrases | pets
    chosen = [word for word, kinds in found.items() if not classes or classes & {*kinds}]
    return "|".join(map(re.escape, sorted(chosen, key=len, reverse=True)))


_KEEPING = frozenset({"飼う", "飼い"})
"""Words about pets that are no pets."""
