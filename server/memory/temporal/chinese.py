"""The rules for Chinese, simplified; traditional characters are read as the simplified ones."""

import re
from typing import Final

from server.memory.temporal import chinese_meanings as mean
from server.memory.temporal import chinese_words as words
from server.memory.temporal.clock_values import Daypart
from server.memory.temporal.date_values import (
    Part,
    Recent,
    Recurring,
    Year,
    YearShift,
)
from server.memory.temporal.day_values import (
    DayShift,
    Offset,
)
from server.memory.temporal.number_words import (
    FOLDED_CHINESE,
    KANJI,
    NUMBER,
    alternatives,
    to_number,
)
from server.memory.temporal.numeric import CLOCK
from server.memory.temporal.numeric import RULES as NUMERIC_RULES
from server.memory.temporal.replacing import chinese_replaced
from server.memory.temporal.scanning import Language, guard, rule
from server.memory.temporal.tenses import chinese_tense

_PICK: Final = rf"(?:(?P<pick>{alternatives(mean.PICKS)}))?"
_SHIFT: Final = rf"(?P<shift>{alternatives(words.SHIFTS)})一?个?"
_WEEK: Final = "(?:周|星期|礼拜)"
_NOT_NUMBER: Final = rf"(?<!{KANJI})(?<![0-9.第])"
_SHORT: Final = rf"(?:[0-3]?[0-9]|{KANJI}{{1,3}})"


_WAY: Final = "(?P<way>之前|以前|之后|以后|前|后)(?![半端面辈台])"

_GUARDS: Final = (
    guard(rf"{_WEEK}[一二三四五六日天](?=次|[遍回年岁])|周六福"),
    guard(
        "(?:有|早|晚|快|慢|差|优|缺|特|重|要|地|观|热|焦|弱|亮|多|少|大|小|好|景|终|起|站)[一两]?点|一点(?:儿|点|也|都|不|没)"
    ),
    # A year that no rule reads takes its month and day with it.
    guard(
        rf"(?<![0-9])(?:[03-9][0-9]{{3}}|[0-9]{{3}}|[0-9]{{5,6}}|公元[0-9]{{1,3}})年(?:{_SHORT}月(?:{_SHORT}[日号])?)?(?![前后])"
    ),
    guard("后天(?:性|形成|培养|免疫|的努力)|今日头条|明日(?:之[星子]|方舟)|明日黄花|前天才"),
    guard("五一(?:路|广场|街)|六一(?:路|居士)|圣诞(?:树|老人|卡|歌|礼物|帽)"),
    guard(
        rf"{NUMBER}号(?:楼|线|码|门|店|房|机|选手|位|院|桌|球|车|厅|库|电池)|两点一线|{NUMBER}月初{KANJI}|大年[初三]?{KANJI}?"
    ),
    guard(rf"{NUMBER}(?:天|个?月|年|小时)(?:前后|左右)"),
)

_HABITS: Final = (
    rule(
        rf"每(?:个|逢|隔|到)?(?:{NUMBER})?(?:天|日|周末?|星期|礼拜|月|年|早|晚|次|小时)(?:[一二三四五六日天末])?|逢{_WEEK}|天天|年年|周周|经常|平时|通常|总是",
        lambda match: (Recurring(),),
    ),
    rule(rf"(?:一|每)(?:周|天|个?月|年){NUMBER}次", lambda match: (Recurring(),)),
)

_COUNTED: Final = (
    rule(
        rf"{_NOT_NUMBER}(?P<count>{NUMBER})个?(?P<half>半)?(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|(?<=个)月|(?<=个半)月|年)(?P<late>半)?多?{_WAY}",
        mean.counted,
    ),
    rule(rf"半个?(?P<unit>年|月|小时){_WAY}", mean.half),
    rule(rf"(?P<low>几)(?P<high>)天{_WAY}", mean.some),
    rule(
        rf"{_NOT_NUMBER}(?P<low>{KANJI}|[0-9])[、,到~-]?(?P<high>{KANJI}|[0-9])天{_WAY}", mean.some
    ),
    rule(
        "(?P<word>前一天|第二天|后一天)",
        lambda match: (Offset(-1 if match["word"] == "前一天" else 1),),
    ),
)

