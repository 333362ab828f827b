"""Finds the words of somebody else that a sentence repeats in quotation marks: what they claim is not the speaker's."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from server.memory.claims.claim import LISTENER, SOMEBODY, SPEAKER, Claim

_QUOTED = re.compile(r"「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|\"([^\"]+)\"")
_REPORTED_BEHIND = {
    "ja": re.compile(r"^(?:と|って)[^。]{0,8}?(?:言|い[っわう]|話|聞|叫|怒|尋|訊|返|答|書|頼|誘|来|打ち明|告げ|告白|伝え|連絡|電話)"),
    "en": re.compile(r"^,?\s*(?:\w+\s){0,3}?(?:said|says|asked|shouted|replied|answered|wrote|told)\b", re.I),
    "zh": re.compile(r"^[，,]?[^，。我]{0,6}(?:说|骂|问|喊|告诉|回答|写)"),
}  # fmt: skip
_REPORTED_BEFORE = {
    "en": re.compile(r"\b(?:sa(?:id|ys)|told|asked|shouted|replied|answered|wrote|texted|calls?|called)\b[^.\"“]{0,20}$", re.I),
    "zh": re.compile(r"(?:说|骂|问|喊|告诉|回答|写)[^，。]{0,4}[，,：:]?$"),
}  # fmt: skip
_FROM_OTHERS_JA = re.compile(
    r"^(?:と|って)(?:か)?[^。]{0,8}?(?:[わかさまらげ]れ(?:た|て|ま|る)|[らげ]られ|聞い|連絡が|電話が|来た|きた)"
)
_BY_SPEAKER = {
    "en": re.compile(r"\b(?:i|we)\s(?:\w+\s){0,2}?(?:sa(?:id|y)|tell|told|ask(?:ed)?|shout(?:ed)?|replied|answered|wrote|texted|call(?:ed)?)\b|\bsaid i\b", re.I),
    "zh": re.compile(r"[我咱](?:们)?[^，。我]{0,5}(?:说|骂|问|喊|告诉|回答|写)"),
}  # fmt: skip
_SELVES = frozenset({SPEAKER, LISTENER})


@dataclass(frozen=True, slots=True)
class Quotation:
    """What stands in quotation marks, and the sentence without it."""

    words: str
    before: str
    behind: str


def claims_with_quotations(
    sentence: str, language: str, read: Callable[[str], Sequence[Claim]]
) -> list[Claim]:
    """Return the claims of a sentence; those in the quoted words of another tell of somebody, and not of the speaker.

    Args:
        sentence: As it was said.
        language: Of its script.
        read: Reads the claims of a text without quotations.
    """
    quoted = _quotation(sentence, language)
    if quoted is None:
        return [*read(sentence)]
    around = [*read(f"{quoted.before} {quoted.behind}".strip())]
    if not _is_of_another(quoted, around, language):
        return [*read(sentence)]
    return [*around, *(_of_somebody(claim) for claim in read(quoted.words))]


def _quotation(sentence: str, language: str) -> Quotation | None:
    """Return the first quotation that somebody is said to have uttered."""
    for found in _QUOTED.finditer(sentence):
        before, behind = sentence[: found.start()], sentence[found.end() :]
        leads = _REPORTED_BEFORE.get(language)
        if _REPORTED_BEHIND[language].search(behind) or (leads and leads.search(before)):
            return Quotation(next(filter(None, found.groups())), before, behind)
    return None


def _is_of_another(quoted: Quotation, around: Sequence[Claim], language: str) -> bool:
    if language != "ja":
        return _BY_SPEAKER[language].search(f"{quoted.before} {quoted.behind}") is None
    named = {one for claim in around for one in claim.subject | claim.told_of}
    return _FROM_OTHERS_JA.match(quoted.behind) is not None or bool(named - _SELVES)


def _of_somebody(claim: Claim) -> Claim:
    subject = frozenset(SOMEBODY if one == SPEAKER else one for one in claim.subject)
    return replace(claim, subject=subject, told_of=claim.told_of | {SOMEBODY})
