"""What comes round every week or month: the weekdays that a sentence names, and the days on which they fall."""

import re
from dataclasses import dataclass
from datetime import date

from server.memory.temporal.calendar_rules import month_period, nth_weekday

_NAMES = {
    name: number
    for names in (
        "月火水木金土日",
        "一二三四五六日",
        ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"),
    )
    for number, name in enumerate(names)
} | {"天": 6}
_DAY = r"(?:([月火水木金土日])曜日?|\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:星期|周|礼拜)([一二三四五六日天])(?![次回遍]))"
_WEEKDAY = re.compile(_DAY, re.IGNORECASE)
_RUN = re.compile(
    rf"{_DAY}\s*(?:から|~|〜|-|–|to|through|until|till|改?到|至)\s*{_DAY}", re.IGNORECASE
)
_MOVED = re.compile(r"\s*(?:に|へ)(?:変|移|ずれ|ずら|振り)")
_MOVES = re.compile(
    r"\b(?:moved|moves|changed|switched|shifted|rescheduled|pushed|brought)\b[^.!?]*\bfrom $",
    re.IGNORECASE,
)
"""What stands around two days between which something was moved."""
_WEEKEND = re.compile(r"週末|土日|\bweekends?\b|周末", re.IGNORECASE)
_WORKDAYS = re.compile(r"平日|\bweekdays?\b|\bschool (?:days|nights)\b|工作日", re.IGNORECASE)

_ORDINALS = {
    **dict(zip("一二三四五", range(1, 6), strict=True)),
    **dict(zip("12345", range(1, 6), strict=True)),
    **dict(zip(("first", "second", "third", "fourth", "fifth"), range(1, 6), strict=True)),
    "last": -1,
    "最終": -1,
    "最後の": -1,
}
_NTH_JA = re.compile(
    r"第([一二三四五1-5])(?:[・、とや,]*第?([一二三四五1-5]))?[月火水木金土日]曜|(最終|最後の)[月火水木金土日]曜"
)
_ORDINAL_EN = r"(first|second|third|fourth|fifth|last)"
_NTH_EN = re.compile(
    rf"\b{_ORDINAL_EN}(?: and {_ORDINAL_EN})? (?:mon|tues|wednes|thurs|fri|satur|sun)days? (?:of|in) (?:the|each|every) month",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Habit:
    """The weekdays on which something comes round."""

    weekdays: frozenset[int]
    """0 is Monday."""
    ordinals: frozenset[int] = frozenset()
    """Which of them in a month, -1 for the last; empty for every week."""

    def falls_on(self, day: date) -> bool:
        """Return whether it comes round on a day."""
        if day.weekday() not in self.weekdays:
            return False
        month = month_period(day.year, day.month)
        found = (nth_weekday(month, day.weekday(), ordinal) for ordinal in self.ordinals)
        return not self.ordinals or any(each and each.first == day for each in found)


def read_habit(text: str) -> Habit | None:
    """Return the weekdays that a sentence without a date names; None if it names none."""
    named = weekdays(text)
    if not named:
        return None
    found = [part for match in _NTH_JA.findall(text) + _NTH_EN.findall(text) for part in match]
    return Habit(named, frozenset(_ORDINALS[part.lower()] for part in found if part))


def weekdays(text: str) -> frozenset[int]:
    """Return the weekdays that a text names, those between "Monday to Friday" too; 0 is Monday."""
    found = {_number(match.groups()) for match in _WEEKDAY.finditer(text)}
    for run in _RUN.finditer(text):
        if (
            _MOVED.match(text, run.end())
            or _MOVES.search(text[: run.start()])
            or "改" in run.group()
        ):
            found.discard(_number(run.groups()[:3]))  # it was on that day
            continue
        names = [name for name in run.groups() if name]
        first, last = (_NAMES[name.lower()] for name in names)
        found |= {(first + shift) % 7 for shift in range((last - first) % 7 + 1)}
    if _WEEKEND.search(text):
        found |= {5, 6}
    if _WORKDAYS.search(text):
        found |= set(range(5))
    return frozenset(found)


def _number(groups: tuple[str | None, ...]) -> int:
    return _NAMES[next(filter(None, groups)).lower()]
