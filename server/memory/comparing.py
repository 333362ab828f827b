"""Tells whether a new fact repeats an old one, replaces it, or stands beside it.

Closeness of vectors alone can't: "dentist on October 6" and "on October 8", "allergic" and "not allergic" lie closer
together than two wordings of one fact. So dates, numbers, names, people and negation have to agree as well.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from server.memory.models import Fact
from server.memory.terms import Analysis, TermKind, letters
from server.memory.wording import plain_analysis, without_dates


class Relation(StrEnum):
    """How a new fact stands to an old one."""

    SAME = "same"
    REPLACES = "replaces"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Closeness:
    """What cosines of facts mean for one embedder, and when a new fact replaces an old one."""

    same: float
    """Cosine from which two facts say the same, if their details agree."""
    topic: float
    """Cosine below which facts have nothing to do with each other, so that none replaces the other."""
    changes: Mapping[str, float]
    """Weights of the signs of replacement, with ``bias``; see `change_signs`."""
    threshold: float
    """Probability from which an old fact counts as replaced."""


_CHANGE = re.compile(
    r"""
    変わ | 変え | 変更 | 延期 | 延び | 早ま | 前倒し | 中止 | 取りやめ | キャンセル | 辞め | やめ | 止め | 引っ越 | 引越 | 移っ | 移し | 移る | 転職 | 転校 |
    切り替え | 乗り換え | 買い替え | 戻っ | 代わりに | じゃなく | ではなく | でなく | もう.*(?:ない|なく|よく|いい|平気|大丈夫) | 今は | 新しく | 卒業し |
    治っ | 治り | になった | 昇進 | 昇格 | 任命 | 引退 | 後任 | 回され | 繰り[上下]げ | ずれ | 振り替え | 改め | 代わ | 替わ | 移動し | 終え | 再婚 | 増え | 減っ | 減ら | ことに(?:し(?:た|まし)|なっ|なり) | (?:に|く)なりました | 異動 | 離れ | 交代 | 更新し | に決め | 別れ | 離婚 | 亡くな | 死ん
    | \b(?:now|no\ longer|not\ any\ ?more|anymore|any\ more|chang\w+|mov(?:ed|ing)|instead|switch\w+|quit|stopp?(?:ed|ing)?|gave\ up|given\ up|
        cancel\w*|postpon\w+|resched\w+|push(?:ed)?\ back|brought\ forward|replac\w+|used\ to|turned\ out|allowed|recovered|cured|broke\ up|
        promoted|successor|retir\w+|resum\w+|started\ \w+\ again|went\ (?:up|down)|increas\w+|reduc\w+|split\ up|divorc\w+|died|passed\ away|became|has\ become|is\ now|are\ now|decided|went\ back|transferred|transfer\ has|retired|sold|forbidden|renamed|calling\ \w+\ \w+\ now|passed\ the|new\ \w+)\b
    | 改 | 换 | 搬 | 辞职 | 不再 | 取消 | 推迟 | 现在 | 分手 | 去世 | 不是.*而是
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MOVE = re.compile(
    r"引っ越|引越|移り住|転居|\bmov(?:ed|ing)\ (?:to|from|into|out|in|back|house)\b|搬",
    re.IGNORECASE,
)
_LIVE = re.compile(
    rf"住ん|住む|暮ら|\bliv(?:e|es|ing)\ (?!room)|住在|{_MOVE.pattern}", re.IGNORECASE
)
_SIDES = (re.compile(r"左|\bleft\b", re.IGNORECASE), re.compile(r"右|\bright\b", re.IGNORECASE))
_SCALE = 10.0
"""Brings differences of cosines to the size of the other signs."""


def compare(old: Fact, new: Fact, cosine: float, closeness: Closeness) -> Relation:
    """Say how `new` stands to `old`, both of one person.

    Args:
        old: The fact that is stored.
        new: The fact that comes in.
        cosine: Of their vectors.
        closeness: What cosines mean for the embedder that made them.
    """
    if letters(_plain(old)) == letters(_plain(new)) and _same_days(old, new):
        return Relation.SAME
    before, after = plain_analysis(old.text, old.language), plain_analysis(new.text, new.language)
    if _speak_of_others(before, after, changed=_tells_change(new)) or _other_side(old, new):
        return Relation.DIFFERENT
    if cosine >= closeness.same and _agree(old, new, before, after):
        return Relation.SAME
    if new.said_at < old.said_at or cosine < closeness.topic or _only_adds(old, new, before, after):
        return Relation.DIFFERENT
    signs = change_signs(old, new, before, after, cosine)
    replaced = probability(closeness.changes, signs) >= closeness.threshold
    return Relation.REPLACES if replaced else Relation.DIFFERENT


