"""The rules for Japanese."""

import re
from typing import Final

from server.memory.temporal import japanese_meanings as mean
from server.memory.temporal import japanese_words as words
from server.memory.temporal.clock_values import Clock, Daypart
from server.memory.temporal.date_values import (
    Part,
    Recent,
    Recurring,
    WeekShift,
    Year,
    YearShift,
)
from server.memory.temporal.day_values import (
    DayShift,
    Offset,
    Weekday,
    Weekend,
)
from server.memory.temporal.number_words import FOLDED, KANJI, NUMBER, alternatives, to_number
from server.memory.temporal.numeric import CLOCK
from server.memory.temporal.numeric import RULES as NUMERIC_RULES
from server.memory.temporal.replacing import japanese_replaced
from server.memory.temporal.scanning import Language, guard, rule
from server.memory.temporal.tenses import japanese_tense

_NOT_NUMBER: Final = rf"(?<!{KANJI})(?<![0-9.])"
_SHORT: Final = rf"(?:[0-3]?[0-9]|{KANJI}{{1,3}})"
_PICK: Final = rf"(?P<pick>{alternatives(words.PICKS)})?"


_YEAR_DIGITS: Final = r"(?:[12][0-9]{3}|[一二][零一二三四五六七八九]{3})"
_ERAS: Final = "令和|平成|昭和|大正|明治"
_MONTH_UNIT: Final = "[かカヵヶケ箇個]月"
_ABOUT: Final = "(?:ほど|くらい|ぐらい|ばかり)?"
_WAY: Final = "(?P<way>前|まえ|後|あと)(?![半後進向者輩方回期編書述提])"
_TIMES: Final = "(?:回|食|杯|個|本|度|錠|粒|時間|分|歩|枚|冊|問|曲)"
_WORDS_WITH_DAYPART: Final = r"""(?x:
    (?:朝|お?昼|夕|夜|晩)(?:ご(?:はん|飯)|御飯|めし|飯|食(?![べっいわうおえ])|ドラマ?)
    | 朝(?:刊|練(?!習)|市(?![役民立内外議])|焼け|風呂|寝|帰り|活|日(?=[がをはも新])|会(?=[がのにでをはも]))
    | お?昼(?:寝(?![たてるな])|休[みけ憩]|下がり)
    | 夕(?:焼け|立(?![たつてっ])|刊|日(?=[がをはもの])|陽|涼み|凪)
    | 夜(?:更[かけ]|ふかし|遊び|釣り|泣き|歩き|回り|逃げ|祭り?|道|風|間(?=[のにもは診保救])|空(?![いかけっ]))
    | 晩(?:酌|餐)
)"""
"""Words that only begin like a part of the day: of 昨日の夕飯 the time is 昨日. But 昨日の夜食べた tells of the night."""
_NOW_AND_WORD: Final = r"今(?:[朝夕][食飯]|夜食)(?![べっいわうおえ])"
"""In 今夕飯を作っている the time is 今."""

_GUARDS: Final = (
    guard(
        "三日坊主|三日天下|三日月|三日三晩|四日市|五日市|八日市|廿日市|十日町|六日町|二日酔い|二日よい|十五夜"
    ),
    guard(rf"[一1]日(?:中|じゅう|千秋|に?{NUMBER}{_TIMES})"),
    guard(
        rf"{NUMBER}日(?:間|目|連続|続|おき|置き|ぶり|振り|がかり|以内|以上|分|{_ABOUT}(?!前|後)かか|前後|か(?:か|け)|掛|遅れ|休|も|だけ|しか)"
    ),
    guard(rf"{NUMBER}(?:週間|{_MONTH_UNIT}|年|時間|分)前後|[12][0-9]{{3}}年代|年度末"),
    guard(
        "日曜(?:大工|版|画家|市|学校)|月曜病|(?:金曜|花の金曜)ロードショー|水曜どうでしょう|月曜から夜ふかし"
    ),
    guard("五月(?:病|雨|晴れ?|人形|蠅|蝿|女)|三月(?:兎|うさぎ|ウサギ)"),
    guard(
        rf"(?:{NUMBER}月|[今明昨]日|[月火水木金土日]曜日?|[春夏秋冬])(?:さん|ちゃん|くん)|{NUMBER}月号|(?<!年)(?<!年の){NUMBER}月生まれ"
    ),
    # A year that no rule reads takes its month and day with it.
    guard(
        r"(?:西暦[0-9]{1,3}|(?<![0-9])(?:[03-9][0-9]{3}|[0-9]{3}|[0-9]{5,6}))年(?:の?[0-9]{1,2}月(?:の?[0-9]{1,2}日)?)?"
    ),
    guard(
        "明日[香葉菜美奈]|今日子|昨日の今日|今日日|(?:3|三)時のおやつ|[朝夕夜][鮮顔張景桜]|一時(?:的|期|停止|金|帰|しの|は)"
    ),
    guard(
        "クリスマス(?:ケーキ|ツリー|プレゼント|カード|ソング|キャロル|ローズ|島)|バレンタインチョコ|正月(?:太り|飾り|ボケ|ぼけ)"
    ),
    guard("お盆に?(?:載|乗|のせ)|お盆[をで]"),
)

