"""Which plain attribute of whom a fact claims: 私の名前は…, "my birthday is …", 孫のさくらが…, "I work as …".

That a name is claimed by the way ("my grandson Leo") counts as well, if less than a sentence that gives it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.attributes import (
    PET,
    SELVES,
    Attribute,
    Owned,
    kin_class,
    owner_of,
    owners,
    words_for_people,
    words_for_pets,
)
from server.memory.claims import LISTENER, SOMEBODY, SPEAKER, Claim, claims_of
from server.memory.lexicon.expressions import as_told
from server.memory.terms import HONORIFICS, read_as, words_of

_NUMBER_JA = r"(?:\d+|[〇一二三四五六七八九十百]+)"
_MONTH_EN = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_OPENING_JA = r"(?:^|(?<=[、。「]))(?:(?:ええと|えっと|あの|実は|うん|はい|いや|いいえ|ごめん(?:なさい)?|こんにちは|はじめまして|そうそう)、?)*"
_GIVEN: Mapping[str, Mapping[Attribute, str]] = {
    "ja": {
        Attribute.NAME: rf"""{{who}}の(?:本当の|フル|下の)?(?:お?名前|氏名|本名|名字|苗字|フルネーム)(?:は|が|って|、)(?!何|なん|なに|まだ|覚|好き|気に|嫌|珍し|変|難し)
            | {_OPENING_JA}(?P<self>)名前は(?!何|なん|なに|まだ|覚|知|わか|分か) | (?P<self_>)(?:と(?:申|もう)し(?:ます|た)|と(?:申|もう)す)
            | {{who}}(?:は|って|のこと(?:は|を)?|を)、?[^、。はがを]{{1,16}}?(?:という(?:名前|の[。で])|といい(?:ます|、)|と言います|っていい?(?:ます|うの|うん)|って言(?:います|うの|うん)|と名[付づ]け|と呼(?:ば|び|ん)|って呼(?:ば|び|ん))
            | {_OPENING_JA}(?P<self__>)[^、。はがをも]{{1,12}}(?:と|って)(?:呼|よ)んで(?:[。よねくほ下い]|$) | {_OPENING_JA}(?P<self___>)[^、。はがをもの]{{1,12}}と(?:言|い)います[。よね]?$
            | [^、。はがをも]{{1,10}}(?:という|っていう)(?:名前の)?{{who}}(?=が|は|を|も|と|に|、)""",
        Attribute.BIRTHDAY: rf"""{{who}}の(?:お?誕生日|生年月日)(?:は|が|って)、?[^、。]{{0,12}}{_NUMBER_JA}[月日] | {_OPENING_JA}(?P<self>)(?:お?誕生日|生年月日)は、?[^、。]{{0,12}}{_NUMBER_JA}[月日]""",
    },
    "en": {
        Attribute.NAME: r"""{whose}\ (?:full\ |first\ |last\ |sur|real\ )?name(?:'s|\ is|\ was)\ (?!not\ (?:on|in)\b|on\b|in\b) | {who}\ (?:is|are|am|was|were|'s)\ (?:called|named)\b | {who}'(?:m|s)\ (?:called|named)\b | {who},?\ (?:called|named)\ (?-i:[A-Z])
            | \bcalls?\ {who}\ (?-i:[A-Z])\w+(?!\ (?:on|at|in)\b) | (?P<self>\bi(?:'m|\ am))\ (?!\w+(?:ese|ican|lic|i(?:sh|st|m)|[^r]ian)(?:\W*$|,|\ and\b)|German|French|Dutch|Greek|Thai)(?-i:[A-Z])[\w'-]+(?:\ (?-i:[A-Z])[\w'-]+)?(?:\W*$|,\ (?=(?:and\ )?(?:i\b|i'|\d))|\ and\ (?=i\b|i')) | (?P<self_>\bi\ go\ by)\ """,
        Attribute.BIRTHDAY: rf"""{{whose}}\ (?:birthday|date\ of\ birth)(?:'s|\ is|\ was|\ falls)\ (?:on\ |in\ )?(?:the\ )?(?:\d|{_MONTH_EN}\b) | {{who}}(?:\ was|\ were|'s)\ born\ (?:on|in)\ (?:the\ )?(?:\d|{_MONTH_EN}\b)""",
    },
    "zh": {
        Attribute.NAME: r"{who}的?(?:全名|大名|名字|姓名)(?:是|叫) | {who}(?:叫做?|名叫|姓)(?![我你他她它什啥了过着])(?!.{0,2}(?:外卖|车|医生|起床|他|她)) | 叫{who}(?![来去回起过做吃别不])[\u4e00-\u9fffA-Z]",
        Attribute.BIRTHDAY: r"{who}的?生日(?:是|在)[^，。]{0,6}[\d一二三四五六七八九十]+(?:月|号|日) | {who}(?:是)?[^，。]{0,12}[\d一二三四五六七八九十]+[年月日号](?:出生|生的|生)",
    },
}  # fmt: skip
_TOLD: Mapping[str, Mapping[Attribute, str]] = {
    "ja": {
        Attribute.AGE: rf"{_NUMBER_JA}[歳才](?!の?(?:とき|時|頃|ころ)|から|まで|で(?!す|し(?!た))|以[上下]|差|年[上下]|上|下)",
        Attribute.BIRTHDAY: rf"{_NUMBER_JA}[年月日].{{0,4}}(?:に|の)?(?:生まれ|うまれ|産まれ)",
        Attribute.HOME: r"(?:に|で)[^、。]{0,8}?(?:住ん|暮ら|住まい)|(?:住所|自宅|住まい)は|(?:へ|に)(?:引っ越し|引越し|移り住)",
        Attribute.JOB: r"(?:仕事|職業)は|(?:として|で|に|へ)[^、。]{0,6}?(?:働[いくき]|勤め|勤務)|(?:師|士|員|医|官|家|者|教授|長|運転手|農家|学生)(?:です|だ(?!った|が)|を(?:して|やって))",
        Attribute.ALLERGY: r"アレルギー",
    },
    "en": {
        Attribute.AGE: r"\b(?:am|'m|is|are|'s|'re|turn(?:ed|ing|s)?|aged?)\ (?:now\ |about\ |nearly\ |almost\ )?(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?)(?:\ years\ old|\ now|\W*$|\ (?:next|last|this|in|on|today|a)\b)|\b\d{1,3}\ years\ old\b",
        Attribute.HOME: r"\bliv(?:e|es|ing)\ (?:\w+\ )?(?:in|at|on|near)\b|\bmov(?:e|ed|ing)\ to\ (?:[\w']+\ ){0,2}(?-i:[A-Z])|\baddress\ is\b",
        Attribute.JOB: r"(?<!will\ )\bwork(?:s|ed|ing)?\ (?:now\ |mostly\ )?(?:as|at|for|in)\b(?!\ (?:me|you|us|the\ (?:garden|morning|evening|afternoon))\b)|\b(?:job|profession|occupation)\ is\b|\b(?:am|'m|is|are)\ (?:now\ )?(?:an?|the)\ (?:[\w-]+\ ){0,2}?(?:\w{3,}(?:i(?:st|an)|eer|smith|wright|keeper)|teacher|driver|nurse|doctor|lawyer|farmer|baker|cook|chef|waiter|waitress|clerk|accountant|manager|secretary|cleaner|carer|builder|plumber|carpenter|painter|writer|tailor|hairdresser|barber|vet|pilot|programmer|developer|designer|editor|photographer|gardener|postman|midwife|solicitor|student)\b",
        Attribute.ALLERGY: r"\ballerg(?:y|ies|ic)\b",
    },
    "zh": {
        Attribute.AGE: r"[\d一二三四五六七八九十]+岁(?!的?(?:时候|那年)|就|起|前)",
        Attribute.HOME: r"住(?:在|到)|搬(?:到|去|进)|(?:地址|家)(?:是|在)",
        Attribute.JOB: r"(?:工作|职业)是|在[^，。]{1,12}(?:工作(?!中|时)|上班)|是(?:一名|一个|个)?[\u4e00-\u9fff]{0,6}(?:师|员|医生|护士|工人|农民|司机|学生)|当(?:了)?[\u4e00-\u9fff]{0,4}(?:师|员|医生|护士|司机)",
        Attribute.ALLERGY: r"过敏",
    },
}  # fmt: skip
_INTRODUCED_JA = re.compile(
    rf"(?:{SELVES['ja']})(?:は|、)(?P<name>[^、。はがをもの]{{1,12}}?)"
    rf"(?:(?:です|だ|でございます)?[よねわ]*(?=[。」]|$)|、(?=(?:今年)?で?、?{_NUMBER_JA}[歳才]))"
)
_LIVING_JA = re.compile(
    r"(?:さん|ちゃん|くん|君)?(?:が|は|も|と|から|、)(?=[^、。]{0,12}?(?:来[てたるなま]|き[てた]く|遊[びんぶ]|生まれ|亡くな|笑|泣|歩[いきく]|言[っい]|話[しす]|電話|結婚|入学|入園|卒業|合格|帰[っりる]|住[んむ]|働[いく]|会[いっう]|行[っきく]|[0-9０-９一二三四五六七八九十]+[歳才]|元気|熱を|風邪))"
)
_APPOSED_EN = (
    r"(?:\b(?i:my|our)\ (?:[a-z]+\ )?(?P<kin>(?i:#))(?:,\ |\ )(?P<name>(?!I\b)[A-Z][\w'-]+)(?!'s|\w)"
    r"|\b(?P<name_>(?!I\b)[A-Z][\w-]+),?\ (?:who\ )?(?:is\ )?(?:my|our)\ (?:[a-z]+\ )?(?P<kin_>(?i:#))\b(?!'s))"
)
_APPOSED_ZH = r"[我咱]们?家?的?(?P<kin>#)(?:小(?![时学说心孩狗猫])[\u4e00-\u9fff]|阿(?![姨富])[\u4e00-\u9fff])(?![\u4e00-\u9fff]?的?[妈爸])"


