"""Finds the words of time in a text and joins what belongs together: 来週 + の + 土曜 + の + 朝."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from server.memory.temporal.date_values import Month, Year
from server.memory.temporal.day_values import Day
from server.memory.temporal.frames import CLOCK_SLOTS, Slot, Value
from server.memory.temporal.spans import Tense

Made: TypeAlias = tuple[Value, ...]

_TAIL: Final = re.compile(
    r"(?:-[a-z]+)*['’]s\b|(?:-[a-z]+)+|(?:中|付け|分|号)(?=[にはもをがので、。，．)）(（\s]|$)",
    re.IGNORECASE,
)
"""The rest of the word that a time ends in: "yesterday's", "Sunday-school", 今日中に, 来月号."""

_SPACE: Final = " \t"


def word_end(text: str, end: int) -> int:
    """Return where the word ends that an expression ends in."""
    tail = _TAIL.match(text, end)
    return tail.end() if tail else end


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means.

    Attributes:
        pattern: A group named `at` marks the part that is the expression, where words around it only betray it.
        make: Returns the meaning; nothing at all for a guard, which keeps its words from being read as a time. None
            means that the pattern matched in vain.
    """

    pattern: re.Pattern[str]
    make: Callable[[re.Match[str]], Made | None]


def rule(pattern: str, make: Callable[[re.Match[str]], Made | None]) -> Rule:
    """Return a rule; letters match in either case."""
    return Rule(re.compile(pattern, re.IGNORECASE), make)


def guard(pattern: str) -> Rule:
    """Return a rule that keeps words from being read as a time."""
    return rule(pattern, lambda match: ())


@dataclass(frozen=True, slots=True)
class Language:
    """What reading a language takes.

    Attributes:
        joint: Matches whatever may stand between two parts of one expression.
        ranging: Matches what stands between the beginning and the end of a range.
        listing: Matches what stands between two days of one month: "October 3 and 5".
        tense_at: Tells the tense around an expression, given the text and its place.
        replaced: Tells whether the second time takes the place of the first, given the text and where each begins and ends.
    """

    rules: Sequence[Rule]
    joint: re.Pattern[str]
    ranging: re.Pattern[str]
    listing: re.Pattern[str]
    tense_at: Callable[[str, int, int], Tense | None]
    replaced: Callable[[str, tuple[int, int], tuple[int, int]], bool]
    variants: Mapping[int, str]
    """Characters that are read as others, one for one, so that places in the text stay the same."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One expression: where it stands and what it says.

    Attributes:
        last: What its end says, if it is a range.
        anchor: What the expression before it says, if it is counted from there ("October 3 and 5").
        parts: What it was joined of: read one by one if they make no sense together.
    """

    start: int
    end: int
    values: Mapping[Slot, Value]
    last: Mapping[Slot, Value] | None = None
    anchor: Mapping[Slot, Value] | None = None
    parts: "tuple[Chain, ...]" = ()

    @property
    def recurs(self) -> bool:
        """Whether it is about a habit."""
        return Slot.RECURRING in self.values

    def up_to(self, other: "Chain", values: Mapping[Slot, Value]) -> "Chain":
        """Return the expression that it makes together with the one behind it."""
        parts = (self.parts or (self,)) + (other,)
        return Chain(self.start, other.end, values, self.last, parts=parts)


@dataclass(frozen=True, slots=True)
class _Atom:
    start: int
    end: int
    made: Made


def scan(text: str, language: Language) -> list[Chain]:
    """Return the expressions of a text, in order. The text is the folded one."""
    chains = _joined(_atoms(text, language.rules), text, language.joint)
    chains = _without_replaced(chains, text, language)
    chains = _ranged(chains, text, language.ranging)
    chains = _listed(chains, text, language.listing)
    return _with_brackets(chains, text)


def _atoms(text: str, rules: Iterable[Rule]) -> list[_Atom]:
    """Return the leftmost and, of these, longest matches; guards are cut out, so nothing is found inside them."""
    found = [atom for rule in rules for atom in _matches(text, rule)]
    found.sort(key=lambda atom: (atom.start, -atom.end))
    kept: list[_Atom] = []
    end = 0
    for atom in found:
        if atom.start >= end:
            kept.append(atom)
            end = atom.end
    return kept


def _matches(text: str, rule: Rule) -> Iterator[_Atom]:
    named = "at" in rule.pattern.groupindex
    for match in rule.pattern.finditer(text):
        made = rule.make(match)
        start, end = match.span("at" if named else 0)
        if made is not None and start < end:
            yield _Atom(start, end, made)


def _joined(atoms: Iterable[_Atom], text: str, joint: re.Pattern[str]) -> list[Chain]:
    chains: list[Chain] = []
    for atom in atoms:
        chain = Chain(atom.start, atom.end, {value.slot: value for value in atom.made})
        before = chains[-1] if chains else None
        if (
            before
            and _agree(before.values, chain.values)
            and joint.fullmatch(text, before.end, chain.start)
        ):
            chains[-1] = before.up_to(chain, {**before.values, **chain.values})
        else:
            chains.append(chain)
    return [chain for chain in chains if chain.values]


def _agree(one: Mapping[Slot, Value], other: Mapping[Slot, Value]) -> bool:
    """Return whether two meanings can be parts of one expression; a guard joins nothing."""
    if not one or not other or one.keys() & other.keys():
        return False
    return not (_clashes(one) & other.keys() or _clashes(other) & one.keys())


