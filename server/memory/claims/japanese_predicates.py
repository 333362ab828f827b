"""Reads the predicate of a Japanese clause: which it is, when, and whether it is denied."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.claims.claim import Sense

NEGATIONS = frozenset({"ない", "無い", "ぬ", "ず"})
LIGHT = frozenset({
    "居る", "有る", "為る", "成る", "来る", "行く", "仕舞う", "思う", "言う", "話す", "下さる", "呉れる", "貰う", "置く", "見る", "感ずる",
    "上げる", "いける", "駄目", "良い", "分かる", "知る", "考える",
})  # fmt: skip
"""Verbs that only colour another when they follow it."""
AHEAD = re.compile(
    r"予定|つもり|計画|ことに(?:し|な[っりる])|決め|なきゃ|なくちゃ|なければ|必要がある|ないと|[るくすつむぶぐう]ことになっ"
)
FORMER = re.compile(r"以前|前[はに]|昔|かつて|元々|もともと|[頃ころ]は|時代")
OBLIGED = re.compile(
    r"な(?:きゃ|くちゃ|ければ|いと|くては)(?:いけ|なら|だめ|ダメ|駄目)?(?:ない|ません|なかった|ませんでした)?"
)
_LEADS_TO_LIGHT = {"て", "で", "と", "って", "は", "も", "ば", "られ", "し", "なきゃ", "なくちゃ"}
_BECOMES = {"為る", "成る"}
_GIVES = {"呉れる": "上げる", "遣る": "上げる", "下さる": "上げる", "差し上げる": "上げる"}
"""Verbs that differ in who gives to whom only."""
_SHELLS = {
    "予定", "積もり", "計画", "筈", "様", "事", "訳", "物", "所", "気", "必要", "為", "考え", "方", "状態", "頃", "の", "感じ", "ん",
}  # fmt: skip
"""Nouns that a whole clause leads to: 行く予定だ."""
_NO_NEGATION = re.compile(
    r"忘れないで|間違いな|違いな|仕方な|しょうがな|たまらな|ないうちに|ないように(?![し気])|しか(?=.{0,12}?(?:な[いかく]|ませ))|なんでもな|じゃないですか|問題な"
)
_ENDED = {"止める", "辞める", "やめる", "禁煙", "禁酒", "絶つ"}
"""Verbs that deny what they are said of."""
_STATES = {"有る", "居る", "出来る", "分かる"}
_GOES_ON = {"てる", "とる", "居る"}


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a clause says."""

    verb: str
    """As in `Claim.verb`."""
    negated: bool
    sense: Sense


def read_predicate(clause: str, words: Sequence[Morpheme]) -> Predicate:
    """Read the last word of a clause that says something, and what follows it.

    Args:
        clause: The clause.
        words: Of it; at least one.
    """
    place = _place(words)
    core, tail = words[place], words[place + 1 :]
    forms = [str(word.normalized_form()) for word in tail]
    verb = _verb(words, place)
    denials = 0
    if not OBLIGED.search(clause):
        denials = sum(form in NEGATIONS for form in forms)
    if denials:
        denials -= len(_NO_NEGATION.findall(clause))
    denials += "dislike" in lexicon.concepts("ja").of(str(core.normalized_form()))
    denials += verb in _ENDED
    is_verb = core.part_of_speech()[0] == "動詞" or "為る" in forms
    is_past = any(
        word.normalized_form() == "た" and word.surface() not in ("たら", "だら") for word in tail
    )
    is_state = not is_verb or core.normalized_form() in _STATES
    sense = _sense(
        clause, is_past=is_past, goes_on=not _GOES_ON.isdisjoint(forms), is_state=is_state
    )
    return Predicate(verb, denials % 2 == 1, sense)


def _sense(clause: str, *, is_past: bool, goes_on: bool, is_state: bool) -> Sense:
    if AHEAD.search(clause):
        return Sense.AHEAD
    if is_past:
        return Sense.FORMER if goes_on or is_state or FORMER.search(clause) else Sense.PAST
    if goes_on:
        return Sense.RESULT
    return Sense.STATE if is_state else Sense.PRESENT


def _place(words: Sequence[Morpheme]) -> int:
    """Return the place of the last word that says something: 飼っ in 飼っている, 行く in 行く予定だ."""
    for place in range(len(words) - 1, -1, -1):
        part, detail = words[place].part_of_speech()[:2]
        form = words[place].normalized_form()
        says = part in ("動詞", "形容詞", "形状詞", "名詞") and detail != "助動詞語幹"
        if says and form not in NEGATIONS | _SHELLS and not _is_light(words, place):
            return place
    return 0


def _is_light(words: Sequence[Morpheme], place: int) -> bool:
    form = words[place].normalized_form()
    if form not in LIGHT or not place:
        return False
    before = words[place - 1]
    return (
        before.surface() in _LEADS_TO_LIGHT
        or before.normalized_form() in NEGATIONS
        or before.part_of_speech()[0] == "形容詞"
        or (before.surface() == "に" and form in _BECOMES)
    )


def _verb(words: Sequence[Morpheme], place: int) -> str:
    form = str(words[place].normalized_form())
    if form == "為る" and place:
        back = 2 if words[place - 1].surface() == "を" else 1
        return str(words[max(place - back, 0)].normalized_form())
    after = words[place + 1].normalized_form() if place + 1 < len(words) else ""
    is_verb = words[place].part_of_speech()[0] == "動詞" or after == "為る"
    return _GIVES.get(form, form) if is_verb else ""
