"""Which plain attribute of whom a question asks for: a name, an age, a birthday, a home, a job, an allergy.

"What is my name?" is answered by what claims the speaker's name and by nothing that claims a dog's; "how old are you?" asks
the robot, of whom the person's facts tell nothing. Only sure forms count: what they don't know is left to the signs.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import TypeAlias

from server.memory import lexicon
from server.memory.claims import LISTENER, SPEAKER
from server.memory.terms import read_as


class Attribute(StrEnum):
    """What everybody has one of, or a few."""

    NAME = "name"
    AGE = "age"
    BIRTHDAY = "birthday"
    HOME = "home"
    JOB = "job"
    ALLERGY = "allergy"


Owned: TypeAlias = tuple[str, Attribute]
"""Whose (`SPEAKER`, `LISTENER`, a class of people, or `PET`), and what."""
PET = "#pet"
"""Owner: an animal of the house."""

SELVES = {
    "ja": "私|わたし|わたくし|僕|ぼく|ボク|俺|おれ|オレ|あたし|わし|うち(?!の)|自分",
    "en": "i|me|my|mine|myself|we|us|our|ours",
    "zh": "我|咱",
}
LISTENERS = {
    "ja": "あなた|あんた|(?<![一-龠])君|きみ|お前|おまえ|ロボットさん?",
    "en": "you|your|yours|yourself",
    "zh": "你|您",
}
_ENDS_JA = r"""(?:(?:は|って|を|が|も|と|とか|のこと|、)*(?:まだ|もう|ちゃんと|今|いま)*(?:$|[?？。]|何(?!で(?!す|し)|歳|月)|なん(?:だ|です|て|と|でし)|なー?ん|当て|なに|覚え|憶え|おぼえ
    |わか|分か|知っ|ご存|言(?:え|って(?:み|く|$))|教え|おしえ|思い出|忘れ(?:た|て(?:な|い))|だっけ|でしたっけ|ですか|いつ|どこ|いくつ))"""
_KNOWS_EN = r"(?:(?:know|remember|recall|tell\ me|remind\ me(?:\ of)?|say|forget|forgotten|guess|know\ what|remember\ what)\ )"
_END_EN = r"(?=\W*$|\ (?:is|again|please|now|then|yet)\b|,)"
_ASKED: Mapping[str, Mapping[Attribute, str]] = {
    "ja": {
        Attribute.NAME: rf"""{{who}}の(?:本当の|フル|下の|上の)?(?:お?名前|なまえ|氏名|本名|名字|苗字|姓|フルネーム){_ENDS_JA}
            | {{who}}(?:は|って|が|のこと(?:は|を)?)?、?(?:いったい)?(?:誰|だれ)(?:(?:なの|な|だ)?か?(?:わか|分か|知っ|覚え)|だっけ|です|だと|なの|か[?？]?$|[?？]?$)
            | {{who}}(?:は|って|のこと(?:は|を)?|を)?、?(?:何|なん)(?:て|と|って)(?:(?:呼|よ)(?:ん|ば|べ|び|ぶ)|名|(?:いう|言う)(?:名|の[?？]?$|ん|っけ|か?[?？]?$))
            | (?P<self>^お?名前(?:を|、|って|は)?(?:まだ|ちゃんと)?(?:覚え|憶え|おぼえ|わか|分か|知って|言え))""",
        Attribute.AGE: rf"""{{who}}の(?:年齢|歳|年|とし){_ENDS_JA}
            | {{who}}(?:は|って|も)?、?(?:今年|今|いま|もう|で|、)*(?:何[歳才]|お?いくつ)(?!の?(?:とき|時|頃|ころ)|から|まで|だった(?!っけ)|でした(?!っけ)|で(?!す|し)|も|か(?![?？]?$))""",
        Attribute.BIRTHDAY: rf"{{who}}の(?:お?誕生日|生年月日|バースデー){_ENDS_JA} | {{who}}(?:は|って)?、?(?:いつ|何[年月]何?[月日]?に?)(?:生まれ|産まれ)",
        Attribute.HOME: r"""{who}の(?:家|住所|住まい|自宅|お住まい)(?:は|って|が)?、?(?:$|[?？]|どこ|覚え|わか|分か|知って|教え)
            | {who}[のが]住んで(?:い)?る(?:所|ところ|場所|町|街)(?:は|って|が)?、?(?:$|[?？]|どこ|覚え|わか|分か|知って)
            | {who}(?:は|って|が|も)?、?(?:今|いま)?、?(?:どこ|どの(?:町|街|辺|県|市))に(?:住|暮ら)""",
        Attribute.JOB: rf"""{{who}}の(?:お?仕事|職業)(?!.*(?:いつ|どこ|何時|休み)){_ENDS_JA}
            | {{who}}(?:は|って|が)?、?(?:何の|なんの|どんな)(?:お?仕事) | {{who}}(?:は|って|が)?、?どこ(?:で|に)(?:働|勤め|勤務)""",
        Attribute.ALLERGY: rf"""{{who}}(?:の|は|って|、)?(?:食物|食べ物の)?アレルギー{_ENDS_JA} | {{who}}(?:は|って|に|、)*(?:何|なん|なに|どんな)の?アレルギー
            | {{who}}(?:は|って|に|に?は|、)*アレルギー(?:は|が|って)?(?:ある|あり|あった|持って)
            | ^(?P<self>)(?:(?:何|なん|なに|どんな)の?)?アレルギー(?:は|が|って)?(?:何|なん|ある|あり|あった|覚え|わか|分か|知って|[?？]?$)""",
    },
    "en": {
        Attribute.NAME: rf"""what(?:'?s|\ is|\ was)\ {{whose}}\ (?:full\ |first\ |last\ |sur|own\ |real\ )?name\b(?!\ day) | {_KNOWS_EN}(?:what\ )?{{whose}}\ (?:full\ |first\ |last\ |sur|own\ |real\ )?name{_END_EN}
            | ^\W*{{whose}}\ (?:full\ |first\ |last\ |sur)?name\W*$ | what\ (?:is|was|are|am|'s)\ {{who}}\ (?:called|named) | what(?:'s)\ {{who}}\ (?:called|named) | what\ {{who}}(?:'m|'s|\ is|\ am|\ are)\ (?:called|named)
            | \bname\ of\ {{who}}{_END_EN} | what\ did\ i\ say\ {{whose}}\ name\ was | \bwho\ do\ you\ think\ i\ am\b(?P<self>) | \bwho\ (?:am|are)\ {{who}}\W*$ | \bwho\ {{who}}\ (?:am|are)\b | (?:what|how)\ (?:do|does|should|shall|can)\ (?:\w+\ )?\w+\ call\ {{who}}\W*$""",
        Attribute.AGE: rf"""how\ old\ (?:am|are|is|'s)\ {{who}}(?=\W*$|\ (?:now|again|today|these)\b) | how\ old\ {{who}}(?:'m|'s|\ is|\ am|\ are)\b | what(?:'?s|\ is)\ {{whose}}\ age\b | {_KNOWS_EN}{{whose}}\ age{_END_EN} | ^\W*{{whose}}\ age\W*$""",
        Attribute.BIRTHDAY: rf"""(?:when|what)(?:'?s|\ is|\ was)\ {{whose}}\ (?:birthday|date\ of\ birth)\b(?!\ (?:party|cake|present)) | {_KNOWS_EN}(?:when\ |the\ date\ of\ )?{{whose}}\ (?:birthday|date\ of\ birth){_END_EN} | ^\W*{{whose}}\ birthday\W*$
            | when\ (?:was|were)\ {{who}}\ born | what\ (?:day|date|month)\ is\ {{whose}}\ birthday | (?:when|what\ year)\ {{who}}\ (?:was|were)\ born""",
        Attribute.HOME: rf"""where\ (?:do|does|'s)\ {{who}}\ live\b | where\ {{who}}\ lives?\b | what(?:'?s|\ is)\ {{whose}}\ (?:home\ )?address\b | {_KNOWS_EN}{{whose}}\ (?:home\ )?address{_END_EN}
            | (?:what|which)\ (?:town|city|village|street|place|area|country)\ (?:do|does)\ {{who}}\ live | where\ (?:am|are|is)\ {{who}}\ living""",
        Attribute.JOB: rf"""what(?:'?s|\ is)\ {{whose}}\ (?:job|profession|occupation|work)\b | {_KNOWS_EN}{{whose}}\ (?:job|profession|occupation){_END_EN} | what\ (?:do|does)\ {{who}}\ do\ (?:for\ (?:a\ living|work)|as\ a\ job)
            | what\ {{who}}\ (?:do|does)\ for\ (?:a\ living|work) | where\ (?:do|does)\ {{who}}\ work\b | where\ {{who}}\ works?\b | what\ (?:kind|sort)\ of\ (?:work|job)\ (?:do|does)\ {{who}}""",
        Attribute.ALLERGY: rf"""(?:what|which)(?:\ \w+)?\ (?:am|are|is|'s)\ {{who}}\ allergic\ to | what\ {{who}}(?:'m|'s|\ am|\ is|\ are)\ allergic\ to | (?:do|does|have)\ {{who}}\ (?:have|got)\ (?:any\ |an\ |some\ )?allerg(?:y|ies)\b(?!\ to) | (?:am|are|is)\ {{who}}\ allergic\ to\ anything
            | what(?:'?s|\ is|\ are)\ {{whose}}\ allerg(?:y|ies) | {_KNOWS_EN}(?:about\ )?{{whose}}\ allerg(?:y|ies){_END_EN} | (?:what|which)\ allergies\ (?:do|does)\ {{who}}\ have | ^\W*{{whose}}\ allerg(?:y|ies)\W*$""",
    },
    "zh": {
        Attribute.NAME: r"{who}的?(?:全名|大名|名字|姓名)(?:是|叫)?(?:什么|啥|谁|吗|呢|$|[?？]) | {who}(?:叫|姓)(?:什么|啥) | {who}是谁 | 叫{who}什么 | 怎么(?:称呼|叫){who}",
        Attribute.AGE: r"{who}(?:今年|现在)?(?:有)?(?:几岁|多大(?!的|号)|多少岁) | {who}的?(?:年龄|年纪)(?:是|多|吗|$|[?？])",
        Attribute.BIRTHDAY: r"{who}的?生日(?:是|在)?(?:什么时候|几月|哪[一天]|几号|哪年|吗|$|[?？]) | {who}(?:是)?(?:什么时候|哪[一年天]+|几几年)(?:出?生)",
        Attribute.HOME: r"{who}(?:现在|家)?住(?:在)?(?:哪|什么地方) | {who}的?家(?:住|在)+(?:哪|什么) | {who}的?(?:地址|住址)",
        Attribute.JOB: r"{who}(?:是)?(?:做|干)(?:什么|啥)(?:工作)?的 | {who}的?(?:工作|职业)(?:是(?:什么|啥)|吗|$|[?？]) | {who}在哪(?:里|儿)?(?:工作|上班)",
        Attribute.ALLERGY: r"{who}对(?:什么|啥|哪些)(?:东西)?过敏 | {who}(?:有没有|有(?:什么|哪些)?)[^，。]{0,4}过敏 | {who}的?过敏",
    },
}  # fmt: skip

_ROBOT = {
    "ja": rf"""(?:{LISTENERS["ja"]})の(?!こと) | (?:{LISTENERS["ja"]})(?:は|って|も|が|には|にも|、)(?!.*(?:覚え|おぼえ|知って|知り|わか|分か|教え|思い出|言え|言っ|話し|聞い|く[れだ]|思[うい]|見))
        | ^(?:お名前|おいくつ|お歳|お住まい|お生まれ|お誕生日|ご出身|ご趣味|ご職業|ご家族|ご両親|ご兄弟)(?:は|です|って|を(?:教え|聞)|[?？]?$)(?!.*(?:っけ|覚え|わか|分か|知って)) | ^名前は(?:何|なん|なに)?(?:です|て(?:言|い)う|と(?:言|い)|ていう|[?？]$)""",
    "en": r"""^(?!.*\b(?:about(?!\ you)|saying|said|telling|told|talking|remember|know|familiar|notes?|mention\w*|heard)\b).*(?: \byour(?:self|s)?\b | \b(?:are|were|aren't)\ you\b(?!\ (?:sure|aware|able|listening|there|ready)) | \bhow\ old\ you\ are\b | \bwho\ you\ are\b
        | \b(?:do|did|don't)\ you\ (?:like|love|hate|enjoy|prefer|eat|drink|sleep|dream|live|work|want|feel|get\ \w+|speak|wear|need|play|go|come|like)\b
        | \b(?:do|have)\ you\ (?:have|got|keep|own)\ (?:an?\ |any\ |some\ )?(?:pets?|cats?|dogs?|name|names|birthday|job|family|kids|children|brothers?|sisters?|siblings|parents|mother|father|friends?|feelings?|hobb(?:y|ies)|allergies|home|house|wife|husband|boyfriend|girlfriend)\b
        | \bwhere\ (?:do|did)\ you\ (?:live|come)\b | \bwhat\ (?:do|should|can|shall)\ \w+\ call\ you\b )""",
    "zh": r"""[你您](?:贵姓|的(?!记|印象)|叫|姓|几岁|多大|多少岁|是(?![说指在不])|今年|住|家|在哪|来自|从哪|喜欢|讨厌|爱|吃|喝|睡|有没有(?:宠物|猫|狗|家|朋友|兄弟|孩子|名字|爸|妈)|有(?:宠物|猫|狗|家人|朋友|兄弟|孩子|名字|爸|妈)|养|对什么|做什么工作|会(?:累|睡|饿|做梦))""",
}  # fmt: skip


def asked_of(question: str, language: str) -> frozenset[Owned]:
    """Return which attributes of whom a question asks for; none of most questions.

    Args:
        question: Normalized.
        language: Two-letter code; the script wins where it disagrees.
    """
    code = read_as(question, language)
    found = set()
    for attribute, pattern in _asked(code).items():
        for match in pattern.finditer(question):
            owner = owner_of(match)
            if owner:
                found.add((owner, attribute))
    return frozenset(found)


def asks_robot(question: str, language: str) -> bool:
    """Say whether a question is about the one who is asked, and not about the person: "how old are you?"."""
    code = read_as(question, language)
    is_of_person = _person(code).search(question) is not None
    return not is_of_person and _robot(code).search(question) is not None


def owner_of(match: re.Match[str]) -> str:
    """Return whose attribute a match of a pattern with the groups of `owners` speaks of; empty if nobody's."""
    groups = match.groupdict()
    for name, owner in _OWNERS.items():
        if any(value is not None for key, value in groups.items() if key.startswith(name)):
            return owner
    word = next((value for key, value in groups.items() if key.startswith("kin") and value), "")
    return kin_class(word.lower())


_OWNERS = {"self": SPEAKER, "you": LISTENER, "pet": PET}


@cache
def kin_class(word: str) -> str:
    """Return the class of people that a word stands for, in whatever language; empty if for none."""
    for language in ("ja", "en", "zh"):
        people = lexicon.persons(language)
        classes = people.of(word) or people.phrases.get(word, ())
        if classes:
            return classes[0]
    return ""


def owners(pattern: str, language: str) -> re.Pattern[str]:
    """Compile a pattern in which `{who}` stands for somebody, and `{whose}` for somebody in the form of an owner."""
    count = 0

    def numbered(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _who(language, match[1] == "whose").replace("#", str(count))

    text = re.sub(r"\{(whose|who)\}", numbered, pattern)
    return re.compile(text.replace("(?<self>", "(?P<self>"), re.VERBOSE | re.IGNORECASE)


def _who(language: str, is_owner: bool) -> str:
    kin, pets = words_for_people(language), words_for_pets(language)
    if language == "en":
        self_, you = r"(?P<self#>\bmy\b|\bour\b)", r"(?P<you#>\byour\b)"
        others = rf"\b(?:my|our|the)\ (?:\w+\ )?(?:(?P<kin#>{kin})|(?P<pet#>{pets}))"
        if is_owner:
            return rf"(?:{others}(?:'s|s')|{self_}|{you})"
        return rf"(?:{others}(?![\w'])|(?P<self#>\b(?:i|me|we|us)\b)|(?P<you#>\byou\b))"
    if language == "zh":
        return rf"(?:[我咱]?们?家?的?(?:(?P<kin#>{kin})|(?P<pet#>{pets}))|(?P<self#>[我咱]们?)|(?P<you#>[你您]))"
    suffix = "(?:さん|ちゃん|くん|達|たち)?"
    not_theirs = (
        "(?<![一-龠ァ-ヶ々ー])(?:(?<!の)|(?<=[私僕俺]の)|(?<=わたしの)|(?<=うちの)|(?<=今の))"
    )
    return rf"(?:{not_theirs}(?P<kin#>{kin}){suffix}|(?P<pet#>{pets}){suffix}|(?P<self#>{SELVES['ja']})|(?P<you#>{LISTENERS['ja']}))"


@cache
def words_for_people(language: str) -> str:
    """Return a pattern for the words for one's family, the longest first."""
    people = lexicon.persons(language)
    known = {**people.words, **people.phrases}
    kin = [word for word, classes in known.items() if lexicon.KIN & {*classes}]
    return "|".join(map(re.escape, sorted(kin, key=len, reverse=True)))


@cache
def words_for_pets(language: str) -> str:
    """Return a pattern for the words for animals of the house, the longest first."""
    notions = lexicon.concepts(language)
    known = {**notions.words, **notions.phrases}
    pets = [
        word for word, kinds in known.items() if "pet" in kinds and word not in ("飼う", "飼い")
    ]
    return "|".join(map(re.escape, sorted(pets, key=len, reverse=True)))


@cache
def _asked(language: str) -> Mapping[Attribute, re.Pattern[str]]:
    return {key: owners(text, language) for key, text in _ASKED[language].items()}


@cache
def _robot(language: str) -> re.Pattern[str]:
    return re.compile(_ROBOT[language], re.VERBOSE | re.IGNORECASE)


@cache
def _person(language: str) -> re.Pattern[str]:
    selves = SELVES[language]
    return re.compile(rf"\b(?:{selves})\b|\bi'" if language == "en" else selves, re.IGNORECASE)
