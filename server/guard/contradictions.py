"""Times and numbers that a sentence tells otherwise than the person did, on the same matter; and invitations at the wrong hour."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from server.guard.figures import Figure, Unit, figures_in, has_figures
from server.guard.lines import Line, Spoken, folded, has, signs
from server.memory.lexicon.expressions import expressions
from server.memory.standing import StandingKind
from server.memory.terms import read_as

_OWN_MATTER = frozenset({Unit.ROOM, Unit.FLOOR, Unit.AGE, Unit.DOSE, Unit.MG, Unit.STEP})
"""Units that say by themselves what they are of."""
_EARLY_MINUTES = 180
"""So long before "before eleven" a time still keeps to it."""
_NOW_MINUTES = 15
"""A time so near to now is the present one."""
_INVITED_EARLY, _INVITED_LATE = 30, 300
"""From so many minutes before bedtime on, and for so long after it, nobody is invited to stay up."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A time or a number as the person stated it."""

    fact: str
    """Id of the fact that says so."""
    figure: Figure
    matters: frozenset[str]
    """Classes of `matter` in `lexicon/guarding.yaml`."""
    people: frozenset[str]
    """Whom it is of, where that is not the person."""
    drugs: frozenset[str]
    """Medicine that is named with it."""
    is_bound: bool
    """Whether it is the latest that is meant: "before eleven"."""
    is_bedtime: bool
    """Whether it is a goal of the person to be in bed by then."""


def stated_in(line: Line) -> list[Stated]:
    """Return the times and numbers of a fact that say what they are of."""
    if not has_figures(line.text, line.language):
        return []
    return [stated for sentence in line.sentences for stated in _stated(sentence, line)]


def contradicted(
    sentence: Spoken, stated: tuple[Stated, ...], now: datetime | None
) -> tuple[str, ...]:
    """Return the ids of the facts that a sentence tells otherwise; none if it contradicts nothing."""
    if not stated or not has_figures(sentence.text, sentence.language):
        return ()
    told = figures_in(sentence.text, sentence.language)
    if not told or has("figure", "changes", sentence) or _only_asks(sentence):
        return ()
    known = figures_in(folded(sentence.question), read_as(sentence.question, sentence.language))
    matters, people = (
        _matters(sentence.text, sentence.language),
        people_in(sentence.text, sentence.language),
    )
    drugs = _drugs(sentence.text, sentence.language)
    for figure in told:
        if any(one.unit is figure.unit and one.agrees(figure) for one in known):
            continue
        if _is_told_as_present(figure, sentence):
            continue
        same = [one for one in stated if _is_same(one, figure, matters, people, drugs)]
        if same and not _allowed(figure, same, told, sentence, now):
            return tuple(dict.fromkeys(one.fact for one in same))
    return ()


def stays_up(sentence: Spoken, stated: tuple[Stated, ...], now: datetime | None) -> str | None:
    """Return the id of the goal to be in bed against which a sentence invites at this hour; None if it does not."""
    if now is None:
        return None
    for one in stated:
        if one.is_bedtime and _is_late(now, one.figure) and _invites(sentence):
            return one.fact
    return None


def people_in(text: str, language: str) -> frozenset[str]:
    """Return the classes of people that a text names."""
    return frozenset(
        name for name, sign in signs("person", language).items() if sign.search(text) is not None
    )


def _stated(sentence: str, line: Line) -> Iterator[Stated]:
    matters, people = _matters(sentence, line.language), people_in(sentence, line.language)
    drugs = _drugs(sentence, line.language)
    is_goal = line.matter is not None and line.matter.kind is StandingKind.GOAL
    bound = signs("figure", line.language)["before"]
    for figure in figures_in(sentence, line.language):
        if line.language == "en":
            is_bound = bound.search(sentence[: figure.start]) is not None
        else:
            is_bound = bound.match(sentence[figure.end :]) is not None
        is_clock = figure.unit is Unit.CLOCK
        is_bedtime = bool(is_goal and is_clock and line.matter and "sleep" in line.matter.about)
        of = matters | ({"sleep"} if is_bedtime else set())
        if of or figure.unit in _OWN_MATTER:
            yield Stated(line.id, figure, of, people, drugs, is_bound or is_bedtime, is_bedtime)


