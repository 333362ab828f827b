"""Takes what must not be written down out of what was said: card numbers, passwords, my-numbers; phones and streets if wanted."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from server.config import SecrecySection
from server.turn import Turn

_DIGITS = str.maketrans("０１２３４５６７８９－―", "0123456789--")
_CARD = re.compile(r"(?<![\d.])(?<!\d[ \-])\d(?:[ \-]?\d){12,18}(?!\.?\d|[ \-]\d)")
_TWELVE = re.compile(r"(?<![\d.])(?<!\d[ \-])\d(?:[ \-]?\d){11}(?!\.?\d|[ \-]\d)")
_PHONE = re.compile(
    r"(?<![\d.])(?:\+\d{1,3}[ \-]?)?(?:\(\d{2,5}\)|\d{2,5})[ \-]\d{2,4}[ \-]\d{3,4}(?![\d.])"
    r"|(?<![\d.])(?:0[789]0\d{8}|1[3-9]\d{9})(?!\d)"
)
_STREET = re.compile(
    r"\b\d{1,5}[A-Za-z]? (?:[A-Z][\w'’]* ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Close)\b\.?"
    r"|(?<=[市区町村])[^\s、。,「」]{1,8}?\d{1,3}(?:丁目|[-の])\d{1,3}(?:番地?|[-の])?(?:\d{1,3}号?)?"
    r"|[\u4e00-\u9fff]{1,6}(?:路|街|巷|弄)\d{1,5}号(?:\d{1,4}(?:室|栋|单元))?"
)
_SAID = (
    r"(?:\b(?:pass ?words?|pass ?codes?|pin(?: code| number)?|secret code|security code|cvv|cvc)\b"
    r"|パスワード|暗証番号|パスコード|合言葉|セキュリティコード|密码|口令|验证码|安全码)"
)
_PASSWORD = re.compile(
    rf"({_SAID}[^。.!?！？\n]{{0,24}}?(?:\bis now\b|\bis\b|\bwas\b|=|:|：|は|を|って|是|为|改成)\s*[「『\"'“‘]?)"
    r"([^\s「」『』\"'“”‘’、。,，！？!?]{2,64}?)"
    r"(?=(?:です|だよ|だ|なの|にした|にして|ね|よ|で|と|的|了)*[.]?(?:[\s「」『』\"'“”‘’、。,，！？!?]|$))",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"^(?:(?:too|very|so|not|no|on|in|the|an?|my|your|our|easy|hard|wrong|right|correct|written|safe|secret|different|what)\b|"
    r"いつ|なに|何|どこ|どれ|忘れ|覚え|書い|変え|難し|簡単|必要|秘密|ない|什么|忘|多少|很|不)",
    re.IGNORECASE,
)
_WEIGHTS = (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)

_MARKS = {
    "card": ("［カード番号］", "[card number]", "【卡号】"),
    "number": ("［個人番号］", "[personal number]", "【证件号】"),
    "password": ("［パスワード］", "[password]", "【密码】"),
    "phone": ("［電話番号］", "[phone number]", "【电话号码】"),
    "street": ("［住所］", "[street address]", "【地址】"),
}
_LANGUAGES = ("ja", "en", "zh")


def redact(text: str, language: str, section: SecrecySection) -> str:
    """Return a text with a mark in the place of each secret; the same text if there is none.

    Towns, rooms and workplaces are no secrets: a companion has to know them.

    Args:
        text: What was said.
        language: Two-letter code of it, for the marks.
        section: Whether phones and streets are secrets, too.
    """
    place = _LANGUAGES.index(language) if language in _LANGUAGES else 1
    found = sorted(_secrets(text, section), key=lambda one: (one[0], -one[1]))
    written, end = "", 0
    for start, stop, kind in found:
        if start >= end:
            written += text[end:start] + _MARKS[kind][place]
            end = stop
    return written + text[end:] if found else text


def redact_turn(turn: Turn, section: SecrecySection) -> None:
    """Take secrets out of everything in a turn that is in words; if there are any, its sound goes."""

    def clean(text: str) -> str:
        return redact(text, language, section)

    language = turn.question.language if turn.question else "en"
    before = (turn.transcript, turn.asked, turn.query, turn.reply, turn.heard)
    if turn.transcript:
        turn.transcript = replace(turn.transcript, text=clean(turn.transcript.text))
    if turn.asked:
        turn.asked = replace(turn.asked, text=clean(turn.asked.text))
    turn.query, turn.reply, turn.heard = clean(turn.query), clean(turn.reply), clean(turn.heard)
    if before != (turn.transcript, turn.asked, turn.query, turn.reply, turn.heard):
        turn.said_audio = turn.reply_audio = None


def _secrets(text: str, section: SecrecySection) -> Iterator[tuple[int, int, str]]:
    plain = text.translate(_DIGITS)  # one for one: places stay
    for match in _PASSWORD.finditer(plain):
        if not _HARMLESS.match(match[2]):
            yield match.start(2), match.end(2), "password"
    yield from _numbers(plain, _CARD, is_card, "card")
    yield from _numbers(plain, _TWELVE, is_my_number, "number")
    if section.phone:
        yield from ((*match.span(), "phone") for match in _PHONE.finditer(plain))
    if section.street:
        yield from ((*match.span(), "street") for match in _STREET.finditer(plain))


def _numbers(
    text: str, pattern: re.Pattern[str], is_meant: Callable[[str], bool], kind: str
) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(text):
        if is_meant(re.sub(r"\D", "", match[0])):
            yield (*match.span(), kind)


def is_card(digits: str) -> bool:
    """Return whether digits pass the check of card numbers (ISO/IEC 7812, Luhn)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        worth = int(digit) * (1 + place % 2)
        total += worth - 9 if worth > 9 else worth
    return len(digits) >= 13 and total % 10 == 0 and len(set(digits)) > 1


def is_my_number(digits: str) -> bool:
    """Return whether twelve digits pass the check of Japan's individual numbers (order 85 of 2014, article 5)."""
    if len(digits) != 12:
        return False
    rest = sum(int(digit) * weight for digit, weight in zip(digits, _WEIGHTS, strict=False)) % 11
    return int(digits[-1]) == (0 if rest <= 1 else 11 - rest)
