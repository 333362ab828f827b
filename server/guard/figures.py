"""Times and numbers in a text: clock times, days, doses, rooms – what kind of figure each is, and when two are the same."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TypeAlias

from server.memory.temporal.number_words import (
    ENGLISH_NUMBERS,
    ENGLISH_ORDINALS,
    NUMBER,
    alternatives,
    from_english,
    to_number,
)
from server.months import MONTHS

_DAY_MINUTES = 24 * 60


class Unit(StrEnum):
    """What a figure counts. Only figures of one unit can contradict each other."""

    CLOCK = "clock"
    """Minutes since midnight."""
    DATE = "date"
    """Month and day as one number: 1103 for the third of November."""
    WEEKDAY = "weekday"
    """Monday is 0."""
    MG = "mg"
    TABLET = "tablet"
    TIMES = "times"
    DROP = "drop"
    DOSE = "dose"
    """Units of insulin."""
    ROOM = "room"
    FLOOR = "floor"
    AGE = "age"
    STEP = "step"
    CUP = "cup"
    GATE = "gate"
    MONEY = "money"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure where it stands in a text."""

    unit: Unit
    value: int
    start: int
    end: int
    is_settled: bool = True
    """Of a clock time, whether it says which half of the day is meant."""

    def agrees(self, other: "Figure") -> bool:
        """Say whether two figures of one unit may be the same."""
        if self.unit is not Unit.CLOCK or (self.is_settled and other.is_settled):
            return self.value == other.value
        return self.value % (_DAY_MINUTES // 2) == other.value % (_DAY_MINUTES // 2)

    def minutes_before(self, other: "Figure") -> int:
        """Return how long before a clock time this one is, round the clock; the shorter way where a half is not told."""
        round_ = _DAY_MINUTES if self.is_settled and other.is_settled else _DAY_MINUTES // 2
        return (other.value - self.value) % round_


_Found: TypeAlias = Iterator[Figure]
_NUMBER_EN = rf"(?:\d{{1,5}}|{alternatives({word: 0 for word in ENGLISH_NUMBERS if not word.startswith(('a', 'couple'))})})"
_ORDINAL_EN = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{alternatives(ENGLISH_ORDINALS)})"
_MONTH_EN = alternatives({month.lower(): 0 for month in MONTHS})
_DAYS_EN = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@cache
def _clock_en() -> re.Pattern[str]:
    half = r"(?P<half>a\.?m\b\.?|p\.?m\b\.?|in the (?:morning|afternoon|evening)|at night|tonight)"
    number = _NUMBER_EN
    ways = (
        rf"(?P<turn>half|quarter|{number}(?: minutes)?) (?P<way>past|to|after) (?P<of>{number})(?:\s*{half})?",
        rf"(?P<hour>\d{{1,2}})[:.](?P<minute>[0-5]\d)(?!\d|[.,:]\d)(?:\s*{half})?",
        rf"(?P<hour>{number})(?: o'clock(?:\s*{half})?|\s*{half})",
        rf"(?<=\bat )(?P<bare>{number})",
        *(rf"(?<=\b{word} )(?P<bare>{number})" for word in _BEFORE_BARE_EN),
        r"(?P<word>noon|midday|midnight)",
    )
    count = iter(range(1_000))

    def numbered(way: str) -> str:  # a name may stand in a pattern once
        return re.sub(r"\(\?P<(\w+)>", lambda found: f"(?P<{found[1]}{next(count)}>", way)

    return re.compile(rf"\b(?:{'|'.join(map(numbered, ways))})(?!\w)", re.IGNORECASE)


_BEFORE_BARE_EN = ("by", "before", "until", "till", "around", "from")
"""Words behind which a number alone is an hour, unless it counts something."""


def figures_in(text: str, language: str) -> list[Figure]:
    """Return the figures in a text, in the order in which they stand.

    Args:
        text: In one width, see `server.guard.lines.folded`.
        language: By whose rules it is read: ja, en or zh.
    """
    found = [figure for read in _READERS[language] for figure in read(text)]
    return sorted(found, key=lambda figure: figure.start)


def has_figures(text: str, language: str) -> bool:
    """Say quickly whether it may pay to look for figures in a text."""
    return _HINTS[language].search(text) is not None


