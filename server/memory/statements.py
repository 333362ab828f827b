"""Tells the statements of a person about their life from questions, orders, what-ifs and courtesies.

Only statements can become facts. The rules look at one sentence at a time, in Japanese, English and Chinese.
"""

import re
from collections.abc import Sequence

from server.memory import te_forms
from server.memory.amended import amends
from server.memory.bidding import bids_robot
from server.memory.clauses import parts
from server.memory.corrections import is_only_correction, without_correction
from server.memory.retractions import taken_back
from server.memory.ties import is_of_the_world, is_tied
from server.memory.unmentioned import asks_not_to_mention, asks_not_to_mention_them
from server.memory.whole_words import occurs
from server.splitter import SentenceSplitter

# What only opens a sentence: it is told behind it. "Hey, I got a job" is no order to look up.
_OPENING = re.compile(
    r"""
    ^\W*(?:(?:もしもし|ねえ|ねぇ|ねー|あの(?:ね|さ|う|ー)|え[えー]?っ?と(?:ね)?|実は(?:ね)?|じつは|そういえば|ところで|ちなみに|聞いて(?:よ|ね)?|ほら|やあ|おい
            |おはよう(?:ございます)?|こんにちは|こんばんは|ただいま|ありがとう(?:ございます)?|すみません|ごめん|うん|はい|いいえ|いや|そう|まあ)+[、,!！\s…ー]+
        | (?:喂|你好|嗨|哎|诶|嗯|对了|其实|说实话|是的|好的|谢谢|听着|请?记住|请?别忘了|早上好|晚上好)[，,、！!：:\s]+
        | (?:请?记住|请?别忘了)(?=我)
        | (?:hey(?:\ there)?|hi(?:\ there)?|hello|look|listen|well|oh|so|um+|uh+|ok(?:ay)?|yes|yeah|no|nope|sorry|thanks|thank\ you|good\ (?:morning|evening)
            |guess\ what|(?:do\ )?you\ know\ what|by\ the\ way|actually|honestly|forget\ (?:it|that)|never\ mind|anyway)(?:\s*[,!?:;—]+\s*|\s+-\s+))
    """,
    re.VERBOSE | re.IGNORECASE,
)
# "Can you remember that I …?" tells; "can you remember where I …?" asks.
_ASKS_TO_KEEP = re.compile(
    r"""^\W*(?:(?:please|can\ you|could\ you|will\ you|would\ you|try\ to)\ )*
        (?:(?:remember|don't\ forget|keep\ in\ mind|bear\ in\ mind|note)(?:,|\ that\b|(?=\ (?:i|i'm|i've|we|we're)\b))
        |believe(?:\ that)?)\s+(?!it\b|this\b|that\b|what\b|who\b|when\b|where\b|how\b)""",
    re.VERBOSE | re.IGNORECASE,
)

_AUX = r"""(?:do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|have|has|had|isn't|aren't|don't|doesn't|didn't|won't
    |can't)"""
