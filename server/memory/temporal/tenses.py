"""Tells from the words around an expression of time whether it looks back or ahead."""

import re
from typing import Final

from server.memory.temporal.spans import Tense

_REACH: Final = 80
"""Characters that are looked at on either side; a bound keeps long texts linear."""

# What was quoted is a sentence of its own: You said: "Mum comes on Thursday."
_SENTENCE_END: Final = re.compile(r"[。!?\n]|\.(?=\s|\Z)(?<![ap]\.m\.)|[:：]\s*[\"“]")

# What was quoted has its own predicate: 「土曜に行く」と話した looks ahead.
_JA_END: Final = re.compile(r"[。!?\n」』]")

# What may follow a verb that governs the expression; "had better" (た方が) and "after" (た後) say nothing of the past.
_JA_AFTER = (
    r"(?!方が|ほうが|後|あと)"
    r"(?=[よねのんがわなしとか、。!?\s一-龠ァ-ヴ]|けど|から|ので|って|そう|らし|とき|ばか|\Z)"
)
_JA_PAST = re.compile(
    r"(?:(?<!あ)した|(?<![るくすうつぬむぶぐいなたの])んだ|いだ|でした|だった"
    r"|[いっえけげせてねべめれきみびりちじぎに来見出寝着居得経似]た)" + _JA_AFTER + "|"
    # Told with the end left open: 来てくれてありがとう, 転んじゃって; with ください and the like it is a request.
    r"くれて(?=ありがと|有難|うれし|嬉し|助か)"
    r"|(?:[ちじ]ゃっ|[てで]しまっ)て(?=ね?[。、!]|ね?\Z)"
)
_JA_AHEAD = re.compile(
    r"(?:て|(?<=[んい])で)(?=ください|下さい|くれ(?!た(?!ら)|まし[たて]|て)|ほしい|欲しい|[ねよ。!]|\Z)"
    r"|[るくすつむぶぐう](?:日|予定|の|ん)(?:だった|でした)"
    r"|予定|つもり|計画|締め?切り?|までに|[きぎしちにびみりいえけげせてねべめれ]たい(?!て)"
    r"|[おこごそとのぼもろよ]う(?:と|か|ね|よ)|ます|ません|方がいい|ほうがいい"
    r"|行(?=か(?!な[かく])|け(?!な[かく]|[たて]))"
    r"|[るくすつむぶぐう](?=[よねけかと。!?]|んだ|から|ので|って|つもり|予定|はず|かも|だろ|でしょ|ため|、|\Z)"
)
# What was resolved lies ahead; what was settled lies there or just behind: 12月15日に眼科を予約した.
_JA_RESOLVED = re.compile(r"こと[にが](?:なっ|なり|し[たてま]|決め|決ま)")
_JA_SETTLED = re.compile(
    r"(?:予約|約束|招待|リスケ|内定)(?:を|が|に)?(?:し[たてま]|され|入れ|取っ|取れ|なっ)|誘(?:われ|っ)|招かれ"
    r"|(?:面接|手術|検査|試験|式|出産|[退入]院|旅行|会議|打ち?合わせ|診察|日程|日取り|訪問|見学|引っ?越し)(?:が|は)決ま"
    r"|の(?:チケット|切符|券|ライブ|コンサート|公演|新幹線|飛行機|便|席|試合|マラソン|大会|イベント|ツアー|宿|ホテル)[^。]{0,8}?(?:取[っれ]|買[っい]|当た|申し?込|押さえ)"
    r"|だ(?:と|って)(?:言わ|いわ|聞い|分か|わか|連絡)"
    r"|(?:キャンセル|中止|延期|取りやめ|取り止め|断念|欠席)(?:を|に|が|と)?(?:し|なっ|なり|され|決ま|の|だ)|取り消し|断(?:っ|り)|行けなくなっ|行かないことに|なくなっ"
)
JAPANESE_MOVED: Final = re.compile(
    r"(?:から|まで)?[にへ](?:決ま|決め|変更|延期|移動|変わ|変え|ずれ|ずらし|延び|なっ[たて](?!ら)|なりまし|早まっ|前倒し|繰り|して(?:もら|いただ|頂)(?:[いき]ました|[いっ]た)(?![一-龠ァ-ヴ]))"
)
# A start lies behind where what began then still lasts: 月曜から腰が痛い, 8月から通っている.
_JA_FROM = re.compile(r"(?:頃|ごろ|くらい|ぐらい)?(?:から|より|以来|以降)")
_JA_LASTING = re.compile(
    r"[てで](?:い?る|い?ます|い?ない|い?ません|おり)|(?:痛|だる|辛|つら|苦し|かゆ|痒|悪|おかし)[いく]"
    r"|(?:熱|痛み|咳|せき|しびれ|めまい|吐き気|腫れ|症状|頭痛|腹痛)[がは](?:あ[るり]|ひど|続|出)"
    r"|(?:動か|つなが|繋が|出|眠れ|寝られ|食べられ|歩け|聞こえ|つか|映ら|鳴ら)(?:ない|ません)|ずっと"
)
_JA_NOW = re.compile(r"[てで](?:い?る|い?ます)|だ(?=[よねしかけ。!]|\Z)|です")

