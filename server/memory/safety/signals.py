"""Finds danger signs in what a person says, by rules on their own words.

The expressions are in `lexicon/safety.yaml`. One counts if it tells of the speaker, as things are: not denied, over or long ago,
not asked, feared or supposed, no figure of speech and nothing out of a story. Whoever speaks of dying is heard in any mood.
Somebody else's situation is a different matter, and gives nothing: see `docs/safety.md`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache

from server.memory.attribution import is_denied, is_of_speaker
from server.memory.claims import SPEAKER, Claim, Sense, claims_of
from server.memory.claims.english import in_full
from server.memory.facts import event_days
from server.memory.lexicon.expressions import expressions
from server.memory.retractions import begins_with_secrecy, joked
from server.memory.safety.models import Severity, Signal, SignalKind
from server.memory.simplified import simplified
from server.memory.statements import clauses_of, is_hypothetical, is_question, sentences
from server.memory.terms import read_as

_LONGEST = 2_000
"""Characters that are looked at."""
_LONGEST_SENTENCE = 400
_RECENT = timedelta(days=14)
"""What happened longer ago is history, and no sign."""
_IN_ANY_MOOD = frozenset({SignalKind.SELF_HARM})
_SELF = {
    "ja": re.compile(r"私|わたし|僕|ぼく|俺|おれ|あたし|わし|くれな|て(?:くる|きた|こられ)"),
    "en": re.compile(r"\b(?:I|me|my|we)\b", re.IGNORECASE),
    "zh": re.compile(r"[我咱]"),
}
_OWNED = {
    "ja": re.compile(r"(?:私|わたし|僕|ぼく|俺|おれ|あたし|うち)(?:たち)?の"),
    "en": re.compile(r"^(?:my|our)\b", re.IGNORECASE),
    "zh": re.compile(r"^[我咱]们?家?的?"),
}
"""What makes somebody else the speaker's, and names nobody: "my sister is ill"."""
_IS = re.compile(
    r"\b((?:my|the)(?: \w+){1,2}|everything|something|nothing)['’]s"
    r"(?= (?:been|gone|got|so|all|very|really|too|quite|still|just|not|always|a bit|\w+ing|\w+ed|sore|swollen|numb|stiff|tight"
    r"|heavy|bad|worse|awful|misty|blurry)\b)",
    re.IGNORECASE,
)
"""What is short for "is" or "has" behind a noun, and no possessive: "my throat's so sore"."""
_MARKS = {"ja": str.maketrans(",，", "、、"), "zh": str.maketrans(",?!;", "，？！；")}
"""Recognisers write marks of either width; the expressions know one."""
_DEGREE_ZH = re.compile(
    r"(?<=[疼痛晕痒酸胀肿闷麻热冷累慌难受])得(?:我)?(?:都|就|快|要|像是?)+(?!死)"
)
"""How bad something is, and nothing that is still to come: 疼得要炸了."""
_LIKE_EN = re.compile(r"\bas (?:if|though)\b", re.IGNORECASE)
"""It says how something feels, and supposes nothing."""
_AGENT_ZH = re.compile(r"被[^，。被我]{1,6}?(?=[绊撞推打咬抓踢掐烫砸挤摔骂骗揍欺吓拧扇踹])")
"""Who has done it, and is not whom it happened to: 被猫绊了."""
_ASIDE = {
    "ja": re.compile(
        r"(?:誰|だれ|人)も[^。、]{0,8}(?:ない|ません)(?:ところ|とこ|時|とき|間|うち|隙)[にで]?"
    ),
    "en": re.compile(
        r"\b(?:when|while|where|if) (?:no one|nobody|there is no one|there is nobody)\b[^.,;]*"
    ),
    "zh": re.compile(
        r"(?:趁着?|在|当)?(?:没人|没有人|别人不|谁也不|家里没人)[^，。]{0,4}(?:的?时候?|时|的地方)"
    ),
}
"""When and where something is done. A negation in it denies nothing, and a person in it does nothing: 趁没人的时候."""
_QUOTED = re.compile(r"「[^「」]*」|『[^『』]*』|“[^“”]*”|\"[^\"]*\"")
_NOT_JA = re.compile(r"な(?:$|[いくかけ])|ず$|ませ$")
"""A Japanese expression may break off within its negation: 飲みたくな."""
_NOT = {
    "ja": _NOT_JA,
    "en": re.compile(r"\b(?:not|no|never|nothing|nobody)\b", re.IGNORECASE),
    "zh": re.compile(r"[不没無无]"),
}
"""Behind an English or Chinese expression it denies something else: "a pain that does not go away", 疼得睡不着."""
_MOST_WORDS_BEFORE = 3
"""Of a clause without a subject before what it tells: "still a bit dizzy"."""