_HABITS: Final = (
    rule(
        r"毎(?:週末?|日|朝|晩|夕|夜|月|年|度|回|土日)|隔[週日月年]|いつも|ふだん|普段|たいてい|大抵|しょっちゅう|日々",
        lambda match: (Recurring(),),
    ),
    rule(
        rf"(?:[月火水木金土日]曜日?|週末|{NUMBER}(?:日|週間|時間|分|年|{_MONTH_UNIT}))(?:ごと|毎|おき)に?|[週月年]に?{NUMBER}[回度]",
        lambda match: (Recurring(),),
    ),
)

_COUNTED: Final = (
    rule(
        rf"{_NOT_NUMBER}(?P<count>{NUMBER})(?P<unit>分|時間|日|週間?|{_MONTH_UNIT}|年)(?P<half>半)?間?{_ABOUT}{_WAY}",
        mean.counted,
    ),
    rule(rf"半(?:か|ヶ)?(?P<unit>年|月|日|時間){_ABOUT}{_WAY}", mean.half),
    rule(rf"(?P<low>数)(?P<high>)日{_ABOUT}{_WAY}", mean.some),
    rule(rf"{_NOT_NUMBER}(?P<low>{NUMBER})[、,~-](?P<high>{NUMBER})日{_ABOUT}{_WAY}", mean.some),
    rule(
        "(?P<word>翌々日|翌日|前々日|前日)",
        lambda match: (Offset({"翌々日": 2, "翌日": 1, "前日": -1, "前々日": -2}[match["word"]]),),
    ),
)

_DAY_RULES: Final = (
    rule(
        rf"(?:(?<![ぁ-ん])|(?=[一-龠]))(?P<word>{alternatives(words.DAY_WORDS)})(?![うぉば]|か(?!ら)|と(?:う|し|に|の|へ)|だい|なろ|だけど|ら[^ぁ-ん]?っ)",
        lambda match: (DayShift(words.DAY_WORDS[match["word"]]),),
    ),
    rule(rf"{_PICK}(?P<day>[{mean.DAYS}])曜(?:日(?!曜))?", mean.weekday),
    rule(
        rf"\((?P<day>[{mean.DAYS}])(?:曜日?)?(?:[・,、/]?祝日?)?\)",
        lambda match: (Weekday(mean.DAYS.index(match["day"]), alone=False),),
    ),
    rule(
        r"(?<=週の)(?P<day>[月火水木金土])(?![曜一-龠])",
        lambda match: (Weekday(mean.DAYS.index(match["day"]), alone=False),),
    ),
    rule(
        rf"(?:第?[1-5一二三四五]週?[・と]){{0,4}}第(?P<count>[1-5一二三四五])(?:週の?)?(?P<day>[{mean.DAYS}])曜日?",
        lambda match: (Weekday(mean.DAYS.index(match["day"]), ordinal=to_number(match["count"])),),
    ),
    rule(
        rf"最(?P<place>[初後終])(?:の?週)?の?(?P<day>[{mean.DAYS}])曜日?",
        lambda match: (
            Weekday(mean.DAYS.index(match["day"]), ordinal=1 if match["place"] == "初" else -1),
        ),
    ),
    rule(rf"{_PICK}(?:週末|土曜?日?[と、・]?日曜日?|土日)", mean.weekend),
    rule(
        rf"(?P<word>{alternatives(words.WEEK_WORDS)})末",
        lambda match: (WeekShift(words.WEEK_WORDS[match["word"]]), Weekend()),
    ),
    rule(
        rf"{_NOT_NUMBER}(?<![第翌何数毎前後月])(?!一日)(?P<day>{_SHORT})日"
        rf"(?=に(?!{NUMBER}[回度本個日]|一度)|[のはが](?!間|うち|内|かか)|から|まで|[、。!?\s)(]|\Z|[と](?!も)|だ(?!け)|です|でし|って|[夜朝昼夕午]|よ|ね|頃|ごろ)",
        mean.bare_day,
    ),
    rule(rf"{_PICK}(?<![a-z])(?P<name>{alternatives(words.HOLIDAYS)})(?![a-z])", mean.holiday),
    rule(
        rf"(?P<pick>{alternatives(words.PICKS)})(?:(?P<name>祝日|祭日)|(?:[二三四五3-5]|大型)?連休)",
        mean.days_off,
    ),
)

