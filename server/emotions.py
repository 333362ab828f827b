"""The closed vocabulary of emotions, and every name and emoji by which a language model may mean one of them."""

import re
import unicodedata
from enum import StrEnum


class Emotion(StrEnum):
    """What a face can show: the 21 names of the xiaozhi firmware's emoji set."""

    NEUTRAL = "neutral"
    HAPPY = "happy"
    LAUGHING = "laughing"
    FUNNY = "funny"
    SAD = "sad"
    ANGRY = "angry"
    CRYING = "crying"
    LOVING = "loving"
    EMBARRASSED = "embarrassed"
    SURPRISED = "surprised"
    SHOCKED = "shocked"
    THINKING = "thinking"
    WINKING = "winking"
    COOL = "cool"
    RELAXED = "relaxed"
    DELICIOUS = "delicious"
    KISSY = "kissy"
    CONFIDENT = "confident"
    SLEEPY = "sleepy"
    SILLY = "silly"
    CONFUSED = "confused"


# Names besides the emotion's own. The VRM names joy, sorrow and fun are what AIAvatarKit's prompts ask for.
_NAMES = {
    Emotion.NEUTRAL: "calm serious 無表情 真顔 中立 平静",
    Emotion.HAPPY: "joy joyful smile smiles smiling happily glad cheerful pleased delighted excited "
    "喜 喜び 嬉しい うれしい 笑顔 微笑み 微笑 にっこり ニコニコ にこにこ 幸せ 高兴 开心 快乐 高興 開心",
    Emotion.LAUGHING: "fun laugh laughs laughter lol giggle giggles chuckle chuckles grin grins "
    "楽 楽しい 楽しみ 笑 笑い 爆笑 笑う w 大笑 哈哈",
    Emotion.FUNNY: "amused hilarious 面白い おもしろい 愉快 好笑 搞笑",
    Emotion.SAD: "sorrow sadness unhappy sorry sigh sighs disappointed lonely depressed "
    "哀 哀しい 悲 悲しい かなしい 悲しみ 寂しい さびしい しょんぼり 残念 难过 伤心 難過 傷心 悲伤",
    Emotion.ANGRY: "anger mad furious annoyed irritated pout pouting "
    "怒 怒り 怒る ぷんぷん プンプン 生气 愤怒 生氣 憤怒",
    Emotion.CRYING: "cry cries tears sob sobs sobbing weeping 泣 泣き 泣く 涙 号泣 哭 哭泣 大哭",
    Emotion.LOVING: "love loved affection affectionate adoring 愛 大好き 好き ラブ 爱 喜爱 喜欢",
    Emotion.EMBARRASSED: "embarrassment shy blush blushing blushes ashamed bashful "
    "照 照れ 照れる てれ 恥ずかしい 赤面 汗 害羞 尴尬",
    Emotion.SURPRISED: "surprise astonished amazed wow 驚 驚き 驚く びっくり ビックリ 惊讶 驚訝 吃惊",
    Emotion.SHOCKED: "shock horrified scared fear afraid ショック 衝撃 恐怖 怖い 震惊 害怕",
    Emotion.THINKING: "think thoughtful pondering curious hmm doubt doubtful "
    "考 考え中 思考 考える 疑問 悩み 思案 思考中",
    Emotion.WINKING: "wink winks playful ウインク ウィンク 眨眼",
    Emotion.COOL: "クール かっこいい 酷",
    Emotion.RELAXED: "relax relaxing relieved peaceful gentle 安心 リラックス ほっこり ほっと 放松",
    Emotion.DELICIOUS: "yummy tasty hungry drooling おいしい 美味しい うまい 好吃 美味",
    Emotion.KISSY: "kiss kisses kissing キス チュー 亲亲",
    Emotion.CONFIDENT: "proud pride smug determined 自信 ドヤ ドヤ顔 どや顔 得意 自豪",
    Emotion.SLEEPY: "sleep sleeping tired yawn yawns bored 眠い ねむい 眠 睡眠 困 困倦",
    Emotion.SILLY: "goofy tease teasing ふざけ おどけ いたずら 調皮 调皮",
    Emotion.CONFUSED: "confusion puzzled unsure uncertain worried worry anxious nervous "
    "困惑 混乱 戸惑い 不安 心配 困った 疑惑 困る",
}

_EMOJI = {
    Emotion.NEUTRAL: "😶😐😑🫥",
    Emotion.HAPPY: "🙂😀😃😄😁😊☺🥳🎉✨🤗😺👍🙌",
    Emotion.LAUGHING: "😆😅😸",
    Emotion.FUNNY: "😂🤣😹",
    Emotion.SAD: "😔☹🙁😞😟😢🥺😿💔😥😓",
    Emotion.ANGRY: "😠😡🤬😤💢👿",
    Emotion.CRYING: "😭",
    Emotion.LOVING: "😍🥰❤💕💖💗💓💞💛💚💙💜🧡🩷😻",
    Emotion.EMBARRASSED: "😳🫣🙈🫢",
    Emotion.SURPRISED: "😯😮😲🤩",
    Emotion.SHOCKED: "😱😨😰😧😦🤯🙀",
    Emotion.THINKING: "🤔🧐💭",
    Emotion.WINKING: "😉",
    Emotion.COOL: "😎🤘",
    Emotion.RELAXED: "😌😇",
    Emotion.DELICIOUS: "🤤😋",
    Emotion.KISSY: "😘😗😙😚💋",
    Emotion.CONFIDENT: "😏💪",
    Emotion.SLEEPY: "😴😪🥱💤",
    Emotion.SILLY: "😜😝😛🤪",
    Emotion.CONFUSED: "🙄😕😖😣😵🤷",
}

_BY_NAME = {emotion.value: emotion for emotion in Emotion} | {
    name: emotion for emotion, names in _NAMES.items() for name in names.split()
}
_BY_EMOJI = {emoji: emotion for emotion, all_emoji in _EMOJI.items() for emoji in all_emoji}

# What stands before the name in tags such as [face:joy] or <emotion="sad">.
_PREFIX = re.compile(r"^(?:face|emotion|emo|mood|expression|feeling|表情|感情)\s*[:=：]\s*")

EMOJI = (
    r"[\u2190-\u21ff\u231a-\u23ff\u25a0-\u27bf\u2934-\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    r"\U0001f000-\U0001faff\ufe0e\ufe0f\u200d\u20e3\U000e0020-\U000e007f]"
)
"""Regular expression of one character of an emoji, of a note (♪) or of a like picture, joiners and modifiers included."""

_EMOJI_CHARACTER = re.compile(EMOJI)


def is_emoji(character: str) -> bool:
    """Say whether `character` is (a part of) an emoji or a like picture."""
    return _EMOJI_CHARACTER.fullmatch(character) is not None


def emotion_named(name: str) -> Emotion | None:
    """Return the emotion that `name` means in English, Japanese or Chinese, in any case and width.

    Args:
        name: The inside of a tag: ``joy``, ``face: joy``, ``照れ``, or an emoji.
    """
    plain = unicodedata.normalize("NFKC", name).strip().casefold()
    plain = _PREFIX.sub("", plain).strip("\"' ")
    return _BY_NAME.get(plain) or emotion_of_emoji(plain)


def emotion_of_emoji(text: str) -> Emotion | None:
    """Return what the first telling emoji in `text` expresses, None if there is none."""
    return next((_BY_EMOJI[character] for character in text if character in _BY_EMOJI), None)


def emoji_for(emotion: Emotion) -> str:
    """Return the emoji that stands for `emotion` on a display: the first of those that mean it."""
    return _EMOJI[emotion][0]