_EN_PAST_WORDS: Final = [
    "was",
    "were",
    "had",
    "did",
    "didn't",
    "wasn't",
    "weren't",
    "hadn't",
    "couldn't",
    "went",
    "saw",
    "came",
    "ate",
    "got",
    "took",
    "gave",
    "made",
    "said",
    "told",
    "met",
    "bought",
    "brought",
    "thought",
    "felt",
    "left",
    "lost",
    "found",
    "knew",
    "heard",
    "kept",
    "slept",
    "spent",
    "spoke",
    "spilled",
    "broke",
    "wore",
    "won",
    "wrote",
    "woke",
    "ran",
    "sang",
    "sat",
    "swam",
    "drank",
    "drove",
    "flew",
    "fell",
    "forgot",
    "grew",
    "began",
    "built",
    "caught",
    "chose",
    "held",
    "hurt",
    "lent",
    "lit",
    "paid",
    "rode",
    "rose",
    "sent",
    "sold",
    "stood",
    "taught",
    "tore",
    "threw",
    "understood",
    "cooked",
    "used",
    "quit",
]
# Behind an article it is no verb: "my left knee"; nor is the "shot" that a nurse gives.
_EN_PAST: Final = (
    r"(?<!\bthe )(?<!\ban )(?<!\ba )(?<!\bmy )(?<!\bour )(?<!\byour )(?<!\bhis )(?<!\bher )(?<!\btheir )"
    rf"(?:{'|'.join(_EN_PAST_WORDS)}|(?:i|we|you|he|she|they|who)\sshot|have been|has been|would have|would've|(?!(?:hundred|sacred|wicked|naked|rugged|kindred|shed|sled|moped|\w*fred|ahmed|moh?amm?ed|jared|mildred)\b)\w+[^\We]ed|agreed)"
)
_EN_AHEAD: Final = (
    r"(?:will|won't|shall|going to|gonna|plans?|planning|planned to|want|wanna|would like|have to|has to|"
    r"need to|let's|about to|would(?!\s(?:have|always|often)|'ve)|\w+'d\s(?:be|come|go|visit|call|bring|take|see|stop|drop|arrive|fly|get|do|help|meet|stay|leave)|"
    # The day of what was to come, also in the words of another: "she said she was coming on Friday".
    r"(?:said|promised|mentioned|(?:told|promised)\s\w+)\s(?:that\s)?(?:\w+\s){1,3}?(?:was|were)\s(?:bringing|driving|flying|getting|going|having|meeting|moving|picking|seeing|staying|starting|taking|visiting)|"
    r"(?<!\bi )(?<!\bwe )(?:was|were)\s(?:arriving|coming|leaving|returning)|"
    r"(?:wake|remind|call|tell|ring|meet) me|can|could|should|must|might|\w+'ll|\w+'d like|"
    r"(?:am|are|is|\w+'m|\w+'re|(?:he|she|it|who|there)'s)\s(?:not\s)?(?!being|during|morning|evening)\w+ing"
    r"(?:\s(?:my|the|an?|his|her|our|their)\s\w+)?(?:\s\w+[^\We]ed)?|"
    r"(?:have|has|get|gets|need|needs)\s(?:my|the|an?|his|her|our|their)\s\w+\s\w+[^\We]ed|"
    r"(?<!\bdid )(?<!\bdidn't )(?:(?:i|we|they)\sget|gets)(?:\s(?:paid|\w+[^\We]ed))?|"
    # The verbs of timetables look ahead in the present tense.
    r"(?:arrives|starts|begins|comes|goes|visits|opens|closes|ends|returns|flies|lands|departs|finishes|happens|expires|turns))"
)
_EN_ED = r"(?:\s(?:being|not|so|very|really|all|also|still|quite|pretty|too|just))*\s(?:\w+[^\We]ed|paid|held|sent|made|built|sold|shot|taught)"
# What was settled says nothing of the day that it was settled for: "I was told to come on Friday".
_EN_SETTLED: Final = (
    r"(?:(?:decided|arranged|promised|agreed|told|asked|invited|hoped|offered|chosen|selected)\s(?:\w+\s){0,2}?to|"
    r"(?:signed\sup|registered|enrolled|entered|volunteered|accepted)\s(?:for|to|at|in)|"
    r"(?:(?:was|were|got|been|has|have|had|to|be|just|already|now)\s){0,4}(?:cancel(?:l?ed)?|called\soff|call\soff|postponed))"
)
# "Have I got anything on Friday", "I've got the dentist": having, not getting.
_EN_HAVING: Final = r"(?:(?:have|has|haven't|hasn't)(?:\s\w+){0,2}?|\w+'(?:ve|s)(?:\s(?:i|we|he|she|it|they|you|(?:the|my|our)\s\w+))?)\s(?:only\s|also\s)?got(?!\sto\b)"
# "I'm scheduled for", "he's invited": how things are, not what was done.
_EN_NOW: Final = (
    rf"(?:(?:am|is|are|isn't|aren't|\w+'m|\w+'re)(?:{_EN_ED})?"
    r"|\w+'s\s(?:scheduled|booked|invited|supposed|expected|planned|closed|called|married))"
)
_EN_HINT = re.compile(
    rf"\b(?:(?P<having>{_EN_HAVING})|(?P<settled>{_EN_SETTLED})|(?P<ahead>{_EN_AHEAD})|(?P<past>{_EN_PAST})|(?P<now>{_EN_NOW}))(?![\w'])",
    re.IGNORECASE,
)
_EN_SINCE = re.compile(
    r"\bsince\s(?:(?:the|last|about|around|early|late|back in)\s)*\Z", re.IGNORECASE
)
_EN_CLAUSE = re.compile(
    r"[,;:]\s|\s(?:and|but|because|so|then|although|though|while)\s", re.IGNORECASE
)

