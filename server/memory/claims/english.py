"""Reads the claims of English sentences."""

import re
from dataclasses import replace

from server.memory.claims.claim import LISTENER, SPEAKER, Claim, Sense
from server.memory.claims.english_subjects import Subject, read_subject
from server.memory.claims.english_verbs import is_passive, main_verb, negations_in, sense_of
from server.memory.claims.english_words import (
    AHEAD,
    ENDED,
    FORMER,
    OPEN_YET,
    REPORTS,
    STORY,
    WISHED,
    WORD,
)
from server.memory.terms import analyse

_IN_FULL = tuple(
    (re.compile(short, re.IGNORECASE), long)
    for short, long in (
        ("’", "'"),
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\bi'm\b", "I am"),
        (r"(?<=\w)'re\b", " are"),
        (r"(?<=\w)'ve\b", " have"),
        (r"(?<=\w)'ll\b", " will"),
        (r"(?<=\w)'d\b", " would"),
        (r"\b(he|she|it|that|there|who|what)'s\b", r"\1 is"),
    )
)
_CUT = re.compile(
    r"""[,;:.!?]+(?:\s+|$) | \s*[—–]\s* | \s+-+\s+ | -\s+
    | \s+(?:and|but|because|so(?=\s(?:i|we|he|she|it|they|you|my)\b)|then|although|though|while|since|who|which|whose|where|when|yet)\s+
    | (?<=\w)\s+(?:that\s+)?(?=(?:i|he|she|they|we|you)\s\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_IF = re.compile(r"\b(?:if|unless|suppose|in case)\b", re.IGNORECASE)
_EITHER_WAY = re.compile(
    r"\b(?:le(?:ft|ave|aves|aving)|miss(?:ed|es|ing)?|forg[eo]t\w*|los[et]|losing|lack\w*|fail\w*|avoid\w*|skip\w*|refus\w*|declin\w*|unable"
    r"|impossible|single|unmarried|except|instead)\b",
    re.IGNORECASE,
)
"""What is told as a negation as well as without one: "I missed the train", "I did not catch it"."""
_ALMOST = re.compile(r"\b(?:almost|nearly)\b", re.IGNORECASE)
_WOULD = re.compile(r"\bwould(?! (?:like|love|prefer|rather))\b")
_TELLING = re.compile(r"\b(?:tell|let|say|share|mention|know)\b", re.IGNORECASE)
_COMPANY = re.compile(
    r"(?:^|(?<=[,;.!?]\s))(?:(?i:my|our)\s(?:[a-z]+\s){1,2}(?:[A-Z]\w+\s)?|[A-Z]\w+\s)and\s(?=I\b)"
    r"|(?<=\b[Yy]ou)\sand\s(?:your\s\w+|[A-Z]\w+)|(?<=\b[Ww]e)\sand\s(?:our\s\w+|[A-Z]\w+)"
)
"""Who is named beside the speaker: "Ken and I"."""
_DESCRIBES = frozenset({"where", "who", "whose", "which", "that", ""})
_DESCRIBED = re.compile(r"^(?:where|in which|who|that)\b", re.IGNORECASE)
_IN_STORY = re.compile(r"^(?:and |but |so )?(?:in|at|during)\b", re.IGNORECASE)
_GO_ON = frozenset({"and", "but", "then"})
"""Joints behind which a story goes on."""
_FRAME = re.compile(
    r"^you\s+(?:have\s+)?(?:said|mentioned|told(?: me)?|shared|stated|noted|explained)\s+(?:that\s+)?",
    re.IGNORECASE,
)


def english_claims(sentence: str) -> list[Claim]:
    """Return the claims of a sentence, in order; what is left out in one is taken from the one before."""
    text = _COMPANY.sub(" ", _FRAME.sub("", in_full(sentence).strip()))
    conditional = _IF.search(text) is not None
    found: list[Claim] = []
    told_in_story = False
    for clause, joint in _clauses(text):
        before = found[-1] if found else None
        claim = _claim(clause, before, joint)
        told_in_story = before is not None and (
            _opens_story(before, clause, joint) or (told_in_story and joint in _GO_ON)
        )
        found.append(
            replace(
                claim,
                conditional=conditional,
                wished=claim.wished or told_in_story,
                unreal=claim.unreal or told_in_story,
            )
        )
    return found


def _opens_story(before: Claim, clause: str, joint: str) -> bool:
    """Say whether a clause tells what happens in the story or the dream that the one before it names."""
    if not STORY.search(before.words):
        return False
    is_described = joint in _DESCRIBES or _DESCRIBED.match(clause) is not None
    return is_described or (joint == "," and _IN_STORY.match(before.words) is not None)


def english_matter(text: str) -> str:
    """Return a text without the words that only say when, whether and how really."""
    plain = in_full(text)
    for pattern in (ENDED, WISHED, AHEAD, FORMER):
        plain = pattern.sub(" ", plain)
    return plain


def in_full(text: str) -> str:
    """Write short forms out: "can't" becomes "can not"."""
    for short, long in _IN_FULL:
        text = short.sub(long, text)
    return text


def _clauses(text: str) -> list[tuple[str, str]]:
    """Return the clauses, each with the joint before it."""
    parts, start, joint = [], 0, ","
    for cut in _CUT.finditer(text):
        parts.append((text[start : cut.start()].strip(), joint))
        joint = cut.group().strip().lower()
        start = cut.end()
    parts.append((text[start:].strip(), joint))
    return [(part, joint) for part, joint in parts if WORD.search(part)]


def _claim(clause: str, before: Claim | None, joint: str) -> Claim:
    words = WORD.findall(clause)
    subject = read_subject(words)
    rest = words[subject.end :]
    verb, verb_words, has_verb = main_verb(rest)
    if before is not None and not subject.end and not has_verb:
        return _ellipsis(clause, verb, before)
    negated = None if _EITHER_WAY.search(clause) else negations_in(clause) % 2 == 1
    sense = sense_of(rest, clause)
    wished = bool(WISHED.search(verb_words) or _ALMOST.search(clause))
    own = Claim(
        words=clause,
        subject=frozenset() if is_passive(rest) else subject.names,
        told_of=subject.told_of,
        verb=verb,
        negated=negated,
        sense=sense,
        wished=wished,
        unreal=wished or sense is Sense.AHEAD or OPEN_YET.search(clause) is not None,
        conditional=False,
    )
    return own if before is None else _joined(own, subject, verb_words, before, joint)


def _ellipsis(clause: str, verb: str, before: Claim) -> Claim:
    """Return what "three dogs" claims behind "I have two cats and"."""
    denials = negations_in(clause)
    return replace(
        before,
        words=clause,
        verb=verb or before.verb,
        negated=denials % 2 == 1 if denials else before.negated,
        sense=None if before.sense is Sense.PAST else before.sense,
    )


def _joined(own: Claim, subject: Subject, verb_words: str, before: Claim, joint: str) -> Claim:
    """Return a claim with what it has from the one before it: its subject, or who says so."""
    if not subject.end:
        people = analyse(before.words, "en").persons if joint in ("who", "whose") else frozenset()
        return replace(own, subject=people or before.subject, told_of=people or before.told_of)
    if joint not in ("", "that"):
        return own
    if REPORTS.search(before.words):
        said_by = before.told_of | (before.subject - {SPEAKER, LISTENER})
        is_denied = bool(before.negated) and own.negated is not None  # "I don't think I like it"
        own = replace(
            own,
            told_of=own.told_of | said_by,
            negated=not own.negated if is_denied else own.negated,
            wished=own.wished and not _WOULD.search(verb_words),  # "I promised that I would"
        )
    wished = own.wished or (before.wished and not _TELLING.search(before.words))
    return replace(own, wished=wished)
