"""Tells whether a sentence says that something kept to or taken is over: "the diet's over", 薬はやめになりました, 医生给停了."""

import re
from collections.abc import Mapping

_ENDED = {
    "ja": re.compile(
        r"(?:やめ|辞め|止め)(?:た(?!い|ら|り)|ちゃ|まし(?!ょ)|に(?:な|し)|ることに(?:な|し)|るように言)|(?:終わ|おわ)(?:った|り(?!に|た)|っちゃ|りました)|終了|卒業し|中止(?:し|に)|打ち切"
        r"|(?:飲ま|打た|塗ら|使わ|し|守ら|控え|続け|通わ)なく(?:て(?:も)?[いよ良](?:い|く|か)|な(?:った|り))|(?:もう|これからは|今は)[^。、]{0,8}(?:飲ん|打っ|塗っ|使っ|し)てい?(?:ない|ません)"
        r"|(?:もう)?(?:いら|要ら|必要)(?:なくな|がなくな|なくなり)|(?:もう)(?:いら|要ら|必要)(?:ない|ありません)|解禁|解除"
    ),
    "en": re.compile(
        r"\b(?:is|'s|are|was|were) (?:now |all |finally |well and truly )?(?:over|finished|done|behind me)\b(?! (?:there|here))|\b(?:stopp?(?:ed)?|discontinued|ended|quit|gave up|given up|dropped|finished|done with) (?:\w+ing )?(?:with |on )?(?:my|the|that|this|those|all)?\b"
        r"|\bc[ao]me off\b|\b(?:took|taken|takes|got|weaned) me off\b|\bi(?:'m| am) (?:now |finally )?off (?:my|the|that|those)\b|\bno longer (?:on|tak|us|need|have to|follow|keep|avoid|watch)\w*|\b(?:don't|doesn't|do not|needn't|not|n't) (?:\w+ ){1,6}any ?more\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"停(?:了|掉|用|药|吃)|(?<!没)(?<!没有)(?:结束|戒掉|断掉)(?:了|$)?|不用(?:再)?[^，。]{0,6}了|不(?:再|需要)[^，。]{0,8}|不(?:吃|喝|打|用|减)[^，。]{0,6}了"
    ),
}
_NEEDLESS = {
    "ja": re.compile(r"(?:いら|要ら|必要(?:で(?:は|も)?|が|は)?)な(?:く|い)|(?:使わ|つか)なく(?:て(?:も)?[いよ良]|な(?:った|り))"),
    "en": re.compile(r"\b(?:don't|do not|doesn't|no longer) (?:really |even )?(?:need|use|have to use)\b", re.IGNORECASE),
    "zh": re.compile(r"不用(?:再)?[^，。]{0,6}了|不(?:再)?需要"),
}  # fmt: skip
"""By what one tells that an aid has served."""
_NOT_YET = {
    "ja": re.compile(r"(?:まだ|なかなか)[^。]*(?:ない|ません)|(?:やめ|辞め|止め|終わり)(?:たい|よう|られ|たく)"),
    "en": re.compile(
        r"\b(?:not|never|haven't|hasn't|hadn't|didn't|can't|couldn't|won't) (?:\w+ )?(?:stop|quit|end|finish|come off|give|given|drop)\w*|\b(?:nearly|almost)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?:还?没有?|不能|不想|别)(?:再)?(?:停|戒|结束)"),
}  # fmt: skip
_BY_WHO_TREATS = r"(?!.*(?:先生|医者|医師|病院|医生|大夫|医院))"
_FOR_ONCE = {
    "ja": re.compile(rf"(?:(?:今日|今夜|今晩|今朝)(?:は|だけ)|一旦|しばらく){_BY_WHO_TREATS}"),
    "en": re.compile(
        r"\b(?:not|never|\w+n't|skip\w*|forgot|missed|done|finished)\b.*\b(?:today|tonight|this (?:morning|afternoon|evening)|for now|just now)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(f"(?:今[天晚早]|暂时|先不){_BY_WHO_TREATS}"),
}


def tells_end(sentence: str, language: str) -> bool:
    """Say whether a sentence says that something is over for good, whatever it is."""
    return _says(_ENDED, sentence, language)


def needs_no_more(sentence: str, language: str) -> bool:
    """Say whether a sentence says that something that helped is needed no longer."""
    return _says(_NEEDLESS, sentence, language)


def is_for_once(sentence: str, language: str) -> bool:
    """Say whether a sentence tells of something left out this once: "I didn't take my pills today"."""
    return _FOR_ONCE[language if language in _FOR_ONCE else "en"].search(sentence) is not None


def _says(signs: Mapping[str, re.Pattern[str]], sentence: str, language: str) -> bool:
    code = language if language in signs else "en"
    plain = sentence.replace("’", "'")
    is_open = _NOT_YET[code].search(plain) is not None or is_for_once(plain, code)
    return signs[code].search(plain) is not None and not is_open
