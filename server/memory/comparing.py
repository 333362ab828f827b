"""Tells whether a new fact repeats an old one, replaces it, or stands beside it.

Closeness of vectors alone can't: "dentist on October 6" and "on October 8", "allergic" and "not allergic" lie closer
together than two wordings of one fact. So dates, numbers, names, people and negation have to agree as well.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import time, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from server.memory import lexicon, temporal
from server.memory.attributes import Attribute, Owned
from server.memory.contrasts import are_contrary
from server.memory.corrections import corrects
from server.memory.ended import is_for_once
from server.memory.endings import ends, is_of_others, meant
from server.memory.judging import (
    NO_OPINION,
    Forest,
    Perceptron,
    Scale,
    Vectors,
    add_standing,
    pair_rows,
)
from server.memory.models import Fact
from server.memory.shelf import Entry
from server.memory.standing import StandingKind, standing_kind
from server.memory.temporal import Granularity
from server.memory.terms import Analysis, TermKind, letters
from server.memory.wording import without_dates


class Relation(StrEnum):
    """How a new fact stands to an old one."""

    SAME = "same"
    REPLACES = "replaces"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Closeness:
    """What closeness of facts means for one embedder, and when a new fact replaces an old one."""

    same: float
    """Cosine from which two facts say the same, if their details agree."""
    threshold: float
    """Probability from which an old fact counts as replaced."""
    changes: Forest
    """Judges `change_signs`."""
    scale: Scale | None = None
    pairing: Perceptron | None = None
    """Looks at the vectors of an old and a new fact; None for an embedder that none was learnt for."""

    def paired(self, old: Vectors, new: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return the logits of the probability that a new fact replaces old ones, by their vectors alone."""
        if self.scale is None or self.pairing is None:
            return None
        return self.pairing.logits(pair_rows(self.scale.applied(old), self.scale.applied(new)))


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
_NOW = re.compile(r"\bnow\b|今は|今では|現在は|现在|如今", re.IGNORECASE)
_LAST_DAYS = timedelta(days=3)
"""How long ago something was said that a correction may mean."""
_SAME_MATTER = 0.6
"""Share of the words that two facts about one thing have in common."""
_ALSO = re.compile(r"[一-龠ァ-ヶー]も(?![うっしの])|\b(?:also|too|as well)\b|也", re.IGNORECASE)
_MOVE = re.compile(
    r"引っ越|引越|移り住|転居|\bmov(?:ed|ing)\ (?:to|from|into|out|in|back|house)\b|搬",
    re.IGNORECASE,
)
_LIVE = re.compile(
    rf"住ん|住む|暮ら|\bliv(?:e|es|ing)\ (?!room)|住在|{_MOVE.pattern}", re.IGNORECASE
)
_ELSEWHEN = re.compile(
    r"いつか|たい|まで|かつて|昔|前は|以前|隣|\b(?:want|would|wish|hope|someday|one day|used to|until|once)\b|想|曾",
    re.IGNORECASE,
)


def relations(new: Entry, known: Sequence[Entry], closeness: Closeness) -> list[Relation]:
    """Say how a new fact stands to each of the known ones that are nearest to it, all of one person."""
    probabilities = closeness.changes.probabilities(change_signs(new, known, closeness))
    found = []
    for old, probability in zip(known, probabilities, strict=True):
        if repeats(old, new, closeness.same):
            found.append(Relation.SAME)
        elif ends(old, new):
            found.append(Relation.REPLACES)
        elif _stand_apart(old, new):
            found.append(Relation.DIFFERENT)
        elif probability >= closeness.threshold or (_lives(old) and _lives(new)):
            found.append(Relation.REPLACES)
        else:
            found.append(Relation.DIFFERENT)
    corrected = _corrected(new, known, found)
    if corrected is not None:
        found[corrected] = Relation.REPLACES
    return found


def _corrected(new: Entry, known: Sequence[Entry], found: Sequence[Relation]) -> int | None:
    """Return the place of the fact that a new one takes the place of by its own word; None if it says no such thing.

    "Sorry, I'm called Alicia" corrects what was said of the name in the last days, "I work in York now" what was ever said
    of the work. Where no attribute tells, it is what was said in nearly the same words, or the day of what it names.
    """
    says_so = corrects(new.fact.quote or _plain(new.fact))
    if not says_so and _NOW.search(_plain(new.fact)) is None:
        return None
    candidates = []
    for place, (old, relation) in enumerate(zip(known, found, strict=True)):
        is_older = timedelta() <= new.fact.said_at - old.fact.said_at
        is_fresh = new.fact.said_at - old.fact.last_said_at <= _LAST_DAYS
        if relation is Relation.SAME or not is_older or _stand_apart(old, new):
            continue
        shared = min(_shared_words(old, new), _shared_words(new, old))
        if _single(old) & _single(new) and (is_fresh or not says_so):
            candidates.append((1.0 + shared, old.fact.said_at, place))
        elif says_so and is_fresh and (shared >= _SAME_MATTER or _gives_day_alone(old, new)):
            candidates.append((shared, old.fact.said_at, place))
    return max(candidates)[2] if candidates else None


