"""Compares what a fact claims with what was said: negation, time, wish and condition, and who does it."""

import re
from collections.abc import Mapping, Sequence, Set
from enum import StrEnum
from functools import cache

from server.memory import lexicon
from server.memory.claims.chinese import chinese_matter
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER, Claim, Sense
from server.memory.terms import TermKind, analyse, letters
from server.memory.wording import plain_analysis


class Refusal(StrEnum):
    """Why a drawn fact is not believed."""

    FORM = "no-sentence"
    """Too long, too short, or with pieces of JSON or of a prompt."""
    QUOTE = "quote-not-said"
    STATEMENT = "no-statement"
    """What was said asks, supposes, orders or jokes."""
    WORDS = "words-not-said"
    NAMES = "name-not-said"
    NUMBERS = "other-number"
    TIMES = "other-time"
    CONTRARY = "contrary"
    PEOPLE = "other-person"
    NEGATION = "negation"
    TENSE = "tense"
    WISH = "only-wished"
    CONDITION = "on-condition"


_COUNTERPART = 0.45
"""Share of the weight of a claim that another must have to speak of the same thing."""
_SAME_VERB = 0.3
"""The same if both have one verb."""
_VERB = 0.6
"""What it weighs, besides its weight as a word, that a verb is the main one."""
_CHARACTER = 0.3
"""What a Chinese character weighs."""
_AS_NEAR = 0.05
"""How much less than the nearest a claim may share."""
_HAPPENED = {Sense.PAST, Sense.FORMER}
_NOT_OVER = {Sense.STATE, Sense.PRESENT, Sense.UNDERWAY, Sense.AHEAD, Sense.RESULT}

_COMPANY = re.compile(
    r"""
    (?:[一-龠ァ-ヶー]{1,6}の)?[一-龠ァ-ヶー]{1,6}(?:さん|ちゃん|くん)?と(?=[^いはも言聞思])
    | \b(?:with|for|to|from|at)\ (?:(?:my|our)\ )?\w+(?:\ [A-Z]\w+)?
    | [和跟给][^，。\s]{1,6}
    """,
    re.VERBOSE,
)
"""Those who take part in what the speaker did."""


def disagreement(
    drawn: Claim, told: Sequence[Claim], mentioned: Set[str], language: str
) -> Refusal | None:
    """Return why a drawn claim follows from none of its counterparts; None if there are none.

    Args:
        drawn: Of the fact.
        told: Its `counterparts`; the speaker is "I" in them.
        mentioned: People and names, by letters, of whom the whole fact speaks.
        language: Two-letter code.
    """
    refusals = [_against(drawn, one, mentioned, language) for one in told]
    return None if not refusals or None in refusals else refusals[0]


def counterparts(drawn: Claim, told: Sequence[Claim], language: str) -> list[Claim]:
    """Return the claims that speak of what a drawn one speaks of, those alone that share most of its words."""
    wanted = _weights(drawn, language)
    shares = [_shared(wanted, _weights(one, language)) for one in told]
    nearest = max(shares, default=0.0) - _AS_NEAR
    found = []
    for one, share in zip(told, shares, strict=True):
        least = (_SAME_VERB if one.verb == drawn.verb else _COUNTERPART) * sum(wanted.values())
        if share and share >= max(nearest, least):
            found.append(one)
    return found


def _shared(wanted: Mapping[str, float], there: Mapping[str, float]) -> float:
    return sum(min(weight, wanted.get(key, 0.0)) for key, weight in there.items())


def _weights(claim: Claim, language: str) -> dict[str, float]:
    terms = plain_analysis(claim.words, language).terms
    if language == "zh":  # 爬山 and 爬了山 have no pair of characters in common
        weights = {one: _CHARACTER for one in chinese_matter(claim.words) if one not in _grammar()}
        weights |= {term.key: term.weight for term in terms if term.kind is TermKind.PERSON}
    else:
        weights = {
            letters(term.key): term.weight for term in terms if term.kind is not TermKind.NUMBER
        }
    if claim.verb:
        weights[f"{claim.verb}/verb"] = _VERB
    return weights


