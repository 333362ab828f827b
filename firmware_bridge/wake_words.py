"""Tells a wake word from a typed sentence: robots and text clients send both in the same message."""

import unicodedata
from collections.abc import Iterable

WAKE_WORDS = (
    "Hi StackChan",
    "Hey StackChan",
    "StackChan",
    "ハイスタックチャン",
    "ねえスタックチャン",
    "スタックチャン",
    "你好小智",
    "小智小智",
    "你好小鑫",
    "小爱同学",
    "Hi ESP",
    "Hi 乐鑫",
    "Hi M Five",
    "Hi Lily",
    "Hi Jason",
    "Alexa",
    "Jarvis",
    "Computer",
    "wakeup",
)
"""Words that robots on the xiaozhi firmware are known to be woken by, and what some send for a touch."""

_LONGEST_WAKE_WORD = 64


class WakeWordJudge:
    """Decides what a `listen detect` message means, from its text and from what the microphone did before.

    A robot sends `detect` when it has heard its wake word: it is idle then, so it first sends the seconds of sound that
    held the word, then `detect`, and only after that opens its microphone with `listen start`. Text clients send the
    same message for a line that somebody typed; xiaozhi-sdk opens the microphone right after its hello, may be
    streaming sound all the time, and sends its text in the midst of it. So sound alone proves nothing; sound *outside* of
    `listen start` … `listen stop` does. It is a wake word if

    1. there is no text; or
    2. the text is a known wake word (capitals, width, blanks and punctuation don't count); or
    3. the microphone is closed, and since it closed, or since the connection, half a second of sound or more
       has arrived. The half second spares push-to-talk clients whose last packets overtake their `listen stop`.

    A robot with an unknown wake word that does not send the sound of it is misread as a typed line: name its
    wake word in the configuration.
    """

    _WAKE_SOUND_MS = 500

    def __init__(self, wake_words: Iterable[str]) -> None:
        self._wake_words = {_simplify(word) for word in wake_words} - {""}
        self._is_open = False
        self._stray_ms = 0.0

    def open_microphone(self) -> None:
        """Note that the robot began to listen."""
        self._is_open = True
        self._stray_ms = 0.0

    def close_microphone(self) -> None:
        """Note that the robot stopped listening, or has only just connected."""
        self._is_open = False
        self._stray_ms = 0.0

    def hear(self, duration_ms: float) -> None:
        """Note that sound arrived."""
        if not self._is_open:
            self._stray_ms += duration_ms

    def is_wake_word(self, text: str) -> bool:
        """Judge one `detect`, and forget the sound that came before it."""
        has_wake_sound = self._stray_ms >= self._WAKE_SOUND_MS
        self._stray_ms = 0.0
        if not text.strip() or has_wake_sound:
            return True
        return len(text) <= _LONGEST_WAKE_WORD and _simplify(text) in self._wake_words


def _simplify(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded))
