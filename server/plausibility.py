"""Tells what a recogniser has invented, or what is no turn by itself, from what somebody said to the robot."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from server.lettering import letters_of
from server.turn import Transcript

SUPPORTED_NO_SPEECH: Final = 0.35
SUPPORTED_LOG_PROBABILITY: Final = -0.7
"""How a recogniser that does hear a voice judges itself: real words have 0.0 to 0.25, and -0.1 to -0.6."""

_KANA_SECONDS: Final = 1 / 14
_HAN_SECONDS: Final = 1 / 8
_LETTER_SECONDS: Final = 1 / 25
"""The fastest that anybody speaks: 14 kana, 8 characters or 25 letters a second."""
_HASTE: Final = 0.6
"""What part of that time is still believed: readings and the ends of an utterance are guessed."""

_HAN: Final = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]")
_KANA: Final = re.compile(r"[\u3041-\u30ff]")
_CREDIT_LINE: Final = re.compile(r"(?:中文)?字幕\w{0,4}\s*:.*")


@dataclass(frozen=True, slots=True)
class _Words:
    invented: Mapping[str, frozenset[str]]
    credits: re.Pattern[str]
    hesitations: re.Pattern[str]


def is_implausible(
    heard: Transcript, recogniser: str, voiced_seconds: float, seconds: float
) -> bool:
    """Say whether a transcript can't be what was said.

    A phrase that the recogniser is known to invent needs a sound that supports it: somebody may really say it.

    Args:
        heard: What was recognised, and how sure that is.
        recogniser: Name of the engine.
        voiced_seconds: How much of the utterance sounded like a voice.
        seconds: From its beginning to its last voice.
    """
    needed = _HASTE * least_seconds(heard.text)
    if seconds < needed:
        return True
    if not is_often_invented(heard.text, recogniser):
        return False
    return voiced_seconds < needed or not _is_sure(heard)


def is_hesitation(text: str) -> bool:
    """Say whether somebody has only begun to think: then they go on, or wait for nothing."""
    return _read().hesitations.fullmatch(letters_of(text)) is not None


def is_often_invented(text: str, recogniser: str) -> bool:
    """Say whether a whole text is what a recogniser writes when nobody speaks. One that is not known may write any of them."""
    words, letters = _read(), letters_of(text)
    letters = re.sub(r"^(ん)[んー]*$", r"\1", letters)
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    if words.credits.fullmatch(letters) or _CREDIT_LINE.fullmatch(plain):
        return True
    own = words.invented.get(recogniser.partition(" ")[0])
    phrases = [own] if own is not None else words.invented.values()
    return any(letters in known for known in phrases)


def least_seconds(text: str) -> float:
    """Return the shortest time in which a text can be spoken."""
    letters = letters_of(text)
    han, kana = len(_HAN.findall(letters)), len(_KANA.findall(letters))
    others = len(letters) - han - kana
    return han * _HAN_SECONDS + kana * _KANA_SECONDS + others * _LETTER_SECONDS


def _is_sure(heard: Transcript) -> bool:
    if heard.no_speech_probability is None or heard.log_probability is None:
        return False
    return (
        heard.no_speech_probability <= SUPPORTED_NO_SPEECH
        and heard.log_probability >= SUPPORTED_LOG_PROBABILITY
    )


@cache
def _read() -> _Words:
    source = files("server").joinpath("plausibility.yaml").read_text(encoding="utf-8")
    entries: dict[str, Any] = yaml.safe_load(source)
    return _Words(
        {name: frozenset(map(str, phrases)) for name, phrases in entries["invented"].items()},
        _any_of(entries["credits"]),
        _any_of(entries["hesitations"]),
    )


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
