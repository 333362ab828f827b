"""Which facts have to stand in every prompt, asked for or not: what may never be acted against.

A model that knows of a peanut allergy may still suggest nuts, unless it is told in that very prompt. The facts are found by
expressions (`lexicon/standing.yaml`): of the person themselves, not denied, not over. Only the dead are others: those close.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias

from server.memory.attribution import is_denied, is_of_speaker, other_before
from server.memory.lexicon.expressions import CLOSE, Expressions, as_told, expressions
from server.memory.models import Fact
from server.memory.statements import is_hypothetical, sentences
from server.memory.terms import Analysis, Term, TermKind, analyse, letters, read_as
from server.memory.unmentioned import asks_not_to_mention
from server.memory.wording import plain_analysis
from server.query import normalize


class StandingKind(StrEnum):
    """Why a fact has to stand in every prompt; in the order in which they are told."""

    ALLERGY = "allergy"
    MEDICINE = "medicine"
    ILLNESS = "illness"
    """Of long standing, or a disability; also an injury or a pregnancy for as long as it lasts."""
    BEREAVEMENT = "bereavement"
    DO_NOT_MENTION = "do-not-mention"
    """What the person does not want to be spoken to about."""
    DIET = "diet"
    GOAL = "goal"
    """What they want to keep to, or were told to: in bed by ten, no smoking, no heavy lifting."""


_Signs: TypeAlias = Mapping[str, re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Matter:
    """What a standing fact is about."""

    kind: StandingKind
    about: frozenset[str]
    passes: bool
    """Whether it is over by itself after some months."""


_GROUPS = {
    "allergy": StandingKind.ALLERGY,
    "medicine": StandingKind.MEDICINE,
    "illness": StandingKind.ILLNESS,
    "bereavement": StandingKind.BEREAVEMENT,
    "do_not_mention": StandingKind.DO_NOT_MENTION,
    "diet": StandingKind.DIET,
    "goal": StandingKind.GOAL,
    "condition": StandingKind.ILLNESS,
}
"""Groups of expressions; the first that a fact holds says what it is."""
_BODILY = frozenset({"allergy", "medicine", "illness", "condition"})
_CAN_END = frozenset({"medicine", "diet", "goal"})
"""What one stops by a decision, which ends it."""
_TOLD_BY_REST = frozenset({"asked", "asked_of_them", "other", "named"})
"""Classes of expressions that do not say what the matter is; they count where no other holds."""
_LONGEST, _LONGEST_SENTENCE = 2_000, 300
"""Characters that are looked at: people say far less at a time."""
_LONGEST_CONDITION = timedelta(days=280)
"""As long as a pregnancy lasts."""

_CLAUSE = {
    "ja": re.compile(r"[、,。]|けれど|けど|ので|のに|だから"),
    "en": re.compile(r"[,;:.]|\b(?:and|but|because|so|since|although|though|while|due to)\b", re.I),
    "zh": re.compile(r"[，,；。]|但是?|因为?|所以"),
}
_SUBJECT_EN = re.compile(r"\b(?:i|me|we|us)\b", re.I)
_SELF_EN = re.compile(r"\b(?:i|me|my|we|us|our)\b", re.I)
_SELF = {
    "ja": re.compile(r"(?:私|わたし|僕|ぼく|俺|おれ|あたし|わし|うち|自分)(?:は|が|も|の|、)"),
    "en": _SELF_EN,
    "zh": re.compile(r"[我咱]"),
}
_OWNED_EN = re.compile(
    r"\b(?:my|our) (?:(?!(?:is|are|was|were|has|have|had|gets?|takes?|can't|who)\b)[\w'-]+ ){0,3}$",
    re.I,
)
_DONE_TO = {"en": re.compile(r"\bme\b", re.I), "zh": re.compile("[让给]我")}
"""What others do to the speaker is the speaker's: "my doctor put me on metoprolol"."""
_RELATIVE_EN = re.compile(r"\b(?:who|whose)\b", re.I)
_SCOPE_ENDS_JA = re.compile(r"(?:ので|から|けれど|けど|のに|たら|れば|とき|時|し)、?")
_MEANT = {"ja": 1.0, "en": 1.0, "zh": 0.5}
"""Weight from which a term tells what a sentence is about: in Japanese that of a noun."""
_UNDONE_JA = re.compile(
    r"[はもを]?(?:して?|で|て)は?い?(?:ない|なかった|ません)"
    r"|(?:とか|など)?[はがもを]?(?:まだ|もう|特に|とくに|一切|全然|全く|まったく)?(?:な[いか]|ありません|[い要]ら(?:な|ず)|必要は?な)"
)
"""What denies words in Japanese where other verbs stand between."""