def _clashes(values: Mapping[Slot, Value]) -> frozenset[Slot]:
    return frozenset(slot for value in values.values() for slot in value.clashes)


def _without_replaced(chains: Sequence[Chain], text: str, language: Language) -> list[Chain]:
    """Leave out the time that another took the place of: neither a range nor a day of anything."""
    result: list[Chain] = []
    for chain in chains:
        before = result[-1] if result else None
        there = (chain.start, chain.end)
        if before is None or not _name_alike(before.values, chain.values):
            result.append(chain)
        elif language.replaced(text, (before.start, before.end), there):
            result[-1] = replace(chain, values=_in_its_month(chain.values, before.values))
        elif not language.replaced(text, there, (before.start, before.end)):
            result.append(chain)
    return result


def _name_alike(one: Mapping[Slot, Value], other: Mapping[Slot, Value]) -> bool:
    """Return whether two meanings can take each other's place: a day that of a day, not of a month or an hour."""
    days = {Slot.DAY, Slot.WEEKDAY}
    if Slot.RECURRING in one or Slot.RECURRING in other:
        return False
    if one.keys() & days and other.keys() & days:
        return True
    shared = one.keys() & other.keys()
    # "from 3 p.m. to 5 p.m. tomorrow"
    return bool(shared) and (one.keys() <= CLOCK_SLOTS or not (one.keys() | other.keys()) & days)


def _in_its_month(new: Mapping[Slot, Value], old: Mapping[Slot, Value]) -> Mapping[Slot, Value]:
    """Let a bare day ("to the 8th") be of the month of the one whose place it takes."""
    day = new.get(Slot.DAY)
    if not isinstance(day, Day) or Slot.MONTH in new:
        return new
    month = {slot: old[slot] for slot in (Slot.YEAR, Slot.MONTH) if slot in old}
    return {**month, **new, Slot.DAY: replace(day, alone=True)}


def _ranged(chains: Sequence[Chain], text: str, ranging: re.Pattern[str]) -> list[Chain]:
    """Make one expression of the beginning and the end of a range."""
    result: list[Chain] = []
    for chain in chains:
        before = result[-1] if result else None
        if (
            before
            and before.last is None
            and not (before.recurs or chain.recurs)
            and ranging.fullmatch(text, before.end, chain.start)
        ):
            first, last = _dated_alike(before.values, chain.values)
            result[-1] = Chain(before.start, chain.end, first, last, parts=(before, chain))
        else:
            result.append(chain)
    return result


def _dated_alike(
    first: Mapping[Slot, Value], last: Mapping[Slot, Value]
) -> tuple[Mapping[Slot, Value], Mapping[Slot, Value]]:
    """Complete "September 28 – October 4, 2026", "October 3–4, 2026": the year stands at the end, the month at the beginning."""
    year, begins_in = last.get(Slot.YEAR), first.get(Slot.MONTH)
    if not isinstance(year, Year) or not isinstance(begins_in, Month) or Slot.YEAR in first:
        return first, last
    last = {Slot.MONTH: begins_in, **last}
    ends_in = last[Slot.MONTH]
    turns = isinstance(ends_in, Month) and begins_in.number > ends_in.number
    return {**first, Slot.YEAR: replace(year, number=year.number - int(turns))}, last


def _listed(chains: Sequence[Chain], text: str, listing: re.Pattern[str]) -> list[Chain]:
    """Let a bare day be counted from the dated one before it."""
    result: list[Chain] = []
    for chain in chains:
        before = result[-1] if result else None
        bare = chain.values.keys() == {Slot.DAY} and not chain.values[Slot.DAY].deictic
        if (
            bare
            and before
            and Slot.MONTH in before.values
            and listing.fullmatch(text, before.end, chain.start)
        ):
            result.append(replace(chain, anchor=before.last or before.values))
        else:
            result.append(chain)
    return result


def _with_brackets(chains: Sequence[Chain], text: str) -> list[Chain]:
    """Join an expression and the date in brackets behind it: the date says which day is meant."""
    result: list[Chain] = []
    for chain in chains:
        before = result[-1] if result else None
        if before and _in_brackets(text, before.end, chain):
            joined = _explained(before, chain)
            if joined is not None:
                result[-1] = joined
                continue
        result.append(chain)
    return result


def _in_brackets(text: str, end: int, chain: Chain) -> bool:
    between = text[word_end(text, end) : chain.start].lstrip(_SPACE)
    return between == "(" and text[chain.end : chain.end + 1] == ")"


def _explained(said: Chain, date: Chain) -> Chain | None:
    closed = replace(date, end=date.end + 1)
    if (
        date.values.keys() == {Slot.WEEKDAY}
        and date.last is None
        and _agree(said.values, date.values)
    ):
        return said.up_to(closed, {**said.values, **date.values})
    if Slot.YEAR not in date.values or any(value.deictic for value in date.values.values()):
        return None
    if date.last is not None or Slot.CLOCK in date.values:
        return Chain(said.start, closed.end, date.values, date.last)
    hours = {slot: value for slot, value in said.values.items() if slot in CLOCK_SLOTS}
    of_hours = said.last is not None and said.last.keys() <= CLOCK_SLOTS
    return Chain(said.start, closed.end, {**date.values, **hours}, said.last if of_hours else None)