def find_signals(text: str, language: str, at: datetime) -> list[Signal]:
    """Return the danger signs in what a person said, in its order.

    Args:
        text: As it was said.
        language: Two-letter code; the script of a sentence wins where it disagrees.
        at: When it was said; aware.
    """
    found: list[Signal] = []
    for sentence in _meant(text[:_LONGEST]):
        code = read_as(sentence, language)
        told = simplified(sentence) if code == "zh" else sentence
        if not _has_expression(_plain(told, code), code):
            continue
        quote = sentence if sentence in text else text
        for part in clauses_of(told[:_LONGEST_SENTENCE], code):
            found += [Signal(kind, severity, quote) for kind, severity in _signs(part, code, at)]
    return found


def _meant(text: str) -> list[str]:
    """Return the sentences that are meant; what is not to be remembered, as in "I want to die. Forget that", is no less so."""
    spoken = sentences(text)
    jokes = joked(spoken)
    return [
        sentence
        for place, sentence in enumerate(spoken)
        if place not in jokes and not begins_with_secrecy(sentence)
    ]


def of_speaker_now(text: str, language: str, at: datetime) -> list[str]:
    """Return the sentences of what a person said that tell of them, as things are, whatever they tell.

    Args:
        text: As it was said.
        language: Two-letter code; the script of a sentence wins where it disagrees.
        at: When it was said; aware.
    """
    found = []
    for sentence in _meant(text[:_LONGEST]):
        code = read_as(sentence, language)
        told = simplified(sentence) if code == "zh" else sentence
        if sentence in text and _Told(told[:_LONGEST_SENTENCE], code, at).is_of_speaker_now():
            found.append(sentence)
    return found


def prepare() -> None:
    """Read the lists of expressions for all languages, which takes a second. Blocks."""
    for language, sentence in (("ja", "頭が痛い。"), ("en", "My head hurts."), ("zh", "我头疼。")):
        find_signals(sentence, language, datetime(2000, 1, 1, tzinfo=UTC))


def _plain(sentence: str, language: str) -> str:
    """Return a sentence as the expressions are written: no short forms, one kind of comma, no other doer."""
    if language == "en":
        return _LIKE_EN.sub("like", in_full(_IS.sub(r"\1 is", sentence)))
    told = sentence.translate(_MARKS[language])
    return _AGENT_ZH.sub("被", _DEGREE_ZH.sub("得", told)) if language == "zh" else told


def _has_expression(text: str, language: str) -> bool:
    return any(sign.search(text) for _, _, sign in _table(language))


def _signs(part: str, language: str, at: datetime) -> Iterator[tuple[SignalKind, Severity]]:
    told = _Told(part, language, at)
    for kind, severity, sign in _table(language):
        if any(told.holds(found, kind) for found in sign.finditer(told.text)):
            yield kind, severity


@lru_cache(maxsize=4)
def _table(language: str) -> list[tuple[SignalKind, Severity, re.Pattern[str]]]:
    """Return the expressions of the lexicon, the gravest of each kind first."""
    rows = []
    for group, signs in expressions("safety", language).items():
        if group != "around":
            kind, severity = group.split()
            rows += [(SignalKind(kind), Severity(severity), sign) for sign in signs.values()]
    return sorted(rows, key=lambda row: row[1].rank, reverse=True)