def _matters(text: str, language: str) -> frozenset[str]:
    return frozenset(name for name, sign in signs("matter", language).items() if sign.search(text))


def _drugs(text: str, language: str) -> frozenset[str]:
    return frozenset(
        name
        for name, sign in expressions("standing", language)["medicine"].items()
        if name != "other" and sign.search(text)
    )


def _is_same(
    stated: Stated,
    figure: Figure,
    matters: frozenset[str],
    people: frozenset[str],
    drugs: frozenset[str],
) -> bool:
    """Say whether a figure of a sentence tells of the matter of a fact."""
    if stated.figure.unit is not figure.unit or stated.people != people:
        return False
    if stated.drugs and drugs and stated.drugs.isdisjoint(drugs):
        return False
    if not stated.matters.isdisjoint(matters):
        return _is_narrow(stated.matters, matters)
    return figure.unit in _OWN_MATTER


def _is_narrow(told: frozenset[str], asked: frozenset[str]) -> bool:
    """Say whether two sets of matters do not each name something of their own beside what they share."""
    return told <= asked or asked <= told


def _allowed(
    figure: Figure,
    same: Sequence[Stated],
    told: Sequence[Figure],
    sentence: Spoken,
    now: datetime | None,
) -> bool:
    """Say whether a figure that stands in no fact is none the less nothing against them."""
    if any(
        one.figure.agrees(other)
        for one in same
        for other in (figure, *told)
        if one.figure.unit is other.unit
    ):
        return True
    if has("figure", "past", sentence) or (figure.unit is not Unit.CLOCK):
        return has("figure", "past", sentence)
    states = has("figure", "states", sentence)
    if now is not None and not states and _is_now(figure, now):
        return True
    if has("figure", "beside", sentence):
        return True
    return not states and any(one.is_bound and _keeps_to(figure, one.figure) for one in same)


def _only_asks(sentence: Spoken) -> bool:
    """Say whether a question tells nothing by itself: "is it at three?", but not "you said three, right?"."""
    if not sentence.is_question:
        return False
    return not has("figure", "states", sentence) and not has("figure", "tags", sentence)


def _keeps_to(figure: Figure, bound: Figure) -> bool:
    return figure.minutes_before(bound) <= _EARLY_MINUTES


def _is_told_as_present(figure: Figure, sentence: Spoken) -> bool:
    """Say whether a clock time is what a sentence says that it is now: "it's half past ten"."""
    if figure.unit is not Unit.CLOCK:
        return False
    lead, behind = sentence.text[: figure.start], sentence.text[figure.end :]
    if not has("figure", "present", sentence, lead):
        return False
    return (
        sentence.language == "en"
        or re.match("に|の|から|" + _bound(sentence.language), behind) is None
    )


def _bound(language: str) -> str:
    return signs("figure", language)["before"].pattern.removeprefix("^")


def _is_now(figure: Figure, now: datetime) -> bool:
    present = Figure(Unit.CLOCK, now.hour * 60 + now.minute, 0, 0)
    apart = figure.minutes_before(present)
    return min(apart, 24 * 60 - apart) <= _NOW_MINUTES or apart % (12 * 60) <= _NOW_MINUTES


def _is_late(now: datetime, bedtime: Figure) -> bool:
    present = now.hour * 60 + now.minute
    value = bedtime.value if bedtime.is_settled else _evening(bedtime.value)
    since = (present - value + _INVITED_EARLY) % (24 * 60)
    return since <= _INVITED_EARLY + _INVITED_LATE


def _evening(minutes: int) -> int:
    """Return the hour of going to bed that is meant where no half of the day is told: after noon, or past midnight."""
    return minutes + 12 * 60 if 6 * 60 <= minutes < 12 * 60 else minutes % (12 * 60)


def _invites(sentence: Spoken) -> bool:
    return has("goal", "invites", sentence) and not has("goal", "rests", sentence)
