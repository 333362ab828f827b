"""Tells what a bare weekday stands for: the day of one event ("my exam is on Tuesday"), or a day of every week (木曜はチェロの練習).

The calendar can't tell: both name a Tuesday. The words around it often do; where they don't, nothing is claimed.
"""

import re
from enum import StrEnum

from server.memory import temporal
from server.memory.called_off import calls_off
from server.memory.habits import weekdays
from server.memory.temporal import Tense, TimeSpan
from server.memory.wording import plain_analysis


class Weekday(StrEnum):
    """What a weekday stands for."""

    EVENT = "event"
    WEEKLY = "weekly"
    OPEN = "open"
    """The words leave it open."""


_APPOINTED = {
    "ja": re.compile(
        r"面接|面談|試験|テスト(?!勉強)|受験|手術|結婚式|葬式|葬儀|お通夜|法事|会議|打ち?合わせ|発表会|運動会|忘年会|新年会|同窓会|飲み会|送別会|歓迎会|入学式|卒業式"
        r"|ライブ|コンサート|試合|締め?切り?|約束|デート|引っ?越し|出張|飛行機|裁判|調停|誕生日会|パーティー"
    ),
    "en": re.compile(
        r"\b(?:exams?|tests?|interview|surgery|operation|wedding|funeral|meeting|hearing|party|concert|gig|flight|deadline|date with|trip"
        r"|vet|doctor|doctor's|dentist's|audition|graduation|reunion|viva|presentation)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"面试|考试|手术|婚礼|葬礼|会议|开会|聚会|聚餐|演唱会|音乐会|比赛|截止|约会|搬家|出差|飞机|航班|开庭|官司|派对|典礼|家长会"
    ),
}
"""What is fixed for one day, beside the appointments that the lexicon knows."""
_MEANT_JA = re.compile(
    r"[るくすつむぶぐうたいなだ]んだ|[るくすつむぶぐうたい]の[。!！ねよ]*$|つもり|予定|なきゃ|なくちゃ|ないと|たい(?:な|ね|よ|と|。|$)|[おこごそとのぼもろよ]う(?:と|か|ね|よ)|ことに(?:し|なっ)"
)
"""What tells that a verb of the present means one day to come: 行くんだ."""
_ROUTINE = {
    "ja": re.compile(
        r"毎|いつも|普段|ふだん|大抵|たいてい|日課|習慣|定休|定例|曜日?(?:と|や|・|、)[月火水木金土日]曜|曜日?の[^、。]{0,8}から[^。]*[てで]い?(?:る|ます)|(?:レッスン|教室|クラス|稽古|練習|講座)[^。]*(?:移し|変え|変わ|入っ|通い出)"
    ),
    "en": re.compile(
        r"\b(?:always|usually|normally|generally|often|regularly|every|each|weekly)\b|\bof the month\b"
        r"|day (?:mornings|afternoons|evenings|nights)\b|(?<!from )(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:to|through|-|–) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
        r"|\b(?:lesson|class|practice|rehearsal)\b.*\b(?:moved?|switch\w*|chang\w*)\b|\b(?:moved|switched|changed)\b.*\b(?:lesson|class|practice|rehearsal)\b"
        r"|\b(?:i|we|you) (?:play|practi[sc]e|train|swim|volunteer|teach|sing|dance|jog|cycle|bowl|garden|bake)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"每|总是|一般|通常|经常|平时|固定|都(?!没|不)|(?:周|星期|礼拜)[一二三四五六日天](?:和|跟|、)(?:周|星期|礼拜)?[一二三四五六日天]"
    ),
}
_LESSON_JA = re.compile(
    r"曜日?(?:に|に?は|が|も)[^。、]{0,12}?(?:練習|レッスン|教室|稽古|部活|塾|バイト|ジム|ヨガ|習い事|ゴミの日|ごみの日|当番)(?:の日|がある|が入ってる|だ|です|なの|なん?です|よ|ね)*[。!！]?$"
)
_LESSON_ZH = re.compile(
    r"(?:周|星期|礼拜)[一二三四五六日天](?:我|我们|是)?[^，。]{0,6}?(?:[练学]|上[^，。]{0,5}课|值班|休息日|训练)"
)
_ONGOING_JA = re.compile(r"[てで]い?(?:る|ます)")
_ARRANGED_JA = re.compile(r"予約|約束|予定|決ま")
_THIS_TIME = {
    "ja": re.compile(r"今度|今回|今週|来週"),
    "en": re.compile(r"\b(?:this|next|coming)\b", re.IGNORECASE),
    "zh": re.compile(r"这次|这周|下周|要|会|打算|准备|了"),
}
_NUMBERED_EN = re.compile(r",? the (?:\w+-)?(?:\d+|\w+)(?:th|st|nd|rd)\b", re.IGNORECASE)
"""A day of the month behind a weekday: where it is not read with it, the weekday alone is another day."""
_TIMELESS_EN = re.compile(
    r"\b(?:arrives|starts|begins|comes|goes|visits|opens|closes|ends|returns|finishes|happens|can|could|should|might)\b",
    re.IGNORECASE,
)
"""What counts as the future elsewhere and is as often said of every week: the shop opens on Friday."""


def is_bare_weekday(span: TimeSpan) -> bool:
    """Say whether a time is a weekday, or a weekend, that nothing places on the calendar but the words around it."""
    return not span.certain and not span.day_certain and bool(weekdays(span.phrase))


def meaning_of(span: TimeSpan, text: str, language: str) -> Weekday:
    """Return what a bare weekday stands for in a text."""
    code = language if language in _APPOINTED else "en"
    if code == "en" and _NUMBERED_EN.match(text, span.end):
        return Weekday.OPEN
    if _ROUTINE[code].search(text):
        return Weekday.WEEKLY
    if _is_appointed(text, code):
        return Weekday.EVENT
    tense = temporal.tense_around(text, language, span)
    if _is_routine(text, code, tense):
        return Weekday.WEEKLY
    if tense is Tense.PAST or (tense is Tense.FUTURE and _is_meant(text, code)):
        return Weekday.EVENT
    return Weekday.OPEN


def _is_appointed(text: str, language: str) -> bool:
    if language == "ja" and _ONGOING_JA.search(text) and not _ARRANGED_JA.search(text):
        return False  # 火曜は病院でリハビリをしてる
    if _APPOINTED[language].search(text) or calls_off(text, language):
        return True
    return "appointment" in plain_analysis(text, language).notions


def _is_routine(text: str, language: str, tense: Tense | None) -> bool:
    if _THIS_TIME[language].search(text):
        return False
    if language == "ja":
        ongoing = tense is Tense.PRESENT and _ONGOING_JA.search(text)
        return bool(ongoing or _LESSON_JA.search(text))
    return language == "zh" and tense is None and _LESSON_ZH.search(text) is not None


def _is_meant(text: str, language: str) -> bool:
    if language == "ja":
        return _MEANT_JA.search(text) is not None
    return language != "en" or not _TIMELESS_EN.search(text)
