"""Tells whether a Japanese sentence that ends in its て-form bids (電気を消してね) or only goes on telling (手首を折ってね)."""

import re

from server.memory.subjects import has_living_subject
from server.memory.terms import words_of

_END = r"(?:くれる|ね)?[。.!！]*$"
# だって at the end is hearsay: 飲み会だって.
_TE_FORM = re.compile(
    rf"(?<!く)(?<![っいしきりぎびみちにえけせてねべめれげぜ]たっ)(?<!だっ)(?<!るっ)[てで]{_END}"
)
_ALWAYS_BIDS = re.compile(
    r"(?:教え|言っ|聞かせ|見せ|伝え|起こし|つけ|付け|消し|かけ|止め|流し|鳴らし|開け|閉め|読ん|歌っ|調べ|探し|静かにし|手伝っ"
    rf"|(?:待っ|見|覚え|持っ|黙っ|起き|座っ|寝|聞い|置い|立っ|(?<![一-龯])い|(?<![一-龯])し|やめ)[てで])[てで]{_END}"
)
_STILL_DOES = re.compile(r"[ぁ-ん](?<!し)[てで][てで]ね?[。.!！]*$")
# What nobody does because they are told to.
_BEFALLS = re.compile(
    r"(?:転ん|亡くなっ|亡くし|無くし|失くし|死ん|倒れ|生まれ|痛め|(?:骨折|怪我|入院|退院|結婚|離婚|卒業|合格|妊娠|退職|引退)し|引っ越し|受かっ|負け"
    r"|(?:飲み|置き|し|買い)忘れ|風邪を?(?:引い|ひい)|疲れ|困っ|[いきしちにびみり]始め|住ん|勤め|飼っ|患っ|太っ|痩せ|ことになっ|ことにし)"
    rf"[てで](?:き[てで])?{_END}"
)
_PAST = re.compile(
    r"(?:この間|こないだ|この前|先日|先週|先月|先々週|昨日|きのう|おととい|一昨日|昨夜|ゆうべ|今朝|さっき|去年|昨年|一昨年|最近|昔|若い頃"
    r"|[0-9一二三四五六七八九十数半]+(?:年|か月|ヶ月|カ月|週間|日|時間)前)(?!の)"
)
_PICKED_OUT = re.compile(r"[たっいんし][ただ](?=[一-龯ァ-ヶとの])")
"""What names a thing by its past: 昨日買った牛乳."""
_SUBORDINATE = re.compile(
    r"たら|なら|れば|(?<![週月年日朝昔近])から|ので|とき|時は|けど|まで|前に|後で|[だるいたよね]って(?!る|た|て)|と(?:言|伝)"
)
_MANNERS = re.compile(
    r"(?:声|語|音|音量|大きさ|速さ|口調|言葉|後|あと|内緒|秘密|感じ|元気|まま|方|ほう|だけ|抜き|なし|こと)でね[。.!！]*$"
)
"""How something is to be done: 小さい声でね."""


def bids(sentence: str) -> bool:
    """Say whether a sentence bids in the て-form, with ね, くれる or nothing behind it."""
    return _TE_FORM.search(sentence) is not None and not _tells_on(sentence)


def _tells_on(sentence: str) -> bool:
    if _ALWAYS_BIDS.search(sentence):
        return False
    if _STILL_DOES.search(sentence) or _BEFALLS.search(sentence) or _is_state(sentence):
        return True
    if _SUBORDINATE.search(sentence):
        return False
    is_past = _PAST.search(sentence) is not None and not _PICKED_OUT.search(sentence)
    return is_past or _has_subject(sentence) or has_living_subject(sentence)


def _is_state(sentence: str) -> bool:
    """Say whether a sentence ends in what somebody is, or in what was done to them: 糖尿病でね, 言われてね."""
    words = [word for word in words_of(sentence) if word.part_of_speech()[0] != "補助記号"]
    ends_softly = bool(words) and words[-1].surface() == "ね"
    if ends_softly:
        words.pop()
    if len(words) < 2 or words[-1].surface() not in ("て", "で"):
        return False
    before = words[-2]
    part, detail = before.part_of_speech()[:2]
    if part == "助動詞" and before.dictionary_form() in ("れる", "られる"):
        return True
    is_named = part in ("名詞", "接尾辞", "形状詞") and detail != "助動詞語幹"
    return ends_softly and is_named and not _MANNERS.search(sentence)


def _has_subject(sentence: str) -> bool:
    """Say whether it is said what does it: 薬が変わってね."""
    return any(
        word.surface() == "が" and word.part_of_speech()[1] == "格助詞"
        for word in words_of(sentence)
    )
