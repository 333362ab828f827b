"""Finds in what a person says the explicit requests to make the robot another one: "from now on your name is Momo".

Only sure forms count, each of one field. Play ("pretend that you are a pirate") asks for nothing that lasts, and what is
bidden about answering ("from now on always …") is no part of a persona.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from server.lettering import in_plain_letters
from server.memory.layers.fields import TITLES, FieldKey
from server.memory.statements import is_hypothetical, is_question, sentences
from server.memory.terms import has_kana

_Forms: TypeAlias = Sequence[tuple[FieldKey, re.Pattern[str]]]
"""In each, the group "value" is what shall stand in the field."""


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody wants changed."""

    key: FieldKey
    value: str
    words: str = ""
    """As it was said."""


def _forms(*patterns: tuple[FieldKey, str]) -> _Forms:
    return [(key, re.compile(text, re.VERBOSE | re.IGNORECASE)) for key, text in patterns]


def _titles(key: FieldKey, language: str) -> str:
    return "|".join(re.escape(title).replace(r"\ ", r"\s") for title in TITLES[key][language])


_QUOTES = "「」『』“”\"'‘’"
_NAME_EN = rf"[{_QUOTES}]?(?P<value>(?-i:[A-Z])[\w'-]*(?:\s(?-i:[A-Z])[\w'-]*){{0,3}}?|(?<=[{_QUOTES}])[\w\s'-]{{1,30}}?(?=[{_QUOTES}]))[{_QUOTES}]?(?=\s*(?:[.,;!?]|$)|\s(?:now|and|from|okay|ok|please|instead|today|forever|because)\b)"
_VALUE_EN = rf"[{_QUOTES}]?(?P<value>[^.!?;]{{2,200}}?)[{_QUOTES}]?(?=\s*(?:[.!?;]|$))"
_NEW_EN = r"(?:new\s|real\s|true\s|only\s)?"
_SHALL_EN = r"(?:will|shall|should|must|has\sto|have\sto)\sbe"
_WHEN_EN = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december|christmas|easter|tomorrow|tonight|today|later|back|again|when|if|after|before|soon|at\b|on\b|in\b"
"""What says when somebody is rung up."""
_IS_EN = r"(?:is|was|will\sbe|shall\sbe|should\sbe|must\sbe|has\sto\sbe)(?:\s(?:now|changed\sto|not\s\w+\sbut))?"
_NAME_JA = rf"[{_QUOTES}]?(?P<value>(?!(?:何|なに|なん|誰|だれ|どう|可愛|かわい|いい|良い|すてき|素敵|ステキ|きれい|綺麗|変|おもしろ|面白|好き|大好き|長い|短い|難し|むずかし)(?:[いなでだよねー]|$))[一-龠々ァ-ヶーぁ-んA-Za-z0-9・]{{1,20}}?)[{_QUOTES}]?"
_VALUE_JA = rf"[{_QUOTES}]?(?P<value>[^。！？!?」』]{{1,120}}?)[{_QUOTES}]?"
_SOMEBODY_JA = rf"[{_QUOTES}]?(?P<value>(?:[一-龠々ァ-ヶーぁ-んA-Za-z]{{1,12}}の)*[一-龠々ァ-ヶーA-Za-z]{{1,12}})[{_QUOTES}]?"
"""A noun: not "time to sleep"."""
_PRAISE_JA = r"(?:とても|すごく|本当に|ほんとに|けっこう|なかなか)*(?:大事|大切|重要|立派|すばらし|素晴らし|いい|良い|やさしい|優しい|きれい|綺麗|好き|変|かわい|可愛|面白|おもしろ|何|なに|なん|どう)"
"""What tells how something is, and does not say what it shall be."""
_YOU_JA = r"(?:あなた|あんた|君|きみ|キミ|お前|おまえ|ロボット(?:さん)?|おまえさん)"
_END_JA = r"(?:に(?:する|します|して|しよう|決め|変え|変更|改め|なっ|なり)|だ(?:よ|ね|から|って|と|。|、|！|!|$)|です|だっ|だと|って(?:こと|い|覚え|、|。|$)|と(?:する|して|し|覚え|いう)|で(?:す|いこう|いく)|[ねよ。、！!]|$)"
_VALUE_ZH = rf"[{_QUOTES}]?(?P<value>[^。！？!?，,；;」』”]{{1,120}}?)[{_QUOTES}]?(?=[，。！!,.;；\s]|吧|哦|啊|了(?:[。，！]|$)|$)"
_NAME_ZH = rf"[{_QUOTES}]?(?P<value>(?!什么|啥|谁|别|不|快|去|来|过|起|睡|吃|看|听|帮|拿|给|等|我|他|她|它|别人|人|大家|妈|爸|爷|奶|哥|姐|弟|妹|医生|老师)(?![\u4e00-\u9fff]{{1,6}}(?:来|去|起床|吃饭|帮|给|一下|回家)(?:[，。！!吧]|$))[\u4e00-\u9fffA-Za-z·]{{1,12}}?)[{_QUOTES}]?(?=[，。！!,.\s]|吧|哦|啊|了(?:[。，！]|$)|$)"


