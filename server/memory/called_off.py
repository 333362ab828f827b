"""Tells whether a sentence calls something off that was to come: "the trip is off", 箱根旅行は中止になった, 杭州不去了."""

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