def change_signs(
    old: Fact, new: Fact, before: Analysis, after: Analysis, cosine: float
) -> dict[str, float]:
    """Return the signs that a new fact replaces an old one, by name."""
    shared, share = _shared_weight(before, after)
    both_dated = old.event_from is not None and new.event_from is not None
    over = old.event_to is not None and old.event_to < new.said_at.date()
    tells, other_names = float(_tells_change(new)), float(_names_differ(before, after))
    signs = {
        "closeness": cosine * _SCALE,
        "shared": min(shared, 3.0),
        "share": share,
        "tells_change": tells,
        "numbers_differ": float(
            bool(before.numbers and after.numbers) and before.numbers != after.numbers
        ),
        "dated": float(both_dated),
        "days_differ": float(both_dated and not _same_days(old, new)),
        "over": float(over),
        "still_ahead": float(both_dated and not over),
        "old_dated": float(old.event_from is not None),
        "new_dated": float(new.event_from is not None and old.event_from is None),
        "names_shared": float(bool(before.names & after.names)),
        "names_differ": other_names,
        "lives": float(_lives(old, before) and _lives(new, after)),
        "negation_differs": float(before.negated != after.negated),
        "notions_shared": min(len(before.notions & after.notions), 3) / 3,
    }
    joint = {
        "tells_change_closeness": tells * signs["closeness"],
        "tells_change_share": tells * share,
        "still_ahead_share": signs["still_ahead"] * share,
        "names_differ_share": other_names * share,
        "over_share": signs["over"] * share,
    }
    return signs | joint


def probability(weights: Mapping[str, float], signs: Mapping[str, float]) -> float:
    """Return the probability that weighted signs stand for (logistic); ``bias`` is among the weights."""
    total = weights.get("bias", 0.0) + sum(
        weights.get(sign, 0.0) * value for sign, value in signs.items()
    )
    return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, total))))


def _speak_of_others(before: Analysis, after: Analysis, *, changed: bool) -> bool:
    """Say whether two facts are about different people, so that neither can touch the other."""
    if before.names & after.names:
        return False
    if before.persons != after.persons:
        return not (
            changed and (before.persons <= after.persons or after.persons <= before.persons)
        )
    return before.names != after.names and not changed


def _only_adds(old: Fact, new: Fact, before: Analysis, after: Analysis) -> bool:
    """Say whether a new fact says all that the old one does, and more: then nothing has changed."""
    kept = {term.key for term in before.terms} <= {term.key for term in after.terms}
    return kept and _same_days(old, new) and not _tells_change(new)


def _other_side(old: Fact, new: Fact) -> bool:
    left, right = _SIDES
    sides = [(bool(left.search(fact.text)), bool(right.search(fact.text))) for fact in (old, new)]
    return (True, False) in sides and (False, True) in sides


def _names_differ(before: Analysis, after: Analysis) -> bool:
    return bool(before.names - after.names) and bool(after.names - before.names)


def _tells_change(fact: Fact) -> bool:
    return _CHANGE.search(_plain(fact)) is not None


def _agree(old: Fact, new: Fact, before: Analysis, after: Analysis) -> bool:
    """Say whether the details agree: days, numbers, names and negation."""
    return (
        _same_days(old, new)
        and before.numbers == after.numbers
        and before.names == after.names
        and before.negated == after.negated
        and not _tells_change(new)
    )


def _same_days(old: Fact, new: Fact) -> bool:
    return (old.event_from, old.event_to) == (new.event_from, new.event_to)


def _shared_weight(before: Analysis, after: Analysis) -> tuple[float, float]:
    """Return the weight of the terms that both have, and its share of the old one's."""
    known = {term.key: term.weight for term in before.terms if term.kind is not TermKind.NUMBER}
    told = {term.key: term.weight for term in after.terms if term.kind is not TermKind.NUMBER}
    shared = sum(min(weight, told[key]) for key, weight in known.items() if key in told)
    return shared, shared / (sum(known.values()) + 0.01)


def _lives(fact: Fact, terms: Analysis) -> bool:
    return _LIVE.search(_plain(fact)) is not None and not terms.persons


def _plain(fact: Fact) -> str:
    """Return the sentence without the dates in brackets, which are compared as days."""
    return without_dates(fact.text)
