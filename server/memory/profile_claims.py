"""Says whether a sentence claims that a value belongs into a field of the speaker's profile: that they live there, work as that.

The claims are those that facts are compared with: of whom, affirmed or denied, of when, and how real. What has to stand
beside the value is in `lexicon/profile.yaml`; for health it is what `lexicon/standing.yaml` knows of bodies.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from server.memory import lexicon
from server.memory.attribution import place_of
from server.memory.claims import SPEAKER, Claim, Sense, claims_of
from server.memory.lexicon.expressions import CLOSE, expressions
from server.memory.models import ProfileField
from server.memory.terms import analyse, letters, read_as

_FINDS = frozenset({"doctor"})
"""Whose word on the speaker is as good as the speaker's own."""
_OF_TODAY = frozenset({ProfileField.HOME, ProfileField.WORK})
_MAY_BE_PAST = _OF_TODAY | {ProfileField.BIRTH}
"""Fields of which what is put in the past is judged by what it says of today."""
_BODILY = frozenset({"illness", "medicine", "allergy"})
"""Notions of health."""
_STANDING = ("allergy", "medicine", "illness", "condition")
"""Groups of `lexicon/standing.yaml`."""
_FAMILY = CLOSE | {"pet"}
_SEEN_ONLY = frozenset({
    "watch", "read", "see", "hear", "study", "write", "learn", "talk", "speak", "visit", "meet", "teach", "fear", "work", "donat", "sell",
    "buy", "wonder", "discuss", "research",
    "見る", "観る", "読む", "聞く", "聴く", "調べる", "勉強", "学ぶ", "書く", "話す", "会う", "教える", "研究", "働く",
    "看", "读", "听", "学", "写", "讲", "研", "查", "怕", "买",
})  # fmt: skip
"""Main verbs of a clause that tells of an illness which the speaker does not have."""
_OTHERS_EN = re.compile(r"\b(?!(?:it|that|what|here|there)')\w+'s (?:\w+ ){0,2}$", re.IGNORECASE)


def claims_field(field: ProfileField, value: str, sentence: str, language: str) -> bool:
    """Say whether a clause of a sentence that holds a value claims it of the speaker, as what the field is for.

    Args:
        field: Any but the name, for which see `self_reports.introduces`.
        value: Words of the sentence.
        sentence: A statement of the speaker.
        language: Two-letter code.
    """
    return any(
        _is_so(field, value, claim, language) and _fits(field, value, claim, language)
        for claim in _claims_with(value, sentence, language)
    )


def _claims_with(value: str, sentence: str, language: str) -> Iterator[Claim]:
    """Return the claims that a value stands in; those that share a word with it if it was put in other words."""
    claims = claims_of(sentence.replace("’", "'"), language)
    whole = [claim for claim in claims if letters(value) in letters(claim.words)]
    if whole:
        yield from whole
        return
    wanted = {term.key for term in analyse(value, language).terms}
    for claim in claims:
        if wanted & {term.key for term in analyse(claim.words, language).terms}:
            yield claim


def _is_so(field: ProfileField, value: str, claim: Claim, language: str) -> bool:
    """Say whether a claim is the speaker's own and holds today, and is not denied where the value does not say so."""
    if field is not ProfileField.FAMILY and not claim.subject <= {SPEAKER}:
        return False
    if field is not ProfileField.FAMILY and not claim.told_of <= _FINDS:
        return False
    if claim.conditional or (claim.wished and field is not ProfileField.PREFERENCE):
        return False
    if claim.sense is Sense.FORMER and field not in _MAY_BE_PAST:
        return False
    denied = any(one.negated for one in claims_of(value, language))
    return not claim.negated or denied


def _fits(field: ProfileField, value: str, claim: Claim, language: str) -> bool:
    if field is ProfileField.HEALTH:
        return _is_bodily(value, claim, language)
    if field is ProfileField.FAMILY:
        return _is_family(value, claim, language)
    signs = _signs(field, value, read_as(claim.words, language))
    held = {sort for sort, sign in signs if sign.search(claim.words)}
    if field in _OF_TODAY and claim.sense in (Sense.PAST, Sense.FORMER):
        return "change" in held
    return bool(held)


def _is_bodily(value: str, claim: Claim, language: str) -> bool:
    """Say whether a clause tells of the speaker's body: not of a film about an illness, nor of those who have it."""
    code = read_as(claim.words, language)
    lists = expressions("standing", code)
    around = lists["around"]
    start, end = place_of(value, claim.words)
    lead, rest = claim.words[:start], claim.words[end:]
    beside = (("before", lead), ("story", claim.words), ("behind", rest))
    if any(name in around and around[name].search(text) for name, text in beside):
        return False
    meaning = analyse(claim.words, language)
    health = expressions("importance", code)["lasting"]["health"]
    signs = [sign for _, sign in _signs(ProfileField.HEALTH, value, code)]
    signs += [sign for group in _STANDING for sign in lists[group].values()]
    is_named = bool(meaning.notions & _BODILY)
    is_seen_only = claim.verb in _SEEN_ONLY and not claim.negated  # "I can't hear well"
    return not is_seen_only and (is_named or any(s.search(claim.words) for s in (health, *signs)))


def _is_family(value: str, claim: Claim, language: str) -> bool:
    """Say whether a clause names one of the speaker's family: not somebody else's sister."""
    code = read_as(claim.words, language)
    meaning = analyse(claim.words, language)
    signs = (sign for _, sign in _signs(ProfileField.FAMILY, value, code))
    is_named = bool((meaning.persons | meaning.notions) & _FAMILY)
    if not is_named and not any(sign.search(claim.words) for sign in signs):
        return False
    lead = claim.words[: place_of(value, claim.words)[0]]
    if code == "en":
        other = _OTHERS_EN.search(lead)
        return other is None or bool(analyse(other.group(), "en").persons & lexicon.KIN)
    return expressions("standing", code)["around"]["of_others"].search(lead) is None


@lru_cache(maxsize=256)
def _signs(
    field: ProfileField, value: str, language: str
) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the expressions of a field, with a value put into them."""
    words = re.escape(value.strip())
    return tuple(
        (sort, re.compile(sign.pattern.replace("<value>", words), re.IGNORECASE))
        for sort, sign in expressions("profile", language)[str(field)].items()
    )