def claims_attributes(text: str, language: str) -> frozenset[Owned]:
    """Return the attributes of whom a fact gives.

    Args:
        text: The fact, without dates in brackets.
        language: Two-letter code of it.
    """
    told = as_told(text)
    code = read_as(told, language)
    found = {
        (owner, attribute)
        for attribute, pattern in _given(code).items()
        for match in pattern.finditer(told)
        if (owner := owner_of(match))
    }
    if code == "ja" and any(map(_is_own_name, _INTRODUCED_JA.findall(told))):
        found.add((SPEAKER, Attribute.NAME))
    return frozenset(found | _predicated(told, code))


def names_in_passing(text: str, language: str) -> frozenset[str]:
    """Return the classes of people whom a fact calls by name beside the word for them: 孫のさくら, "my grandson Leo"."""
    told = as_told(text)
    code = read_as(told, language)
    if code == "ja":
        return frozenset(_apposed_ja(told))
    return frozenset(
        kin_class(word.lower())
        for match in _apposed(code).finditer(told)
        for key, word in match.groupdict().items()
        if key.startswith("kin") and word
    )


def _predicated(told: str, language: str) -> set[Owned]:
    """Return what clauses claim of their subjects; a Japanese one without a subject tells of the speaker."""
    matters = _told(language)
    if not any(pattern.search(told) for pattern in matters.values()):
        return set()
    found: set[Owned] = set()
    claims = [(_subjects(claim), claim.words) for claim in claims_of(told, language)]
    for subjects, clauses in groupby(claims, key=lambda one: one[0]):
        words = ("" if language == "ja" else ", ").join(clause for _, clause in clauses)
        whose = set(subjects)
        if not whose and (language == "ja" or _own(language).search(words)):
            whose = {SPEAKER}
        for attribute, pattern in matters.items():
            if pattern.search(words):
                found |= {(owner, attribute) for owner in whose}
    return found


