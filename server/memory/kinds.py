"""Sorts a statement of a person by what it is plainly about: a preference, a plan, somebody's health.

For the rules, which have no model to ask. What is not plain is `Kind.OTHER`: that is no mistake, a wrong kind is one.
"""

import re
from datetime import date

from server.memory.habits import read_habit
from server.memory.lexicon import KIN
from server.memory.models import Kind
from server.memory.terms import analyse

_HEALTH = re.compile(
    r"""
    アレルギー | 食べ(?:ら)?れない体質 | 病気(?:に|だ|が|で) | 持病 | 風邪(?:を|気味) | 熱が(?:あ|出) | 入院 | 手術 | 骨折 | 怪我 | 頭痛 | 腰痛
    | (?:頭|腰|お腹|胃|歯|膝|肩|足|喉)が(?:ずっと)?痛 | 喘息 | 糖尿病 | 高血圧 | 血圧が | 花粉症 | 妊娠 | 薬を(?:.{0,8}飲|もら|処方) | インスリン
    | 体調が | 癌に | がんに
    | \ballerg(?:y|ies|ic)\b | \bintoleran(?:t|ce)\b | \b(?:am|'m|is|'s|are|was|were|been|got|fell|feel(?:ing)?)\s+(?:\w+\s+)?(?:ill|sick)\b(?!\s+of)
    | \b(?:asthma|diabet\w+|migraines?|arthritis|headaches?|fever|surgery|pregnant|insulin|blood\ pressure|hay\ fever)\b
    | \b(?:have|has|had|having|caught|got)\s+(?:a|the)\s+(?:bad\s+)?(?:cold|flu)\b
    | \b(?:broke|hurt|injured|sprained)\s+(?:my|his|her|their)\b
    | \b(?:my|his|her)\s+(?:\w+\s+)?(?:back|knee|head|stomach|tooth|throat|shoulder|ankle|neck)\s+(?:hurts?|aches?)\b
    | \b(?:take|takes|taking|on)\s+(?:\w+\s+){0,3}(?:medicine|medication|pills?|tablets?)\b
    | 过敏 | 生病 | 感冒 | 发烧 | 头[疼痛] | 牙[疼痛] | 哮喘 | 糖尿病 | 高血压 | 手术 | 住院 | 骨折 | 受伤 | 怀孕 | 吃药 | 打胰岛素
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HABIT = re.compile(
    r"""
    毎(?:日|朝|晩|週|月|年|食後) | 日課 | 習慣 | いつも | 普段は | 週に?[一二三四五六七1-7１-７]回 | 月に[一二三1-9１-９]回
    | \bevery\s+(?:single\s+|other\s+)?(?:day|morning|evening|night|afternoon|week(?:end|day)?|month|year|spring|summer|autumn|fall|winter
        |(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b
    | \b(?:once|twice|three\ times)\s+a\s+(?:day|week|month|year)\b | \b(?:i|we)\s+(?:always|usually|often|normally|regularly)\b
    | 每(?:天|周|月|年|晚|早|个) | 总是 | 经常 | 平时 | 通常 | 习惯
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"""
    (?:大)?好き(?!に|な(?:だけ|時|とき)) | 嫌い | が苦手 | お気に入り | 好物 | (?:に|が)(?:ハマ|はま)って | が推し
    | \b(?:i|we)(?:\s+(?:really|still|also|just|absolutely|both|don't|do\ not|never|used\ to))*\s+(?:like|love|enjoy|prefer|hate|dislike|adore)\b
    | \b(?:can't|cannot)\s+stand\b | \bfavou?rites?\b | \b(?:big|huge)\s+fan\s+of\b | \b(?:am|'m)\s+(?:really\s+)?(?:into|fond\ of)\b
    | 喜[欢歡] | 讨厌 | 最爱 | 爱[吃喝看听玩] | 偏爱 | 迷上
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLAN = re.compile(
    r"""
    予定(?:だ|です|が|な|に(?:して|なって)) | つもり | になりたい(?!した) | (?:よう|こう|ろう|そう|とう|もう|おう|のう)と思(?:う|って) | (?:行|会|習|買|始め|食べ|見|飲み)き?[いにけ]?たい(?!した)
    | \b(?:am|'m|are|'re|is|'s)\s+(?:\w+\s+)?going\s+to\s+(?!the\b|my\b|a\b|bed\b)\w+ | \bplan(?:s|ning)?\s+(?:to|on)\b | \blooking\s+forward\s+to\b
    | \b(?:want|hope|intend|would\ love|'d\ love|would\ like|'d\ like)\s+to\b | \b(?:i|we)(?:'ll|\s+will)\b
    | 打算 | 计划 | 准备(?:去|要|在) | 想(?:去|学|买|要) | 要去 | 预定
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BIRTHDAY = re.compile(
    r"誕生日(?:は|が)|\bmy birthday(?:'s| is)\b(?! party)|我的?生日是", re.IGNORECASE
)
_OF_ONESELF = re.compile(
    r"""
    (?:私|僕|俺|わたし|ぼく)の名前は | と申します | (?:私|僕|俺)は.*(?:出身|に住んで|で働いて)
    | \bmy\s+name\s+is\b | \bcall\s+me\b | \bi\s+(?:live|work|was\ born|come\ from|grew\ up)\b | \bi(?:'m|\ am)\s+from\b
    | \bi(?:'m|\ am)\s+\w+\s+years\s+old\b | \bmy\s+(?:job|hometown|address)\b
    | \bi(?:'m|\ am)\s+(?:a|an)\s+(?:\w+\s+)?(?:student|teacher|nurse|doctor|engineer|programmer|designer|writer|chef|cook|driver|farmer|lawyer|accountant|carpenter)\b
    | 我叫 | 我的名字 | 我住 | 我在.{1,12}(?:工作|上班) | 我的工作 | 我来自 | 我出生 | 我(?:今年)?[0-9０-９一二三四五六七八九十]+岁
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PROFILE = re.compile(
    r"""
    に住んで | 住まいは | (?:で|に|として)働いて | に勤め | 仕事は | 会社員 | 出身(?:だ|です|は|で|なん|[。.]*$)
    | [0-9０-９一二三四五六七八九十]+歳(?:だ|です|に|なん|[。.]*$) | (?:大学生|高校生|中学生|小学生)(?:だ|です|で|なん|[。.]*$) | を専攻
    """,
    re.VERBOSE,
)

_DONE_ONCE = re.compile(
    r"""
    (?:(?:(?<!だっ)(?<!かっ)(?<!なっ)(?<![てで])(?<![てで]い)(?<!まし)た|(?<![てで])(?<![てで]い)ました|(?<![るくすうつぬむぶぐいなたの])んだ|いだ)
      (?:の?よ|ね|わ|んだ(?:よ|ね)?|んです|の)?[。!！]*$)
    | ^(?:\W*(?:and|so|then|today|yesterday),?\ )?(?:i|we|(?:my|our)(?:\ (?!(?:is|are|was|were|has|have|had|who)\b)[\w-]+){1,3}?)(?:\ and\ (?:i|my\ [\w-]+))?\ (?:just\ |also\ |then\ )?
      (?:went|came|ate|had\ (?!an?\ (?:baby|child|son|daughter|stroke)|twins)|saw|watched|called|phoned|rang|texted|visited|bought|gave|took|made|met|sent|brought|cooked
        |baked|played|talked|chatted|spoke|helped|walked|drove|invited|dropped|picked|fixed|asked|got\ (?!married|engaged|divorced)|read|wrote|showed|sang)\b
    | (?:吃|喝|看|买|去|来|打|做|送|见|玩|聊|逛|唱|走|写|帮)(?:了|过|完)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""That something was done once, with or by somebody: it tells nothing of who they are."""

_CLOSE = KIN | {"friend"}
"""Of whom a statement is about somebody's people; that of a teacher or a landlord may be about anything."""


def kind_of(
    sentence: str, language: str, said_on: date, days: tuple[date | None, date | None]
) -> Kind:
    """Return what a statement is plainly about.

    Args:
        sentence: In the person's own words.
        language: Two-letter code of it.
        said_on: The day on which it was said.
        days: The first and the last day that it speaks of, if it names days.
    """
    first, last = days
    undated = last is None
    of_others = bool(analyse(sentence, language).persons & _CLOSE)
    own_birthday = _BIRTHDAY.search(sentence) and not of_others
    ahead = first is not None and first > said_on
    over = last is not None and last < said_on
    plain: tuple[tuple[Kind, object], ...] = (
        (Kind.HEALTH, _HEALTH.search(sentence)),
        (Kind.HABIT, undated and (_HABIT.search(sentence) or read_habit(sentence))),
        (Kind.PROFILE, own_birthday or (undated and _OF_ONESELF.search(sentence))),
        (Kind.PLAN, ahead or (not over and _PLAN.search(sentence))),
        (Kind.PREFERENCE, _PREFERENCE.search(sentence)),
        (Kind.EVENT, over),
        (Kind.RELATION, undated and of_others and not _DONE_ONCE.search(sentence)),
        (Kind.PROFILE, undated and _PROFILE.search(sentence)),
    )
    return next((kind for kind, holds in plain if holds), Kind.OTHER)
