"""A query made ready for search: its terms, the days it speaks of, what kind of thing it asks."""

import re
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from server.memory import temporal
from server.memory.asking import Asking, signs
from server.memory.models import Fact
from server.memory.sounds import sound
from server.memory.terms import Analysis, analyse
from server.memory.wording import without
from server.query import normalize

LONGEST_RANGE_DAYS = 200
"""A longer range ("this year") tells nothing about which fact is meant."""

_WHEN = {
    "ja": re.compile(r"いつ|何日|何時|何曜|日にち|日程|何月"),
    "en": re.compile(r"\bwhen\b|\bwhat (?:day|date|time)\b|\bdates?\b", re.IGNORECASE),
    "zh": re.compile(r"什么时候|几号|几点|星期几|哪天|日期"),
}
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
_AMOUNT = {
    "ja": re.compile(
        r"いくら|いくつ|何[歳才点人個本匹頭回枚杯冊円分番度名台階着足倍キセメグ]|番号|ナンバー|パスワード|(?:ど|どれ|どの)(?:ぐ|く)らい|なんぼ"
    ),
    "en": re.compile(
        r"\bhow (?:much|many|old|tall|far|long|often|big|heavy)\b|\b(?:number|score|mark|grade|size|password|code|price|cost)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"多少|几[个岁次人]|多大|多高|号码|密码"),
}
_WHO = {
    "ja": re.compile(r"誰|だれ|どなた|どいつ"),
    "en": re.compile(r"\bwho(?:se|m|'s)?\b", re.IGNORECASE),
    "zh": re.compile(r"谁"),
}
_WEEKDAY = re.compile(
    r"([月火水木金土日])曜|\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:星期|周|礼拜)([一二三四五六日天])",
    re.IGNORECASE,
)


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
    ranges: tuple[tuple[date, date], ...]
    """The days it speaks of, both ends inclusive."""
    weekdays: frozenset[str]
    wants_day: bool
    """It asks when something is."""
    wants_agenda: bool
    """It asks what there is to do, rather than for one thing."""
    wants_amount: bool
    """It asks how much, how many, how old, or for a number."""
    wants_person: bool
    """It asks who."""
    vector: NDArray[np.float32] | None = None

    def covers(self, fact: Fact) -> bool:
        """Return whether a fact tells of a day that the question speaks of."""
        first, last = fact.event_from, fact.event_to
        if first is None or last is None:
            return False
        return any(first <= end and last >= start for start, end in self.ranges)


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
    rest = without(plain, spans)
    ranges = [(span.first_day, span.last_day) for span in spans]
    return Question(
        text=plain,
        language=language,
        at=at,
        terms=analyse(rest, language),
        sound=sound(rest, language),
        asking=signs(text, language),
        ranges=tuple(r for r in ranges if (r[1] - r[0]).days <= LONGEST_RANGE_DAYS),
        weekdays=weekdays(plain),
        wants_day=_WHEN.get(language, _WHEN["en"]).search(plain) is not None,
        wants_agenda=_AGENDA.get(language, _AGENDA["en"]).search(plain) is not None,
        wants_amount=_AMOUNT.get(language, _AMOUNT["en"]).search(plain) is not None,
        wants_person=_WHO.get(language, _WHO["en"]).search(plain) is not None,
    )


def weekdays(text: str) -> frozenset[str]:
    """Return the weekdays that a text names."""
    return frozenset(next(filter(None, found)).casefold() for found in _WEEKDAY.findall(text))