def _subjects(claim: Claim) -> frozenset[str]:
    """Return whom a clause tells of; of the speaker only if of nobody else."""
    subjects = {*claim.subject, *claim.told_of} - {SOMEBODY, LISTENER}
    others = subjects - {SPEAKER}
    return frozenset(map(_owner, others or subjects))


def _owner(subject: str) -> str:
    pets = {word for code in ("ja", "en", "zh") for word in words_for_pets(code).split("|")}
    return PET if subject in pets else subject


def _apposed_ja(told: str) -> set[str]:
    words = words_of(told)
    found = set()
    for place in range(len(words) - 2):
        kin = kin_class(str(words[place].normalized_form())) or kin_class(words[place].surface())
        is_named = words[place + 1].surface() == "の" and _is_name(words, place + 2)
        if kin in lexicon.KIN and is_named and not _is_theirs(words, place):
            found.add(kin)
    return found


def _is_theirs(words: Sequence[Morpheme], place: int) -> bool:
    """Say whether somebody is of another's family: 真由の夫, 元の妻."""
    is_owned = place > 1 and words[place - 1].surface() == "の"
    return is_owned and re.fullmatch(SELVES["ja"], words[place - 2].surface()) is None


def _is_name(words: Sequence[Morpheme], place: int) -> bool:
    """Say whether a word behind 孫の is the name: by the dictionary, with a family name before it, or as what is done by it is living."""
    word = words[place]
    part, detail, more = word.part_of_speech()[:3]
    after = words[place + 1].surface() if place + 1 < len(words) else ""
    if part != "名詞" or (detail == "固有名詞" and more == "地名") or after == "の":
        return False
    if detail == "固有名詞" or after in HONORIFICS or _is_given_name(word.surface()):
        return True
    is_kana = re.fullmatch(r"[ぁ-んァ-ヶー]{2,5}", word.surface()) is not None
    rest = "".join(one.surface() for one in words[place + 1 :])
    return is_kana and _LIVING_JA.match(rest) is not None


