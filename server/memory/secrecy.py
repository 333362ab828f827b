"""Takes what must not be written down out of what was said: card numbers, passwords, my-numbers; phones and streets if wanted."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from server.config import SecrecySection
from server.memory.digits import DigitRow, digit_rows, is_counted
from server.turn import Turn

_DIGITS = str.maketrans("０１２３４５６７８９－―", "0123456789--")
_CARD = re.compile(
    r"(?<![\d.])(?<!\d[ \-])\d(?:(?: ?[\-/._,・ー‐‑–—−] ?| {1,3})?\d){12,18}(?!\.?\d|[ \-]\d)"
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", re.IGNORECASE)
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
    r"(?:\b(?:pass ?words?|pass ?codes?|pass ?phrases?|api keys?|secret keys?|pin(?: code| number)?|secret code|security code|cvv|cvc)\b"
    r"|パスワード|暗証番号|パスコード|合言葉|セキュリティコード|密码|口令|验证码|安全码)"
)
_END = r"(?=(?:です|だよ|だ|なの|なんだ|にした|にして|ね|よ|で|と|的|了)*[.]?(?:[\s「」『』\"'“”‘’、。,，！？!?]|$))"
_VALUE = r"([^\s「」『』\"'“”‘’、。,，！？!?]{2,64}?)"
_MIXED = r"((?=[^\s。、,.]*\d)(?=[^\s。、,.]*[A-Za-z])[A-Za-z0-9_@#$%&*+\-]{4,64})"
_COUNTED = "zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|double|triple"
_ADVERB = "too|very|so|not|no|really|quite|pretty|still|just|always|never|also|now|only|almost|rather|much|probably"
_FUNCTION = "a|an|the|my|your|our|his|her|their|its|this|that|these|those|it|i|we|he|she|they|you|and|or|but|so|because|when|if|than|then|to|for|of|in|on|at|by|with|from|as|is|are|was|were|be|been|has|have|had|will|would|can|could|should|must|do|does|did|what|which|who|where|why|how|there|here|again|anymore|not|please"
"""Words that make a sentence of what stands behind "my password is", and no password."""
_PASSWORDS = [
    re.compile(one, re.IGNORECASE)
    for one in (
        rf"{_SAID}[^。.!?！？\n]{{0,24}}?(?:\bis now\b|\bis\b|\bwas\b|(?<=\w)['’]s\b|=|:|：|は|って|是|为|改成)\s*[「『\"'“‘]?{_VALUE}{_END}",
        rf"\b(?:chang\w+|set|reset|update\w*|updating|switch\w+)\b[^。.!?！？\n]{{0,20}}?{_SAID}[^。.!?！？\n]{{0,24}}?\bto\s+[\"'“‘]?((?!be\b|do\b|get\b|the\b|my\b|a\b)[^\s,.!?]{{4,64}})(?=[\"'”’]?\s*(?:[.,!?]|$))",
        r"\b(?:use|enter|type|try) (?:the |my |our )?(?:pass ?word|pass ?code) ((?!to\b|for\b|that\b|and\b|if\b|in\b|on\b|when\b)[^\s,.!?]{4,64})",
        rf"{_SAID}[^。.!?！？\n]{{0,24}}?(?:\bis now\b|\bis\b|\bwas\b|(?<=\w)['’]s\b|=|:|：|は|って|是|为|改成|を)\s*[「『\"“‘]([^」』\"”’\n]{{2,64}})[」』\"”’]",
        rf"{_SAID}[^。.!?！？\n]{{0,24}}?(?:\bis now\b|\bis\b|\bwas\b|(?<=\w)['’]s\b|=|:)\s*((?:(?:{_COUNTED})[ \-,]*(?:and )?){{2,12}})(?![\w])",
        rf"{_SAID}[^。.!?！？\n]{{0,24}}?(?:\bis now\b|\bis\b|\bwas\b|(?<=\w)['’]s\b|=|:)\s*((?!(?:{_ADVERB})\b)(?:(?!(?:{_FUNCTION})\b)[\w\-]+ ){{1,5}}(?!(?:{_FUNCTION})\b)[\w\-]+)(?=\s*[.!]?\s*(?:$|\n))",
        rf"\b((?!(?:{_FUNCTION}|name|word|birthday|number|date)\b)[^\s,.!?\"“”]{{4,64}}) (?:is|as) (?:the|my|our|your) (?:\w+ )?pass ?(?:word|code|phrase)\b",
        rf"\bpass\b (?:is|=|:) ?{_MIXED}",
        r"\b((?:sk|pk|rk|ghp|gho|xox[abp]|AKIA|AIza|hf)[-_A-Za-z0-9]{12,})",
        rf"{_SAID}を[「『\"]?{_VALUE}[」』\"]?に(?:変え|した|して|変更|設定)",
        rf"{_SAID}[^。.!?！？\n]{{0,24}}?{_MIXED}",
        rf"{_MIXED}(?= (?:as|is) (?:the|my|our) pass ?(?:word|code))",
    )
]
_HARMLESS = re.compile(
    r"^(?:(?:too|very|so|not|no|on|in|the|an?|my|your|our|easy|hard|wrong|right|correct|written|safe|secret|different|what|long|short"
    r"|strong|weak|old|new|gone|lost|stored|saved|kept|changed|case|some\w+|known|under|behind|at|for|to|from|with|about|always|never|still|just"
    r"|really|quite|pretty|complicated|impossible|important|needed|required|here|there|this|that|it|one|only|also|now|again|set|broken|working"
    r"|expired|stolen|hidden|forgotten|fine|okay|full|empty|blank|public|known|simple|difficult|\w+ing|\w+ed|like|as|and|or|but|because|what\w*|who\w*|where\w*|when\w*|how|why|i|we|he|she|they|you|there's)\b|"
    r"いつ|なに|何|どこ|どれ|だれ|誰|忘れ|覚え|書い|変え|難し|簡単|必要|秘密|ない|長|短|古|新し|強い|弱い|同じ|[0-9一二三四五六七八九十]+[桁文]|何桁|紙|ノート|手帳|メモ|誕生日|安全|面倒|複雑|大事|大切"
    r"|もう|まだ|これ|それ|あれ|ここ|そこ|自分|みんな|毎|よく|すぐ|わから|分から|知ら|人に|絶対|ちゃんと|必ず|できるだけ|定期"
    r"|什么|忘|多少|很|不|太|在|写|没|谁|怎么|哪|我|你|他|她|要|应该|生日|一样|安全|重要|复杂|简单|好|有|老|新|旧)"
    r"|(?:い?[てで]い?(?:る|ます)|ました|った|ない(?:の|と|で)?|ません|たい|しい)$",
    re.IGNORECASE,
)
_CODE = re.compile(
    rf"{_SAID}|\b(?:door|gate|safe|alarm|entry|access|bank|lock|house|garage|unlock) (?:code|combination|pin)\b"
    r"|\b(?:code|combination|pin) (?:for|to|of) (?:the|my|our) (?:safe|door|gate|alarm|house|bank|phone|card|garage|lock|locker)\b"
    r"|(?:金庫|玄関|ドア|スマホ|携帯|銀行|鍵|ロッカー)の(?:暗証|番号|コード)|暗証|门禁码?|(?:保险柜|门锁|锁)的?(?:号码|数字)",
    re.IGNORECASE,
)
_OF_A_CARD = re.compile(
    r"\b(?:card|visa|master ?card|amex)\b|カード|クレカ|卡号|信用卡|银行卡", re.IGNORECASE
)
_OF_A_PERSON = re.compile(
    r"\b(?:bank )?account (?:number|no\.?)(?!\w)|口座番号|(?:银行)?(?:账号|账户|帐号)|\bsocial security\b|\bssn\b|\bnational insurance\b|\bpassport number\b|マイナンバー|個人番号|免許証?番号|パスポート番号|身份证|护照号|社保号",
    re.IGNORECASE,
)
_IN_TIME = re.compile(
    r"\b(?:in|on|at|since|before|after|every|until|has|have|had)\b|年|月|文字|桁|位数",
    re.IGNORECASE,
)
_REACH, _REACH_OF_A_QUESTION = 24, 100
"""Letters between what a number is called and the number, and the same where it was asked for right before."""
_ASKS_FOR = re.compile(
    rf"(?:\b(?:what|which|tell me|say|give me|spell|i'll tell|i will tell|let me tell|here(?:'s| is| comes)|my)\b[^.!?]{{0,30}}{_SAID}[^.!?]{{0,40}}[?.!:,]?\s*$"
    rf"|{_SAID}[^。！？]{{0,8}}(?:教え|言[うい]|何|なに|なん|は)[^。！？]{{0,8}}[？?。！]?\s*$"
    rf"|(?:告诉|说|给)[^。！？]{{0,8}}{_SAID}[^。！？]{{0,4}}[。！？]?\s*$|{_SAID}[^。！？]{{0,3}}(?:是什么|是多少|多少|呢)[^。！？]{{0,3}}[？?]?\s*$)",
    re.IGNORECASE,
)
"""What has somebody say a password next."""
_GIVEN = re.compile(
    r"^\W*(?:(?:it|that)(?:['’]s| is| was)\s+|it\s+goes\s+|then\s+|okay,?\s+|well,?\s+|えっと、?|それは|はい、|是|就是|嗯，?)?[\"“「『]?"
    r"(?P<value>[A-Za-z0-9_@#$%&*+\-]{3,40}(?: [A-Za-z0-9_\-]{2,20}){0,3}|[\u3040-\u30ff\u3400-\u9fffA-Za-z0-9]{2,16}?)"
    r"[\"”」』]?(?:です|だよ|だ|なの|なんだ|ね|よ|的|啊|哦)*\W*$",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"^(?:yes|yeah|no|nope|okay|ok|sure|why|what|who|when|where|how|sorry|thanks?|thank you|hello|hi|hey|bye|never ?mind|forget|stop|wait|i|you|we|not|don|maybe|later|nothing|none)\b"
    r"|^(?:うん|はい|いいえ|いや|だめ|ダメ|なんで|なぜ|どうして|ありがとう|ごめん|忘れ|秘密|内緒|やめ|教えない|知らない|わからない|分からない|ない|え|待って|またね|おやすみ|おはよう|こんにちは)"
    r"|^(?:好|不|行|可以|为什么|谢谢|对不起|忘|没|秘密|等|算了|嗯|是的|对)",
    re.IGNORECASE,
)
_CALLED = (
    (_CODE, range(3, 13), "password"),
    (_OF_A_CARD, range(12, 21), "card"),
    (_OF_A_PERSON, range(7, 20), "number"),
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


def redact(text: str, language: str, section: SecrecySection, before: str = "") -> str:
    """Return a text with a mark in the place of each secret; the same text if there is none.

    Towns, rooms and workplaces are no secrets: a companion has to know them.

    Args:
        text: What was said.
        language: Two-letter code of it, for the marks.
        section: Whether phones and streets are secrets, too.
        before: What was said right before it: "What is the PIN?"
    """
    place = _LANGUAGES.index(language) if language in _LANGUAGES else 1
    found = sorted(_secrets(text, section, before), key=lambda one: (one[0], -one[1]))
    written, end = "", 0
    for start, stop, kind in found:
        if start >= end:
            written += text[end:start] + _MARKS[kind][place]
            end = stop
    return written + text[end:] if found else text


def redact_turn(turn: Turn, section: SecrecySection, before: str = "") -> None:
    """Take secrets out of everything in a turn that is in words; if there are any, its sound goes.

    Args:
        turn: A turn that is over.
        section: What is secret.
        before: What was heard, or said, last before it.
    """

    def clean(text: str) -> str:
        return redact(text, language, section, before)

    language = turn.question.language if turn.question else "en"
    spoken = (turn.transcript, turn.asked, turn.query, turn.reply, turn.heard)
    if turn.transcript:
        turn.transcript = replace(turn.transcript, text=clean(turn.transcript.text))
    if turn.asked:
        turn.asked = replace(turn.asked, text=clean(turn.asked.text))
    turn.query, turn.reply, turn.heard = clean(turn.query), clean(turn.reply), clean(turn.heard)
    if spoken != (turn.transcript, turn.asked, turn.query, turn.reply, turn.heard):
        turn.said_audio = turn.reply_audio = None


def _secrets(text: str, section: SecrecySection, before: str) -> Iterator[tuple[int, int, str]]:
    plain = text.translate(_DIGITS)  # one for one: places stay
    yield from _passwords(plain, before)
    yield from _numbers(plain, _CARD, is_card, "card")
    yield from _numbers(plain, _TWELVE, is_my_number, "number")
    yield from ((*match.span(), "number") for match in _IBAN.finditer(plain) if is_iban(match[0]))
    for row in digit_rows(plain, 3):
        kind = _kind_of(row, before, plain)
        if kind:
            yield row.start, row.end + plain[row.end : row.end + 1].upper().count("X"), kind
    if section.phone:
        yield from ((*match.span(), "phone") for match in _PHONE.finditer(plain))
    if section.street:
        yield from ((*match.span(), "street") for match in _STREET.finditer(plain))


def _passwords(text: str, before: str) -> Iterator[tuple[int, int, str]]:
    for pattern in _PASSWORDS:
        for match in pattern.finditer(text):
            if not _HARMLESS.search(match[1]):
                yield match.start(1), match.end(1), "password"
    if (given := _given(text, before)) is not None:
        yield *given, "password"


def _given(text: str, before: str) -> tuple[int, int] | None:
    """Return where the password stands that was asked for, or announced, right before; None if there is none."""
    if not _ASKS_FOR.search(before.replace("’", "'")):
        return None
    match = _GIVEN.match(text)
    if match is None or _NO_ANSWER.search(match["value"]) or _HARMLESS.search(match["value"]):
        return None
    return match.span("value")


def _kind_of(row: DigitRow, before: str, text: str) -> str:
    """Return what secret a row of digits is, by what it is called or by its check digit; empty if none."""
    if is_counted(text, row):
        return ""
    is_asked = before.rstrip().endswith(("?", "？"))
    asked = before[-_REACH_OF_A_QUESTION if is_asked else -_REACH :]
    told = f"{asked}\n{text[: row.start]}"
    for name, lengths, kind in _CALLED:
        last = max((match.end() for match in name.finditer(told)), default=-1)
        gap = told[last:]
        reach = _REACH_OF_A_QUESTION if is_asked and last <= len(asked) else _REACH
        is_near = last >= 0 and len(gap) <= reach and not _IN_TIME.search(gap)
        if is_near and len(row.digits) in lengths:
            return kind
    is_spoken = not any(sign.isdigit() and sign.isascii() for sign in text[row.start : row.end])
    if is_spoken and len(row.digits) in range(13, 20) and is_card(row.digits):
        return "card"
    if is_spoken and is_my_number(row.digits):
        return "number"
    return ""


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


def is_iban(text: str) -> bool:
    """Return whether the number of a bank account passes its check (ISO 13616, remainder of 97)."""
    plain = "".join(text.split()).upper()
    digits = "".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])
    return len(plain) >= 15 and int(digits) % 97 == 1


def is_my_number(digits: str) -> bool:
    """Return whether twelve digits pass the check of Japan's individual numbers (order 85 of 2014, article 5)."""
    if len(digits) != 12:
        return False
    rest = sum(int(digit) * weight for digit, weight in zip(digits, _WEIGHTS, strict=False)) % 11
    return int(digits[-1]) == (0 if rest <= 1 else 11 - rest)