# Whatever the verb says, the day is ahead of it: "I booked it for Saturday", "they moved it to Friday", "tickets for the
# concert on Friday", "my test date: Friday".
_EN_FOR = re.compile(
    r"""\b(?:for|by|until|till)\ (?:the\ )?\Z
    | \b(?:moved|postponed|rescheduled|changed|pushed|shifted|switched|delayed|put\ off|brought\ forward)\b[^.!?]{0,40}\bto\ (?:the\ )?\Z
    | \b(?:tickets?|seats?|table|appointment|reservation)\ for\ (?:\w+\ ){1,4}on\ (?:the\ )?\Z
    | \b(?:date|appointment|slot|booking):\ (?:the\ )?\Z""",
    re.IGNORECASE | re.VERBOSE,
)

_ZH_AHEAD = re.compile(
    r"(?<![重主需首摘只])要(?!求|素|点)|(?<![开约聚集晚机社])会(?!议|面|员|话)|打算|准备|想(?!起|到|过)|将|计划|安排|预计|记得|吧"
)
_ZH_PAST = re.compile(
    r"(?<![为除])了(?!解)|(?<![不经通超])过(?!年|节|生日|周末|来|去|敏|会)|刚才?|已经|曾|来着|那时|做什么了|干了"
)


_JA_THEN: Final = (
    (_JA_RESOLVED, Tense.FUTURE),
    (_JA_SETTLED, None),
    (_JA_PAST, Tense.PAST),
    (_JA_NOW, Tense.PRESENT),
    (_JA_AHEAD, Tense.FUTURE),
)
_JA_FROM_THEN: Final = (
    (_JA_RESOLVED, Tense.FUTURE),
    (_JA_SETTLED, None),
    (_JA_LASTING, Tense.PAST),
    (_JA_PAST, Tense.PAST),
    (_JA_NOW, None),
    (_JA_AHEAD, Tense.FUTURE),
)


