"""Turns a transcript into the query that memory is searched with, and tells words from notes on sounds."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

import neologdn

from server.lettering import in_plain_letters, letters_of

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
    for words in sorted(map(letters_of, wake_words), key=len, reverse=True):
        if not words:
            continue
        name = r"[\s・-]*".join(map(re.escape, words))
        match = re.match(
            rf"\W*{name}(?:さん|くん|[\s、,，。.!！…:：]+)(?P<rest>.*)", text, _AT_HEAD
        )
        if match and any(map(str.isalnum, match["rest"])):
            return match["rest"].lstrip(_EDGE_MARKS + " ")
    return text


def tidy(text: str, most_chars: int) -> str:
    """Return what was said, fit to be shown and kept: without broken characters, and if it is too long, its end alone.

    What somebody said last is what they want an answer to. Letters that only look like others are read as these, so that
    whatever looks at words afterwards sees the same as an eye.
    """
    whole = "".join(c for c in text[-most_chars:] if unicodedata.category(c) != "Cs")
    return in_plain_letters(whole).strip()


def is_noise(text: str) -> bool:
    """Say whether a transcript means that nobody spoke: there is no letter in it, or it is a note on a sound.

    What a recogniser invents in words is told by `server.plausibility`.
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    return not letters_of(text).strip("ー") or _SOUND_NOTE.fullmatch(plain.strip()) is not None


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
