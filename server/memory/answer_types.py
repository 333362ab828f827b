"""What sort of answer a question wants (a price, a place, a name …), and which sorts a fact has to offer.

"How much were the tickets?" is no question for "you have two tickets for Saturday": the fact is about the same matter and
holds no price. These are signs only; how much they count is fitted.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from server.memory.subjects import is_about_somebody
from server.memory.terms import Analysis
from server.memory.whole_words import occurs


class AnswerType(StrEnum):
    """A sort of answer."""

    MONEY = "money"
    AGE = "age"
    CLOCK = "clock"
    DAY = "day"
    DURATION = "duration"
    NUMBER = "number"
    PLACE = "place"
    PERSON = "person"
    NAME = "name"
    COLOUR = "colour"
    REASON = "reason"


def _patterns(by_type: Mapping[AnswerType, str]) -> dict[AnswerType, re.Pattern[str]]:
    return {kind: re.compile(text, re.VERBOSE | re.IGNORECASE) for kind, text in by_type.items()}


_WANTED = {
    "ja": _patterns(
        {
            AnswerType.MONEY: r"""(?P<word>いくら(?!で?も) | なんぼ(?!で?も)) | 値段 | 料金 | 費用 | 会費 | 参加費 | 代金 | 家賃 | 給料 | 時給 | 月謝 | 予算
                | 何(?:円|ドル|万) | (?<=[一-龠々ぁ-んァ-ヶー])(?<![時世年現近古初先次交千何数一二三四五六七八九十百の])代(?:は|って|が)""",
            AnswerType.AGE: r"何[歳才] | 年齢 | (?P<word>おいくつ | いくつ(?:だ|に|な|です|でし|や|じゃ|って|か?[。?？]*$ | の(?:とき|時|頃|ころ)))",
            AnswerType.CLOCK: r"何時(?!間) | 何時何分 | 時間(?:は|って|、)?(?:何|いつ)",
            AnswerType.DAY: r"(?P<word>(?<![あこそど])いつ(?!も|か(?!ら|な))) | 何日(?!間) | 何曜 | 何月 | 日にち | 日程 | どの日",
            AnswerType.DURATION: r"何(?:年(?!生|生まれ|度)|[かヶカケ]月|日間|時間|週間|分) | (?P<word>どの?(?:くらい|ぐらい) | どれ(?:くらい|ぐらい) | いつ(?:から|まで))",
            AnswerType.NUMBER: r"""何(?:[個人匹本枚冊番階号回度杯頭台名つ点位勝敗着足羽錠球色条畳坪玉組]|センチ|キロ|グラム|メートル|リットル|パーセント|歩|問|曲|セット)
                | (?P<word>いくつ) | 番号 | ナンバー | パスワード | 暗証 | 何[-\s]?バイト""",
            AnswerType.PLACE: r"(?P<word>どこ | どちら(?:に|で|の|へ|まで) | どっち(?:に|で|の) | どの(?:町|街|駅|店|病院|会社|学校|部屋|国|県)) | 何[県市町区駅] | 場所 | 住所 | 行き先 | 置き場",
            AnswerType.PERSON: r"(?P<word>誰 | だれ | どなた | どいつ | どの(?:人|子|先生))",
            AnswerType.NAME: r"名前 | (?P<word>なんて(?:いう|呼|言う|名) | なん(?:て|と)いう) | 何(?:て|と|って)(?:いう|言う|呼) | 名字 | 苗字 | 曲名 | 店名 | 何先生 | 銘柄 | メーカー | 機種 | 品種 | 犬種",
            AnswerType.COLOUR: r"何色 | 色(?:は|って|だっけ|何|なに) | どんな色",
            AnswerType.REASON: r"(?P<word>なぜ | なんで(?!も|しょ|すか) | どうして(?!も)) | 何で(?!も|しょ|すか) | 理由 | わけ(?:は|って|を)",
        }
    ),
    "en": _patterns(
        {
            AnswerType.MONEY: r"""\bhow\ much\ (?:did|do|does|was|were|is|are|will|am|have|money|for|would)\b(?!.*\bweigh) | (?<!in\ )\b(?:cost|price|charge[sd]?|fee|fees|rent|salary|wage|wages|advance|budget)\b
                | \b(?:what|how\ much)\b.*\b(?:come|came)\ to\b(?!\ (?:my|see|the|visit|stay)) | \bset\ (?:me|us)\ back\b | \b(?:paid|pay|paying)\b | \bwhat\ .*\bowe\b""",
            AnswerType.AGE: r"\bhow\ old | \bold(?:'s|\ is)\b | \bages?\b | \bwhat\ age\b",
            AnswerType.CLOCK: r"\bwhat\ time\b | \bwhat\ hour\b | \bhow\ (?:early|late)\b | \bo'clock\b | \btime\ is\ (?:my|the|our)\b",
            AnswerType.DAY: r"\bwhen\b | \bwhat\ (?:day|date|month)\b | \bwhich\ (?:day|date|month|weekend)\b | \bdates?\b",
            AnswerType.DURATION: r"\bhow\ long\b | \bhow\ many\ (?:years|months|weeks|days|hours|minutes)\b | \bsince\ when\b | \bhow\ many\ more\b",
            AnswerType.NUMBER: r"\bhow\ (?:many|big|tall|far|heavy|often|large|high|fast)\b | \b(?:number|score|marks|grade|size|password|code|pin|dose|weigh|weight)\b",
            AnswerType.PLACE: r"\bwhere(?:'s|'d)?\b | \b(?:what|which)\ (?:town|city|street|room|ward|country|place|shop|station|hospital|school|road|village|county|state|pub|restaurant)\b | \baddress\b | \bwhereabouts\b",
            AnswerType.PERSON: r"\bwho(?:m|se|'s|'d)?\b | \bwhich\ (?:person|friend|one\ of\ (?:my|us))\b",
            AnswerType.NAME: r"\bnames?\b(?!\ (?:of\ the\ game)) | \bcalled\b | \bwhat\b.*\bcall(?:s|ing)?\ (?:it|him|her|them|the|my)\b | \bwhat\ (?:brand|make|breed|model|band|song|title)\b | \bsurname\b",
            AnswerType.COLOUR: r"\bwhat\ colou?r\b | \bwhich\ colou?r\b | \bcolou?r\b",
            AnswerType.REASON: r"\bwhy\b | \bhow\ come\b | \bwhat\ for\b | \breason\b",
        }
    ),
    "zh": _patterns(
        {
            AnswerType.MONEY: r"多少钱 | 价格 | 几块 | 费用 | 房租 | 工资",
            AnswerType.AGE: r"几岁 | 多大 | 年龄",
            AnswerType.CLOCK: r"几点 | 什么时间",
            AnswerType.DAY: r"什么时候 | 几号 | 星期几 | 哪天 | 几月 | 日期",
            AnswerType.DURATION: r"多久 | 多长时间 | 几年 | 几个月 | 几天",
            AnswerType.NUMBER: r"多少 | 几[个次人只本条] | 号码 | 密码",
            AnswerType.PLACE: r"哪里 | 哪儿 | 在哪 | 去哪 | 什么地方 | 地址",
            AnswerType.PERSON: r"谁",  # of names nothing is known: Chinese is not cut into words
            AnswerType.COLOUR: r"什么颜色 | 颜色",
            AnswerType.REASON: r"为什么 | 怎么会",
        }
    ),
}

_OLD_OR_MANY = re.compile(r"(?<!お)[二三四五六七八九]?十?いくつ(?!の(?:とき|時|頃|ころ))")
"""Of somebody it asks the age, of things the number."""

_KANJI = "一二三四五六七八九十百千万〇"
_COUNT = rf"(?:[0-9０-９][0-9０-９,.]*|[{_KANJI}两]+|数)"
_MONTHS_EN = "january|february|july|september|october|november|december"
_WORDLIKE_MONTHS_EN = (
    r"\b(?:in|the|of|on|by|from|since|until|till|before|after|every|each|early|mid|late|last|next|this|\d+(?:st|nd|rd|th)?)\ "
    r"(?-i:March|April|May|June|August)\b | \b(?-i:March|April|May|June|August)\ \d"
)
"""Months that are also verbs, adjectives or names of people."""
_TURNS_EN = (
    r"(?:days?|mornings?|afternoons?|evenings?|nights?|weeks?|fortnights?"
    r"|months?|years?|hours?|birthday|christmas|easter|spring|summer|autumn|fall|winter)"
)
"""What comes round: "each week" tells when, "£30 each" and "every one of them" do not."""
_BEHIND_TURNS_EN = r"(?:at|on|in|to|for|from|with|by|and|or|but|before|after|until|when|because)\b"
"""What may follow "monthly" where it tells when: the monthly rent is just a rent."""
_NUMBER_EN = (
    r"(?:\d[\d,.:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half)"
)
_HELD = {
    "ja": _patterns(
        {
            AnswerType.MONEY: rf"{_COUNT}(?:円|ドル|ユーロ|ポンド|万) | 無料 | [¥$€£]",
            AnswerType.AGE: rf"{_COUNT}(?:歳|才|代(?:半ば)?) | {_COUNT}[かヶカケ]月(?:に|の(?:子|赤)) | 還暦 | 古希 | 喜寿 | 米寿 | 成人",
            AnswerType.CLOCK: rf"{_COUNT}時(?!間) | \d+:\d\d | 正午",
            AnswerType.DAY: r"毎(?:日|朝|晩|週|月|年) | 月末 | 月初",
            AnswerType.DURATION: rf"{_COUNT}(?:年|[かヶカケ箇]月|日|週|時間|分|泊|晩)(?:間|半|目|続|前|以上|ほど)? | から | まで | 以来",
            AnswerType.NUMBER: r"[0-9０-９] | " + rf"[{_KANJI}]",
            AnswerType.PLACE: r"""[一-龠ァ-ヶぁ-んA-Za-z](?:駅|店|病院|公園|学校|高校|中学|大学|県|市|町|村|区|島|山|川|海|港|寺|神社|橋|館|園|院|堂|屋|室|部屋|棚|箱|引き出し|机|家|実家|会社|工場|支店|教室|センター
                |ホーム|ホテル|旅館|温泉|海岸|浜|庭|畑|蔵|倉庫|玄関|台所|階|隣|裏|奥|前|上|下|中)(?:[にでのへを、が]|から|まで|$) | 出身 | 在住""",
            AnswerType.COLOUR: r"色 | 赤 | 青 | 白 | 黒 | 緑 | 黄 | 紫 | 紺 | 銀 | ピンク | オレンジ | ベージュ | グレー | ネイビー",
            AnswerType.REASON: r"(?:から|ので|ため|せいで|おかげで|て、|理由)",
        }
    ),
    "en": _patterns(
        {
            AnswerType.MONEY: rf"[$£€¥]\s*\d | \b{_NUMBER_EN}\s*(?:dollars?|pounds?|euros?|quid|bucks?|cents?|pence|yen|naira|rupees?|grand)\b | \b(?:for\ free|free\ of\ charge)\b",
            AnswerType.AGE: rf"\b(?:is|are|was|turn(?:s|ed|ing)?|aged?)\ (?:now\ |about\ |nearly\ |almost\ )?(?!\d{{3}}){_NUMBER_EN}\b(?!\ (?:hundred|thousand|a|per|an|percent|dollars?|pounds?|euros?|kilos?|miles?|minutes?|hours?|days?|weeks?|metres?|o'clock|[ap]\.?m)\b|:|%) | \b{_NUMBER_EN}(?:\ |-)(?:year|month)s?(?:\ |-)old\b | \bborn\ in\b",
            AnswerType.CLOCK: rf"\b(?:at|from|until|by|before|around|past)\ {_NUMBER_EN}\b | \d:\d\d | \b\d+\ ?[ap]\.?m\b | \bo'clock\b | \b(?:noon|midnight|midday)\b",
            AnswerType.DAY: rf"""\b(?:{_MONTHS_EN})\b | {_WORDLIKE_MONTHS_EN}
                | \b(?:every|each)\ (?:(?:single|other|second|third|few|school|work|working|{_NUMBER_EN})\ ){{0,2}}{_TURNS_EN}\b
                | \b(?:daily|weekly|fortnightly|monthly|yearly)\b(?!\ (?!{_BEHIND_TURNS_EN})\w)""",
            AnswerType.DURATION: rf"\b{_NUMBER_EN}\ (?:and\ a\ half\ )?(?:years?|months?|weeks?|days?|hours?|minutes?|nights?)\b | \b(?:since|until|from)\b",
            AnswerType.NUMBER: rf"\b{_NUMBER_EN}\b | \b(?:once|twice|dozen|couple)\b",
            AnswerType.PLACE: r"\b(?:in|at|near|from|to|on|behind|under|inside|outside|upstairs|downstairs|beside|above|below|off|by|round|across|opposite|next\ to)\b",
            AnswerType.COLOUR: r"\b(?:colou?r|red|blue|white|black|green|yellow|purple|navy|silver|pink|orange|beige|gr[ae]y|brown|gold|cream|teal|turquoise)\b",
            AnswerType.REASON: r"\b(?:because|since|so|to|as|after|due|for|reason)\b",
        }
    ),
    "zh": _patterns(
        {
            AnswerType.MONEY: rf"{_COUNT}(?:元|块|万|美元)",
            AnswerType.AGE: rf"{_COUNT}岁",
            AnswerType.CLOCK: rf"{_COUNT}点 | \d:\d\d",
            AnswerType.DAY: r"每[天周月年]",
            AnswerType.DURATION: rf"{_COUNT}(?:年|个月|天|周|小时|分钟) | 从 | 到",
            AnswerType.NUMBER: rf"[0-9] | [{_KANJI}两]",
            AnswerType.PLACE: r"在 | 到 | 去 | 从 | 住",
            AnswerType.COLOUR: r"色 | 红 | 蓝 | 白 | 黑 | 绿 | 黄 | 紫",
            AnswerType.REASON: r"因为 | 所以 | 为了",
        }
    ),
}


def wanted_types(question: str, language: str) -> frozenset[AnswerType]:
    """Return the sorts of answer that a question asks for; none of most questions.

    Args:
        question: Normalized.
        language: Two-letter code; of one without rules, those for English are taken.
    """
    patterns = _WANTED.get(language, _WANTED["en"])
    found = {kind for kind, pattern in patterns.items() if occurs(pattern, question)}
    counted = _OLD_OR_MANY.search(question)
    if counted and not is_about_somebody(question[: counted.start()]):
        found.discard(AnswerType.AGE)
    if found & {AnswerType.MONEY, AnswerType.AGE}:
        found.discard(AnswerType.NUMBER)
    return frozenset(found)


def held_types(
    text: str, terms: Analysis, language: str, *, on_days: bool
) -> frozenset[AnswerType]:
    """Return the sorts of answer that a fact has to offer, whatever is asked; people and names see `offers`.

    Args:
        text: The fact, bare.
        terms: Its terms.
        language: As for `wanted_types`.
        on_days: Whether it tells of certain days or weekdays.
    """
    patterns = _HELD.get(language, _HELD["en"])
    found = {kind for kind, pattern in patterns.items() if pattern.search(text)}
    if on_days:
        found.add(AnswerType.DAY)
    if terms.places:
        found.add(AnswerType.PLACE)
    return frozenset(found)


def offers(kind: AnswerType, held: frozenset[AnswerType], asked: Analysis, told: Analysis) -> bool:
    """Say whether a fact has what is asked for: of people and names, one that the question does not name itself."""
    if kind is AnswerType.PERSON:
        return bool((told.names - told.places - asked.names) or (told.persons - asked.persons))
    if kind is AnswerType.NAME:
        return bool(told.proper - asked.forms)
    return kind in held
