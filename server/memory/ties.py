"""Tells whether a sentence is tied to the life of who says it, or tells of the weather and the world at large."""

import re
from collections.abc import Sequence
from functools import cache

from sudachipy import Morpheme

from server.memory import lexicon
from server.memory.subjects import has_living_subject
from server.memory.temporal.number_words import ENGLISH_NUMBERS, alternatives
from server.memory.terms import words_of
from server.memory.unowned import leaves_out_whose

_OWN = re.compile(
    r"""
    \b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|we'll|we'd|our|us)\b | [我咱] | (?:私|僕|俺|うち|自分|我が家|わたし|ぼく|おれ|あたし|わし)
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Whose place in the speaker's life needs no "my": "Mum comes on Thursday", "the wedding is in June".
_ONE_OF_FEW = lexicon.KIN - {"child", "partner"}
_CALLED = ["mummy", "mam", "dad", "gran", "nan", "nanna", "grandad", "gramps", "auntie", "aunty"]
_AROUND = [
    "kids", "boys", "girls", "twins", "baby", "grandkids", "grandchildren", "missus", "dog", "cat", "puppy", "kitten", "vet",
    "physio", "dentist", "surgeon", "plumber", "midwife", "builder", "babysitter", "wedding", "funeral", "operation", "surgery",
    "car", "van", "printer", "workshop", "garage", "garden", "boiler", "fridge", "oven", "roof", "house", "flat", "kitchen",
    "wifi", "wi-fi", "password", "passcode", "trash", "rubbish", "garbage", "recycling", "dishwasher", "washing machine", "thermostat",
    "basement", "attic", "shed", "bathroom", "bedroom", "living room", "fuse box", "mailbox", "cleaner", "gardener", "electrician",
]  # fmt: skip
_AROUND_ZH = [
    "老伴", "爱人", "孙女", "孩子们", "家里", "外孙女", "护工", "密码", "钥匙", "无线网", "垃圾", "冰箱", "洗衣机", "保姆",
]  # fmt: skip
# "The spare key is under the pot" is of this house, "the key to success" is not.
_AT_HOME = re.compile(
    r"\bthe (?:\w+ ){0,2}(?:keys?(?! to (?!the\b|our\b|my\b))|(?:alarm|door|gate|garage) code|bins?)\b",
    re.IGNORECASE,
)

# Whoever goes by the given name alone is somebody of the speaker's life where the matter is one of every household. A full
# name, a place or an author stands with other matters.
_NO_GIVEN_NAME = r"""(?:The|This|That|These|Those|There|Here|It|He|She|They|You|What|Who|Some|Every|Any|No|Not|All|Most|Many|One|Another|Each|Nothing
    |(?:Every|Some|Any|No)(?:one|body|thing|where)|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Today|Tomorrow|Yesterday|Tonight
    |January|February|March|April|May|June|July|August|September|October|November|December|Spring|Summer|Autumn|Winter|Christmas|Easter|Halloween|Thanksgiving|Santa|Mother|Father|New|Let)"""
_NAMED = rf"(?:^|[.!?;,:]\s|\b(?:and|but|because|so)\ )(?!{_NO_GIVEN_NAME}(?!\w))[A-Z][a-z]+"
_MATTER = r"""(?:recitals?|practi[cs]e|rehearsals?|training|lessons?|class(?:es)?|appointments?|check-?ups?|dentist|doctor|teacher|tutor|coach|school|kindergarten
    |nursery|daycare|preschool|homework|exams?|trip|flight|birthday|part(?:y|ies)|sleepover|playdate|wedding|graduation|surgery|operation|fever|cold|cough
    |allerg(?:y|ies)|medicine|medication|inhaler|pills?|shifts?|interview|bedtime|lunch(?:box)?|glasses|braces|favou?rite|phone\ number|number|room|shoes|size
    |backpack|bike|car|boyfriend|girlfriend|husband|wife|mother|mom|mum|father|dad|sister|brother|son|daughter|kids|cat|dog|hamster|job|meeting|visit|concert
    |play|game|match|tournament|camp|piano|violin|guitar|swimming|soccer|football|ballet|karate|judo|tennis|gymnastics|choir|scouts)"""
_NEAR_DAY = r"""(?:today|tonight|tomorrow|yesterday|soon|(?:this|next|last)\ (?:week(?:end)?|month|night|evening|morning|afternoon|\w+day)|(?:on\ )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)"""
_OF_NAMED = re.compile(
    rf"""
    {_NAMED}'s\ (?:\w+\ ){{0,2}}?{_MATTER}\b
    | {_NAMED}\ (?:(?:also|still|always|really|just)\ )?(?:
        (?:has|had|got|goes|went|takes|starts|started|needs|forgot|missed|finished|plays|quit|joined)\ (?:[\w']+\ ){{0,3}}?{_MATTER}\b
        | (?:is|turns|turned|is\ turning|will\ be)\ (?:about\ |almost\ |now\ )?(?:\d{{1,3}}|{alternatives(ENGLISH_NUMBERS)}(?:-\w+)?)(?:\ years\ old|\ now|\ (?:on|in|this|next|last|today|tomorrow|yesterday)\b.*)?\W*$
        | (?:is|was)\ (?:\w+\ )?(?:allergic|afraid|scared|intolerant|vegetarian|vegan|pregnant|diabetic|left-handed|sick|ill)\b
        | (?:visits|visited|comes|came|arrives|arrived|called|phoned|rang|calls|(?:has\ )?moved|moves|stays|stayed)\ (?:[\w']+\ ){{0,3}}?(?i:{_NEAR_DAY})\b
        | lives\ (?:alone|nearby|next\ door|with\ \w+|(?:in|near)\ [\w']+\ now)\W*$
        | (?:is|was)\ (?:staying|visiting|coming)\b | is\ in\ (?:\w+\ )?(?:grade|hospital|kindergarten|college|preschool|year\ \w+)\b
        | (?:(?:has|just|finally|sadly)\ )*(?:died|passed\ away|been\ put\ to\ sleep)\b(?!.*\b(?:1\d{{3}}|20[01]\d)\b)
        | (?:(?:has|just|finally)\ )*(?:moved\ (?:to|house|in|out|back|away|into)|got\ (?:married|engaged|divorced)|had\ (?:a\ baby|twins|(?:his|her)\ \w+)
            |(?:broke|lost|hurt|sprained)\ (?:his|her|their)|fell\ (?:over|down|ill|off)|fainted|retired|graduated|plays\ the|(?:came|dropped)\ (?:over|round|by|in)
            |(?:called|phoned|rang|visited)(?=\W*$|\ (?:me|us|yesterday|today|this|last|on|again)\b))\b
        | (?:likes|loves|hates|wants|dislikes|prefers|(?:can't|can\ not|cannot|doesn't|won't)\ (?:eat|like|stand|drink|sleep))\ )
    """,
    re.VERBOSE,
)
# 小明 and 阿强 are called so by those who know them.
_NAMED_ZH = re.compile(
    r"(?:^|[，,。！])(?:小(?![时学说心孩狗猫鸟吃区麦雪雨偷费组伙贩行朋])|阿(?!拉|姨|富|根)|老(?![师板人虎鼠年大外家是]))[\u4e00-\u9fff]{1,2}?"
    r"(?:的|在|是|有|对|今年|今天|明天|后天|昨天|上|下|每|要|去|会|得|喜欢|讨厌|不|住|周|星期)"
)

# What somebody who leaves out "I" begins with: "Got married yesterday", "Allergic to nuts".
_LEFT_OUT = re.compile(
    r"""
    ^\W*(?:(?:just|finally|already|recently)\ )?(?:got|went|had|met|saw|lost|found|bought|sold|quit|broke|moved|started|finished|visited
        |passed|failed|retired|divorced|turned|slept|fell|forgot|took|built|fixed|soldered|printed|baked|cooked|planted)
        \ (?!(?:it|that|this|you|me|enough|any|anything|ya|the\ time|what|how)\b)\w+(?:\ |.*\b(?:yesterday|today|last)\b|\W*$)
    | ^\W*(?:allergic\ to|intolerant\ to|born\ (?:in|on)|(?:married|engaged)\ (?:to|for|since))\ \w
    """,
    re.VERBOSE | re.IGNORECASE,
)

_WEATHER_ENDS = (
    r"(?:らしい|みたい|そう|予報|って|だった|でした|です|だ|でしょう|の)*[ねよなぁあー]*[。.!！]*$"
)
_OF_THE_WORLD = re.compile(
    rf"""
    (?:天気|気温|湿度|降水確率|温度|室温)(?:は|が|も).{{0,12}}?(?:度|％|%|晴れ?|雨|曇り?|雪|[良い]い|悪い|高い|低い){_WEATHER_ENDS}
    | ^(?:(?:今日|きょう|明日|あした|明後日|あさって|昨日|今夜|週末|来週|外|今)[のはも]?)+
        (?:いい天気|[暑寒]い|暖かい|涼しい|蒸し暑い|晴れ?|雨|雪|曇り?|台風){_WEATHER_ENDS}
    | ^\W*(?:(?:the|today's|tomorrow's|this|that|outside|room|indoor|our)\ ){{0,2}}(?:weather|temperature|humidity|forecast|sensor)\b
        .{{0,20}}\b(?:is|was|will|looks|seems|says|reads|shows|said)\b
    | \bweather\ we're\ having\b | ^\W*it(?:'s|\ is|\ was|'ll\ be|\ will\ be)\ (?:so\ |really\ |very\ )?(?:raining|rainy|sunny|snowing|cold|hot|warm|windy|cloudy|nice\ out)\b
    | ^\W*(?:the|our)\ (?:planet|sun|moon|earth|galaxy|universe|solar\ system)\b
    | ^(?:(?:今天|明天|后天|昨天|外面|北京|上海)的?)?(?:天气|气温)(?!.*[我咱]) | ^(?:地球|月亮|太阳)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MEASURED = re.compile(
    r"は(?:約|およそ)?[0-9一二三四五六七八九十百千万億]+(?:メートル|キロ|人|度|ヘクトパスカル|パーセント)"
    r"|(?:首都|人口|面積|標高|高さ)は(?!.*(?:から|ので|した))"
)
_OF_THE_BODY = re.compile("体重|身長|体温|血圧|血糖|脈拍|視力|握力|腹囲|歩数|年収|家賃|平熱")

_ROBOT = re.compile(
    r"^\W*(?:(?:あなた|あんた|君|きみ|お前|おまえ)(?:は|って|も)|你(?:真|很|好|是|太)"
    r"|(?:you(?:'re|\ are|\ were)|your\ (?:voice|name|face|eyes|battery|screen)\b)(?!.*\bi\b))",
    re.IGNORECASE,
)

# How a place or a thing in the sky simply is. Who tells what happened to them there, or how they like it, says it otherwise.
_QUALITY = re.compile(
    r"(?:[高低長短広狭丸深重軽速遅遠近古暑寒青]い|大きい|小さい|美しい|(?:有名|きれい|綺麗|便利)(?:だ|です|な所|なところ)?"
    r"|(?:首都|都市|国|山|川|湖|島|星|惑星|衛星)(?:だ|です|である))(?:です|だ)?[ねよな]*[。.!！]*$"
)
_SKY = {"地球", "太陽", "月", "火星", "木星", "土星", "金星", "宇宙", "空", "海"}
_KINDS = re.compile(
    r"^[^私僕俺]{1,8}は[^私僕俺]{0,8}?(?:動物|植物|惑星|哺乳類|鳥類|昆虫|果物|野菜|機械|便利)(?:だ|です|である)[ねよな]*[。.!！]*$"
)


def is_tied(sentence: str, language: str) -> bool:
    """Say whether a sentence names the speaker, or somebody or something of their life. In Japanese that is left out as a rule."""
    if language == "ja" or _OWN.search(sentence) or _LEFT_OUT.search(sentence):
        return True
    if _people(language).search(sentence) or leaves_out_whose(sentence, language):
        return True
    ties = (_NAMED_ZH,) if language == "zh" else (_OF_NAMED, _AT_HOME)
    return any(tie.search(sentence) for tie in ties)


def is_of_the_world(sentence: str) -> bool:
    """Say whether a sentence tells of the weather, of numbers that stand in books, of how a place is, or of the robot."""
    if _OF_THE_WORLD.search(sentence) or _ROBOT.search(sentence):
        return True
    if _MEASURED.search(sentence):
        return not _is_own(sentence)
    if _QUALITY.search(sentence) or _KINDS.search(sentence):
        return not _OWN.search(sentence) and (
            _KINDS.search(sentence) is not None or _is_place(_topic(sentence))
        )
    return False


def _is_own(sentence: str) -> bool:
    own = _OWN.search(sentence) or _OF_THE_BODY.search(sentence)
    return own is not None or has_living_subject(sentence)


def _topic(sentence: str) -> Sequence[Morpheme]:
    """Return the words before the first は."""
    words = words_of(sentence)
    place = next((i for i, word in enumerate(words) if word.surface() == "は"), 0)
    return words[:place]


def _is_place(words: Sequence[Morpheme]) -> bool:
    is_named = any(word.part_of_speech()[2] == "地名" for word in words)
    return is_named or (len(words) == 1 and words[0].surface() in _SKY)


@cache
def _people(language: str) -> re.Pattern[str]:
    """Return a pattern of those around the speaker."""
    people = lexicon.persons(language)
    if language == "zh":
        return re.compile(alternatives(dict.fromkeys([*people.phrases, *_AROUND_ZH])))
    kin = [word for word, kinds in people.words.items() if _ONE_OF_FEW & {*kinds}]
    called = alternatives(dict.fromkeys([*kin, *_CALLED]))
    around = alternatives(dict.fromkeys([*people.words, *_AROUND]))
    return re.compile(
        rf"(?<!\ba )(?<!\bany )(?<!\bevery )\b{called}\b|\bthe (?:\w+ )?{around}s?\b", re.IGNORECASE
    )
