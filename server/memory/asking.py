"""What kind of thing a person asks: something of their own life, something of the world, or nothing at all.

"When is my gig?" wants memory; "how hot is lava?", "play a lullaby" and "I'm going to bed" do not, even if a word of
them stands in a fact. No rule decides alone: each sign is a feature of the gate.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from server.memory.whole_words import occurs

_SIGNS: Mapping[str, Mapping[str, str]] = {
    "ja": {
        "asks": r"""[?？]$ | っけ | (?<=[一-龠ァ-ヶー])は$ | (?P<word>何 | なん(?:だ|の|て|か|と|で|曜|時) | なに | 誰 | だれ | どこ | いつ | どれ | どの | どんな | どう | どっち | いくつ
            | いくら | なぜ) | (?:か|かな|かね|かしら|の|のかな|のかね|だろう|でしょう)$ | 教えて | 言って | (?:ある|入ってる|覚えてる)$ | (?:です|ます|でし|まし)た?か[?？。]*$ | [たてるい](?:かい|かのう|かの|ん|ね)[?？]?$ | (?:くれ|くださ|おくれ|みて|いただけ)[るいなませんか]*[。?？]?$""",
        "recalls": r"""っけ | 覚え | (?:だっ|でし|やっ|じゃっ|かっ|まし|[いしちにみりきぎっん])(?:た|だ)(?:ん|の)?(?:です)?(?:か(?:な|ね|しら|の|い)?|の|ろう|かのう|っけ)[?？。]*$
            | 言っ(?:た|てた|てまし) | 言うた | 言いまし | 話し?た | 忘れ(?:た|ちゃ|まし) | 思い出せ | もう一(?:回|度) | (?:知って|ご存[じ知])(?:る|ます|です)?(?:か|よね|の|かい)?
            | (?:てた|とった|ちょった|てました|とったん)(?:か|の|かな|っけ)?[?？]?$""",
        "own": r"(?P<word>私 | わたし | わたくし | 僕 | ぼく | 俺 | おれ | オレ | うち(?:の|は|って|で|に|ん) | あたし | 自分 | 我が家 | わし | おら | わい | わて | うちら | あたい)",
        "world": r"""(?P<word>どうやって | どうして | なんで | なぜ) | 何で(?!し|すか|しょ|も) | (?:作|や|使|直|焼|炊|煮|育て|選|飼|食べ|洗|読|書|治|折|結)り?方 | 方法 | コツ | しくみ | 仕組み
            | 違い | 違うの | 発明 | 世界 | 日本[での一] | 首都 | 人口 | 面積 | 意味 | 英語で | 何語 | 由来 | 歴史 | ニュース | 天気 | 気温
            | 一番(?:高|大|長|近|古|速|重|深) | 何(?:本|枚|色|種類|度|グラム|カロリー|メートル|センチ|円)[がでもまあ]? | ってど(?:の|れ)(?:くらい|ぐらい)""",
        "orders": r"""(?:つけ|消し|流し|かけ|止め|歌っ|読ん|鳴らし|回し|踊っ|笑っ|黙っ|起こし|喋っ|しゃべっ|静かにし|下げ|上げ|呼ん|押し|閉め|開け|セットし|数え|当て
            |しよ|やろ|出し|見せ|調べ|探し|訳し|計算し)(?:て|で|う|ろ)?(?:くれ|ください|よ|ね|ちょうだい|おくれ|もらえる|くれる)*[。!！]*$""",
        "tell": r"教え[てちろ] | 言(?:って|うて|ってみ|うてみ) | 聞かせて | 言える | 読み上げて",
    },
    "en": {
        "asks": r"""\?$ | \b(?:what|who|whose|when|where|which|why|how)(?:'s|'re|'d)?\b
            | ^\W*(?:(?:hey|so|um+|hmm+|uh+|and|but|well|oh|ok|okay|like)\W+)*
              (?:do|does|did|is|are|was|were|am|can|could|will|would|should|have|has|had|any|got|anything)\b
            | \b(?:tell\ me\ (?:the|my|what|when|who|where|about|how)|remind\ me\ (?:what|when|who|where|how|of)|say\ the|list|see\ if
                |do\ you\ (?:know|remember|recall)|you\ (?:know|remember)|i\ wonder)\b""",
        "recalls": r"""\b(?:again|remember|recall|(?:did|was|were|have|had)\ (?:i|we)|i\ (?:said|told|say|tell|mention\w*)
            |remind\ me\ (?:what|when|who|where|how|which|of)|know\ my|do\ you\ know)\b""",
        "own": r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|we|we're|we've|our|ours|us)\b",
        "world": r"""\bhow\ (?:do|does|to|can|should|long\ should|hot|high|tall|big|far|fast|deep|heavy|much\ (?:is|does)|warm|cold|loud
                |many\ (?:\w+\ ){0,2}(?:are|is|does|do|in|on|should)|old\ is|long\ (?:do|does|is|are))\b
            | \bwhy\ (?:do|does|are|is|did|can)\b | \bwho\ (?:wrote|invented|painted|discovered|won|made|sang)\b | \bcapital\ of\b
            | \bpopulation\b | \bin\ (?:french|spanish|german|japanese|italian|english|chinese)\b | \b(?:weather|sunny|rain|snow)\b
            | \bmean(?:s|ing)?\b | \brecipe\b | \bbest\ way\b | \bdifference\ between\b
            | \b(?:in\ the\ world|highest|tallest|biggest|longest|largest|fastest|oldest)\b
            | ^(?:\W*(?:so|and|hey|um+|hmm+)\W+)?(?:do|does|are|is|can|will|should)\ (?:an?\ |people|all\ |some\ |most\ |dogs|cats|it|they|you\ )
            | \b(?:good|bad)\ for\ (?:you|dogs|cats|kids|plants)\b | what(?:'s|\ is)\ an?\ """,
        "orders": r"""^\W*(?:(?:hey|so|um+|uh+|please|ok|okay|can\ you|could\ you)\W+)*
            (?:play|stop|turn|set|sing|read|dance|wake|call|open|close|count|start|pause|skip|add|roll|flip|shut|be\ quiet|wait|look|listen|repeat
            |say\ (?:hello|hi|good|cheese)|tell\ (?:me|us)\ a|remind\ me\ (?:to|about|in|at)|translate|spell|switch|lower|raise|cancel|volume
            |louder)\b""",
        "tell": r"\b(?:tell\ me\ (?:the|my|about|what|when|who|where)|say\ the|see\ if)\b",
    },
    "zh": {
        "asks": r"[?？]$ | 什么 | 谁 | 哪 | 怎么 | 几 | 多少 | 多大 | 吗$ | 呢$ | 告诉我",
        "recalls": r"记得 | 还记 | 我说过 | 我讲过 | 忘了 | 来着",
        "own": r"我 | 咱 | 我们",
        "world": r"为什么 | 怎么(?:做|用|写|走) | 世界 | 首都 | 人口 | 面积 | 意思 | 用英语 | 天气 | 气温 | 最(?:高|大|长|近) | 区别",
        "orders": r"^(?:请|帮我)?(?:播放|放|唱|打开|关|停|设|讲个|提醒)",
        "tell": r"告诉我 | 说一下",
    },
}
_PATTERNS = {
    language: {sign: re.compile(text, re.VERBOSE | re.IGNORECASE) for sign, text in signs.items()}
    for language, signs in _SIGNS.items()
}


@dataclass(frozen=True, slots=True)
class Asking:
    """The signs in one query."""

    asks: bool
    """It has the form of a question, or bids to tell."""
    recalls: bool
    """It speaks of something said or known before."""
    own: bool
    """It speaks of the speaker."""
    world: bool
    """It asks for knowledge of the world."""
    orders: bool
    """It tells the robot to do something."""
    tell: bool
    """It bids to tell something."""


def signs(query: str, language: str) -> Asking:
    """Return the signs in a query; of a language without rules, those of English."""
    patterns = _PATTERNS.get(language, _PATTERNS["en"])
    text = query.strip()
    return Asking(**{sign: occurs(pattern, text) for sign, pattern in patterns.items()})