def _english() -> _Forms:
    titled = (
        (
            key,
            rf"\byour\s(?:new\s(?:{_titles(key, 'en')})\s{_IS_EN}|(?:{_titles(key, 'en')})\s(?:{_SHALL_EN}|(?:is|are)(?=\s(?:to|an?|my|the|now|from\snow\son)\b)))\s(?:now\s|from\snow\son\s)?(?:to\s)?{_VALUE_EN}",
        )
        for key in FieldKey
        if key is not FieldKey.NAME
    )
    changed = (
        (
            key,
            rf"\b(?:change|set|update|rewrite)\s(?:your|the)\s(?:{_titles(key, 'en')})\s(?:to|into|as)\s{_VALUE_EN}",
        )
        for key in FieldKey
        if key is not FieldKey.NAME
    )
    return _forms(
        (FieldKey.NAME, rf"\byour\s{_NEW_EN}(?:\w+\s)?name(?:'s|\s{_IS_EN})\s{_NAME_EN}"),
        (FieldKey.NAME, rf"\b(?:i'll|i\swill|i'm\sgoing\sto|we'll|we\swill|i\swant\sto|let\ me|let's)\s(?:now\s)?(?:call|name|rename)\syou\s(?!{_WHEN_EN}){_NAME_EN}"),
        (FieldKey.NAME, rf"\byou(?:'re|\sare|\sshall\sbe|\swill\sbe)\s(?:now\s|from\snow\son\s)?(?:called|named|renamed)\s(?:to\s)?{_NAME_EN}"),
        (FieldKey.NAME, rf"\b(?:change|set)\s(?:your|the)\sname\s(?:to|into|as)\s{_NAME_EN}|\b(?:re)?name\syourself\s(?P<value2>(?-i:[A-Z])[\w'-]*)"),
        (FieldKey.NAME, rf"\b(?:call\syourself|you\sgo\sby|answer\sto\sthe\sname(?:\sof)?|introduce\syourself\sas)\s{_NAME_EN}"),
        (FieldKey.ROLE, rf"\bfrom\snow\son,?\s(?:you(?:'re|\sare)|be)\s(?=(?:an?|my|our|the)\s){_VALUE_EN}"),
        (FieldKey.ROLE, rf"\byou(?:'re|\sare)\s(?:now|no\slonger\s[^.,;]{{1,40}}\sbut)\s(?=(?:an?|my|our|the)\s){_VALUE_EN}"),
        (FieldKey.VOICE, rf"\bfrom\snow\son,?\s(?:please\s)?(?:speak|talk|sound)\s(?=(?:like|as|in)\b){_VALUE_EN}"),
        *titled,
        *changed,
    )  # fmt: skip


