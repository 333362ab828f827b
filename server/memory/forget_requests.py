"""Finds a request to forget what was told: "forget that", 息子のことは忘れて, 忘掉我说的关于我儿子的事.

What is not to be remembered in the first place is another matter, and so is somebody who tells that they forgot something:
"I forgot my umbrella", 傘のことを忘れてた.
"""

import re
from dataclasses import dataclass

from server.memory.statements import sentences
from server.memory.terms import read_as


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What a person asks to be forgotten."""

    topic: str = ""
    """What it is about, in the person's words; empty for what was said last."""
    is_talk: bool = False
    """Whether the whole talk is meant, not the last words only."""
    is_alone: bool = True
    """Whether nothing else was said in the same breath; else "that" is what was said there."""


_JA_END = (
    r"(?:おいて|しまって)?(?:ください|下さい|ほしい|欲しい|くれ(?:る|ない|ます|ません)?|もらえ(?:る|ない|ます|ません)?|"
    r"ちょうだい|頂戴|いい|お願い(?:します)?)?(?:です|ます|か|よ|ね|な|の|んだ)*[。.！!？?\s]*$"
)
_JA_FORGET = r"(?:忘れ(?:て|ろ)|わすれて|消して|削除して|消去して)" + _JA_END
_JA_BEFORE = r"^(?:(?:ねえ|ねぇ|あの|ええと|やっぱり|やっぱ|ごめん|すみません|悪いけど|お願い|ちょっと|もう)[、,\s]*)*"
_JA_ALL = r"(?:全部|ぜんぶ|全て|すべて|もう|すぐ|きれいに|、|\s)*"
_EN_BEFORE = r"^(?:(?:please|ok|okay|hey|actually|sorry|oh|no|wait|just|now|can you|could you|would you|will you|i want you to|i'd like you to|you can|you should|go ahead and)[,\s]+)*"
_EN_FORGET = r"(?:forget|erase|delete|wipe)(?:\s+about)?"
_EN_END = r"(?:[,\s]+(?:please|now|again|ok|okay|would you|will you|for me))*[.!?\s]*$"
_EN_TOLD = r"(?:(?:have|had|'ve)\s+)?(?:just\s+|ever\s+)?(?:said|told\s+you|mentioned|talked|shared|spoke)(?:\s+to\s+you)?(?:\s+(?:just\s+now|earlier|before|a\s+moment\s+ago))?"
_ZH_BEFORE = r"^(?:请|麻烦|你|能不能|可不可以|可以|帮我|就|都|，|,|那|算了)*"
_ZH_FORGET = r"(?:忘了|忘掉|忘记|删掉|删除|抹掉)"
_ZH_END = r"(?:吧|好吗|好不好|可以吗|了|哦|啊)*[。.！!？?\s]*$"
_ZH_ABOUT = r"(?:的)?(?:所有|一切|全部)?(?:的)?(?:事情|事儿|事|话|内容|情况|信息|记忆|一切)?"