def standing_kind(fact: Fact) -> StandingKind | None:
    """Return why a fact has to stand in every prompt; None if it need not. Whether it is still current is not asked."""
    matter = matter_of(fact)
    return matter.kind if matter else None


def standing(facts: Sequence[Fact], limit: int, now: datetime) -> list[Fact]:
    """Return the facts that have to stand in every prompt: the newest of each kind, then the others by kind, the newest first.

    So many pills never push out a loss. Of facts about the same matter the newest is taken. Those that have been replaced and goals that have passed are left out.

    Args:
        facts: Of one person, in any order.
        limit: How many at the most.
        now: Aware.
    """
    order = {kind: place for place, kind in enumerate(StandingKind)}
    found = [
        (order[matter.kind], matter, fact)
        for fact in sorted(facts, key=lambda fact: (fact.last_said_at, fact.id), reverse=True)
        if fact.current
        and (matter := matter_of(fact)) is not None
        and not _has_passed(fact, matter, now)
    ]
    told: dict[StandingKind, set[str]] = {}
    first, rest = list[Fact](), list[Fact]()
    for _, matter, fact in sorted(found, key=lambda entry: entry[0]):
        if matter.kind not in told:
            first.append(fact)
        elif not matter.about <= told[matter.kind]:
            rest.append(fact)
        told[matter.kind] = told.get(matter.kind, set()) | matter.about
    return [*first, *rest][: max(limit, 0)]


def matter_of(fact: Fact) -> Matter | None:
    """Return what a standing fact is about; None of one that need not stand."""
    return None if fact.about else read_matter(fact.text, fact.language)


@lru_cache(maxsize=20_000)
def read_matter(text: str, language: str) -> Matter | None:
    """Return what a text would be about as a standing fact; None if it would be none.

    Args:
        text: Of a fact, or the words of the person themselves.
        language: Two-letter code; the script of the text wins where they disagree.
    """
    told = as_told(text)
    code = read_as(told, language)
    lists = expressions("standing", code)
    stated = [
        sentence[:_LONGEST_SENTENCE]
        for sentence in sentences(told[:_LONGEST])
        if not is_hypothetical(sentence)
    ]
    asked = any(map(asks_not_to_mention, stated))
    for group in sorted(_GROUPS, key=lambda name: not (asked and name == "do_not_mention")):
        about = frozenset(
            name for sentence in stated for name in _matters_in(sentence, group, lists, code)
        )
        if about:
            return Matter(_GROUPS[group], about, group == "condition")
    return None


def _matters_in(sentence: str, group: str, lists: Expressions, language: str) -> set[str]:
    """Return the matters of one kind that a sentence tells of."""
    about: set[str] = set()
    for sort, sign in lists[group].items():
        if about and sort in _TOLD_BY_REST:
            break
        for found in sign.finditer(sentence):
            if group == "bereavement":
                about |= _mourned(found, sort, lists["around"], language)
            elif _holds(found, group, lists["around"], language):
                is_told = sort not in _TOLD_BY_REST
                about.add(sort if is_told else _rest(sentence, lists["around"], language))
    return about


def _holds(found: re.Match[str], group: str, around: _Signs, language: str) -> bool:
    """Say whether an expression tells how it stands with the speaker now."""
    sentence = found.string
    clause = _clause(found, language)
    if _has(around, "story", sentence) or _has(around, "before", sentence[: found.start()]):
        return False
    if group in _BODILY and (
        _has(around, "behind", sentence[found.end() :]) or _has(around, "was", clause)
    ):
        return False
    if group not in _BODILY and _has(around, "again", clause):
        return False
    if language == "ja" and _UNDONE_JA.match(sentence, found.end()):
        return False
    if group == "do_not_mention":  # names somebody else as a rule, but not as its subject
        is_short = _has(around, "for_now", sentence)
        return not is_short and not other_before(sentence, found.start(), language)
    ends = _ends(found, around, language) if group in _CAN_END else None
    is_over = is_denied(found.group(), clause, language) if ends is None else ends
    return not is_over and _is_own(found, around, language)


def _ends(found: re.Match[str], around: _Signs, language: str) -> bool | None:
    """Say whether a verb beside an expression gives it up ("I stopped being vegan") or not ("never stop"); None if none does."""
    before, behind = found.string[: found.start()], found.string[found.end() :]
    verb = around["ended"].search(behind if language == "ja" else before)
    if verb is not None and "unended" in around:
        return not _has(around, "unended", before[: verb.start()])
    return True if verb or _has(around, "ended_behind", behind) else None