def _japanese() -> _Forms:
    titled = (
        (
            key,
            rf"{_YOU_JA}の(?:新しい|本当の)?(?:{_titles(key, 'ja')})(?:は|を|が)、?(?:今日から|これから|今から)?、?(?!{_PRAISE_JA}){_VALUE_JA}{_END_JA}",
        )
        for key in FieldKey
        if key is not FieldKey.NAME
    )
    return _forms(
        (FieldKey.NAME, rf"(?:{_YOU_JA}の(?:新しい|本当の|ほんとの)?(?:名前|なまえ|呼び名)|(?:新しい|本当の)(?:名前|なまえ))(?:は|を|が|って)、?(?:今日から|これから|今から|今後は?)?、?{_NAME_JA}{_END_JA}"),
        (FieldKey.NAME, rf"(?:名前|なまえ)を、?{_NAME_JA}に(?:変え|変更|改め|し)(?:て|ろ|なさい|ます|よう|る)"),
        (FieldKey.NAME, rf"(?<!を、)(?<!を){_YOU_JA}(?:のこと)?(?:を|は|、)?、?(?:今日から|これから|今から)?(?:は)?、?{_NAME_JA}(?:って|と)(?:(?:呼|よ)(?:[ぶび]|ん(?!でい[るたま])|ばせ)|名乗)"),
        (FieldKey.NAME, rf"(?:今日から|これから|今から|今後)(?:は|の)?、?(?:{_YOU_JA}は)?、?(?![^、。]{{0,20}}を){_NAME_JA}(?:って|と)(?:(?:呼|よ)(?:ぶ(?!の|と|か)|び(?:ます|たい)|ばせ)|名乗)"),
        (FieldKey.NAME, rf"(?:今日から|これから|今から|今後は?)、?{_YOU_JA}は、?{_NAME_JA}という名前"),
        (FieldKey.ROLE, rf"(?:今日から|これから|今から|今後)(?:は)?、?{_YOU_JA}(?:は|が|を)、?(?![^、。]{{1,20}}?(?:って|と|という)(?:呼|よ|名乗|名前)){_SOMEBODY_JA}(?:だ(?:よ|ね|。|！|!|$)|です|になって|になる|になれ|として(?:話|振|生|働))"),
        (FieldKey.ROLE, rf"{_YOU_JA}は(?:今日から|これから|今から|今後は?)、?(?![^、。]{{1,20}}?(?:って|と|という)(?:呼|よ|名乗|名前)){_SOMEBODY_JA}(?:だ(?:よ|ね|。|！|!|$)|です|になって|になる|になれ)"),
        (FieldKey.VOICE, r"(?:今日から|これから|今から|今後)(?:は|も)?、?(?P<value>[^。！？!?、]{1,60}?(?:口調|話し方|しゃべり方|みたい))(?:で|に)(?:話|しゃべ|喋)"),
        (FieldKey.VOICE, rf"(?P<value>一人称(?:は|を)、?[{_QUOTES}]?[ぁ-んァ-ヶ一-龠]{{1,4}}?[{_QUOTES}]?)(?:に|で|だ|です|と|を使)"),
        *titled,
    )  # fmt: skip


