"""What a person says of themselves in so many words: name, birth, home, allergies, each in a few sure forms.

Nothing is guessed: a form that could as well be about somebody else, or no statement at all, gives nothing.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from server.memory.amended import amends
from server.memory.attribution import is_conditional, is_of_speaker, other_before
from server.memory.models import Page, ProfileEntry, ProfileField
from server.memory.statements import (
    in_earnest,
    is_hypothetical,
    is_question,
    is_statement,
)
from server.memory.terms import analyse

_Forms: TypeAlias = Sequence[tuple[ProfileField, re.Pattern[str]]]
"""In each, the group "value" is what goes into the field, as it was said."""


def _forms(*patterns: tuple[ProfileField, str]) -> _Forms:
    return [(field, re.compile(text, re.VERBOSE | re.IGNORECASE)) for field, text in patterns]


_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_YEAR = r"(?:19|20)\d\d"
_DAY_EN = rf"""(?:the\ )?(?:\d{{1,2}}(?:st|[nr]d|th)?(?:\ of)?\ {_MONTH}|{_MONTH}(?:\ (?:the\ )?\d{{1,2}}(?:st|[nr]d|th)?\b)?)(?:,?\ (?:in\ |of\ )?{_YEAR})?"""
_END_EN = r"(?=\s*(?:[.,;!?]|$)|\s+(?:and|but|so|because|since|with|now|alone|by|for|when|while|which|where|too|as|these|at)\b)"
_END_ALLERGY_EN = _END_EN.replace("and|", r"and(?=\s+(?:i|my|we|it|have|can't|cannot|so)\b)|")
_NAME_EN = r"(?P<value>(?-i:[A-Z])[\w'-]*(?:\ (?-i:[A-Z])[\w'-]+){0,3})"

_SELF_JA = r"(?:私|わたし|わたくし|僕|ぼく|俺|おれ|あたし|わし)"
_NAMES_SELF_JA = re.compile(_SELF_JA)
_START_JA = rf"""^(?:(?:えっと|ええと|えーと|あの|実は|じつは|うん|はい|はじめまして|こんにちは|忘れないで|覚えて(?:おいて)?|ちなみに)[ね、，。\s]*)*
    (?:{_SELF_JA}(?:は|って|も|、)[、\s]*)?"""
_END_JA = r"(?=[。、！!.\s]|$|です|だ(?:よ|ね|から|けど|$|。)|なん(?:だ|です)|なの(?=[。、よね]|$)|ます|ん(?:だ|です)|よ|ね|けど|から|ので)"
_NUMBER_JA = r"(?:\d+|[〇一二三四五六七八九十百千元]+)"
_DAY_JA = rf"{_NUMBER_JA}月{_NUMBER_JA}日"
_BIRTH_JA = rf"(?P<value>(?:(?:西暦|昭和|大正|平成|令和)?\s?{_NUMBER_JA}年)(?:の?{_NUMBER_JA}月(?:{_NUMBER_JA}日)?)?)"
_SPELT_JA = r"(?P<value>[一-龠々ァ-ヶーぁ-んA-Za-z・]{1,12}?)"

_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文小阿"
"""The commonest, and what goes before a pet name: 我叫 also means that somebody calls for something."""
_YEAR_ZH = r"(?:\d{4}|[一二三四五六七八九零〇]{4})年(?:\d{1,2}月(?:\d{1,2}[日号])?)?"
_NUMBER_ZH = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_END_ZH = r"(?=[，。！!,.\s]|$)"

_SURE: Mapping[str, _Forms] = {
    "ja": _forms(
        (ProfileField.NAME, rf"{_START_JA}(?:{_SELF_JA}の)?名前は、?{_SPELT_JA}(?:です|だ(?:よ|ね|$|。)|といい|と言い|と申し|っていい|って言い|という|って(?:いう|言う))"),
        (ProfileField.NAME, rf"{_START_JA}{_SPELT_JA}と(?:申し|もうし|いい|言い)ます"),
        (ProfileField.NAME, rf"{_START_JA}{_SELF_JA}(?:のこと)?(?:は|を|、)?{_SPELT_JA}(?:って|と)(?:呼|よ)んで"),
        (ProfileField.BIRTH, rf"{_START_JA}{_BIRTH_JA}(?:の)?(?:生まれ|うまれ){_END_JA}"),
        (ProfileField.BIRTH, rf"{_START_JA}{_BIRTH_JA}に(?:生まれ|うまれ)(?:ました|た{_END_JA})"),
        (ProfileField.BIRTH, rf"{_SELF_JA}の誕生日は、?(?P<value>{_DAY_JA})"),
        (ProfileField.HOME, rf"{_START_JA}(?:今は?、?)?(?:(?:一人|ひとり)で)?(?P<value>[^、。はがをも\s]{{2,20}}?)に(?:(?:一人|ひとり)で)?住んで(?:いま|ま|い?る){_END_JA}"),
        (ProfileField.HOME, rf"{_START_JA}(?:今は?、?)?(?P<value>[^、。はがをも\s]{{2,20}}?)に住んでい?ます"),
        (ProfileField.HEALTH, rf"{_START_JA}(?P<value>[^、。はがをも\s]{{1,15}}?の?アレルギー)(?=なん(?:だ|です)|なの(?:[。、よね]|$)|です|だ(?:よ|ね|から|けど|。|$)|があ(?:る|り)|もち|持ち|。|$)"),
    ),
    "en": _forms(
        (ProfileField.NAME, rf"\bmy\ (?:full\ |first\ )?name(?:'s|\ is)\ {_NAME_EN}{_END_EN}"),
        (ProfileField.NAME, rf"^(?:\W*(?:please|just|you\ can|hi|hello|so|but)\W+)*call\ me\ {_NAME_EN}{_END_EN}"),
        (ProfileField.BIRTH, rf"\bi\ was\ born\b[^.!?;]{{0,40}}?\b(?:in|on)\ (?P<value>{_DAY_EN}|{_YEAR})"),
        (ProfileField.BIRTH, rf"\bmy\ birthday(?:'s|\ is)\ (?:on\ )?(?P<value>{_DAY_EN})"),
        (ProfileField.HOME, rf"\bi\ (?:now\ |currently\ )?live\ (?:alone\ )?(?:in|at|on)\ (?P<value>[^.,;!?]{{2,40}}?){_END_EN}"),
        (ProfileField.HEALTH, rf"\bi(?:'m|\ am)\ (?:also\ |very\ |really\ |badly\ |severely\ |quite\ |highly\ )*(?P<value>allergic\ to\ [^.,;!?]{{2,40}}?){_END_ALLERGY_EN}"),
        (ProfileField.HEALTH, rf"\bi\ have\ an?\ (?:bad\ |severe\ |serious\ )?(?P<value>(?:\w+\ ){{0,2}}allergy(?:\ to\ [^.,;!?]{{2,40}}?)?){_END_ALLERGY_EN}"),
    ),
    "zh": _forms(
        (ProfileField.NAME, rf"我的名字(?:是|叫)(?P<value>[\u4e00-\u9fff·A-Za-z]{{2,8}}?){_END_ZH}"),
        (ProfileField.NAME, rf"(?<!\w)我叫(?:做)?(?P<value>(?:[{_SURNAMES}][\u4e00-\u9fff]{{1,3}}?|[A-Z][a-z]+))(?<![了的过着吗们家]){_END_ZH}"),
        (ProfileField.BIRTH, rf"(?<!\w)我(?:是|出生于|生于|出生在)?(?P<value>{_YEAR_ZH})(?:出生|生的|生人|生|{_END_ZH})"),
        (ProfileField.BIRTH, rf"我的?生日是(?P<value>{_NUMBER_ZH}月{_NUMBER_ZH}[日号])"),
        (ProfileField.HOME, rf"(?<!\w)我(?:现在|目前)?(?:一个人|[和跟][^，。住]{{1,6}}?)?住在(?P<value>(?![这那哪一])[^，。！!,.\s]{{2,16}}?){_END_ZH}"),
        (ProfileField.HEALTH, r"我(?P<value>对(?![你他她它])[^，。！!,.\s不]{1,12}过敏)"),
        (ProfileField.HEALTH, r"我有(?P<value>[^，。！!,.\s没不]{1,12}过敏)"),
    ),
}  # fmt: skip

_INTRODUCED = {
    "ja": r"(?:(?:^|[、。\s])(?:{self}の)?名前は|{self}(?:は|、)|{self}のこと(?:は|を)|^|[、。])[、\s]*{value}(?:さん|ちゃん|くん)?(?:です|だ|と(?:い|言|申|もう|呼|よ)|って(?:い|言|呼|よ|名))",
    "en": r"\b(?:my\ (?:\w+\ )?name(?:'s|\ is)|calls?\ me|i'm|i\ am|this\ is|known\ as|i\ go\ by)\ (?:\w+\ )?{value}(?!\w)",
    "zh": r"(?:我(?:的名字)?(?:叫做?|是|姓)|叫我|名字(?:叫|是))\s*{value}",
}


def self_reports(page: Page, asked: str = "") -> list[ProfileEntry]:
    """Return what a person put into the profile with their own words in one exchange, in the order of the sentences.

    Args:
        page: The exchange.
        asked: What the robot had said right before: to "where does your mother live?", a Japanese answer without a subject
            is hers.
    """
    if page.language not in _SURE:
        return []
    found: list[ProfileEntry] = []
    is_of_others = bool(analyse(asked, page.language).persons)
    turn = in_earnest(page.said.replace("’", "'"))
    for sentence, following in zip_longest(turn, turn[1:], fillvalue=""):
        is_right = not amends(sentence, following, page.language)
        if is_right and not is_question(sentence) and not is_hypothetical(sentence):
            told = _told(sentence, page.language, is_of_others)
            found += [
                ProfileEntry(page.person, field, value, page.at, page.turns)
                for field, value in told
            ]
        is_of_others = bool(other_before(sentence, len(sentence), page.language)) or (
            is_of_others and not _NAMES_SELF_JA.search(sentence)
        )
    return found


def introduces(value: str, sentence: str, language: str) -> bool:
    """Say whether a sentence gives a value as the speaker's own name, in any of the forms in which people do."""
    form = _INTRODUCED.get(language, _INTRODUCED["en"])
    pattern = form.replace("{self}", _SELF_JA).replace("{value}", re.escape(value))
    said = sentence.replace("’", "'")
    return re.search(pattern, said, re.IGNORECASE) is not None and is_of_speaker(
        value, said, language
    )


def _told(sentence: str, language: str, is_of_others: bool) -> list[tuple[ProfileField, str]]:
    """Return what a sentence gives for the profile, after others were spoken of or not."""
    found: dict[ProfileField, str] = {}
    for field, form in _SURE[language]:
        match = form.search(sentence)
        if match is None or field in found:
            continue
        value = match["value"].strip()
        told = field is ProfileField.NAME or is_statement(sentence, language)
        unclear = language == "ja" and is_of_others and not _NAMES_SELF_JA.search(match.group())
        if told and not unclear and _is_sure(field, value, match, language):
            found[field] = value
    return [*found.items()]


def _is_sure(field: ProfileField, value: str, match: re.Match[str], language: str) -> bool:
    """Say whether a value is what its form takes it for, and the speaker's."""
    said = match.string
    if not is_of_speaker(value, said, language) or is_conditional(value, said, language):
        return False
    meaning = analyse(value, language)
    if field is ProfileField.NAME and language == "ja":
        return bool(meaning.names) or match.group().endswith("ます")
    if field is ProfileField.HOME and language == "ja":
        return bool(meaning.places) or any(map(str.isdigit, value))
    if field is ProfileField.HOME and language == "en":
        return any(character.isupper() or character.isdigit() for character in value)
    return True