@cache
def _grammar() -> frozenset[str]:
    return lexicon.function_words("zh") | frozenset("，。、；！？ ")


def _against(drawn: Claim, told: Claim, mentioned: Set[str], language: str) -> Refusal | None:
    if _is_of_another(drawn, told, mentioned, language) or not _keeps_people(
        told, mentioned, language
    ):
        return Refusal.PEOPLE
    if told.wished and not drawn.unreal:
        return Refusal.WISH
    if told.conditional and not drawn.conditional:
        return Refusal.CONDITION
    return _sense_differs(drawn, told) or _negation_differs(drawn, told, language)


def _is_of_another(drawn: Claim, told: Claim, mentioned: Set[str], language: str) -> bool:
    """Say whether a fact gives to one what was told of another, or turns round who does it to whom."""
    if told.told_of and not _among(told.told_of, mentioned):
        return True
    if _is_made_them(drawn, told, language):
        return True
    is_known = bool(drawn.subject and told.subject)
    if not is_known or _among(drawn.subject, told.subject):
        return False
    if LISTENER in told.subject:
        return True
    same_verb = drawn.verb != "" and drawn.verb == told.verb
    return same_verb and (SOMEBODY not in told.subject or drawn.subject == {SPEAKER})


def _is_made_them(drawn: Claim, told: Claim, language: str) -> bool:
    """Say whether a fact makes the speaker somebody of whom was told: "my doctor says", "you are a doctor"."""
    is_being = drawn.subject == {SPEAKER} and drawn.verb in ("be", "")
    return (
        is_being and bool(told.subject) and told.subject <= analyse(drawn.words, language).persons
    )


def _keeps_people(told: Claim, mentioned: Set[str], language: str) -> bool:
    """Say whether a fact speaks of somebody whom a clause without a subject names: "took my mother to hospital"."""
    if told.subject:
        return True
    people = analyse(_COMPANY.sub(" ", told.words), language).persons
    return not people or _among(people, mentioned)


def _among(some: Set[str], others: Set[str]) -> bool:
    return bool(lexicon.may_be_among(some, others))


def _sense_differs(drawn: Claim, told: Claim) -> Refusal | None:
    was, now = told.sense, drawn.sense
    if was is None or now is None or drawn.wished:
        return None
    if _no_longer(told, drawn) or _no_longer(drawn, told):
        return None
    same_verb = drawn.verb == told.verb
    if was is Sense.FORMER:
        differs = now in _NOT_OVER
    elif was is Sense.PAST:
        differs = same_verb and now in _NOT_OVER - {Sense.RESULT}
    elif was in (Sense.STATE, Sense.RESULT):
        differs = now is Sense.FORMER or (now is Sense.PAST and same_verb and was is Sense.STATE)
    else:
        differs = now in _HAPPENED and (same_verb or was is not Sense.PRESENT)
    return Refusal.TENSE if differs else None


def _no_longer(before: Claim, now: Claim) -> bool:
    """Say whether one claim tells what used to be, and the other that it no longer is."""
    used_to = before.sense is Sense.FORMER and before.negated is False
    return used_to and now.negated is True and now.sense not in _HAPPENED


def _negation_differs(drawn: Claim, told: Claim, language: str) -> Refusal | None:
    if drawn.negated is None or told.negated is None or drawn.negated == told.negated:
        return None
    if _no_longer(told, drawn) or _no_longer(drawn, told):
        return None
    both = [analyse(claim.words, language).notions for claim in (drawn, told)]
    if all("allergy" in notions for notions in both):
        return None if _names_allergy(drawn) != _names_allergy(told) else Refusal.NEGATION
    return Refusal.NEGATION


def _names_allergy(claim: Claim) -> bool:
    return any(word in claim.words.casefold() for word in ("allerg", "アレルギー", "过敏"))