def _gives_day_alone(old: Entry, new: Entry) -> bool:
    """Say whether a new fact names a matter of an old one and nothing else but another day: "the dentist is on Friday"."""
    both_dated = old.fact.event_from is not None and new.fact.event_from is not None
    if not both_dated or _same_days(old.fact, new.fact):
        return False
    matter = (meant(old.terms) & meant(new.terms)) - new.terms.persons
    return bool(matter) and _shared_words(new, old) >= _SAME_MATTER


def _single(entry: Entry) -> set[Owned]:
    """Return the attributes that a fact gives and of which everybody has one."""
    return {owned for owned in entry.claims if owned[1] is not Attribute.ALLERGY}


def _shared_words(one: Entry, other: Entry) -> float:
    """Return how much of the words of one fact another has, names and numbers aside: these are what is corrected."""
    told = {term.key for term in other.terms.terms}
    own = [term for term in one.terms.terms if term.kind in (TermKind.WORD, TermKind.PERSON)]
    shared = sum(term.weight for term in own if term.key in told)
    return shared / (sum(term.weight for term in own) + 0.01)


def _stand_apart(old: Entry, new: Entry) -> bool:
    """Say whether a new fact leaves an old one as it is by rules that sets hold too few cases of to learn them from."""
    is_older = old.fact.said_at > new.fact.said_at
    return (
        is_older
        or _stands_all_the_same(old, new)
        or _says_also(new.fact)
        or _are_of_others(old, new)
        or _is_one_more_allergy(old, new)
        or _give_other_things(old, new)
    )


def _stands_all_the_same(old: Entry, new: Entry) -> bool:
    """Say whether an old fact stands in every prompt, and a new one that is like it in words leaves it so.

    A wish for silence ends by a permission alone; pills neither by those of the mother nor by one that was left out today.
    """
    kind = standing_kind(old.fact)
    if kind is None or kind is StandingKind.DO_NOT_MENTION:
        return kind is not None
    return is_of_others(old, new) or is_for_once(_plain(new.fact), new.fact.language)


def _give_other_things(old: Entry, new: Entry) -> bool:
    """Say whether one fact gives, say, the home and the other the work: "I work in York now" leaves "I live in York"."""
    return bool(old.claims and new.claims) and not old.claims & new.claims


def _says_also(new: Fact) -> bool:
    """Say whether a fact calls itself an addition: sets hold too few to learn it from, as of homes, of which one has one."""
    return _ALSO.search(_plain(new)) is not None and not _tells_change(new)


def _are_of_others(old: Entry, new: Entry) -> bool:
    """Say whether two facts are about two people: your mother and your father; your mother Kazuko, your colleague Ken."""
    before, after = old.terms, new.terms
    if not before.persons or not after.persons or before.names & after.names:
        return False
    if lexicon.may_be_among(before.persons, after.persons):
        return False
    of_kin = bool(before.persons & lexicon.KIN and after.persons & lexicon.KIN)
    return of_kin or bool(before.names and after.names)


def _is_one_more_allergy(old: Entry, new: Entry) -> bool:
    """Say whether both facts are about allergies and the new one does not say that anything has changed."""
    both = "allergy" in old.terms.notions & new.terms.notions
    return both and not _tells_change(new.fact) and not new.terms.negated


def repeats(old: Entry, new: Entry, same: float) -> bool:
    """Say whether a new fact says what an old one says.

    Args:
        old: The known fact.
        new: The one that comes in.
        same: `Closeness.same`.
    """
    if letters(_plain(old.fact)) == letters(_plain(new.fact)):
        return _same_days(old.fact, new.fact)
    return cosine_of(old, new) >= same and details_agree(old, new)


def details_agree(old: Entry, new: Entry) -> bool:
    """Say whether days, habits, numbers, people, sides and negation of two facts agree, and nothing is said to have changed."""
    before, after = old.terms, new.terms
    return (
        _same_days(old.fact, new.fact)
        and old.habit == new.habit
        and before.numbers == after.numbers
        and _hours(old.fact) == _hours(new.fact)
        and before.names == after.names
        and before.persons == after.persons
        and before.negated == after.negated
        and not are_contrary(_plain(old.fact), _plain(new.fact))
        and not _tells_change(new.fact)
    )


def change_signs(
    new: Entry, known: Sequence[Entry], closeness: Closeness
) -> list[dict[str, float]]:
    """Return the signs that a new fact replaces each of the known ones."""
    return with_opinions(signs_between(new, known), _opinions(new, known, closeness))


def signs_between(new: Entry, known: Sequence[Entry]) -> list[dict[str, float]]:
    """Return the same without what a perceptron says of the vectors."""
    found = [_signs_between(old, new) for old in known]
    add_standing(found, "closeness")
    return found


