"""Reads the claims of Japanese sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sudachipy import Morpheme

from server.memory.claims.claim import Claim, Sense
from server.memory.claims.japanese_predicates import FORMER, LIGHT, OBLIGED, read_predicate
from server.memory.claims.japanese_subjects import read_subject
from server.memory.terms import words_of

_JOINTS = {"けど", "けれど", "けれども", "が", "から", "ので", "のに", "し"}
_CONDITIONS = {"たら", "だら", "なら"}
_BEFORE_COMMA = {*_JOINTS, *_CONDITIONS, "て", "で", "ば", "り"}
_AFTER_CONDITION = {"なら", "いけ", "いい", "良い", "な"}
"""What makes a condition a duty or a wish: 行かなければならない, 行けたらいい."""
_HANGING = re.compile(r"(?:[てで]|ずに|(?<![がけどしらのば])、)$")
"""Ends a clause that has its time and its wish from the one behind it."""
_WISHED = re.compile(
    r"[おこごそとのぼもろよ]う(?:か|と|かな)|迷[っいう]|悩[んむみ]|考え(?:て|中)|検討|べき|憧れ|目指|夢|ところだった"
    r"|そうにな|方がいい|ほうがいい|かどうか|希望|願|らしい"
    r"|(?:小説|物語|漫画|マンガ|脚本|台本|ドラマ|芝居|劇|ゲーム)の中(?:で(?!一番|いちばん|も)|だと|の)"
    r"|(?:という|って)(?:設定|役)|[たるだ](?:という)?(?:小説|物語|脚本|漫画|マンガ|話)を(?:書|描|考え)"
)
"""What is wished for, or made up."""
_WISHES = {"たい", "たがる", "欲しい"}
_CONDITION = re.compile(r"(?:たら|だら|なら|れば|ければ|場合は?)(?![いだなよ]|らな)")
_FRAME = re.compile(
    r"(?:という)?(?:こと)?(?:を|と)(?:話し|言っ|述べ|語っ)(?:た|ている|ていた|ました)。?$"
)


def japanese_claims(sentence: str) -> list[Claim]:
    """Return the claims of a sentence, in order. A clause without a subject has the topic of the one before."""
    found: list[Claim] = []
    topic, conditional = False, False
    for clause in _clauses(_FRAME.sub("", sentence.strip())):
        words = words_of(clause)
        subject = read_subject(words)
        names, told_of = frozenset(subject.names), frozenset(subject.told_of)
        if found and topic and not told_of and not names:
            names, told_of = found[-1].subject, found[-1].told_of
        else:
            topic = subject.goes_on
        if _CONDITION.search(clause) and not OBLIGED.search(clause):
            conditional = True
        predicate = read_predicate(clause, words)
        wished = _WISHED.search(clause) is not None or any(
            word.normalized_form() in _WISHES for word in words
        )
        found.append(
            Claim(
                words=clause,
                subject=names,
                told_of=told_of,
                verb=predicate.verb,
                negated=predicate.negated,
                sense=predicate.sense,
                wished=wished,
                unreal=wished or predicate.sense is Sense.AHEAD,
                conditional=conditional,
            )
        )
    return _ended(found)


def japanese_matter(text: str) -> str:
    """Return a text without the words that only say when, whether and how really."""
    return re.sub(f"{FORMER.pattern}|予定|つもり|計画|考え|必要|希望", " ", text)


def _ended(claims: Sequence[Claim]) -> list[Claim]:
    """Return claims in which those that end in て have the time and the wish of what follows."""
    found = [*claims]
    for place in range(len(found) - 2, -1, -1):
        one, after = found[place : place + 2]
        if _HANGING.search(one.words) and one.sense is Sense.PRESENT:
            found[place] = replace(one, sense=after.sense, wished=after.wished, unreal=after.unreal)
    return found


def _clauses(text: str) -> Iterator[str]:
    words = words_of(text)
    start = 0
    for place, word in enumerate(words[:-1]):
        if _is_joint(words, place):
            yield text[start : word.end()]
            start = word.end()
    if text[start:].strip("、。 "):
        yield text[start:]


def _is_joint(words: Sequence[Morpheme], place: int) -> bool:
    surface, after = words[place].surface(), words[place + 1].surface()
    if surface in ("。", "！", "!", "？"):
        return True
    if after in ("、", "，") or not place:
        return False  # the mark is the joint
    if surface in ("、", "，"):
        return _ends_clause(words[place - 1])
    if surface in ("て", "で", "に"):
        return _hangs(words, place)
    part, detail = words[place].part_of_speech()[:2]
    if surface in _CONDITIONS or surface == "ば":
        return part in ("助動詞", "助詞") and after not in _AFTER_CONDITION
    return detail == "接続助詞" and surface in _JOINTS


def _ends_clause(before: Morpheme) -> bool:
    """Say whether a comma behind a word stands between clauses."""
    part, detail, _, _, _, form = before.part_of_speech()
    is_predicate = part in ("動詞", "助動詞") and form.startswith("連用形")
    return (
        is_predicate
        or form.startswith("終止形")
        or detail in ("接続助詞", "終助詞")
        or before.surface() in _BEFORE_COMMA
    )


def _hangs(words: Sequence[Morpheme], place: int) -> bool:
    """Say whether て, ずに or ので ends a clause; in 食べている it does not."""
    word, before, follower = words[place], words[place - 1], words[place + 1]
    if word.surface() == "に":
        return bool(before.surface() == "ず")
    if word.part_of_speech()[1] != "接続助詞":
        return bool(before.part_of_speech()[1] == "準体助詞")
    is_light = follower.normalized_form() in LIGHT | {"欲しい", "頂く"}
    return not is_light and str(follower.part_of_speech()[0]) not in ("助詞", "助動詞", "補助記号")
