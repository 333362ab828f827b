"""Finds corrections that give only what is right: "Sorry, I meant eleven", あ、京都だった, 不对，是五号.

Alone they say nothing; behind what they correct they are a part of it. They put a number or a day right that was told, or a name.
"""

import re

from server.memory.corrections import is_only_correction, without_correction
from server.memory.temporal.english_words import MONTHS, WEEKDAYS
from server.memory.temporal.number_words import ENGLISH_NUMBERS, ENGLISH_ORDINALS, alternatives
from server.memory.terms import analyse

_MEANT_EN = re.compile(
    r"^\W*(?:and |but |or )?(?:i meant?|rather|make that)\b[\s,:]*", re.IGNORECASE
)
_AH_JA = re.compile(r"^\W*(?:あ[あっ]?|おっと|えっと)[、,]\s*(?=.*(?:だった|でした))")
_NUMBER = {
    "en": re.compile(
        rf"\d|\b(?:half|quarter|noon|midnight|{alternatives(ENGLISH_NUMBERS)}|{alternatives(ENGLISH_ORDINALS)}|{alternatives(WEEKDAYS)}|{alternatives(MONTHS)})\b",
        re.IGNORECASE,
    ),
    "ja": re.compile("[0-9０-９一二三四五六七八九十百]|[月火水木金土日]曜"),
    "zh": re.compile("[0-9０-９〇零一二三四五六七八九十百两]|周[一二三四五六日天]"),
}
_BARE = {
    "en": re.compile(
        r"^(?:(?:it|that)(?:'s| is| was) )?(?!.*\b(?:i|i'm|we|you|my|me|is|are|was|were|have|has|had|please|thanks?)\b)[\w':/-]+(?: [\w':/-]+){0,4}[.!]*$",
        re.IGNORECASE,
    ),
    "ja": re.compile(r"^[^、。はがをもへか?？]{1,15}?(?:だ|です|だった|でした|なん(?:だ|です))?[よねわ]*[。.!！]*$"),
    "zh": re.compile(r"^(?:应该)?(?:是|在|叫|姓)?[^，。我你他她它了吗的不?？]{1,8}[。.!！]*$"),
}  # fmt: skip
_NAME_EN = re.compile(r"(?<=[\w,] )[A-Z][a-z]+")
_ONLY_NAMES_EN = re.compile(r"^(?:in |at )?[A-Z][\w'-]+(?: [A-Z][\w'-]+)?[.!]*$")
_NAMED_ZH = re.compile(r"(?:在|叫|是|姓|来自)[^，。了过着]{1,4}[。.!！]*$")
_NAME_ZH = re.compile(r"^(?:应该)?(?:是|在|叫|姓)?(?![好没行对谢算])[\u4e00-\u9fff]{1,4}[。.!！]*$")


def amends(before: str, sentence: str, language: str) -> bool:
    """Say whether a sentence only puts right a number, a day or a name of the one before it.

    Args:
        before: What was said right before.
        sentence: What may correct it.
        language: Two-letter code of both.
    """
    code = language if language in _BARE else "en"
    right = _right(sentence, code)
    if not right or _BARE[code].match(right) is None:
        return False
    if _NUMBER[code].search(right):
        return _NUMBER[code].search(before) is not None
    return _are_names(before, right, code)


def _right(sentence: str, language: str) -> str:
    """Return what is said behind the words that call it a correction; nothing if none do."""
    plain = sentence.replace("’", "'").strip()
    if is_only_correction(plain):
        return ""
    rest = without_correction(plain)
    marked = rest != plain
    rest = plain[len(plain) - len(rest) :] if marked else plain
    opened = {"en": _MEANT_EN, "ja": _AH_JA}.get(language)
    if opened is not None and opened.match(rest):
        marked, rest = True, opened.sub("", rest)
    return rest if marked else ""


def _are_names(before: str, right: str, language: str) -> bool:
    if language == "en":
        return _ONLY_NAMES_EN.match(right) is not None and _NAME_EN.search(before) is not None
    if language == "zh":
        return _NAME_ZH.match(right) is not None and _NAMED_ZH.search(before) is not None
    told, meant = analyse(before, language), analyse(right, language)
    return bool((told.proper | told.places) and (meant.proper | meant.places))