_DAY_RULES: Final = (
    rule(
        rf"(?P<word>{alternatives(words.DAY_WORDS)})",
        lambda match: (DayShift(words.DAY_WORDS[match["word"]]),),
    ),
    rule(rf"{_SHIFT}{_WEEK}(?P<day>[一二三四五六日天末])?", mean.week),
    rule(rf"{_PICK}{_WEEK}(?P<day>[一二三四五六日天末])", mean.weekday),
    rule(rf"\({_WEEK}(?P<day>[一二三四五六日天])\)(?P<pick>)", mean.weekday),
    rule(
        rf"(?P<count>第[一二三四五1-5]|最后一)(?:个|(?:个?{_WEEK}的))?{_WEEK}(?P<day>[一二三四五六日天])",
        mean.nth_weekday,
    ),
    rule(rf"{_NOT_NUMBER}(?P<day>{_SHORT})[号](?![0-9])", mean.bare_day),
    rule(rf"(?<=[至到~-])(?P<day>{_SHORT})日", mean.bare_day),
    rule(rf"{_PICK}(?P<name>{alternatives(words.HOLIDAYS)})", mean.holiday),
)

_LONGER: Final = (
    rule(rf"{_SHIFT}月(?:的?(?P<day>{_SHORT})[日号])?", mean.month_word),
    rule(rf"{_NOT_NUMBER}(?P<month>{_SHORT})月份?(?:的?(?P<day>{_SHORT})[日号])?", mean.month_day),
    rule(
        rf"(?P<word>{alternatives(words.YEAR_WORDS)})",
        lambda match: (YearShift(words.YEAR_WORDS[match["word"]]),),
    ),
    rule(
        rf"{_NOT_NUMBER}(?P<year>[12][0-9]{{3}}|[一二][零一二三四五六七八九]{{3}})年(?![代前后])",
        lambda match: (Year(to_number(match["year"])),),
    ),
    rule(
        rf"(?P<part>{alternatives(words.OWN_PARTS)})",
        lambda match: (words.OWN_PARTS[match["part"]],),
    ),
    rule(
        rf"(?<=[月年])(?P<part>{alternatives(words.SECTIONS)})",
        lambda match: (Part(words.SECTIONS[match["part"]]),),
    ),
    rule("(?P<season>[春夏秋冬]天|[暑寒]假|(?<=年)[春夏秋冬](?![节联晚眠]))", mean.season),
    rule("这个?(?P<season>[春夏秋冬])天", mean.this_season),
    rule(
        r"(?<![0-9/.-])(?P<month>1[0-2]|0?[1-9])/(?P<day>[0-3]?[0-9])(?![0-9/%])(?=号|[,。、\s(]|\Z|[去要有是的我和])",
        mean.slashed,
    ),
    rule(
        "最近|近来|近期|这几天|前几天|这阵子|这段时间|前阵子|前段时间",
        lambda match: (Recent(14 * 24),),
    ),
    rule("刚才|刚刚|方才", lambda match: (Recent(6),)),
)

_HOURS: Final = (
    rule(rf"(?P<word>{alternatives(words.NAMED_DAYPARTS)})", mean.named_daypart),
    rule(
        rf"(?P<word>{alternatives(words.DAYPARTS)})(?!好|班|饭|餐|茶(?!馆))",
        lambda match: (Daypart(words.DAYPARTS[match["word"]], alone=match["word"] == "傍晚"),),
    ),
    rule(
        rf"{_NOT_NUMBER}(?P<hour>{_SHORT})(?P<mark>点|时(?![间代候差刻期]))(?P<past>钟|半|整|[一三13]刻|(?:[0-5]?[0-9]|{KANJI}{{1,3}})分|(?:[0-5][0-9]|{KANJI}{{2,3}})(?![0-9天个]))?",
        mean.clock,
    ),
    CLOCK,
)

CHINESE: Final = Language(
    rules=(*_GUARDS, *_HABITS, *_COUNTED, *_DAY_RULES, *_LONGER, *_HOURS, *NUMERIC_RULES),
    joint=re.compile(r" ?[的,是]? ?"),
    ranging=re.compile(r" ?[到至~-] ?"),
    listing=re.compile(r" ?[和、,跟与或] ?"),
    tense_at=chinese_tense,
    replaced=chinese_replaced,
    variants=FOLDED_CHINESE,
)