_QUESTION = re.compile(
    rf"""
    [?？]\s*$
    | (?:か|かな|かね|かしら|っけ|でしょう|だろう|って何|ってなに)[。.]*$
    | (?P<word>何|なに|誰|だれ|どこ|どう|どれ|どの|どんな|いつ|なぜ|なんで(?!す(?!か)|した(?!か))|いくつ|いくら|どうして|どっち)
        (?!\w{{0,3}}(?:か(?!ら)|も)|やら|[^、。?？]{{0,20}}か(?:どうか)?(?:迷|悩|考え|相談)|[^、。?？]{{1,12}}[てで]も(?![らろっうて持]|いい|良い|大丈夫))
    | は[、,]?\s*なん(?:だ|です|て) | (?<=[一-龠ァ-ヶー])(?<![私僕俺今時分週月年朝昼夜晩夕頃])(?<![今昨明平休曜\d一二三四五六七八九十]日)(?<!午[前後])(?<!以[前後])(?<!最近)は[。.]*$
    | (?:知りたい|教えてもらいたい)(?:です|んだ|の|な|けど|が)*[。.]*$
    | ^(?!.*(?:よく|はっきり|今でも|いまでも|まだ|ずっと|[私僕俺]は)).*(?:覚え|おぼえ)てい?(?:る|ます)[。.]*$
    | ^(?!.*叫我).*[吗嗎吧]\s*[。.]*$ | ^(?!.*[在正着还]).*呢\s*[。.]*$
    | (?<![没無无论管随不])(?:什么|怎么|谁|哪|为什么|几[点号]|多少)(?!.{{0,4}}[都也]) | ([是有能会要好行])[不没]\2 | 想知道
    | (?:^|[.;:!?…]\s)\W*{_AUX}\s+(?:i|you|we|they|he|she|it|the|my|your|there|that|this|any\w*)\b
    | ,\s(?:and\ |so\ )?{_AUX}\s+(?:i|you|we|they|he|she|it|there\ (?:a|an|any\w*|some\w*))\b
    | ,\s(?:and\ |so\ )?(?:do|does|did|can|could|will|would|should)\ (?:the|my|that|this|there)\b
    | ^\W*if\b[^,]*,\s(?:who|what|when|where|which|why|how)\b
    | ^\W*(?:do|does|did|is|are|was|were|has|can|could|would|should)\ \S+\ \S | ^\W*(?:at|in|on|for|to|by|from|with)\ (?:what|which|whose)\b
    | [.;:!?…]\s(?:and\ |so\ )?(?:what|who|when|where|which|why|how)(?:'s|'re|'d)?\ (?!(?:i|we|he|she|they|my|our|is\ why)\b)
    | ,\s(?:and\ |so\ )?(?:(?:what|how)\ (?!(?:i|we|he|she|they|my|our)\b) | (?:what|where|how|why)(?:'s|'re|'d)\ | who'd\ | why\ (?:do|did|is)\b
        | (?:who|when|where|which(?:\ \w+){{1,2}})\ {_AUX}\ (?:i|you|we|they|he|she|it|my)\b | who\ (?:is|are)\ it\b | who\ (?:can|could|should|will|would)\ .*\bme\b)
    | \b(?:wants?|needs?|like|love)\ to\ know\b | \bi\ wonder\ (?:what|who|when|where|why|how|if|whether)\b
    | \bi(?:'m|\ am|\ was)\ (?:just\ )?(?:wondering|asking|curious)\b | ^\W*(?:my|the)\ question\ is\b | ^\W*i\ have\ a\ question\W*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STARTS_LIKE_QUESTION = re.compile(
    r"^\W*(?:who|whom|whose|what|when|where(?:abouts)?|which|why|how)\b(?!\ (?:i|we|he|she|they|my|our)\b)"
    r"(?!(?<=when)\ (?:it|the\ \w+)\ \w+s\b.*\b(?:i|we|my|our)\b)",
    re.IGNORECASE,
)

# A plan with a condition stays a plan ("if it rains we stay in"). What only might be betrays itself: by another mood, or a wish.
_IF = r"(?<!\basked\ )(?<!\basked\ me\ )\bif"
_WHAT_IF = re.compile(
    rf"""
    (?<!もし)もし(?!もし)(?=.*(?:[うくすつぬむぶぐる]なら|宝くじ|生まれ変わ|[私僕俺](?:が|は)?.*(?:だったら|なら)
        |(?:のに|たい|いい|良い|だろう|でしょう|かな|かも)(?:な|ね|よ|です|けど)*[。.!！]*$))
    | (?:たら|なら|れば|ば)[^。]{{0,30}}(?<![たい])(?<!な)のに[なねよぁあぇえー]*[。.!！]*$ | (?:たら|れば|ば)(?:よかった|良かった)のに
    | としたら | とすれば | 仮に | だったらいいな | ば(?:いい|良い)(?:のに|な|かな) | かもしれない(?!と|って) | かも[。.]*$
    | たとえば(?=.*(?:とか|たら|なら|れば))
    | ^\W*(?:suppose|imagine|what\ if|let's\ say|if\ only)\b | {_IF}\ (?:\w+\ )?(?:were|had|could|win|won)\b
    | ^(?=.*\b(?:would|could|\w+'d)\b).*{_IF}\b
    | \b(?:maybe|perhaps|might)\b | \bi\ wish\b
    | (?:如果|要是|假如)我们?(?:是|有|会|能|中|当|养) | 我们?(?:如果|要是|假如)(?:是|有|会|能|中|当|养) | [真多]希望 | 但愿 | 就好了 | 该多好 | 假设 | 也许 | (?<!说)可能
    """,
    re.VERBOSE | re.IGNORECASE,
)

# What happens in a story, to nobody of the speaker's.
_STORY = re.compile(
    r"""
    ^[^。]{0,12}(?:映画|ドラマ|小説|漫画|マンガ|アニメ|物語|芝居|番組)(?:の中で|(?:では?|じゃ)、?(?=[^。]{0,6}(?:主人公|ヒロイン|主役|犯人|登場人物|(?:母親|父親)役)))
        (?!.*(?:私|僕|俺|うち|好き|嫌い|面白|見))
    | ^\W*in\ (?:the|a|that|this|my|last\ night's)\ (?:[\w-]+\ )?(?:film|movie|show|series|soap|drama|book(?!\ club)|novel|story|episode|play)\b
        (?!.*\b(?:i|i'm|i've|my|we|our|me)\b)
    | ^[^，。]{0,10}(?:电影|电视剧|小说|连续剧|动画片|故事)里(?!.*[我咱])
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A dream, or what somebody asked for, says as little of how it is; that it was dreamt or asked may be told.
_LEADS_JA = "(?:昨日|きのう|昨夜|昨晩|ゆうべ|夕べ|今朝|けさ|今日|この(?:前|間)|こないだ|先[日週月]|さっき|また|前に|実は|ねえ|あのね|医者に|先生に|病院で)"
_UNREAL = re.compile(
    rf"""
    ^(?:{_LEADS_JA}、)?[^、。]*(?:[たるだ]|ない)夢(?:を|ばかり|なんて)?見 | ^[^、。]*夢の中で
    | ^(?:{_LEADS_JA}、)?[^、。]*か(?:どうか)?(?:って|と)?(?:聞|訊|尋ね|質問)(?:かれ|ねられ|され)
    | ^\W*(?:(?:my|our|the|a)\ (?:\w+\ ){{1,2}}|he\ |she\ |they\ |some(?:one|body)\ )(?:just\ |also\ |always\ |even\ )?
        (?:ask(?:s|ed)?|wonder(?:s|ed)?|want(?:s|ed)?\ to\ know)\ (?:(?:me|us|my\ \w+)\ )?(?:if|whether)\b
    | ^[^，。]*梦[见到](?!了?[^，。]{{0,4}}(?:去世|过世|死去|已故)的) | ^[^，。]*(?:做(?:了)?[一个场]*(?:噩|恶|怪)?梦|梦里)
    | ^[^，。]*问[我咱](?:是不是|有没有|会不会|对|[^，。]*[吗没])
    """,
    re.VERBOSE | re.IGNORECASE,
)

_BID = r"""(?:tell|show|play|stop|turn|set|remind|call|say|speak|sing|give|let|make|open|close|read|repeat|forget|remember|ignore|
    always|never|don't|do\ not|be|look|listen|wait|shut|start|from\ now\ on|hey|help|translate|explain|find|search|wake)"""
_ORDER = re.compile(
    rf"""
    (?:て|で)(?:ください|くださいね|下さい|くれ|くれない|もらえる|もらえない|ちょうだい|みて|よ)[。.!！]*$
    | (?:て|で)(?:(?:ほしい|欲しい|もらいたい|いただきたい)(?:ん|の)?(?:です|だ)?(?:けど|が)?[なねよ]?)[。.!！]*$
    | (?:て|で)(?:くれ|ください|ちょうだい)[、。] | (?:て|で)くれ(?:ると|たら)(?:嬉しい|うれしい|助かる|ありがたい)
    | (?:ニュース|音楽|曲|歌|ラジオ|天気|お話|物語|ジョーク)[をが](?:聞き|聴き)たい
    | (?:しろ|せよ|なさい|お願い(?:します|ね)?|頼む(?:よ|ね)?)[。.!！]*$
    | (?:これからは|今後は)(?!.*(?:ことに|つもり|予定|たい|[たん]だ|んです|[しれっいえけ]た|て[いる]|ないと|なきゃ|ます)(?:だ|です)?(?:[よねな。.!！]|$))
    | ^\W*(?:please|{_BID})\b | ^\W*(?:if|when|once|after|before|as\ soon\ as)\b[^,]*,\s*(?:then\ |please\ )*{_BID}\b
    | ^\W*(?:if|when|once)\b.*(?<!will\ )(?<!to\ )(?<!'ll\ )(?<!they\ )(?<!she\ )(?<!he\ )\b(?:remind|wake|warn|tell)\ me\b
    | \bfrom\ now\ on\b | \bplease\s*[.!]*$ | \b(?:can|could|will|would)\ you\b
    | \bi(?:'d|\ would)?\ (?:want|need|like|love|asked|told)\ you\ to\b | \bi(?:'d\ like|\ would\ like|\ want)\ to\ hear\b
    | \bi\ (?:want|need)\ (?:the|that|this|these|those)\ \w+(?:\ \w+)?\ (?:on|off|up|down|louder|quieter|dimmer|brighter)\W*$ | ^\W*i\ said\ \w+\W*$
    | ^\W*(?:请|帮|给我|告诉|播放|别(?!人|的|墅)|不要|以后(?!我|咱)|叫我) | 从现在起 | 我(?:想|要|希望)(?:让)?你 | 我[想要]听
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KEEP_ORDER = re.compile(
    r"^\W*(?:don't forget|remember)\b.{8,}|(?:忘れないで|覚えて(?:おいて|て)).{6,}|(?<=.{6})(?:忘れないで|覚えて(?:おいて|て))",
    re.IGNORECASE,
)
_NAME_TO_CALL = re.compile(
    r"""
    ^(?!.*(?:タクシー|救急車|を呼んで|をよんで)).+(?:って|と)(?:呼んで|よんで)(?:ください|下さい|ほしい|欲しい|くれ|ちょうだい|いい|[ねよ])*(?:です|んだ|の)?[。.!！]*$
    | ^\W*(?:(?:please|just|you\ can|everyone\ can)\ )?call\ me
        \ (?!(?:back|later|again|now|up|at|on|in|if|when|once|by|before|after|today|tonight|tomorrow|a|an|the|it|that|soon|please)\b)[\w'-]+(?:\ [\w'-]+)?[.!]*$
    | ^(?:你?(?:可以|就)|请|以后|大家都?)*叫我(?![一来去起醒吃回出做看上下干的过])\w{1,6}?(?:吧|就行|就好|就可以)*[。.!！]*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A noun that looks like an order at first: "Open water swimming is my hobby".
_NAMES_OWN = re.compile(
    r"^(?:(?!\b(?:what|who|where|when|how|which|me)\b).)*\b(?:is|are|was)\ (?:my|mine|what\ i)\b",
    re.VERBOSE | re.IGNORECASE,
)

_COURTESY = re.compile(
    r"""
    ^(?:おはよう|こんにちは|こんばんは|おやすみ|ただいま|おかえり|ありがとう|いただきます|ごちそうさま|行ってきます|いってきます|さようなら|バイバイ|
        またね|じゃあね|うん|ううん|はい|いいえ|いや|そう|そうだね|そうなんだ|なるほど|へえ|ふーん|すごい|やった|わかった|了解|ごめん|すみません|
        よろしく|お疲れ|おつかれ|もしもし)[\w\u3040-\u30ff]{0,6}[。!！、ー~〜]*$
    | ^(?:それは|そりゃ)?(?:違う|ちがう|違います)[よねわ]*[。!！]*$ | ^(?:よく)?(?:聞こえ|きこえ)(?:ない|ません)[よねな]*[。!！]*$
    | ^(?:hi|hello|hey|good\ (?:morning|evening|night|afternoon)|thanks?(?:\ you)?|bye|goodbye|see\ you|yes|no|yeah|yep|nope|ok(?:ay)?|sure|right|
        great|nice|cool|wow|really|i\ see|sorry|never\ mind|i'm\ home|alright)\b[\w\s,']{0,16}[.!]*$
    | ^i(?:'m|\ am|\ was)?\ (?:(?:not\ |so\ |all\ |just\ |only\ |very\ |really\ )?(?:sure|fine|ok(?:ay)?|good|back|done|ready|sorry|glad|joking|kidding
            |listening|here|home|up|off|in|out|late|cold|hot|tired|hungry|thirsty|bored|sleepy|busy|testing(?:\ you)?)
        |(?:really\ |totally\ |also\ )?(?:do(?:n't|\ not)?\ )?(?:know|agree|understand|guess|think|hope|suppose|see|get)(?:\ (?:so|that|it|not))?
        |(?:do|did|will|would|can|could|have|had)(?:n't|\ not)?)(?:\ (?:now|too|then|again|though))?[.!]*$
    | ^i\ (?:can't|cannot|don't|didn't|do\ not)\ (?:hear|understand|get|believe)\ (?:you|that|it)[.!]*$
    | ^(?:你好|早上好|晚安|谢谢|再见|好的|是的|嗯|哦|对(?![^，]{1,6}过敏))[^，]{0,6}$
    | ^我(?:[都也不]?(?:知道|明白|懂|信|同意)|饿|困|累|渴|来|回来|走|好|没事)[了啦]*[。.!！]*$
    """,
    re.VERBOSE | re.IGNORECASE,
)

_COMMA = re.compile(r"[、，,]\s*")

_FEWEST_LETTERS = {"ja": 4, "zh": 3, "en": 4}
_REFERS_BACK = re.compile(r"\b(?:he|she|it|they|his|her|its|their)\b|[他她它]", re.IGNORECASE)
_BEGINS_WITH_WHO = re.compile(
    r"^\W*(?:(?:he|she|they)(?:'\w+)?|his|her|their|its|it(?:'s|\ is|\ was)\ (?:called|named))\b|^[他她它]",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"\b(?:son|daughter|sister|brother|husband|wife|friend|cousin|niece|nephew|uncle|aunt|grand\w+|dog|cat|neighbou?r|girl|boy|partner|"
    r"called|named|name's|name is|met|with),? ([A-Z][a-z]+)\b"
)
_LONGEST_PASSAGE = 200
"""Letters of a statement together with those that go on about it."""


def sentences(text: str) -> list[str]:
    """Cut what somebody said into sentences, trimmed, without empty ones."""
    splitter = SentenceSplitter(max_chars=len(text) + 1)
    return splitter.push(text) + splitter.flush()


def clauses_of(text: str, language: str) -> list[str]:
    """Cut what somebody said into sentences, and off from each what is asked or bid behind what it tells."""
    return [part for one in sentences(text) for part in parts(one, language, _asks)]


def is_question(sentence: str) -> bool:
    """Say whether a sentence asks something. "Could you not mention my son?" tells what is to be kept to."""
    if asks_not_to_mention(sentence):
        return False
    return occurs(_QUESTION, sentence) or _STARTS_LIKE_QUESTION.match(sentence) is not None


def is_hypothetical(sentence: str) -> bool:
    """Say whether a sentence speaks of what might be, is told of a story, or was only dreamt or asked for: not of what is or will be."""
    if asks_not_to_mention(sentence):
        return False
    return _is_what_if(sentence) or _UNREAL.search(sentence) is not None


def is_order(sentence: str) -> bool:
    """Say whether a sentence tells the robot what to do. "Don't forget that I …", "call me …" and "don't mention …" tell a fact."""
    if asks_not_to_mention(sentence):
        return False
    if bids_robot(sentence):
        return True
    if any(told.search(sentence) for told in (_KEEP_ORDER, _NAME_TO_CALL, _NAMES_OWN)):
        return False
    if _ORDER.search(sentence):
        return True
    return te_forms.bids(sentence)


def statements(text: str, language: str) -> list[str]:
    """Return the sentences of what somebody said that tell something about their life, and are not taken back.

    What only goes on about somebody ("They are called Salt and Pepper") stays with the sentence before it, which says who.
    """
    turn = with_corrections(clauses_of(text, language), language)
    told: list[str] = []
    last = None
    for place in telling_places(turn, language)[1]:
        sentence = turn[place]
        goes_on = last == place - 1 and _fits(told[-1], sentence)
        if goes_on and asks_not_to_mention_them(sentence):
            told[-1] = _joined(told[-1], sentence, language)
        elif _is_tied(_told(sentence), language) or _names_one_of(told, sentence):
            told.append(sentence)
        elif goes_on and _BEGINS_WITH_WHO.match(sentence):
            told[-1] = _joined(told[-1], sentence, language)
        else:
            continue
        last = place
    return told


def with_corrections(turn: Sequence[str], language: str) -> list[str]:
    """Join what only says that something was wrong to the sentence behind it, and what only says what is right to that before it."""
    joined: list[str] = []
    opening = ""
    for place, sentence in enumerate(turn):
        if joined and amends(joined[-1], opening + sentence, language):
            between = " " if language == "en" else ""
            joined[-1] += f"{between}{opening}{sentence}"
            opening = ""
        elif is_only_correction(sentence) and place + 1 < len(turn):
            opening += f"{sentence} " if language == "en" else sentence
        else:
            joined.append(opening + sentence)
            opening = ""
    return joined


def in_earnest(text: str) -> list[str]:
    """Cut what somebody said into sentences, without those that are taken back."""
    turn = sentences(text)
    withdrawn = taken_back(turn)
    return [sentence for place, sentence in enumerate(turn) if place not in withdrawn]


def telling_places(turn: Sequence[str], language: str) -> tuple[list[int], list[int]]:
    """Return the places of the sentences of a turn that tell something at all, and of those that tell of the speaker's life.

    "He is called Rex" tells of the speaker's life behind "I have a dog", alone it does not.
    """
    withdrawn = taken_back(turn)
    telling: list[int] = []
    own: list[int] = []
    for place, sentence in enumerate(turn):
        told = _told(sentence)
        asked = own[-1:] == [place - 1] and asks_not_to_mention_them(told)
        if place in withdrawn or not (asked or _tells(told, language)):
            continue
        telling.append(place)
        before = [turn[one] for one in own]
        if (
            asked
            or _is_tied(told, language)
            or (own and _REFERS_BACK.search(told))
            or _names_one_of(before, told)
        ):
            own.append(place)
    return telling, own


def _names_one_of(before: Sequence[str], sentence: str) -> bool:
    """Say whether a sentence names somebody whom those before it named: Noah after "our son Noah is eight"."""
    return any(
        re.search(rf"\b{re.escape(name)}\b", sentence)
        for told in before
        for name in _INTRODUCED.findall(told)
    )


def _joined(before: str, sentence: str, language: str) -> str:
    if language == "en":
        return f"{before}{'' if before[-1:] in '.,;!?' else ','} {sentence}"
    return before + sentence


def _fits(before: str, sentence: str) -> bool:
    return len(before) + len(sentence) <= _LONGEST_PASSAGE


def is_statement(sentence: str, language: str) -> bool:
    """Say whether a sentence tells something about the speaker's life.

    English and Chinese statements name the speaker or somebody close; in Japanese that is left out as a rule.
    """
    told = _told(sentence)
    return _tells(told, language) and _is_tied(told, language)


def _tells(told: str, language: str) -> bool:
    if is_only_correction(told):
        return False
    letters = sum(character.isalnum() for character in told)
    if letters < _FEWEST_LETTERS.get(language, _FEWEST_LETTERS["en"]):
        return False
    if asks_not_to_mention(told):
        return True
    if is_question(told) or _is_what_if(told) or is_order(told):
        return False
    return not all(map(_COURTESY.match, _COMMA.split(told))) and not is_of_the_world(told)


def _is_tied(told: str, language: str) -> bool:
    return is_tied(told, language) or asks_not_to_mention(told)


def _is_what_if(sentence: str) -> bool:
    return _WHAT_IF.search(sentence) is not None or _STORY.search(sentence) is not None


def _asks(sentence: str) -> bool:
    told = _told(sentence)
    return is_question(told) or is_order(told)


def _told(sentence: str) -> str:
    """Return a sentence without what only opens it."""
    opened, sentence = None, without_correction(sentence)
    while opened != sentence:
        opened, sentence = sentence, _OPENING.sub("", sentence)
    kept = _ASKS_TO_KEEP.sub("", sentence)
    return sentence if kept == sentence else kept.rstrip("?？ ")