def with_opinions(
    signs: Sequence[Mapping[str, float]], opinions: Sequence[float]
) -> list[dict[str, float]]:
    """Return signs with what a perceptron says of the vectors: logits."""
    full = [{**one, "paired": opinion} for one, opinion in zip(signs, opinions, strict=True)]
    add_standing(full, "paired")
    return full


def cosine_of(one: Entry, other: Entry) -> float:
    """Return the cosine of the vectors of two facts; 0 if either has none."""
    return 0.0 if one.vector is None or other.vector is None else float(one.vector @ other.vector)


def _opinions(new: Entry, known: Sequence[Entry], closeness: Closeness) -> list[float]:
    vectors = {place: old.vector for place, old in enumerate(known) if old.vector is not None}
    opinions = [NO_OPINION] * len(known)
    if new.vector is not None and vectors:
        logits = closeness.paired(np.stack(list(vectors.values())), new.vector)
        if logits is not None:
            for place, logit in zip(vectors, logits, strict=True):
                opinions[place] = float(logit)
    return opinions


def _signs_between(old: Entry, new: Entry) -> dict[str, float]:
    before, after = old.terms, new.terms
    shared, share = _shared_weight(before, after)
    both_dated = old.fact.event_from is not None and new.fact.event_from is not None
    over = old.fact.event_to is not None and old.fact.event_to < new.fact.said_at.date()
    tells = _tells_change(new.fact)
    signs = {
        "closeness": cosine_of(old, new),
        "shared": min(shared, 3.0),
        "share": share,
        "share_of_new": _shared_weight(after, before)[1],
        "tells_change": tells,
        "numbers_differ": bool(before.numbers and after.numbers)
        and before.numbers != after.numbers,
        "dated": both_dated,
        "days_differ": both_dated and not _same_days(old.fact, new.fact),
        "over": over,
        "still_ahead": both_dated and not over,
        "old_dated": old.fact.event_from is not None,
        "new_dated": new.fact.event_from is not None and old.fact.event_from is None,
        "names_shared": bool(before.names & after.names),
        "names_differ": bool(before.names - after.names) and bool(after.names - before.names),
        "names_same": before.names == after.names,
        "persons_same": before.persons == after.persons,
        "speak_of_others": _speak_of_others(before, after, changed=tells),
        "other_kind": lexicon.are_other_kinds(before.kinds, after.kinds),
        "other_side": are_contrary(_plain(old.fact), _plain(new.fact)),
        "only_adds": _only_adds(old, new),
        "lives": _lives(old) and _lives(new),
        "negation_differs": before.negated != after.negated,
        "notions_shared": min(len(before.notions & after.notions), 3) / 3,
        "days_between": min((new.fact.said_at - old.fact.said_at).days, 400) / 100,
    }
    return {name: float(value) for name, value in signs.items()}


def _speak_of_others(before: Analysis, after: Analysis, *, changed: bool) -> bool:
    """Say whether two facts are about different people, so that neither can touch the other."""
    if before.names & after.names:
        return False
    if before.persons != after.persons:
        return not (
            changed and (before.persons <= after.persons or after.persons <= before.persons)
        )
    return before.names != after.names and not changed


def _only_adds(old: Entry, new: Entry) -> bool:
    """Say whether a new fact says all that the old one does, and more: then nothing has changed."""
    kept = {term.key for term in old.terms.terms} <= {term.key for term in new.terms.terms}
    return kept and _same_days(old.fact, new.fact) and not _tells_change(new.fact)


def _hours(fact: Fact) -> set[time]:
    """Return the times of day that a fact names."""
    spans = temporal.find_times(_plain(fact), fact.language, fact.said_at)
    return {span.since.time() for span in spans if span.granularity is Granularity.MOMENT}


def _tells_change(fact: Fact) -> bool:
    return _CHANGE.search(_plain(fact)) is not None


def _same_days(old: Fact, new: Fact) -> bool:
    return (old.event_from, old.event_to) == (new.event_from, new.event_to)


def _shared_weight(before: Analysis, after: Analysis) -> tuple[float, float]:
    """Return the weight of the terms that both have, and its share of the old one's."""
    known = {term.key: term.weight for term in before.terms if term.kind is not TermKind.NUMBER}
    told = {term.key: term.weight for term in after.terms if term.kind is not TermKind.NUMBER}
    shared = sum(min(weight, told[key]) for key, weight in known.items() if key in told)
    return shared, shared / (sum(known.values()) + 0.01)


def _lives(entry: Entry) -> bool:
    """Say whether a fact names the place where the person lives now."""
    told, terms = _plain(entry.fact), entry.terms
    is_now = _LIVE.search(told) and not _ELSEWHEN.search(told) and not terms.negated
    return bool(is_now and terms.places and not terms.persons)


def _plain(fact: Fact) -> str:
    """Return the sentence without the dates in brackets, which are compared as days."""
    return without_dates(fact.text)