def _is_own(found: re.Match[str], around: _Signs, language: str) -> bool:
    """Say whether an expression tells of the speaker, and not of somebody whom the sentence names or hints at."""
    sentence, words = found.string, found.group()
    if language in _DONE_TO and _DONE_TO[language].search(words):
        return True
    earlier = sentence.find(words)
    rest = sentence if earlier == found.start() else sentence[earlier + len(words) :]
    if not is_of_speaker(words, rest, language):
        return False
    if language == "ja":
        named = _SELF["ja"].search(sentence) is not None
        return (named or not _has(around, "hearsay", sentence)) and not _is_of_somebody_ja(
            sentence[: found.start()], around["somebody"]
        )
    if not _SELF[language].search(sentence):  # in telegram style the speaker is left out
        return not _has(around, "somebody", sentence)
    return _names_speaker(found, language)


def _is_of_somebody_ja(lead: str, somebody: re.Pattern[str]) -> bool:
    """Say whether what stands before an expression makes somebody else its subject who is no relative and has no name."""
    named = [*somebody.finditer(lead)]
    if not named or _SELF["ja"].search(lead, named[-1].end()):
        return False
    is_topic = named[-1].group().endswith(("は", "って"))
    return is_topic or not _SCOPE_ENDS_JA.search(lead, named[-1].end())


def _names_speaker(found: re.Match[str], language: str) -> bool:
    """Say whether a sentence has named the speaker by the time of an expression, as its subject or its owner."""
    lead = found.string[: found.start()]
    if language == "zh" or _SELF_EN.search(found.group()) or _OWNED_EN.search(lead):
        return _SELF[language].search(found.string, 0, found.end()) is not None
    named = [match.end() for match in _SUBJECT_EN.finditer(lead)]
    return bool(named) and not _RELATIVE_EN.search(lead, named[-1])


def _mourned(found: re.Match[str], sort: str, around: _Signs, language: str) -> set[str]:
    """Return whom the speaker mourns, by class of person and name as far as they are told; nobody of a story, no stranger."""
    sentence, words = found.string, found.group()
    if _has(around, "story", sentence) or _has(around, "of_others", sentence[: found.start()]):
        return set()
    if language == "ja" and _UNDONE_JA.match(sentence, found.end()):
        return set()
    meaning = analyse(normalize(words), language)
    if sort == "named" and (meaning.persons or _has(around, "public", sentence)):
        return set()
    return {*(meaning.persons & CLOSE), *meaning.names} or {letters(words)}


def meant(meaning: Analysis, language: str) -> list[Term]:
    """Return the words and names that say what a text is about.

    Args:
        meaning: Of the text.
        language: Of its script.
    """
    least = _MEANT[language]
    kinds = (TermKind.WORD, TermKind.NAME)
    return [term for term in meaning.terms if term.weight >= least and term.kind in kinds]


def _rest(sentence: str, around: _Signs, language: str) -> str:
    """Return what a sentence speaks of as one word, for comparing."""
    keys = {term.key for term in meant(plain_analysis(sentence, language), language)}
    return " ".join(sorted(key for key in keys if not around["noise"].fullmatch(key)))


def _has_passed(fact: Fact, matter: Matter, now: datetime) -> bool:
    """Say whether a goal is over, or what passes by itself.

    A day in the past when it was told of, and one that something begins on, is the end of nothing.
    """
    if not matter.passes and matter.kind is not StandingKind.GOAL:
        return False
    if matter.passes and now - fact.last_said_at > _LONGEST_CONDITION:
        return True
    said_on, today = fact.said_at.date(), _day_of(now, fact)
    if fact.event_to is None or not said_on <= fact.event_to < today:
        return False
    told = as_told(fact.text)
    around = expressions("standing", read_as(told, fact.language))["around"]
    return _has(around, "limit", told) or not _has(around, "begins", told)


def _day_of(now: datetime, fact: Fact) -> date:
    """Return the day that it is where the person was when they said it."""
    return now.astimezone(fact.said_at.tzinfo).date()


def _clause(found: re.Match[str], language: str) -> str:
    """Return the part of a sentence around an expression that a negation in it belongs to."""
    sentence = found.string
    ends = [match.end() for match in _CLAUSE[language].finditer(sentence, 0, found.start())]
    behind = _CLAUSE[language].search(sentence, found.end())
    return sentence[ends[-1] if ends else 0 : behind.start() if behind else len(sentence)]


def _has(around: _Signs, name: str, text: str) -> bool:
    return name in around and around[name].search(text) is not None