def _read_clock_en(text: str) -> _Found:
    for found in _clock_en().finditer(text):
        got = {name.rstrip("0123456789"): part for name, part in found.groupdict().items() if part}
        if "bare" in got and _COUNTS_EN.match(text[found.end() :]):
            continue
        minutes = _minutes_en(got)
        if minutes is not None:
            half = got.get("half", "").casefold()
            settled = bool(half) or "word" in got or minutes >= 13 * 60
            yield Figure(Unit.CLOCK, _halved(minutes, half), found.start(), found.end(), settled)


def _minutes_en(got: dict[str, str]) -> int | None:
    """Return the minutes since midnight that the parts of a clock time tell; None if there is no such time."""
    if word := got.get("word"):
        return 0 if word.casefold() == "midnight" else 12 * 60
    minutes = int(got.get("minute", 0))
    hour = from_english(got.get("of") or got.get("hour") or got["bare"])
    if "turn" in got:
        turn = got["turn"].casefold().removesuffix(" minutes")
        minutes = {"half": 30, "quarter": 15}.get(turn) or from_english(turn)
        minutes = -minutes if got["way"].casefold() == "to" else minutes
    highest = 12 if "bare" in got else 24
    return (hour * 60 + minutes) % _DAY_MINUTES if 0 <= hour <= highest else None


_COUNTS_EN = re.compile(
    r"^(?:[\s-]+(?!(?:today|tomorrow|tonight|sharp|every|each|and|or|on|in|for|so|because|but|with|as|if|is|was|to|at|the|every|when|since|right|then|please)\b)[a-z]{2,}|%|[.,:/]\d)",
    re.IGNORECASE,
)
"""What follows a number that counts something, and is no hour."""


def _halved(minutes: int, half: str) -> int:
    """Place a time in the half of the day that is told with it."""
    is_late = half.startswith("p") or half in (
        "in the afternoon",
        "in the evening",
        "tonight",
        "at night",
    )
    hour = minutes // 60
    if half == "at night" and hour < 5:
        return minutes
    if is_late and hour < 12:
        return minutes + 12 * 60
    is_early = half.startswith("a") and half != "at night"
    return minutes - 12 * 60 if (is_early or half == "in the morning") and hour == 12 else minutes


_HALVES = {
    "ja": {"午前": 0, "朝": 0, "早朝": 0, "深夜": 0, "午後": 12, "夜": 12, "夕方": 12, "昼": 12, "晩": 12, "今夜": 12, "今晩": 12, "夜中": 0},
    "zh": {"早上": 0, "上午": 0, "清晨": 0, "凌晨": 0, "中午": 12, "下午": 12, "晚上": 12, "傍晚": 12, "夜里": 12, "今晚": 12, "半夜": 0, "晚间": 12},
}  # fmt: skip
_CLOCK_CJK = {
    "ja": re.compile(
        rf"(?P<half>{'|'.join(_HALVES['ja'])})?の?(?P<hour>{NUMBER})時(?!間|代|期)(?:(?P<thirty>半)|(?P<minute>{NUMBER})分)?(?P<to>前)?(?!間)"
        rf"|(?P<half2>{'|'.join(_HALVES['ja'])})?の?(?P<hour2>\d{{1,2}}):(?P<minute2>[0-5]\d)|(?P<noon>正午)"
    ),
    "zh": re.compile(
        rf"(?P<half>{'|'.join(_HALVES['zh'])})?(?P<hour>{NUMBER})(?:点|點)(?!钟头|儿|心|[点些]|左右的)(?:钟)?(?:(?P<thirty>半)|(?P<quarter>一刻|三刻)|(?P<minute>{NUMBER})分?)?(?P<to>$^)?"
        rf"|(?P<half2>{'|'.join(_HALVES['zh'])})?(?P<hour2>\d{{1,2}}):(?P<minute2>[0-5]\d)|(?P<noon>正午)"
    ),
}


def _is_a_bit(found: re.Match[str]) -> bool:
    """Say whether 一点 is a bit or a point of something, and no hour."""
    if found.group() not in ("一点", "一點"):
        return False
    is_at = found.string[: found.start()].endswith(("是", "在", "到", "约"))
    return not is_at and _AN_HOUR_ZH.match(found.string, found.end()) is None


