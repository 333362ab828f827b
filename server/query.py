"""Turns a transcript into the query that memory is searched with, and tells speech from what a recogniser invents."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import neologdn

from server.lettering import in_plain_letters

_MOST_PASSES = 20
_AT_HEAD: Final = re.IGNORECASE | re.DOTALL
_EDGE_MARKS: Final = "。．.！!？?、，,…‥・~〜♪;:｡､‼⁇⁈⁉"

# Hesitations at the head. The second group means something else in "あの人" or "well done", so it needs a comma or blank.
_FILLER = re.compile(
    r"""
    (?: (?: え[えー]*っとー*[ねさ]? | え[えー]+と[ねさ]? | うー+んと | んーっ?と | あのー+ | そのー+ | [嗯呃]+
        | (?:u+h+|u+m+|e+r+m*|h+m+|m{2,}) (?![\w'-]) ) [\s、,，。.…]*
      | (?: えと[ねさ]? | あの[ねさう]? | その | まあ | ねえ | ねぇ | なんか | ほら | うーん | さて | 那个 | 就是 ) [、,，。.…]+ \s*
      | (?: well | so | okay | ok | like | you\ know ) ,+ \s*
    )+
    """,
    re.VERBOSE | re.IGNORECASE,
)

# What Whisper writes when nobody speaks: the ends of the videos it was trained on. A closed list of whole texts; phrases
# that people do say to a robot ("Thank you.", 「おやすみなさい」) are not in it.
_INVENTED: Final = frozenset(
    {
        "ご視聴ありがとうございました",
        "ご視聴ありがとうございます",
        "ご清聴ありがとうございました",
        "最後までご視聴いただきありがとうございました",
        "最後までご視聴ありがとうございました",
        "最後までご視聴頂きありがとうございました",
        "今日の動画はここまでですご視聴ありがとうございました",
        "本日はご覧いただきありがとうございます",
        "ご覧いただきありがとうございます",
        "ご覧いただきありがとうございました",
        "チャンネル登録お願いします",
        "チャンネル登録よろしくお願いします",
        "チャンネル登録をお願いいたします",
        "高評価チャンネル登録よろしくお願いします",
        "次の動画でお会いしましょう",
        "また次の動画でお会いしましょう",
        "次回の動画でお会いしましょう",
        "字幕視聴ありがとうございました",
        "中文字幕",
        "スタッフの",
        "ん",
        "you",
        "thankyouforwatching",
        "thanksforwatching",
        "thankyousomuchforwatching",
        "thankyouverymuchforwatching",
        "thanksforwatchingandillseeyouinthenextvideo",
        "thankyouforwatchingthisvideo",
        "illseeyouinthenextvideo",
        "seeyouinthenextvideo",
        "pleasesubscribetomychannel",
        "pleasesubscribe",
        "likeandsubscribe",
        "dontforgettolikeandsubscribe",
        "谢谢观看",
        "谢谢大家观看",
        "感谢观看",
        "谢谢收看",
        "感谢收看",
        "謝謝觀看",
        "謝謝大家觀看",
        "感謝觀看",
        "请不吝点赞订阅转发打赏支持明镜与点点栏目",
        "請不吝點贊訂閱轉發打賞支持明鏡與點點欄目",
        "优优独播剧场yoyotelevisionseriesexclusive",
        "優優獨播劇場yoyotelevisionseriesexclusive",
        "시청해주셔서감사합니다",
        "구독과좋아요부탁드립니다",
        "vielendankfürszuschauen",
        "mercidavoirregardécettevidéo",
        "graciasporverelvideo",
        "obrigadoporassistir",
        "grazieperlavisione",
        "продолжениеследует",
        "спасибозавнимание",
        "спасибозапросмотр",
    }
)

# Credits of subtitlers and broadcasters, whose names and years vary. Matched against the text without signs and blanks.
_CREDIT = re.compile(
    r".*amaraorg.*|字幕(?:by|志愿者|志願者|由).*|(?:中文)?字幕(?:志愿者|志願者).*|mbc뉴스.*"
    r"|(?:subtitles?|captions?|transcription|translated)by.*|untertitel(?:ung)?(?:imauftragdes|der|von).*"
    r"|soustit(?:res|rage).*|sottotitoli(?:e|creati|dalla|acura).*|subtítulos(?:realizados|por).*|legendas(?:pela|por).*"
    r"|ondertitel(?:s|d|ing).*|napisy(?:stworzone|przez).*|субтитры(?:с?делал|создавал|подогнал).*|редакторсубтитров.*"
)

_CREDIT_LINE = re.compile(r"(?:中文)?字幕\w{0,4}\s*:.*")

# "(music)", "[BLANK_AUDIO]", "*sighs*", "♪~": Whisper's notes on sounds.
_SOUND_NOTE = re.compile(
    r"(?:\s*(?:\([^()]*\)|\[[^\[\]]*\]|\*[^*]+\*|【[^】]*】|♪[^♪]*♪))+[\s.。♪]*"
)


def normalize(transcript_text: str) -> str:
    """Return the form of a transcript that is searched for. Idempotent.

    Width is unified (NFKC), blanks inside Japanese, stretched vowels, hesitations at the head and marks at both ends go.
    So 週末の予定覚えてる, 「えっと、週末の予定覚えてる？」 and the same with "?" find the same memories. Case stays. Not meant for
    a prompt: a question without its mark reads like a statement.
    """
    text = transcript_text
    for _ in range(
        _MOST_PASSES
    ):  # one rule makes work for another, e.g. a mark behind a hesitation
        before, text = text, _simplify(text)
        if text == before:
            break
    return text


def without_wake_word(text: str, wake_words: Iterable[str]) -> str:
    """Return what was said without the name that it begins with ("StackChan, when is …"); a name alone stays.

    Case and blanks in a name don't count. What follows it must be apart from it: "Computers are …" begins with no name.
    """
    for words in sorted(map(_letters, wake_words), key=len, reverse=True):
        if not words:
            continue
        name = r"[\s・-]*".join(map(re.escape, words))
        match = re.match(
            rf"\W*{name}(?:さん|くん|[\s、,，。.!！…:：]+)(?P<rest>.*)", text, _AT_HEAD
        )
        if match and any(map(str.isalnum, match["rest"])):
            return match["rest"].lstrip(_EDGE_MARKS + " ")
    return text


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def tidy(text: str, most_chars: int) -> str:
    """Return what was said, fit to be shown and kept: without broken characters, and if it is too long, its end alone.

    What somebody said last is what they want an answer to. Letters that only look like others are read as these, so that
    whatever looks at words afterwards sees the same as an eye.
    """
    whole = "".join(c for c in text[-most_chars:] if unicodedata.category(c) != "Cs")
    return in_plain_letters(whole).strip()


def is_noise(text: str) -> bool:
    """Say whether a transcript means that nobody spoke: no letter in it, a note on a sound, or an invented phrase.

    Only the *whole* text counts: 「ご視聴ありがとうございましたって何？」 is a question.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(filter(str.isalnum, plain))
    if not letters.strip("ー") or _SOUND_NOTE.fullmatch(plain.strip()):
        return True
    if _CREDIT_LINE.fullmatch(plain.strip()):
        return True
    said = re.sub(r"^(ん)[んー]*$", r"\1", letters)
    return said in _INVENTED or _CREDIT.fullmatch(letters) is not None


def _simplify(text: str) -> str:
    text = "".join(character for character in text if unicodedata.category(character) != "Cs")
    text = unicodedata.normalize("NFKC", text)
    text = "".join(
        " " if character.isspace() else character
        for character in text
        if character.isspace() or unicodedata.category(character) not in ("Cc", "Cf")
    )
    # The default would drop the sign in 3〜5時.
    text = neologdn.normalize(text, tilde="ignore")
    text = _without_edge_marks(text)
    filler = _FILLER.match(text)
    rest = _without_edge_marks(text[filler.end() :]) if filler else text
    return rest or text  # who only hesitated has said that


def _without_edge_marks(text: str) -> str:
    return text.strip(_EDGE_MARKS + " ")