_LONGER: Final = (
    rule(
        rf"(?P<word>{alternatives(words.WEEK_WORDS)})",
        lambda match: (WeekShift(words.WEEK_WORDS[match["word"]]),),
    ),
    rule(
        rf"(?P<word>{alternatives(words.MONTH_WORDS)})(?:の?(?P<day>{_SHORT})日(?!間))?",
        mean.month_word,
    ),
    rule(
        rf"{_PICK}{_NOT_NUMBER}(?P<month>{_SHORT})月(?![曜間])(?:の?(?P<day>{_SHORT})日(?!間))?",
        mean.month_day,
    ),
    rule(
        r"(?<![0-9/.-])(?P<month>1[0-2]|0?[1-9])/(?P<day>[0-3]?[0-9])(?=に|から|まで|\(|(?<!1/[234])(?<!2/3)(?<!3/4)(?:[、。\s]|\Z|[はでとだもが]|の(?!確率|量|サイズ|大きさ)))",
        mean.slashed,
    ),
    rule(
        rf"(?P<word>{alternatives(words.YEAR_WORDS)})(?P<fiscal>度)?",
        lambda match: (YearShift(words.YEAR_WORDS[match["word"]], fiscal=bool(match["fiscal"])),),
    ),
    rule(
        rf"{_NOT_NUMBER}(?P<year>{_YEAR_DIGITS})年(?P<fiscal>度)?(?![間代])",
        lambda match: (Year(to_number(match["year"]), fiscal=bool(match["fiscal"])),),
    ),
    rule(rf"(?P<era>{_ERAS})(?P<number>元|{NUMBER})年(?P<fiscal>度)?(?![間代])", mean.era),
    rule(
        r"(?<![a-z0-9])(?P<era>[rhs])(?P<number>元|[0-9]{1,2})(?:年(?P<fiscal>度)?(?![間代])|[./-](?P<month>[0-9]{1,2})[./-](?P<day>[0-9]{1,2})(?![0-9]))",
        mean.era,
    ),
    rule(r"(?<![a-z0-9])(?P<era>r)(?P<number>[0-9]{1,2})(?=\s*\Z)", mean.era),
    rule(
        rf"(?P<part>{alternatives(words.OWN_PARTS)})",
        lambda match: (words.OWN_PARTS[match["part"]],),
    ),
    rule(
        rf"(?<=[月年週春夏秋冬の])(?P<part>{alternatives(words.SECTIONS)})",
        lambda match: (Part(words.SECTIONS[match["part"]]),),
    ),
    rule("(?P<year>[今昨])(?P<season>[春夏秋冬])", mean.year_season),
    rule("(?P<pick>この|今度の|次の)(?P<season>[春夏秋冬])", mean.season),
    rule(
        r"(?<![一-龠々])(?P<pick>)(?P<season>[春夏秋冬])(?:休み|(?=に(?!なる|なれ|なっ|強|弱|向|は)|から|まで|頃|ごろ|の(?:終わり|初め|はじめ)))",
        mean.season,
    ),
    rule("(?<=[の年])(?P<season>[春夏秋冬])(?![一-龠])", mean.dependent_season),
    rule(
        "最近|近頃|近ごろ|このところ|ここのところ|ここ最近|ここ数日|ここ数週間|この頃|このごろ|先日|この前|この間|こないだ|数週間前",
        lambda match: (Recent(14 * 24),),
    ),
    rule("さっき|さきほど|先ほど|先程|今しがた|いましがた|たった今", lambda match: (Recent(6),)),
)

_HOURS: Final = (
    rule(
        rf"(?!{_NOW_AND_WORD})(?P<word>{alternatives(words.NAMED_DAYPARTS)})",
        lambda match: mean.named_daypart(match["word"]),
    ),
    rule(r"朝(?:一番?|イチ)(?=[でにの、(]|\Z)", lambda match: (Daypart(words.DAYPARTS["早朝"]),)),
    rule(
        rf"(?!{_WORDS_WITH_DAYPART})(?P<word>{alternatives(words.DAYPARTS)})(?![礼勤型行])",
        lambda match: (Daypart(words.DAYPARTS[match["word"]], alone=match["word"] == "夕方"),),
    ),
    rule(
        rf"(?:(?P<noon>午前|午後)の?)?{_NOT_NUMBER}(?P<hour>{_SHORT})時(?![間代点期限刻事給速差短折空系])"
        rf"(?:(?P<half>半)|(?P<minute>[0-5]?[0-9]|{KANJI}{{1,3}})分(?P<to>前)?)?",
        mean.clock,
    ),
    rule("正午", lambda match: (Clock(12, exact=True),)),
    CLOCK,
)

JAPANESE: Final = Language(
    rules=(*_GUARDS, *_HABITS, *_COUNTED, *_DAY_RULES, *_LONGER, *_HOURS, *NUMERIC_RULES),
    joint=re.compile(r" ?[の、,はもに]? ?"),
    ranging=re.compile(r" ?(?:から|~|-|ー) ?"),
    listing=re.compile(r" ?[と、,・やか] ?"),
    tense_at=japanese_tense,
    replaced=japanese_replaced,
    variants=FOLDED,
)