_AN_HOUR_ZH = re.compile(r"钟|之前|以前|前|左右|过|准时|整|到|睡|起床|开|去|见|吃药")


def _read_clock_cjk(language: str) -> Callable[[str], _Found]:
    def read(text: str) -> _Found:
        for found in _CLOCK_CJK[language].finditer(text):
            got = found.groupdict()
            if got["noon"]:
                yield Figure(Unit.CLOCK, 12 * 60, found.start(), found.end())
                continue
            if language == "zh" and _is_a_bit(found):
                continue
            hour = to_number(got["hour"] or got["hour2"])
            minutes = (
                30 if got["thirty"] else {"一刻": 15, "三刻": 45}.get(got.get("quarter") or "", 0)
            )
            if written := got["minute"] or got["minute2"]:
                minutes = to_number(written)
            half = got["half"] or got["half2"]
            if hour > 29 or minutes > 59:
                continue
            shift = _HALVES[language].get(half or "", 0) * 60
            value = (
                hour * 60
                + minutes
                + (
                    shift
                    if hour < 12
                    and not (shift and hour < 5 and half in ("夜", "晩", "晚上", "夜里"))
                    else 0
                )
            )
            if hour == 12 and half in ("午前", "深夜", "凌晨", "夜", "晚上", "夜中", "半夜"):
                value = minutes
            yield Figure(
                Unit.CLOCK,
                value % _DAY_MINUTES,
                found.start(),
                found.end(),
                bool(half) or hour > 12,
            )

    return read


def _read_dates_en(text: str) -> _Found:
    pattern = _dates_en()
    for found in pattern.finditer(text):
        month = (found["month"] or found["month2"]).lower()
        day = from_english(found["day"] or found["day2"])
        number = [name.lower() for name in MONTHS].index(month) + 1
        yield Figure(Unit.DATE, number * 100 + day, found.start(), found.end())
    for found in _WEEKDAY_EN.finditer(text):
        value = _DAYS_EN.index(found["day"].lower())
        yield Figure(Unit.WEEKDAY, value, found.start(), found.end())


@cache
def _dates_en() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:(?P<month>{_MONTH_EN}) (?:the )?(?P<day>{_ORDINAL_EN}|\d{{1,2}})|(?:the )?(?P<day2>{_ORDINAL_EN}|\d{{1,2}}) (?:of )?(?P<month2>{_MONTH_EN}))\b",
        re.IGNORECASE,
    )


_WEEKDAY_EN = re.compile(rf"\b(?P<day>{'|'.join(_DAYS_EN)})\b", re.IGNORECASE)
_DATE_CJK = re.compile(rf"(?P<month>{NUMBER})月(?P<day>{NUMBER})(?:日|号|號)?")
_WEEKDAY_CJK = {
    "ja": re.compile(r"([月火水木金土日])曜"),
    "zh": re.compile(r"(?:周|星期|礼拜)([一二三四五六日天])"),
}
_DAY_SIGNS = {"ja": "月火水木金土日", "zh": "一二三四五六日"}


def _read_dates_cjk(language: str) -> Callable[[str], _Found]:
    def read(text: str) -> _Found:
        for found in _DATE_CJK.finditer(text):
            month, day = to_number(found["month"]), to_number(found["day"])
            if 1 <= month <= 12 and 1 <= day <= 31:
                yield Figure(Unit.DATE, month * 100 + day, found.start(), found.end())
        for found in _WEEKDAY_CJK[language].finditer(text):
            sign = "日" if found[1] == "天" else found[1]
            yield Figure(Unit.WEEKDAY, _DAY_SIGNS[language].index(sign), found.start(), found.end())

    return read


