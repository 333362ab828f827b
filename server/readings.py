"""Writes dates, times, amounts and signs out in words where a speech engine would misread or skip them.

What needs it was found out with the phonemes of Open JTalk (Japanese) and espeak (English, the front end of Piper).
Both read decimals, grouped integers and "50%" rightly, but spell a date and read "1/2" as two numbers. Open JTalk
also drops the colon of a time, a minus sign and "~"; espeak says "dollar twenty", "three zero zero" for 3:00,
"kay em" for km and "jan" for Jan.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from server.months import MONTHS

_Write: TypeAlias = Callable[[re.Match[str]], str]
_Rule: TypeAlias = tuple[re.Pattern[str], str | _Write]

_DATE = re.compile(r"(?<![\d/.-])(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d/-]|\.\d)")
_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?(?![\d:])")
_SLASHED = re.compile(r"(?<![A-Za-z0-9/.,-])(\d{1,3})\s?[/⁄]\s?(\d{1,3})(?![\d/]|[.,]\d)")
_GROUPED = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_VERSION = re.compile(r"\d+(?:\.\d+){2,}")
_MINUS = re.compile(r"(?<![A-Za-z0-9)\]%°.-])[-−](?=\d)")
_TIMES = re.compile(r"(?<=\d)\s?[*×]\s?(?=\d)")
_NUMBER = r"(\d+(?:,\d{3})*(?:\.\d+)?)"
_WEEKDAY = re.compile(r"\s?[(（][月火水木金土日]")


def apply_readings(text: str, readings: Mapping[str, str]) -> str:
    """Replace written forms by the way they are to be read, the longest first; a reading is never replaced again.

    A form in Latin letters matches whole words only: "AI" is left alone in "MAIL".
    """
    longest_first = sorted(filter(None, readings), key=len, reverse=True)
    if not longest_first:
        return text
    forms = re.compile("|".join(map(_whole_word, longest_first)))
    return forms.sub(lambda match: readings[match.group()], text)


def write_out(text: str, language: str) -> str:
    """Return `text` with dates, times, fractions, amounts and signs in words.

    Args:
        text: Plain text, without Markdown.
        language: Two-letter code; ``ja``, ``en`` and ``zh`` are known, any other is left as it is.
    """
    for pattern, replacement in _RULES.get(language, ()):
        text = pattern.sub(replacement, text)
    return text


def _whole_word(form: str) -> str:
    before = r"(?<![A-Za-z0-9])" if re.match(r"[A-Za-z0-9]", form) else ""
    after = r"(?![A-Za-z0-9])" if re.search(r"[A-Za-z0-9]\Z", form) else ""
    return before + re.escape(form) + after


def _is_day(month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= 31


def _is_day_not_fraction(match: re.Match[str]) -> bool:
    """Tell 9/23 from 1/2: nobody counts in twenty-thirds."""
    month, day = match.groups()
    return _is_day(month, day) and (
        int(day) > 12 or _WEEKDAY.match(match.string, match.end()) is not None
    )


@dataclass(frozen=True, slots=True)
class _HanWords:
    """What Japanese and Chinese, which write numbers with the same signs, call differently."""

    hour: str
    part_of: str
    percent: str
    """Replacement with the number as group 1."""
    until: str
    to: str
    """As in "three to two"."""
    minus: str
    plus: str
    times: str
    equals: str
    fahrenheit: str
    yen: str
    dollar: str
    euro: str
    pound: str


def _han_rules(words: _HanWords) -> tuple[_Rule, ...]:
    def date(match: re.Match[str]) -> str:
        year, month, day = match.groups()
        return f"{year}年{int(month)}月{int(day)}日" if _is_day(month, day) else match.group()

    def time(match: re.Match[str]) -> str:
        minute = int(match[2])
        return f"{int(match[1])}{words.hour}" + (f"{minute}分" if minute else "")

    def slashed(match: re.Match[str]) -> str:
        first, second = match.groups()
        if _is_day_not_fraction(match):
            return f"{int(first)}月{int(second)}日"
        if 0 < int(first) < int(second):
            return f"{second}{words.part_of}{first}"
        return f"{first} {second}"

    return (
        (_DATE, date),
        (_TIME, time),
        (re.compile(r"(\d[^\d\s、。，．,.!?！？]{0,2})[〜～~](?=\d)"), rf"\1{words.until}"),
        (
            re.compile(r"(?<![\d-])(\d{1,3})[-–](?=\d{1,3}[時点分日月年人個个歳岁回枚本冊円元%])"),
            rf"\1{words.until}",
        ),
        (_SLASHED, slashed),
        (re.compile(r"(?<![\d:])(\d+):(\d+)(?![\d:])"), rf"\1{words.to}\2"),
        (re.compile(rf"[¥￥]\s?{_NUMBER}"), rf"\1{words.yen}"),
        (re.compile(rf"\$\s?{_NUMBER}"), rf"\1{words.dollar}"),
        (re.compile(rf"€\s?{_NUMBER}"), rf"\1{words.euro}"),
        (re.compile(rf"£\s?{_NUMBER}"), rf"\1{words.pound}"),
        (_GROUPED, lambda match: match.group().replace(",", "")),
        (re.compile(rf"{_NUMBER}\s?[%％]"), words.percent),
        (re.compile(rf"{_NUMBER}\s?°F"), rf"{words.fahrenheit}\g<1>度"),
        (re.compile(r"(?<=\d)\s?(?:°C|℃|°)"), "度"),
        (_VERSION, lambda match: match.group().replace(".", "点")),
        (_TIMES, words.times),
        (re.compile(r"(?<=\d)\s?[=＝]\s?(?=[\d-])"), words.equals),
        (_MINUS, words.minus),
        (re.compile(r"(?<![A-Za-z0-9])[+＋](?=\d)"), words.plus),
    )


_JAPANESE = _HanWords(
    hour="時",
    part_of="分の",
    percent=r"\1パーセント",
    until="から",
    to="対",
    minus="マイナス",
    plus="プラス",
    times="かける",
    equals="は",
    fahrenheit="華氏",
    yen="円",
    dollar="ドル",
    euro="ユーロ",
    pound="ポンド",
)
_CHINESE = _HanWords(
    hour="点",
    part_of="分之",
    percent=r"百分之\1",
    until="到",
    to="比",
    minus="负",
    plus="加",
    times="乘以",
    equals="等于",
    fahrenheit="华氏",
    yen="元",
    dollar="美元",
    euro="欧元",
    pound="英镑",
)

_SHORT_MONTHS: Final = "|".join(month[:3] for month in MONTHS if len(month) > 3)
_PARTS: Final = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 8: "eighth"} | {
    10: "tenth"
}
_CURRENCIES: Final = {
    "$": ("dollar", "dollars", "cents"),
    "€": ("euro", "euros", "cents"),
    "£": ("pound", "pounds", "pence"),
    "¥": ("yen", "yen", "sen"),
    "￥": ("yen", "yen", "sen"),
}
_UNITS: Final = {
    "km/h": "kilometers per hour",
    "mph": "miles per hour",
    "m2": "square meters",
    "km": "kilometers",
    "cm": "centimeters",
    "mm": "millimeters",
    "kg": "kilograms",
    "°C": "degrees Celsius",
    "°F": "degrees Fahrenheit",
    "°": "degrees",
}


def _english_date(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    if not _is_day(month, day):
        return match.group()
    return f"{MONTHS[int(month) - 1]} {int(day)}, {year}"


def _english_month(match: re.Match[str]) -> str:
    return next(month for month in MONTHS if month.startswith(match[1]))


def _english_time(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), int(match[2])
    if minute >= 10:
        return match.group()
    if minute:
        return f"{hour} oh {minute}"
    half_of_day = re.match(r"\s?[AaPp]\.?[Mm]", match.string[match.end() :])
    if half_of_day or not hour:
        return f"{hour}"
    return f"{hour} o'clock" if hour <= 12 else f"{hour} hundred"


def _english_slashed(match: re.Match[str]) -> str:
    first, second = match.groups()
    if _is_day_not_fraction(match):
        return f"{MONTHS[int(first) - 1]} {int(second)}"
    if match.group() == "24/7":
        return "24 7"
    part = _PARTS.get(int(second))
    if part is None or not 0 < int(first) < int(second):
        return f"{first} over {second}"
    fraction = f"one {part}" if first == "1" else f"{first} {part}s"
    after_whole_number = re.search(r"\d \Z", match.string[: match.start()])
    return f"and {fraction}" if after_whole_number else fraction


def _english_money(match: re.Match[str]) -> str:
    one, many, small = _CURRENCIES[match[1]]
    whole, _, rest = match[2].partition(".")
    if match[3]:
        return f"{match[2]}{match[3]} {many}"
    name = one if whole == "1" else many
    if len(rest) == 2 and rest != "00":
        return f"{whole} {name} and {int(rest)} {small}"
    return f"{whole} {name}"


_ABBREVIATIONS: Final = {"vs": "versus", "approx": "approximately", "i.e": "that is"}


_ENGLISH_RULES: Final[tuple[_Rule, ...]] = (
    (_DATE, _english_date),
    (re.compile(r"(:\d\d)\s?[-–~〜～]\s?(?=\d{1,2}:\d\d)"), r"\1 to "),
    (_TIME, _english_time),
    (_SLASHED, _english_slashed),
    (
        re.compile(rf"([$€£¥￥])\s?{_NUMBER}(\s(?:thousand|million|billion|trillion)\b)?"),
        _english_money,
    ),
    (re.compile(r"(?<![\w.-])(\d{1,2})\s?[-–~〜～]\s?(\d{1,2})(?![\w-]|\.\d)"), r"\1 to \2"),
    (re.compile(r"\b((?:19|20)\d\d)[-–~]((?:19|20)\d\d)\b(?!-)"), r"\1 to \2"),
    (
        re.compile(rf"(?<=\d)\s?({'|'.join(map(re.escape, _UNITS))})(?![A-Za-z])"),
        lambda match: f" {_UNITS[match[1]]}",
    ),
    (re.compile(r"(?:\bNo\.\s?|(?<!\w)#)(?=\d)"), "number "),
    (re.compile(r"\bp\.\s?(?=\d)"), "page "),
    (re.compile(r"\b(vs|approx|i\.e)\."), lambda match: _ABBREVIATIONS[match[1]]),
    (re.compile(rf"\b({_SHORT_MONTHS}|Sept)\.?(?=\s\d)"), _english_month),
    (_TIMES, " times "),
    (re.compile(r"(?<=[A-Za-z])/(?=[A-Za-z])"), " "),
    (re.compile(r"(?<!\w)−(?=\d)"), "minus "),
    (re.compile(r"(?<=\w) < (?=\w)"), " is less than "),
    (re.compile(r"(?<=\w) > (?=\w)"), " is greater than "),
)

_RULES: Final[Mapping[str, tuple[_Rule, ...]]] = {
    "ja": _han_rules(_JAPANESE),
    "zh": _han_rules(_CHINESE),
    "en": _ENGLISH_RULES,
}
