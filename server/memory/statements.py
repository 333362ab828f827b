"""Tells the statements of a person about their life from questions, orders, what-ifs and courtesies.

Only statements can become facts. The rules look at one sentence at a time, in Japanese, English and Chinese.
"""

import re
from collections.abc import Sequence

from server.memory.whole_words import occurs
from server.splitter import SentenceSplitter

_QUESTION = re.compile(
    r"""
    [?？]\s*$
    | (?:か|かな|かね|かしら|っけ|でしょう|だろう|って何|ってなに)[。.]*$
    | (?P<word>何|なに|誰|だれ|どこ|どう|どれ|どの|どんな|いつ|なぜ|なんで(?!す(?!か)|した(?!か))|いくつ|いくら|どうして|どっち)(?!\w{0,3}(?:か(?!ら)|も))
    | は[、,]?\s*なん(?:だ|です|て)
    | ^(?!.*(?:よく|はっきり|今でも|いまでも|まだ|ずっと|[私僕俺]は)).*(?:覚え|おぼえ)てい?(?:る|ます)[。.]*$
    | [吗嗎呢吧]\s*[。.]*$ | ^(?:什么|怎么|谁|哪|为什么|几点|多少)
    | ^\W*(?:do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|
        have|has|had|isn't|aren't|don't|doesn't|didn't|won't|can't)\s+(?:i|you|we|they|he|she|it|the|my|your|there|that|this)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STARTS_LIKE_QUESTION = re.compile(
    r"^\W*(?:who|whom|whose|what|when|where|which|why|how)\b(?!\ (?:i|we|he|she|they|my|our)\b)",
    re.IGNORECASE,
)

_WHAT_IF = re.compile(
    r"""
    もし(?!もし) | としたら | とすれば | 仮に | だったらいいな | たとえば | ば(?:いい|良い)(?:のに|な|かな) | かもしれない | かも[。.]*$
    | ^\W*(?:if|suppose|imagine|what\ if|let's\ say)\b | \bif\ i\ (?:were|had|could|won)\b | \bwould\ (?:be|have|like\ it)\b.*\bif\b
    | \b(?:maybe|perhaps|might)\b | \bi\ wish\b
    | 如果 | 要是 | 假如 | 假设 | 也许 | 可能
    """,
    re.VERBOSE | re.IGNORECASE,
)

_ORDER = re.compile(
    r"""
    (?:て|で)(?:ください|くださいね|下さい|くれ|くれる|くれない|もらえる|もらえない|ちょうだい|みて|よ|ね)?[。.!！]*$
    | (?:て|で)(?:(?:ほしい|欲しい|もらいたい|いただきたい)(?:ん|の)?(?:です|だ)?(?:けど|が)?[なねよ]?)[。.!！]*$
    | (?:しろ|せよ|なさい|お願い(?:します|ね)?|頼む(?:よ|ね)?)[。.!！]*$ | これからは | 今後は
    | ^\W*(?:please|tell|show|play|stop|turn|set|remind|call|say|speak|sing|give|let|make|open|close|read|repeat|forget|remember|ignore|
        always|never|don't|do\ not|be|look|listen|wait|shut|start|from\ now\ on|hey|help|translate|explain|find|search)\b
    | \bfrom\ now\ on\b | \bplease\s*[.!]*$ | \b(?:can|could|will|would)\ you\b
    | ^\W*(?:请|帮|给我|告诉|播放|别|不要|以后) | 从现在起
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KEEP_ORDER = re.compile(
    r"^\W*(?:don't forget|remember)\b.{8,}|(?:忘れないで|覚えて(?:おいて|て)).{6,}|.{6,}(?:忘れないで|覚えて(?:おいて|て))",
    re.IGNORECASE,
)

_COURTESY = re.compile(
    r"""
    ^(?:おはよう|こんにちは|こんばんは|おやすみ|ただいま|おかえり|ありがとう|いただきます|ごちそうさま|行ってきます|いってきます|さようなら|バイバイ|
        またね|じゃあね|うん|ううん|はい|いいえ|いや|そう|そうだね|そうなんだ|なるほど|へえ|ふーん|すごい|やった|わかった|了解|ごめん|すみません|
        よろしく|お疲れ|おつかれ)[\w\u3040-\u30ff]{0,6}[。!！、ー~〜]*$
    | ^(?:hi|hello|hey|good\ (?:morning|evening|night|afternoon)|thanks?(?:\ you)?|bye|goodbye|see\ you|yes|no|yeah|yep|nope|ok(?:ay)?|sure|right|
        great|nice|cool|wow|really|i\ see|sorry|never\ mind|i'm\ home|alright)\b[\w\s,']{0,16}[.!]*$
    | ^i(?:'m|\ am|\ was)?\ (?:(?:not\ |so\ |all\ |just\ |only\ )?(?:sure|fine|ok(?:ay)?|good|back|done|ready|sorry|glad|joking|kidding|listening)
        |(?:really\ |totally\ |also\ )?(?:do(?:n't|\ not)?\ )?(?:know|agree|understand|guess|think|hope|suppose|see|get)(?:\ (?:so|that|it|not))?
        |(?:do|did|will|would|can|could|have|had)(?:n't|\ not)?)(?:\ (?:now|too|then|again|though))?[.!]*$
    | ^(?:你好|早上好|晚安|谢谢|再见|好的|是的|嗯|哦|对)[^，]{0,6}$
    """,
    re.VERBOSE | re.IGNORECASE,
)

_COMMA = re.compile(r"[、，,]\s*")

_OF_THE_WORLD = re.compile(
    r"""
    (?:天気|気温|湿度|降水確率|温度|室温)(?:は|が).{0,12}(?:度|％|%|です|だ|晴|雨|曇|雪) | 今日は(?:いい天気|暑い|寒い|晴れ|雨)
    | は(?:約|およそ)?[0-9一二三四五六七八九十百千万億]+(?:メートル|キロ|(?<=[0-9百千万億]{2})人|度|ヘクトパスカル|パーセント)
    | (?:首都|人口|面積|標高|高さ)は
    | \b(?:weather|temperature|humidity|sensor)\b | ^it'?s\ (?:raining|sunny|snowing|cold|hot|nice\ out)\b
    | 天气 | 气温
    """,
    re.VERBOSE | re.IGNORECASE,
)

_OWN = re.compile(
    r"""
    \b(?:i|i'm|i've|i'd|i'll|my|mine|me|we|we're|we've|our|us)\b | [我咱] | (?:私|僕|俺|うち|自分|わたし|ぼく|おれ|あたし)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REFERS_BACK = re.compile(r"\b(?:he|she|it|they|his|her|its|their)\b|[他她它]", re.IGNORECASE)
_JOKE = re.compile(
    r"冗談(?!じゃ|では)|なんちゃって|なーんて|なんてね|(?:^|、)(?:うそ|嘘)(?:だよ|です|うそ|ぴょん)"
    r"|\b(?:just|only|was|am|i'm)\ (?:kidding|joking)\b|\b(?:just\ )?a\ joke\b|开玩笑|骗你的|逗你的",
    re.IGNORECASE,
)
"""Takes back what was said before it."""
_FEWEST_LETTERS = {"ja": 4, "zh": 4}
_FEWEST_ENGLISH_LETTERS = 8


def sentences(text: str) -> list[str]:
    """Cut what somebody said into sentences, trimmed, without empty ones."""
    splitter = SentenceSplitter(max_chars=len(text) + 1)
    return splitter.push(text) + splitter.flush()


def is_question(sentence: str) -> bool:
    """Say whether a sentence asks something."""
    return occurs(_QUESTION, sentence) or _STARTS_LIKE_QUESTION.match(sentence) is not None


def is_hypothetical(sentence: str) -> bool:
    """Say whether a sentence speaks of what might be."""
    return _WHAT_IF.search(sentence) is not None


def is_order(sentence: str) -> bool:
    """Say whether a sentence tells the robot what to do. "Don't forget that I …" tells a fact."""
    return _ORDER.search(sentence) is not None and _KEEP_ORDER.search(sentence) is None


def statements(text: str, language: str) -> list[str]:
    """Return the sentences of what somebody said that tell something about their life, and are not taken back as a joke."""
    turn = sentences(text)
    jokes = _jokes(turn)
    return [
        sentence
        for place, sentence in enumerate(turn)
        if place not in jokes and is_statement(sentence, language)
    ]


def telling_places(turn: Sequence[str], language: str) -> tuple[list[int], list[int]]:
    """Return the places of the sentences of a turn that tell something at all, and of those that tell of the speaker's life.

    "He is called Rex" tells of the speaker's life behind "I have a dog", alone it does not.
    """
    jokes = _jokes(turn)
    telling: list[int] = []
    own: list[int] = []
    for place, sentence in enumerate(turn):
        if place in jokes or not _tells(sentence, language):
            continue
        telling.append(place)
        if _is_own(sentence, language) or (own and _REFERS_BACK.search(sentence)):
            own.append(place)
    return telling, own


def _jokes(turn: Sequence[str]) -> set[int]:
    """Return the places of jokes: of those who say so, and of what they take back."""
    return {
        taken
        for place, sentence in enumerate(turn)
        if _JOKE.search(sentence)
        for taken in (place - 1, place)
    }


def is_statement(sentence: str, language: str) -> bool:
    """Say whether a sentence tells something about the speaker's life.

    English and Chinese statements name their subject; in Japanese it is left out as a rule.
    """
    return _tells(sentence, language) and _is_own(sentence, language)


def _tells(sentence: str, language: str) -> bool:
    letters = sum(character.isalnum() for character in sentence)
    if letters < _FEWEST_LETTERS.get(language, _FEWEST_ENGLISH_LETTERS):
        return False
    if is_question(sentence) or is_hypothetical(sentence) or is_order(sentence):
        return False
    is_courtesy = all(map(_COURTESY.match, _COMMA.split(sentence)))
    return not is_courtesy and _OF_THE_WORLD.search(sentence) is None


def _is_own(sentence: str, language: str) -> bool:
    return language == "ja" or _OWN.search(sentence) is not None