class _Told:
    """One clause, or sentence, of the speaker, and how it puts what it tells."""

    def __init__(self, part: str, language: str, at: datetime) -> None:
        self._around: Mapping[str, re.Pattern[str]] = expressions("safety", language)["around"]
        told = self._around["vocative"].sub("", part) if "vocative" in self._around else part
        self.text = _ASIDE[language].sub("", _plain(told, language))
        self._part = part
        self._language = language
        self._at = at

    def holds(self, found: re.Match[str], kind: SignalKind) -> bool:
        """Say whether an expression tells how it stands with the speaker now."""
        if self._is_other_matter(found):
            return False
        if kind is SignalKind.FALL and self._has("thing", self.text[: found.start()]):
            return False
        claim = self._claim(found)
        own = claims_of(found.group(), self._language)
        if not self._is_own(found, claim, own) or self._is_denied(found, claim, own):
            return False
        if kind in _IN_ANY_MOOD:
            return True
        return self._is_real(found, claim, own) and self._is_recent(found, claim)

    def is_of_speaker_now(self) -> bool:
        """Say whether all that is told is of the speaker, and neither asked, supposed, told as a story nor long ago."""
        if self._has("story", self.text) or self._around["idiom"].search(self.text):
            return False
        told = _LIKE_EN.sub("like", self._part)
        if is_question(told) or is_hypothetical(told):
            return False
        return self._is_about_speaker() and self._is_recent_all()

    def _is_about_speaker(self) -> bool:
        for claim in self._claims:
            if SPEAKER in claim.subject:
                return True
            if claim.subject or claim.told_of or self._has("others", claim.words):
                # "My stepfather throws things at me": what somebody else does to the speaker is told of both.
                owned = _OWNED[self._language].sub("", self.text)
                return _SELF[self._language].search(owned) is not None
        return True

    def _is_recent_all(self) -> bool:
        if self._has("long_ago", self.text):
            return False
        _, last = event_days(self._part, self._language, self._at)
        return last is None or last >= (self._at - _RECENT).date()

    def _is_other_matter(self, found: re.Match[str]) -> bool:
        """Say whether it is a figure of speech, quoted, out of a story, or only spoken about."""
        start, end = found.span()
        taken = [*self._around["idiom"].finditer(self.text), *_QUOTED.finditer(self.text)]
        if any(one.start() < end and start < one.end() for one in taken):
            return True
        return (
            self._has("before", self.text[:start])
            or self._has("behind", self.text[end:])
            or self._has("story", self.text)
        )

    def _is_own(self, found: re.Match[str], claim: Claim, own: Sequence[Claim]) -> bool:
        """Say whether it tells of the speaker. What others do to them names the speaker itself."""
        words = found.group()
        if _SELF[self._language].search(words) or SPEAKER in claim.subject:
            return True
        if claim.subject or claim.told_of:  # unless it names the subject itself: 何もかも嫌だ
            return any(one.subject == claim.subject for one in own)
        lead = claim.words[: max(claim.words.find(words), 0)]
        if self._has("others", lead):
            return False
        if self._language == "en":
            return len(lead.split()) <= _MOST_WORDS_BEFORE
        return is_of_speaker(words, self.text, self._language)

    def _is_denied(self, found: re.Match[str], claim: Claim, own: Sequence[Claim]) -> bool:
        """Say whether it is not so; a negation that is part of the expression denies nothing."""
        words = found.group()
        if any(one.negated for one in own) or _NOT_JA.search(words):
            return False
        if is_denied(words, claim.words, self._language):
            return True
        is_behind = _NOT[self._language].search(claim.words.rpartition(words)[2]) is not None
        return bool(claim.negated) and (self._language == "ja" or not is_behind)

    def _is_real(self, found: re.Match[str], claim: Claim, own: Sequence[Claim]) -> bool:
        """Say whether it is told as a fact: not asked, wished, feared or supposed."""
        if self._has("condition_before", self.text[: found.start()]):
            return False
        if self._has("condition_behind", self.text[found.end() :]):
            return False
        is_asked = is_question(self._part) and not is_question(found.group())
        if is_asked and not self._has("presupposed", self.text):
            return False
        if any(one.unreal for one in own):
            return True
        return not (claim.unreal or is_hypothetical(self._part))

    def _is_recent(self, found: re.Match[str], claim: Claim) -> bool:
        """Say whether it goes on, or happened lately."""
        if self._has("over", self.text[found.end() :]) or self._has("long_ago", self.text):
            return False
        if claim.sense is not Sense.PAST:
            return True
        _, last = event_days(self._part, self._language, self._at)
        return last is None or last >= (self._at - _RECENT).date()

    def _has(self, name: str, text: str) -> bool:
        return name in self._around and self._around[name].search(text) is not None

    @cached_property
    def _claims(self) -> list[Claim]:
        return claims_of(self.text, self._language)

    def _claim(self, found: re.Match[str]) -> Claim:
        """Return the clause that an expression begins in."""
        place = 0
        for claim in self._claims:
            start = self.text.find(claim.words, place)
            if start >= 0:
                place = start
                if found.start() < start + len(claim.words):
                    return claim
        return self._claims[-1] if self._claims else _NOTHING_KNOWN


_NOTHING_KNOWN = Claim(
    "", frozenset(), frozenset(), "", negated=False, sense=None, wished=False, unreal=False, conditional=False
)  # fmt: skip