def _chinese() -> _Forms:
    titled = (
        (
            key,
            rf"你的(?:新)?(?:{_titles(key, 'zh')})(?:就|现在|以后)?(?:是|改成|改为|变成){_VALUE_ZH}",
        )
        for key in FieldKey
        if key is not FieldKey.NAME
    )
    return _forms(
        (FieldKey.NAME, rf"你的?(?:新|真正的?|真)?名字(?:就|现在|以后|应该)?(?:是|叫做?|改成|改为|改叫){_NAME_ZH}"),
        (FieldKey.NAME, rf"你(?:以后|从现在起|现在|今后|从今天起|今天起)?(?:就|要|该)?(?:改名)?(?:叫做?|改名为|名叫|改叫){_NAME_ZH}"),
        (FieldKey.NAME, rf"把(?:你的)?名字(?:改成|改为|换成){_NAME_ZH}"),
        (FieldKey.NAME, rf"我(?:们)?(?:以后|现在|今后|从现在起)?(?:就|要|想)?(?:叫你|管你叫|称呼你为?){_NAME_ZH}"),
        (FieldKey.ROLE, rf"(?:从现在(?:起|开始)|从今(?:天|往后)?(?:起|开始)?|以后|今后)，?你(?:就)?(?:是|当|做|变成)(?!叫){_VALUE_ZH}"),
        (FieldKey.ROLE, rf"你(?:从现在(?:起|开始)|从今天起|以后)(?:就)?(?:是|当|做|变成){_VALUE_ZH}"),
        (FieldKey.VOICE, r"(?:从现在(?:起|开始)|以后|今后)，?(?:请)?(?P<value>像[^。！？!?，,]{1,40}?(?:一样)?)(?:说话|讲话)"),
        *titled,
    )  # fmt: skip


_FORMS: Mapping[str, _Forms] = {"en": _english(), "ja": _japanese(), "zh": _chinese()}
_LONGEST = 300
"""Of a sentence; nobody asks for anything in a longer one."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_ATTRIBUTED = re.compile(
    r"\b(?:said|says|asked|wrote|read|dreamt|dreamed|told (?:me|you|us)|sang)\b[^.]{0,20}$"
    r"|(?:友達|友人|母|父|姉|兄|妹|弟|妻|夫|娘|息子|孫|みんな|先生|彼|彼女|子供|[^、。\s]{1,6}(?:さん|ちゃん|くん|君))(?:たち)?(?:は|が)、?$"
    r"|(?:夢|漫画|アニメ|映画|ドラマ|本|歌)(?:の中)?(?:で|に|は)[^。]{0,12}$|(?:说|写|问|梦见|告诉)[^。]{0,6}$",
    re.IGNORECASE,
)
"""What stands before the words of somebody else."""


def requests_in(text: str) -> list[Request]:
    """Return what a text asks to be changed of the persona, in whatever of the languages; each field once.

    Questions, what-ifs, and what somebody else said ask for nothing.
    """
    found: dict[FieldKey, Request] = {}
    for sentence in sentences(_readable(text)):
        if len(sentence) > _LONGEST or is_question(sentence) or is_hypothetical(sentence):
            continue
        for key, form in chain.from_iterable(_FORMS[code] for code in _languages_of(sentence)):
            match = form.search(sentence)
            if match is None or _ATTRIBUTED.search(sentence[: match.start()]):
                continue
            named = next((value for name, value in match.groupdict().items() if name and value), "")
            value = _unquoted(named)
            if value:
                found.setdefault(key, Request(key, value, match.group()))
    return [*found.values()]


def _unquoted(value: str) -> str:
    """Return a value without the marks around it, and without one whose other half is gone by that."""
    plain = value.strip(f" ,、，{_QUOTES}")
    for opening, closing in ("「」", "『』", "“”"):
        if plain.count(opening) != plain.count(closing):
            plain = plain.replace(opening, "").replace(closing, "")
    return plain


def without_requests(text: str) -> str:
    """Return a text without the words that ask for a change of the persona; as it is if there are none."""
    plain = readable = _readable(text)
    for request in requests_in(text):
        plain = plain.replace(request.words, " ")
    return plain if plain != readable else text


def _readable(text: str) -> str:
    """Return a text as it is read: in plain forms of its letters, without signs that are not seen."""
    plain = in_plain_letters(unicodedata.normalize("NFKC", text)).replace("’", "'")
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")


def _languages_of(text: str) -> tuple[str, ...]:
    if has_kana(text):
        return ("ja",)
    return ("zh", "ja", "en") if _HAN.search(text) else ("en",)
