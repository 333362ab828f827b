"""A query made ready for search: its terms, the days it speaks of, what kind of thing it asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.memory import temporal
from server.memory.answer_types import AnswerType, wanted_types
from server.memory.asking import Asking, signs
from server.memory.attributes import Owned, asked_of, asks_robot
from server.memory.habits import Habit, weekdays
from server.memory.models import Fact
from server.memory.remarks import is_remark
from server.memory.sounds import sound
from server.memory.statements import is_statement
from server.memory.temporal import Tense, TimeSpan
from server.memory.terms import Analysis, analyse
from server.memory.wording import without
from server.query import normalize

Days: TypeAlias = tuple[date, date]
"""The first and the last of them."""

LONGEST_RANGE_DAYS = 200
"""A longer range ("this year") tells nothing about which fact is meant."""

_AGENDA = {
    "ja": re.compile(
        r"予定|用事|約束|スケジュール|何(?:する|があ|かあ|をする)|なんかあ|なんか入|何か入|どこ(?:か)?(?:に)?行く|何して|やること"
    ),
    "en": re.compile(
        r"\b(?:plans?|planned|anything|something|coming up|going on|happening|schedule|agenda|doing|up to)\b"
        r"|\bwhat(?:'s| is) up\b|\bgot on\b|\bhave (?:i|we) got\b|\bam i (?:off|going)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"计划|安排|打算|有什么事|做什么|干什么|去哪"),
}
_FEW_DAYS = 3
"""A longer range has nearly every weekday in it."""
_RECALLS = re.compile(
    r"だった|でした|だっけ|じゃった|やった(?:か|っけ)|\b(?:was|were|had)\b", re.IGNORECASE
)
"""Who asks what "was" on Saturday may mean the coming one: it was said before."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asks, or says, and memory is searched for."""

    text: str
    """Normalized."""
    language: str
    at: datetime
    """When; aware, in the person's zone."""
    terms: Analysis
    """Without its times."""
    sound: str
    """As it is said."""
    asking: Asking
    ranges: tuple[Days, ...]
    """The days it speaks of, both ends inclusive."""
    days: frozenset[date]
    """Those days, where they are few."""
    weekdays: frozenset[int]
    """Those it names; 0 is Monday."""
    wants: frozenset[AnswerType]
    """The sorts of answer that it asks for."""
    wants_agenda: bool
    """It asks what there is to do, rather than for one thing."""
    states: bool
    """It tells something, and asks nothing."""
    remarks: bool
    """It plainly declares something: what else is known of the day that it names is not asked for."""
    asked: frozenset[Owned]
    """The plain attributes that it asks for, and of whom."""
    of_robot: bool
    """It is about the one who is asked, not about the person."""
    vector: NDArray[np.float32] | None = None

    def covers(self, fact: Fact) -> bool:
        """Return whether a fact tells of a day that the question speaks of."""
        first, last = fact.event_from, fact.event_to
        if first is None or last is None:
            return False
        return any(first <= end and last >= start for start, end in self.ranges)

    def meets(self, habit: Habit) -> bool:
        """Return whether a habit falls on a day or a weekday that the question speaks of."""
        if self.days:
            return any(map(habit.falls_on, self.days))
        return bool(self.weekdays & habit.weekdays)


def read_question(text: str, language: str, at: datetime, week_start: int = 0) -> Question:
    """Prepare a query; its vector is added when it is there.

    Args:
        text: The transcript, or the query normalized.
        language: Two-letter code of it.
        at: The moment it is asked, aware, in the person's zone.
        week_start: First day of the week, 0 for Monday.
    """
    plain = normalize(text)
    spans = temporal.find_times(plain, language, at, week_start=week_start)
    meant = spans
    if _RECALLS.search(plain):  # the words leave open whether they look back or ahead
        tense = Tense.FUTURE
        meant = spans + temporal.find_times(plain, language, at, week_start=week_start, tense=tense)
    asking = signs(plain, language)
    ranges = _ranges(meant)
    rest = without(plain, spans)
    return Question(
        text=plain,
        language=language,
        at=at,
        terms=analyse(rest, language),
        sound=sound(rest, language),
        asking=asking,
        ranges=tuple(ranges),
        days=_few_days(ranges),
        weekdays=weekdays(plain),
        wants=wanted_types(plain, language),
        states=is_statement(plain, language),
        remarks=is_remark(plain, language, asking),
        asked=asked_of(plain, language),
        of_robot=asks_robot(plain, language),
        wants_agenda=_AGENDA.get(language, _AGENDA["en"]).search(plain) is not None,
    )


def _ranges(spans: Sequence[TimeSpan]) -> list[Days]:
    ranges = dict.fromkeys((span.first_day, span.last_day) for span in spans)
    return [days for days in ranges if (days[1] - days[0]).days <= LONGEST_RANGE_DAYS]


def _few_days(ranges: Sequence[Days]) -> frozenset[date]:
    return frozenset(
        first + timedelta(days=shift)
        for first, last in ranges
        if (last - first).days < _FEW_DAYS
        for shift in range((last - first).days + 1)
    )
