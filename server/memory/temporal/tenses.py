"""Tells from the words around an expression of time whether it looks back or ahead."""

import re
from typing import Final

from server.memory.temporal.spans import Tense

_REACH: Final = 80
"""Characters that are looked at on either side; a bound keeps long texts linear."""

# What was quoted is a sentence of its own: You said: "Mum comes on Thursday."
_SENTENCE_END: Final = re.compile(r"[。!?\n]|\.(?=\s|\Z)(?<![ap]\.m\.)|[:：]\s*[\"“]")

# What was quoted has its own predicate: 「土曜に行く」と話した looks ahead.
_JA_END: Final = re.compile(r"[。!?\n」』]")

# What may follow a verb that governs the expression; "had better" (た方が) and "after" (た後) say nothing of the past.
_JA_AFTER = (
    r"(?!方が|ほうが|後|あと)"
    r"(?=[よねのんがわなしとか、。!?\s一-龠ァ-ヴ]|けど|から|ので|って|そう|らし|とき|ばか|\Z)"
)
_JA_PAST = re.compile(
    r"(?:(?<!あ)した|(?<![るくすうつぬむぶぐいなたの])んだ|いだ|でした|だった"
    r"|[いっえけげせてねべめれきみびりちじぎに来見出寝着居得経似]た)" + _JA_AFTER
)
_JA_AHEAD = re.compile(
    r"(?:て|(?<=[んい])で)(?=ください|下さい|くれ|ほしい|欲しい|[ねよ。!]|\Z)"
    r"|[るくすつむぶぐう](?:日|予定|の|ん)(?:だった|でした)"
    r"|予定|つもり|計画|締め?切り?|までに|[きぎしちにびみりいえけげせてねべめれ]たい(?!て)"
    r"|[おこごそとのぼもろよ]う(?:と|か|ね|よ)|ます|ません|方がいい|ほうがいい"
    r"|[るくすつむぶぐう行](?=[よねけかと。!?]|んだ|から|ので|って|つもり|予定|はず|かも|だろ|でしょ|ため|、|\Z)"
)
_JA_NOW = re.compile(r"[てで](?:い?る|い?ます)|だ(?=[よねしかけ。!]|\Z)|です")

_EN_PAST_WORDS: Final = [
    "was",
    "were",
    "had",
    "did",
    "didn't",
    "wasn't",
    "weren't",
    "hadn't",
    "couldn't",
    "went",
    "saw",
    "came",
    "ate",
    "got",
    "took",
    "gave",
    "made",
    "said",
    "told",
    "met",
    "bought",
    "brought",
    "thought",
    "felt",
    "left",
    "lost",
    "found",
    "knew",
    "heard",
    "kept",
    "slept",
    "spent",
    "spoke",
    "spilled",
    "broke",
    "wore",
    "won",
    "wrote",
    "woke",
    "ran",
    "sang",
    "sat",
    "swam",
    "drank",
    "drove",
    "flew",
    "fell",
    "forgot",
    "grew",
    "began",
    "built",
    "caught",
    "chose",
    "held",
    "hurt",
    "lent",
    "lit",
    "paid",
    "rode",
    "rose",
    "sent",
    "shot",
    "sold",
    "stood",
    "taught",
    "tore",
    "threw",
    "understood",
    "cooked",
    "used",
]
_EN_PAST: Final = rf"(?:{'|'.join(_EN_PAST_WORDS)}|have been|has been|(?!hundred|sacred|wicked|naked)\w+[^\We]ed|agreed)"
_EN_AHEAD: Final = (
    r"(?:will|won't|shall|going to|gonna|plans?|planning|planned to|want|wanna|would like|have to|has to|"
    r"need to|let's|about to|(?:wake|remind|call|tell|ring|meet) me|can|could|should|must|might|\w+'ll|\w+'d like|"
    r"(?:am|are|is|\w+'m|\w+'re|(?:he|she|it|who|there)'s)\s(?:not\s)?(?!being|during|morning|evening)\w+ing)"
)
# "Have I got anything on Friday", "I've got the dentist": having, not getting.
_EN_HAVING: Final = r"(?:(?:have|has|haven't|hasn't)(?:\s\w+){0,2}?|\w+'(?:ve|s)(?:\s(?:i|we|he|she|it|they|you|(?:the|my|our)\s\w+))?)\s(?:only\s|also\s)?got(?!\sto\b)"
_EN_NOW: Final = r"(?:am|is|are|isn't|aren't|\w+'m|\w+'re)"
_EN_HINT = re.compile(
    rf"\b(?:(?P<having>{_EN_HAVING})|(?P<ahead>{_EN_AHEAD})|(?P<past>{_EN_PAST})|(?P<now>{_EN_NOW}))(?![\w'])",
    re.IGNORECASE,
)
_EN_CLAUSE = re.compile(
    r"[,;:]\s|\s(?:and|but|because|so|then|although|though|while)\s", re.IGNORECASE
)

