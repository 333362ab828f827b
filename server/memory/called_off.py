"""Tells whether a sentence calls something off that was to come, or puts it on another day: "the trip is off", 箱根旅行は延期になった, 杭州不去了."""

import re

_CALLED_OFF = {
    "ja": re.compile(
        r"(?:キャンセル|中止|取りやめ|取り止め|取り消し|断念|欠席|お流れ|白紙|ドタキャン)(?!に(?:は|も)?なら|し(?:な[いか]|てい?ない|ません|たく))"
        r"|(?:行け|行か|会え|会わ|出られ|参加し|参加でき|来られ|来れ)(?:ない(?:こと|んだ|よ|。|$|です)|なく(?:て[よも]く)?なっ|ないで済)"
        r"|なくなった|無くなった|(?:やめ|止め)(?:た|る?ことに|にし)|断っ"
    ),
    "en": re.compile(
        r"(?<!\bnot )(?<!n't )\b(?:(?:been |was |were |is |got |had to |have to |having to )?cancel(?:led|ed|ling|ing)?|call(?:ed|ing)? (?:it |that |the [\w' ]{1,20} )?off|(?:is|'s|are|was|were) (?:now |all )?off(?=\W*(?:$|[,.;!]|because|since|now|and))"
        r"|(?:not|n't|no longer) (?:be )?(?:going|coming|having|meeting|seeing|happening|taking place)\b|(?:can't|cannot|won't|couldn't) (?:go|come|make it)\b|fell through|falls through|scrapped|called it quits"
        r"|isn't happening|won't (?:be )?(?:happen\w*|going|go)|backed out|pulled out)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?<!没)(?<!没有)(?<!不)取消|不(?:能|想|打算|用)?(?:再)?(?:去|来|见|开|办|参加|搬|做)[^，。]{0,6}了|[去来]不了|泡汤|作罢|黄了|不办了"
    ),
}


def calls_off(sentence: str, language: str) -> bool:
    """Say whether a sentence calls something off."""
    return _CALLED_OFF.get(language, _CALLED_OFF["en"]).search(sentence) is not None


_PUT_OFF = {
    "ja": re.compile(r"延期(?!し(?:な[いか]|ませ))|先延ばし|繰り[上下]げ|(?:延び|伸び)(?:た|まし|ちゃ)|リスケ|仕切り直し|日程[^。]{0,6}(?:変|ずれ)"),
    "en": re.compile(
        r"(?<!not )(?<!n't )\b(?:postpon(?:ed|ing)|put(?:ting)? (?:[\w']+ ){1,4}off|(?:been |was |were |is |are |got )put off|put off (?:until|till|to|for)|reschedul(?:ed|ing)|push(?:ed|ing) (?:[\w']+ ){0,4}back|put back (?:to|until|till)"
        r"|brought (?:[\w']+ ){0,4}forward|delayed (?:until|till|to|by))\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?<!没)(?<!没有)(?<!不)(?:推迟|延期|延后|提前|顺延|往后推|往后挪)"),
}  # fmt: skip
_MOVED = {
    "ja": re.compile(r"変更に|に(?:変わ|替わ|変え|替え|ずれ|移)|(?:じゃ|では?)な(?:くて?|くなって)[^。]*に(?:なった|なりまし|なって)"),
    "en": re.compile(
        r"\b(?:moved|shifted|changed|switched)(?: (?:it|that|them|this|(?:the|my|our|his|her|their) [\w' ]{1,30}?))? (?:from [\w ]{1,20} )?to\b|\bis (?:now )?on\b.{0,20}\binstead\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("改到|改成|改在|挪到|换到|换成"),
}  # fmt: skip
"""What puts a plan on another day, if it names one."""


def puts_elsewhen(sentence: str, language: str, *, is_dated: bool) -> bool:
    """Say whether a sentence puts something that was to come on another day, told or not.

    Args:
        sentence: What is told.
        language: Two-letter code of it.
        is_dated: Whether it names a day.
    """
    code = language if language in _PUT_OFF else "en"
    if _PUT_OFF[code].search(sentence):
        return True
    return is_dated and _MOVED[code].search(sentence) is not None