_LAST = {
    "ja": re.compile(
        _JA_BEFORE
        + r"(?:(?:さっき|今|いま|先ほど|先程|いまさっき)(?P<talk>の話|話したこと|の会話)?(?:の|言った(?:こと|の)?|伝えた(?:こと|の)?|こと|やつ|件)*"
        r"|それ|これ|その(?:話|こと)|この(?:話|こと)|今言ったこと)(?:は|を|も|について)?"
        + _JA_ALL
        + _JA_FORGET
    ),
    "en": re.compile(
        _EN_BEFORE
        + _EN_FORGET
        + r"\s+(?:that|this|(?:what|everything|all|anything|whatever)\s+(?:that\s+)?(?:i|we)\s*"
        + _EN_TOLD
        + r"|(?P<talk>(?:this|that|our|the\s+(?:last|whole))\s+(?:conversation|talk|chat))|the\s+last\s+thing(?:\s+i\s+said)?|my\s+last\s+(?:words|sentence))"
        + _EN_END,
        re.IGNORECASE,
    ),
    "zh": re.compile(
        _ZH_BEFORE
        + r"(?:"
        + _ZH_FORGET
        + r"(?:我)?(?:刚才|刚刚|这|那)(?P<talk>的谈话|的对话|聊的)?(?:说|讲|告诉你)?(?:的|个|些|件|句)*(?:话|事|事情|内容)?"
        r"|(?:把)?(?:我)?(?:刚才|刚刚|这个|那个|这些|那些|这件|那件|这|那)(?:说|讲|告诉你)?(?:的|话|事|事情|内容|谈话)*(?:都|全部|全|就|给我)*"
        + _ZH_FORGET
        + r")"
        + _ZH_END
    ),
}
_TOPIC = {
    "ja": re.compile(
        _JA_BEFORE
        + r"(?P<topic>(?!さっき|今の|いまの|それ|これ|その|この|先ほど)[^。、？！?!]{1,30}?)"
        r"(?:(?:のこと|の話|の件|に関すること|についてのこと|に関する(?:話|記憶|情報)|についての(?:話|記憶|情報)|の記憶)"
        r"|について(?:話し|言っ|教え|伝え)たこと)(?:は|を|も|について)?" + _JA_ALL + _JA_FORGET
    ),
    "en": re.compile(
        _EN_BEFORE
        + r"(?:"
        + _EN_FORGET
        + r"\s+(?:what|everything|all|anything|whatever)(?:\s+(?:that\s+)?(?:(?:i|we)\s*"
        + _EN_TOLD
        + r"|you\s+(?:know|remember|have|heard)))?\s+(?:about|of|on)"
        r"|(?:forget|erase|delete|wipe)\s+(?:all\s+)?(?:your\s+|the\s+)?(?:memory|memories|facts)\s+(?:about|of|on)"
        r"|forget\s+about(?=\s+my\b))\s+(?P<topic>[^.,;!?]{1,40}?)" + _EN_END,
        re.IGNORECASE,
    ),
    "zh": re.compile(
        _ZH_BEFORE
        + r"(?:"
        + _ZH_FORGET
        + r"(?:所有|一切|全部)?(?:我)?(?:跟你|对你|和你)?(?:说|讲|告诉你|提到|提|聊)?(?:过)?(?:的)?(?:所有|一切|全部)?(?:关于|有关)(?P<topic>[^。，,？！?!]{1,20}?)"
        + _ZH_ABOUT
        + r"|(?:把)?(?:所有|一切)?(?:关于|有关)(?P<topic2>[^。，,？！?!]{1,20}?)"
        + _ZH_ABOUT
        + r"(?:都|全部|全|就|给我)*"
        + _ZH_FORGET
        + r"|(?:把)(?P<topic3>[^。，,？！?!]{1,20}?)(?:的)(?:事情|事儿|事)(?:都|全部|全|就|给我)*"
        + _ZH_FORGET
        + r")"
        + _ZH_END
    ),
}
_NOTHING_ELSE = {
    code: re.compile(before)
    for code, before in (("ja", _JA_BEFORE), ("en", _EN_BEFORE), ("zh", _ZH_BEFORE))
}
"""What tells nothing though it is a sentence of its own: "Oh no." """
_MYSELF = re.compile(
    r"^(?:me|myself|us|you|it|that|this|(?:私|僕|俺|わたし|ぼく|自分|あなた|君|何)(?:たち)?|我|我们|你|自己)$",
    re.IGNORECASE,
)
"""Whoever wants all of themselves forgotten does so in the console: it can't be taken back."""


def forget_request(said: str, language: str) -> ForgetRequest | None:
    """Return what a person asks to be forgotten; None if they do not ask for that.

    Args:
        said: All that was said in a turn.
        language: Two-letter code of it.
    """
    spoken = [one.replace("’", "'").strip() for one in sentences(said)]
    if not spoken:
        return None
    code = read_as(spoken[-1], language)
    is_alone = all(_tells_nothing(one, code) for one in spoken[:-1])
    if (found := _TOPIC[code].search(spoken[-1])) is not None:
        topic = next(filter(None, found.groups()), "").strip()
        return ForgetRequest(topic, is_alone=is_alone) if not _MYSELF.match(topic) else None
    if (found := _LAST[code].search(spoken[-1])) is not None:
        return ForgetRequest(is_talk=bool(found.group("talk")), is_alone=is_alone)
    return None


def _tells_nothing(sentence: str, code: str) -> bool:
    plain = sentence.lower().rstrip(".!?。！？…、, ")
    return _NOTHING_ELSE[code].fullmatch(f"{plain} " if code == "en" else plain) is not None