# What was settled says nothing of the day that it was settled for; what began and lasts began before.
_ZH_SETTLED = re.compile(
    r"预约[了好]?|约[了好]|邀请|答应|订[了好]|取消|推迟|延期|改期|不(?:去|来|开|办|参加|用去|能去)[^，。]{0,8}了|[去来]不了"
)
_ZH_MOVED = re.compile(r"(?:改|推迟|延期|提前|定|订|安排|挪|换)(?:到|在|至|成)了?\Z")
_ZH_FROM = re.compile(r"(?:自从|从|打)\Z")
_ZH_LASTING = re.compile(r"一直|在|没|不舒服|[疼痛咳坏]|发烧|难受|不了")


def japanese_tense(text: str, start: int, end: int) -> Tense | None:
    """Return the tense of the first predicate behind the expression, which is the one it belongs to."""
    ending = _JA_END.search(text, end, end + _REACH)
    stop = ending.end() if ending else min(end + _REACH, len(text))
    if JAPANESE_MOVED.match(text, end, stop):
        return None
    patterns = _JA_FROM_THEN if _JA_FROM.match(text, end, stop) else _JA_THEN
    found = [
        (match.start(), order, tense)
        for order, (pattern, tense) in enumerate(patterns)
        if (match := pattern.search(text, end, stop))
    ]
    return min(found)[2] if found else None


_EN_TENSES: Final = {
    "having": Tense.PRESENT,
    "now": Tense.PRESENT,
    "past": Tense.PAST,
    "ahead": Tense.FUTURE,
    "settled": None,
}


def english_tense(text: str, start: int, end: int) -> Tense | None:
    """Return what the last verb before the expression says, else the first behind it; in its clause, else its sentence."""
    if _EN_SINCE.search(text, max(start - _REACH, 0), start):
        return Tense.PAST
    if _EN_FOR.search(text, max(start - _REACH, 0), start):
        return Tense.FUTURE
    first, stop = _sentence(text, start, end)
    begin = max((cut.end() for cut in _EN_CLAUSE.finditer(text, first, start)), default=first)
    cut = _EN_CLAUSE.search(text, end, stop)
    clause_end = cut.start() if cut else stop
    hint = (
        _last_hint(text, begin, start)
        or _EN_HINT.search(text, end, clause_end)
        or _last_hint(text, first, begin)
        or _EN_HINT.search(text, clause_end, stop)
    )
    return _EN_TENSES[hint.lastgroup or ""] if hint else None


def chinese_tense(text: str, start: int, end: int) -> Tense | None:
    """Return the tense by particles; 要 and its like outweigh 了, which also marks what is about to change."""
    first, stop = _sentence(text, start, end)
    if _ZH_MOVED.search(text, first, start):
        return None
    if _ZH_AHEAD.search(text, first, stop):
        return Tense.FUTURE
    if _ZH_FROM.search(text, first, start) and _ZH_LASTING.search(text, end, stop):
        return Tense.PAST
    if _ZH_SETTLED.search(text, first, stop):
        return None
    return Tense.PAST if _ZH_PAST.search(text, first, stop) else None


def no_tense(text: str, start: int, end: int) -> Tense | None:
    """Return nothing: of other languages only explicit dates are read."""
    return None


def _last_hint(text: str, start: int, end: int) -> re.Match[str] | None:
    last = None
    for last in _EN_HINT.finditer(text, start, end):  # noqa: B007
        pass
    return last


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentence begins and ends, as far as it is looked at."""
    reach = max(start - _REACH, 0)
    before = [mark.end() for mark in _SENTENCE_END.finditer(text, reach, start)]
    after = _SENTENCE_END.search(text, end, end + _REACH)
    return (before[-1] if before else reach), (
        after.start() if after else min(end + _REACH, len(text))
    )
