"""What comes round every week or month: the weekdays that a sentence names, and the days on which they fall."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from sudachipy import Morpheme

from server.memory.temporal.calendar_rules import month_period, nth_weekday
from server.memory.terms import HONORIFICS, has_kana, words_of

_NAMES = {
    name: number
    for names in (
        "月火水木金土日",
        "一二三四五六日",
        ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"),
    )
    for number, name in enumerate(names)
} | {"天": 6}
_DAY = r"(?:([月火水木金土日])曜日?|\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:星期|周|礼拜)([一二三四五六日天])(?![次回遍]|天(?!气)))"
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


def _in_order(days: str, between: str) -> str:
    """Return a pattern for letters that follow one another as the days do: 火木, not 木火."""
    return "".join(f"(?:{day}{between})?" for day in days)


_LETTERS = re.compile("[月火水木金土日]・?[月火水木金土日]")
_TO_SATURDAY = _in_order("月火水木金土", r"[|・]*")
_SERIES_JA = re.compile(
    r"(?<=\|)(?<!お\|)(?!(?<=[0-9一二三四五六七八九十数何]\|)月)(?!月日)"  # お金, 三月 and 月日 are no days of
    r"(?:(?!日)|(?<=^\|)|(?<=[週はがもとにで、・(「]\|))"  # the week, nor is その日
    rf"{_TO_SATURDAY}(?:日[|・]*{_TO_SATURDAY})?(?:曜(?:\|日)?)?(?=\|)(?!\|[月火水木金土日])"
)
"""Days by their letters, 月水金, in a text whose words are parted by bars: they are no part of other words."""
_SERIES_ZH = re.compile(
    rf"(?:星期|周|礼拜){_in_order('一二三四五六日', '[、,和]?')}(?![0-9一二三四五六七八九十两点个次回遍位人天])"
)

_ORDINALS = {
    **dict(zip("一二三四五", range(1, 6), strict=True)),
    **dict(zip("12345", range(1, 6), strict=True)),
    **dict(zip(("first", "second", "third", "fourth", "fifth"), range(1, 6), strict=True)),
    "最初": 1,
    **dict.fromkeys(("last", "最終", "最後", "最后一"), -1),
}
_ORDINAL = re.compile("|".join(_ORDINALS), re.IGNORECASE)
_NTH = re.compile(
    r"(?:第[一二三四五1-5]|最[初終後])[第一二三四五1-5最初終後週目の・、,とや]{0,20}(?=[月火水木金土日・]{1,13}曜)"
    r"|(?:第[一二三四五1-5]|最后一)[第一二三四五1-5最后个周星期的、,和]{0,20}?(?=(?:星期|周|礼拜)[一二三四五六日天])"
)
_ORDINAL_EN = r"(?:first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th)"
_NTH_EN = re.compile(
    rf"\b{_ORDINAL_EN}(?:(?:,|,? and|,? or) (?:the )?{_ORDINAL_EN}){{0,4}} (?=(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)",
    re.IGNORECASE,
)
_MONTHLY_EN = re.compile(r"\b(?:each|every|(?:of|in) (?:the|a)) month\b|\bmonthly\b", re.IGNORECASE)
"""What "the last Friday" needs beside it: else it is the one before today."""


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
    phrases = _NTH.findall(text) + (_NTH_EN.findall(text) if _MONTHLY_EN.search(text) else [])
    ordinals = (_ORDINALS[name.lower()] for each in phrases for name in _ORDINAL.findall(each))
    return Habit(named, frozenset(ordinals))


def weekdays(text: str) -> frozenset[int]:
    """Return the weekdays that a text names, those between "Monday to Friday" too; 0 is Monday."""
    found = {_number(match.groups()) for match in _WEEKDAY.finditer(text)}.union(*_series(text))
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


def _series(text: str) -> Iterator[frozenset[int]]:
    """Yield the days that are told by two letters or more: 月水金, 周一三五."""
    found = [*_SERIES_ZH.finditer(text)]
    if has_kana(text) and _LETTERS.search(text):
        found += _SERIES_JA.finditer(_parted(text))
    for match in found:
        letters = match.group().split("曜")[0]
        days = frozenset(_NAMES[letter] for letter in letters if letter in _NAMES)
        if len(days) > 1:
            yield days


def _parted(text: str) -> str:
    """Return Japanese with bars around its words, without family names such as 水木."""
    words = words_of(text)
    surfaces = [
        ""
        if _is_name(word) and (_is_name(after) or after.surface() in HONORIFICS)
        else word.surface()
        for word, after in pairwise(words)
    ]
    return "|".join(["", *surfaces, words[-1].surface(), ""])


def _is_name(word: Morpheme) -> bool:
    return bool(word.part_of_speech()[2] == "人名")
