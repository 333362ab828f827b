"""Reads the claims of English sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from server.memory import lexicon
from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER, Claim, Sense
from server.memory.terms import TermKind, analyse, letters, verb_stem

_SHORT = (
    (re.compile(r"\bcan't\b|\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"\bi'm\b", re.IGNORECASE), "I am"),
    (re.compile(r"(?<=\w)'re\b", re.IGNORECASE), " are"),
    (re.compile(r"(?<=\w)'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"(?<=\w)'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"(?<=\w)'d\b", re.IGNORECASE), " would"),
    (re.compile(r"\b(he|she|it|that|there|who|what)'s\b", re.IGNORECASE), r"\1 is"),
)
_CUT = re.compile(
    r"""[,;:.!?]+(?:\s+|$) | \s*[—–]\s* | \s+-+\s+ | -\s+
    | \s+(?:and|but|because|so(?=\s(?:i|we|he|she|it|they|you|my)\b)|then|although|though|while|since|who|which|whose|where|when|yet)\s+
    | (?<=\w)\s+(?:that\s+)?(?=(?:i|he|she|they|we|you)\s\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_IF = re.compile(r"\b(?:if|unless|suppose|in case)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w']*|\d[\d.,:]*")

_THINGS = frozenset(
    ["it", "this", "that", "these", "those", "there", "everything", "nothing", "something"]
)
_PRESENT_FORMS = frozenset(
    [
        "am",
        "is",
        "are",
        "has",
        "does",
        "goes",
        "put",
        "read",
        "let",
        "cut",
        "hurt",
        "come",
        "become",
        "run",
        "set",
        "hit",
        "cost",
    ]
)
"""Irregular forms that may stand for the present."""
_OWNERS = frozenset(
    ["my", "our", "your", "his", "her", "their", "its", "the", "a", "an", "some", "one", "another"]
)
_BEFORE_NOUN = frozenset(
    [
        "in",
        "at",
        "on",
        "for",
        "with",
        "to",
        "from",
        "of",
        "by",
        "after",
        "before",
        "during",
        "about",
        "since",
        "until",
        "near",
        "without",
    ]
)
_BE = frozenset(["am", "is", "are", "was", "were", "be", "been", "being"])
_HAVE = frozenset(["have", "has", "had", "having"])
_DO = frozenset(["do", "does", "did"])
_MODALS = frozenset(
    ["will", "would", "shall", "should", "can", "could", "may", "might", "must", "ought", "gonna"]
)
_SKIPPED = frozenset(
    [
        "not",
        "never",
        "always",
        "really",
        "also",
        "just",
        "still",
        "only",
        "usually",
        "often",
        "now",
        "already",
        "even",
        "actually",
        "finally",
        "probably",
        "too",
        "all",
        "both",
        "sometimes",
        "rarely",
        "hardly",
        "currently",
        "no",
        "longer",
        "ever",
        "so",
        "very",
        "much",
        "recently",
    ]
)
_NEGATIVE = frozenset(
    [
        "not",
        "never",
        "no",
        "without",
        "nobody",
        "nothing",
        "neither",
        "nor",
        "hardly",
        "none",
        "cannot",
    ]
)
_NO_NEGATION = re.compile(
    r"\b(?:not only|no doubt|no problem|can not wait|can not help|nothing but|no matter|not just|do not forget)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\b(?:quit(?:s|ting)?|stop(?:s|ped|ping)?|g[ai]v(?:e|en|ing)s? up|cancel\w*|resign\w*)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:le(?:ft|ave|aves|aving)|miss(?:ed|es|ing)?|forg[eo]t\w*|los[et]|losing|lack\w*|fail\w*|avoid\w*|skip\w*|refus\w*|declin\w*|unable"
    r"|impossible|single|unmarried|except|instead)\b",
    re.IGNORECASE,
)  # fmt: skip
_WISHED = re.compile(
    r"""\b(?:want(?:s|ed|ing)?|wanna|wish(?:es|ed)?|hop(?:e|es|ed|ing)|would|think(?:s|ing)?\ (?:about|of)|thought\ (?:about|of)
        |consider(?:s|ed|ing)?|dream(?:s|t|ed|ing)?|tempted|almost|nearly|should|ought|might|may\ (?!\d)|maybe|perhaps
        |intend\w*|undecided|wonder\w*|debating)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:will|shall|going to|gonna|plan(?:s|ned|ning)?|about to|need to|needs to|have to|has to|supposed to|must|look(?:s|ing)? forward)\b",
    re.IGNORECASE,
)
_OPEN_YET = re.compile(
    r"\b(?:aspir\w+|aim\w*|goals?|determined|interested in|desire\w*|eager|keen|excited|like to|love to|options?|tr(?:y|ies|ied|ying) to)\b",
    re.IGNORECASE,
)
"""What else a fact may call a wish."""
_FORMER = re.compile(
    r"\b(?:(?<!am )(?<!is )(?<!are )(?<!get )used to|formerly|no longer|any ?more)\b", re.IGNORECASE
)
_LEADING_TO_VERB = _BE | _HAVE | _DO | _MODALS | frozenset(
    ["going", "to", "want", "wants", "wanted", "wanna", "like", "love", "wish", "hope", "hoping", "thinking", "about", "of", "considering", "trying", "try", "tried", "plan", "plans", "planning", "used", "need", "needs", "supposed", "able", "decided", "decide", "thought", "get", "got"]
)  # fmt: skip
_REPORTS = re.compile(
    r"\b(?:sa(?:y|ys|id)|t(?:ell|ells|old)|think(?:s)?|thought|claim\w*|believ\w*|want\w*|insist\w*|ask(?:s|ed)?|promis\w*|call\w*|hear[sd]?)\b",
    re.IGNORECASE,
)
_WOULD = re.compile(r"\bwould(?! (?:like|love|prefer|rather))\b")
_TELLING = re.compile(r"\b(?:tell|let|say|share|mention|know)\b", re.IGNORECASE)
_COMPOUND = re.compile(
    r"(?:^|(?<=[,;.!?]\s))(?:(?i:my|our)\s(?:[a-z]+\s){1,2}(?:[A-Z]\w+\s)?|[A-Z]\w+\s)and\s(?=I\b)"
    r"|(?<=\b[Yy]ou)\sand\s(?:your\s\w+|[A-Z]\w+)|(?<=\b[Ww]e)\sand\s(?:our\s\w+|[A-Z]\w+)"
)
"""Company that is named beside the subject: "Ken and I"."""
_FRAME = re.compile(
    r"^you\s+(?:have\s+)?(?:said|mentioned|told(?: me)?|shared|stated|noted|explained)\s+(?:that\s+)?",
    re.IGNORECASE,
)


def english_claims(sentence: str) -> list[Claim]:
    """Return the claims of a sentence, in order; what is left out in one is taken from the one before."""
    text = _COMPOUND.sub(" ", _FRAME.sub("", _in_full(sentence).strip()))
    conditional = _IF.search(text) is not None
    found: list[Claim] = []
    for part, joint in _parts(text):
        claim = _claim(part, found[-1] if found else None, joint)
        if claim is not None:
            found.append(replace(claim, conditional=conditional))
    return found


def english_matter(text: str) -> str:
    """Return a text without the words that only say when, whether and how really."""
    plain = _in_full(text)
    for pattern in (_ENDED, _WISHED, _AHEAD, _FORMER):
        plain = pattern.sub(" ", plain)
    return plain


def _in_full(text: str) -> str:
    plain = text.replace("’", "'")
    for pattern, long in _SHORT:
        plain = pattern.sub(long, plain)
    return plain


def _parts(text: str) -> list[tuple[str, str]]:
    """Return the clauses, each with the joint before it."""
    parts, start, joint = [], 0, ","
    for cut in _CUT.finditer(text):
        parts.append((text[start : cut.start()].strip(), joint))
        joint = cut.group().strip().lower()
        start = cut.end()
    parts.append((text[start:].strip(), joint))
    return [(part, joint) for part, joint in parts if _WORD.search(part)]


def _claim(part: str, before: Claim | None, joint: str) -> Claim | None:
    words = _WORD.findall(part)
    subject = _subject(words)
    rest = words[subject.end :]
    main, group, starts = _verb(rest)
    negations = _negations(part)
    if not starts and before is not None and subject.end == 0:  # "… and three dogs"
        negated = before.negated if not negations else negations % 2 == 1
        sense = None if before.sense is Sense.PAST else before.sense
        return replace(before, words=part, verb=main or before.verb, negated=negated, sense=sense)
    sense = _sense(rest, part)
    wished = _WISHED.search(group) is not None
    told_of, names = subject.told_of, subject.names
    if subject.end == 0 and before is not None:
        names, told_of = before.subject, before.told_of
        if joint in ("who", "whose"):
            names = told_of = analyse(before.words, "en").persons or before.subject
    elif joint in ("", "that") and before is not None:
        reported = _REPORTS.search(before.words) is not None
        wished = (wished and not (reported and _WOULD.search(group))) or (
            before.wished and not _TELLING.search(before.words)
        )
        negations += bool(before.negated) and reported  # "I don't think I like it"
        if reported:
            told_of = told_of | before.told_of | before.subject - {SPEAKER, LISTENER}
    negated = None if _OPEN.search(part) else negations % 2 == 1
    unreal = wished or sense is Sense.AHEAD or _OPEN_YET.search(part) is not None
    return Claim(part, names, told_of, main, negated, sense, wished, unreal, conditional=False)


@dataclass(frozen=True, slots=True)
class _Subject:
    names: frozenset[str]
    told_of: frozenset[str]
    end: int
    """Words up to the end of it; 0 if there is none."""


_NOBODY: frozenset[str] = frozenset()


def _subject(words: Sequence[str]) -> _Subject:
    place = 0
    while place < len(words):
        word, low = words[place], words[place].lower()
        if low in _BEFORE_NOUN:
            place += 2
            while place < len(words) and words[place - 1].lower() in _OWNERS:
                place += 1
            continue
        if low in ("i", "we"):
            return _Subject(frozenset({SPEAKER}), _NOBODY, place + 1)
        if low == "you":
            return _Subject(frozenset({LISTENER}), _NOBODY, place + 1)
        if low in ("he", "she"):
            return _Subject(frozenset({SOMEBODY}), frozenset({SOMEBODY}), place + 1)
        if low in _THINGS or low == "they":
            return _Subject(_NOBODY, _NOBODY, place + 1)
        if low in _OWNERS and place + 1 < len(words):
            return _noun_phrase(words, place)
        if _is_name(word, low):
            return _named(words, place)
        if place and _verb_like(low):
            break
        if not place and _verb_like(low):
            break
        place += 1
    return _Subject(_NOBODY, _NOBODY, 0)


def _named(words: Sequence[str], place: int) -> _Subject:
    """Read a subject that looks like a name. Any word may begin a sentence: of "nature makes me calm" nobody is the subject."""
    low = words[place].lower()
    names = frozenset({letters(low), verb_stem(low)})
    if place:
        return _Subject(names, names, place + 1)
    follows = " ".join(words[1:3])
    moves_speaker = not {"me", "us"}.isdisjoint(
        each.lower() for each in words
    ) and not _REPORTS.search(follows)
    return _Subject(_NOBODY if moves_speaker else names, _NOBODY, 1)


def _noun_phrase(words: Sequence[str], start: int) -> _Subject:
    """Read "my mother", "my friend Ken", "my mother's birthday", "the car"."""
    end = start + 2
    while (
        end < len(words)
        and end < start + 5
        and not _verb_like(words[end].lower())
        and words[end].lower() not in _SKIPPED | _BEFORE_NOUN
    ):
        end += 1
    phrase = words[start:end]
    terms = analyse(
        " ".join(word.lower() if not word[0].isupper() else word for word in phrase), "en"
    )
    people = terms.persons | {letters(name.removesuffix("'s")) for name in terms.names}
    owned = any(word.lower().endswith("'s") for word in phrase)
    is_own = phrase[0].lower() in ("my", "our", "your", "the", "a", "an", "one", "some", "another")
    if not people:
        return _Subject(_NOBODY, _NOBODY, end)
    return _Subject(_NOBODY if owned or not is_own else frozenset(people), frozenset(people), end)


def _is_name(word: str, low: str) -> bool:
    if (
        not word[0].isupper()
        or low in _SKIPPED
        or low.endswith("ing")
        or low in lexicon.function_words("en")
    ):
        return False
    terms = analyse(f"x {word}", "en").terms
    return bool(terms) and terms[-1].kind is TermKind.NAME and low not in lexicon.frame_words("en")


def _verb_like(low: str) -> bool:
    if low in _BE | _HAVE | _DO | _MODALS or lexicon.irregular_verbs().get(low):
        return True
    return len(low) > 3 and (
        low.endswith("ed") or (low.endswith("s") and not low.endswith(("ss", "'s")))
    )


def _verb(rest: Sequence[str]) -> tuple[str, str, bool]:
    """Return the stem of the main verb, the words up to it, and whether the words begin with a verb at all."""
    words = [word.lower() for word in rest if word.lower() not in _SKIPPED]
    if not words:
        return "", "", False
    place = 0
    while place < len(words) - 1 and _leads_on(words[place], words[place + 1]):
        place += 1
    word = words[place]
    main = "be" if word in _BE else "have" if word in _HAVE else verb_stem(word)
    group = " ".join(
        [
            *words[: place + 1],
            *(each for each in ("almost", "nearly") if each in (low.lower() for low in rest)),
        ]
    )
    return main, group, _verb_like(words[0]) or words[0] in _LEADING_TO_VERB


def _leads_on(word: str, following: str) -> bool:
    """Say whether a word of a verb leads to the one behind it: "am going", "want to", not "have a", "am tired"."""
    if (
        word not in _LEADING_TO_VERB
        or following in _OWNERS
        or following in ("i", "he", "she", "you", "we", "they")
    ):
        return False
    is_form = following.endswith(("ing", "ed")) or following in lexicon.irregular_verbs()
    if word in _BE:
        return is_form or following in _LEADING_TO_VERB
    if word in _HAVE:
        return is_form or following in ("to", "been")
    if word in ("like", "love", "get", "got", "need", "needs", "want", "wants", "wanted"):
        return following in ("to", "been") or following.endswith("ing")
    return True


def _sense(rest: Sequence[str], part: str) -> Sense | None:
    words = [word.lower() for word in rest if word.lower() not in _SKIPPED - {"longer"}]
    if not words:
        return None
    if re.search(r"\bused to\b", part, re.IGNORECASE) and _FORMER.search(part):
        return Sense.FORMER
    first, then = words[0], words[1] if len(words) > 1 else ""
    if first.endswith("ing") or first == "to":
        return None
    if re.search(r"\bplanned\b", part, re.IGNORECASE):
        return Sense.AHEAD
    if (
        first in ("have", "has")
        and (then == "been" or then.endswith("ed") or then in lexicon.irregular_verbs())
        and then != "to"
    ):
        return None
    if first in ("was", "were", "did", "had") or _is_past_form(first):
        return Sense.PAST
    if _AHEAD.search(part):
        return Sense.AHEAD
    if first in ("can", "could", "may", "might"):
        return None
    if first in _BE:
        if then.endswith("ing"):
            return Sense.UNDERWAY
        return (
            Sense.RESULT
            if then.endswith("ed") or then in lexicon.irregular_verbs()
            else Sense.STATE
        )
    return Sense.STATE if first in _HAVE else Sense.PRESENT


def _is_past_form(low: str) -> bool:
    if low in _PRESENT_FORMS:
        return False
    return low in lexicon.irregular_verbs() or (
        len(low) > 3 and low.endswith("ed") and low not in ("need", "feed", "breed")
    )


def _negations(part: str) -> int:
    plain = _NO_NEGATION.sub(" ", part)
    count = sum(word.lower() in _NEGATIVE for word in _WORD.findall(plain))
    dislikes = lexicon.concepts("en").words
    count += sum(
        "dislike" in dislikes.get(lexicon.base_form(word), ())
        or "dislike" in dislikes.get(word.lower().rstrip("sd"), ())
        for word in _WORD.findall(plain)
    )
    return count + len(_ENDED.findall(plain))