def _is_own_name(told: str) -> bool:
    """Say whether what somebody says that they are is a name: 田中, 田中きよ, 健太; さくら, but not 元気 or ひとり."""
    words = words_of(told)
    parts = [word.part_of_speech() for word in words]
    if not words or all(part[1:3] == ("固有名詞", "人名") for part in parts):
        return bool(words)
    if parts[0][3] == "姓":
        given = "".join(word.surface() for word in words[1:])
        return re.fullmatch(r"[ぁ-んァ-ヶー]{2,5}", given) is not None and given not in HONORIFICS
    return parts[0][1:3] == ("普通名詞", "一般") and _is_given_name(told)


@cache
def _is_given_name(surface: str) -> bool:
    words = words_of(f"田中{surface}")
    return len(words) == 2 and words[1].part_of_speech()[2:4] == ("人名", "名")


@cache
def _given(language: str) -> Mapping[Attribute, re.Pattern[str]]:
    return {key: owners(text, language) for key, text in _GIVEN[language].items()}


@cache
def _told(language: str) -> Mapping[Attribute, re.Pattern[str]]:
    return {key: re.compile(text, re.IGNORECASE) for key, text in _TOLD[language].items()}


@cache
def _own(language: str) -> re.Pattern[str]:
    selves = SELVES[language]
    return re.compile(rf"\b(?:{selves})\b" if language == "en" else selves, re.IGNORECASE)


@cache
def _apposed(language: str) -> re.Pattern[str]:
    form = _APPOSED_EN if language == "en" else _APPOSED_ZH
    return re.compile(form.replace("#", words_for_people(language)))