# Whatever the verb says, the day is ahead of it: "I booked it for Saturday", "they moved it to Friday", "tickets for the
# concert on Friday", "my test date: Friday".
_EN_FOR = re.compile(
    r"""\b(?:for|by|until|till)\ (?:the\ )?\Z
    | \b(?:moved|postponed|rescheduled|changed|pushed|shifted|switched|delayed|put\ off|brought\ forward)\b[^.!?]{0,40}\bto\ (?:the\ )?\Z
    | \b(?:tickets?|seats?|table|appointment|reservation)\ for\ (?:\w+\ ){1,4}on\ (?:the\ )?\Z
    | \b(?:date|appointment|slot|booking):\ (?:the\ )?\Z""",
    re.IGNORECASE | re.VERBOSE,
)

_ZH_AHEAD = re.compile(
    r"(?<![重主需首摘只])要(?!求|素|点)|(?<![开约聚集晚机社])会(?!议|面|员|话)|打算|准备|想(?!起|到|过)|将|计划|安排|预计|记得|吧"
)
_ZH_PAST = re.compile(
    r"(?<![为除])了(?!解)|(?<![不经通超])过(?!年|节|生日|周末|来|去|敏|会)|刚才?|已经|曾|来着|那时|做什么了|干了"
)


def japanese_tense(text: str, start: int, end: int) -> Tense | None:
    """Return the tense of the first predicate behind the expression, which is the one it belongs to."""
    ending = _JA_END.search(text, end, end + _REACH)
    stop = ending.end() if ending else min(end + _REACH, len(text))
    found = [
        (match.start(), order, tense)
        for order, (pattern, tense) in enumerate(
            ((_JA_PAST, Tense.PAST), (_JA_NOW, Tense.PRESENT), (_JA_AHEAD, Tense.FUTURE))
        )
        if (match := pattern.search(text, end, stop))
    ]
    return min(found)[2] if found else None


def english_tense(text: str, start: int, end: int) -> Tense | None:
    """Return what the last verb before the expression says, else the first behind it; in its clause, else its sentence."""
    if _EN_FOR.search(text, max(start - _REACH, 0), start):
        return Tense.FUTURE
    first, stop = _sentence(text, start, end)
    begin = max((cut.end() for cut in _EN_CLAUSE.finditer(text, first, start)), default=first)
    cut = _EN_CLAUSE.search(text, end, stop)
    clause_end = cut.start() if cut else stop
    return (
        _last_hint(text, begin, start)
        or _first_hint(text, end, clause_end)
        or _last_hint(text, first, begin)
        or _first_hint(text, clause_end, stop)
    )


def chinese_tense(text: str, start: int, end: int) -> Tense | None:
    """Return the tense by particles; 要 and its like outweigh 了, which also marks what is about to change."""
    first, stop = _sentence(text, start, end)
    if _ZH_AHEAD.search(text, first, stop):
        return Tense.FUTURE
    return Tense.PAST if _ZH_PAST.search(text, first, stop) else None


def no_tense(text: str, start: int, end: int) -> Tense | None:
    """Return nothing: of other languages only explicit dates are read."""
    return None


def _first_hint(text: str, start: int, end: int) -> Tense | None:
    match = _EN_HINT.search(text, start, end)
    return _tense_of(match) if match else None


def _last_hint(text: str, start: int, end: int) -> Tense | None:
    last = None
    for match in _EN_HINT.finditer(text, start, end):
        last = match
    return _tense_of(last) if last else None


def _tense_of(match: re.Match[str]) -> Tense:
    return {"ahead": Tense.FUTURE, "past": Tense.PAST}.get(match.lastgroup or "", Tense.PRESENT)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentence begins and ends, as far as it is looked at."""
    reach = max(start - _REACH, 0)
    before = [mark.end() for mark in _SENTENCE_END.finditer(text, reach, start)]
    after = _SENTENCE_END.search(text, end, end + _REACH)
    return (before[-1] if before else reach), (
        after.start() if after else min(end + _REACH, len(text))
    )
