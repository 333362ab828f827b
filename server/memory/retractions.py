"""Finds what a person takes back within a turn: a joke, or what is not to be remembered."""

import re
from collections.abc import Sequence

_JOKE = re.compile(
    r"冗談(?!じゃ|では)|なんちゃって|なーんて|なんてね|(?:^|、)(?:うそ|嘘)(?:だよ|です|うそ|ぴょん)"
    r"|\b(?:just|only|was|am|i'm)\ (?:kidding|joking)\b|\b(?:just\ )?a\ joke\b|开玩笑|骗你的|逗你的",
    re.IGNORECASE,
)
_SAID = r"(?:(?:all\ |any\ )?(?:of\ )?(?:that|this|it|those)\b|(?:that\ )?i\ (?:ever\ |just\ |even\ )?(?:said|told|mentioned)\b|(?:what|anything|everything|all)\ i\b)"
_PRIVATE = re.compile(
    rf"""
    (?:^|[,;:.—–-]\s?)\W*(?:(?:please|but|and|so|oh|no|actually|sorry|just|now|you\ can|you\ should|can\ you|could\ you|i'd\ like\ you\ to)[,\s]+)*(?:
        (?:don't|don’t|do\ not|never|no\ need\ to|you\ (?:don't|don’t|do\ not)\ (?:need|have)\ to|you\ needn't|not\ to|i\ (?:don't|don’t|do\ not)\ want\ you\ to)\ (?:ever\ )?
            (?:remember|memori[sz]e|save|store|keep|record|note|write\ down|log)\ (?:down\ )?{_SAID}
        | (?:forget|erase|delete|unremember)\ (?:about\ )?(?!(?:that|this|those)\ (?!please\b|now\b|i\b|my\b)\w){_SAID}(?!\W+(?:i|i'm|my|we)\b)
        | (?:scratch|strike)\ that\b | i\ take\ (?:that|it)\ back\b )
    | (?:覚え|おぼえ|記憶し|記録し|保存し|メモし|残さ)(?:ておか|とか)?(?:な(?:くて|くっ?て)も?(?:いい|良い|大丈夫|結構|よい)|ないで(?:おいて)?|る(?:必要|こと)は?ない)
        (?:です|ください|下さい|ほしい|欲しい|くれ|ちょうだい|よ|ね|から|けど)*[。.!！\s]*$
    | (?:(?:今|いま|さっき|先ほど|先程)(?:の|言った|話した)|それ|その|これ|この|全部|ぜんぶ|みんな)(?:こと|話|の|番号)*[はもを]?(?:もう|全部|すぐ|、)*
        (?:忘れて|消して|無視して|聞かなかったことにして|なかったことにして|取り消して)(?:おいて|ください|下さい|ほしい|欲しい|もらって|くれ|ちょうだい|いい|です|よ|ね|から)*[。.!！\s]*$
    | ^\W*(?:もう|全部|やっぱり|やっぱ|いや|すぐ|、)*忘れて(?:おいて|ください|下さい|ほしい|欲しい|もらって|くれ|ちょうだい|いい|です|よ|ね)*[。.!！\s]*$
    | (?:聞かなかった|なかった|言わなかった)ことに(?:して|しといて)
    | (?:今|いま|さっき)の(?:話|言葉)?は?(?:、)?(?:なし|無し|ナシ|取り消し|撤回|秘密|内緒)(?:で|に|だ|です|ね|よ|して|お願い(?:します)?|ください)*[。.!！\s]*$
    | (?:别|不要|不用|不必|不需要|请勿)(?:帮我)?(?:记|保存|存|记录)(?:住|下来|下|得|着)?(?:了|啦|吧|哦|这个|那个|这|它|这些)*[。.!！\s]*$
    | (?<!我)(?<!我把)(?:(?:这个|那个|这|那|刚才|刚刚)(?:的|说的|话|事|件|句|些)*|我刚才说的|把它)(?:就|你|都|请|可以)*(?:忘了|忘掉|忘记|删掉|删除|不算)(?:吧|它|了|哦|好了)*[。.!！\s]*$
    | (?:忘了|忘掉|忘记)(?:我)?(?:刚才|刚刚|这|那).{{0,6}}(?:吧)?[。.!！\s]*$ | 当我没说 | 我收回
    """,
    re.VERBOSE | re.IGNORECASE,
)
_THIS = re.compile(r"\bthis\b|これ|この|这", re.IGNORECASE)


def taken_back(turn: Sequence[str]) -> set[int]:
    """Return the places of the sentences of a turn that are not to become facts.

    A joke takes back the sentence before it; "don't remember that" all before it, and "don't remember this" at the
    beginning the sentence after it. Those who say so are taken back as well.
    """
    places = joked(turn)
    for place, sentence in enumerate(turn):
        if _PRIVATE.search(sentence):
            places |= {*range(place + 1)}
            if place == 0 and _THIS.search(sentence):
                places.add(1)
    return places


def joked(turn: Sequence[str]) -> set[int]:
    """Return the places of the sentences of a turn that are taken back as a joke: they were never meant."""
    jokes = {place for place, sentence in enumerate(turn) if _JOKE.search(sentence)}
    return jokes | {place - 1 for place in jokes}


def begins_with_secrecy(sentence: str) -> bool:
    """Say whether a sentence is about what is not to be remembered, and tells nothing before that."""
    found = _PRIVATE.search(sentence)
    return found is not None and found.start() == 0