_COUNTED = {
    "en": {
        Unit.MG: r"<n> ?(?:mg|milligrams?)", Unit.TABLET: r"<n> (?:\w+ )?(?:tablets?|pills?|capsules?)", Unit.TIMES: r"<n> times (?:a|per|each) (?:day|week)|(?P<word>once|twice) (?:a|per|each|every) (?:day|week)|(?P<daily>once|twice) daily",
        Unit.DROP: r"<n> drops?", Unit.DOSE: r"<n> units", Unit.ROOM: r"(?:room|apartment|flat)(?: number)? <n>", Unit.FLOOR: r"<o> floor",
        Unit.AGE: r"<n>(?: years old|-year-old)|(?:turn(?:s|ed|ing)?|age) <n>", Unit.STEP: r"<n> steps", Unit.CUP: r"<n> (?:cups?|glass(?:es)?)",
        Unit.GATE: r"(?:gate|platform|track) <n>", Unit.MONEY: r"[$£€]<n>|<n> (?:dollars|pounds|euros)",
    },
    "ja": {
        Unit.MG: "<n> ?(?:mg|ミリグラム)", Unit.TABLET: "<n>(?:錠|粒|カプセル)", Unit.TIMES: "(?:[1一]日|毎日|週に?)<n>回", Unit.DROP: "<n>滴", Unit.DOSE: "<n>単位",
        Unit.ROOM: "<n>号室", Unit.FLOOR: "<n>階", Unit.AGE: "<n>[歳才](?!能)", Unit.STEP: "<n>歩", Unit.CUP: "<n>[杯](?!目)", Unit.GATE: "<n>番(?:線|ホーム|ゲート)", Unit.MONEY: "<n>円",
    },
    "zh": {
        Unit.MG: "<n> ?(?:mg|毫克)", Unit.TABLET: "<n>[片粒颗]", Unit.TIMES: "(?:[1一]天|每天|每日|一周|每周)<n>[次回]", Unit.DROP: "<n>滴", Unit.DOSE: "<n>个?单位",
        Unit.ROOM: "<n>号?(?:房间?|室)", Unit.FLOOR: "<n>[楼层]", Unit.AGE: "<n>岁", Unit.STEP: "<n>步", Unit.CUP: "<n>杯", Unit.GATE: "<n>号(?:站台|登机口)", Unit.MONEY: "<n>[元块]钱?",
    },
}  # fmt: skip
_ONCE = {"once": 1, "twice": 2}
_BIG = r"(?:[0-9]{1,6}|[零一二三四五六七八九十百千两]{1,5})"


def _read_counted(language: str) -> Callable[[str], _Found]:
    number = rf"(?P<n>{_NUMBER_EN})" if language == "en" else rf"(?P<n>{_BIG})"
    edge = r"\b" if language == "en" else r"(?<![\d.])"

    @cache
    def patterns() -> list[tuple[Unit, re.Pattern[str]]]:
        return [
            (
                unit,
                re.compile(
                    edge
                    + f"(?:{_numbered(text, number)})"
                    + (r"(?!\w)" if language == "en" else ""),
                    re.IGNORECASE,
                ),
            )
            for unit, text in _COUNTED[language].items()
        ]

    def read(text: str) -> _Found:
        for unit, pattern in patterns():
            for found in pattern.finditer(text):
                parts = [part for part in found.groups() if part]
                if parts:
                    yield Figure(unit, _counted(parts[0], language), found.start(), found.end())

    return read


def _numbered(text: str, number: str) -> str:
    """Put patterns of numbers in; each group has a name of its own."""
    count = iter(range(100))
    text = text.replace("<o>", rf"(?P<o>{_ORDINAL_EN})")
    return re.sub("<n>", lambda _: number.replace("?P<n>", f"?P<n{next(count)}>"), text)


def _counted(written: str, language: str) -> int:
    word = written.casefold()
    if word in _ONCE:
        return _ONCE[word]
    return from_english(word) if language == "en" else to_number(written)


_READERS: dict[str, tuple[Callable[[str], _Found], ...]] = {
    "en": (_read_clock_en, _read_dates_en, _read_counted("en")),
    "ja": (_read_clock_cjk("ja"), _read_dates_cjk("ja"), _read_counted("ja")),
    "zh": (_read_clock_cjk("zh"), _read_dates_cjk("zh"), _read_counted("zh")),
}
_HINTS = {
    "en": re.compile(
        rf"\d|\b(?:noon|midnight|midday|once|twice|half past|quarter|o'clock|{'|'.join(_DAYS_EN)}|{_MONTH_EN}|{_NUMBER_EN}|{_ORDINAL_EN})\b",
        re.IGNORECASE,
    ),
    "ja": re.compile(r"[\d零一二三四五六七八九十]|曜|正午"),
    "zh": re.compile(r"[\d零一二三四五六七八九十两]|正午"),
}
