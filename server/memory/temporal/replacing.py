"""Tells a time that another took the place of: "moved from Monday to Wednesday", 水曜じゃなくて木曜."""

import re
from typing import Final

from server.memory.temporal.tenses import JAPANESE_MOVED

_REACH: Final = 80
"""Characters that are looked at before the times; a bound keeps long texts linear."""

_JA_NOT = re.compile(r"(?:の[^。!?、]{1,12}?)?(?:じゃ|では?)なくて?[、, ]?")
_JA_FROM = re.compile(
    r"(?:の[^。!?、]{1,12}?)?(?:から|だった[のん][がをは]|[はがを])(?:[^。!?、]{1,8}で|急に)?[、, ]?"
)

_EN_MOVED = re.compile(
    r"\b(?:moved|postponed|rescheduled|changed|pushed|shifted|switched|put off|brought forward)\b"
    r"(?:(?!\b(?:to|and|off)\b)[^.!?,;]){0,40}\bfrom (?:the )?\Z",
    re.IGNORECASE,
)
_EN_TO = re.compile(r" (?:back |forward )?to (?:the |on )?", re.IGNORECASE)
_EN_NOT = re.compile(r"(?:\bnot|n't) (?:on |for )?(?:the )?\Z", re.IGNORECASE)
_EN_BUT = re.compile(r",? (?:but|it's|it is)(?: rather)?(?: on| for)?(?: the)? ?", re.IGNORECASE)
_EN_NOT_THAT = re.compile(r",? (?:not|instead of|rather than) (?:on )?(?:the )?", re.IGNORECASE)

_ZH_TO = re.compile(r"(?:的[^。!?,]{1,8}?)?(?:改|推迟|延期|提前|挪|换|调)(?:到|在|至|成)了?")
_ZH_NOT = re.compile(r"不是在?\Z")
_ZH_BUT = re.compile(r",?而?是在?")
_ZH_NOT_THAT = re.compile(r"[^。!?,不]{0,6},?而?不是在?")


def japanese_replaced(text: str, old: tuple[int, int], new: tuple[int, int]) -> bool:
    """Return whether the time at `new` takes the place of the one at `old`, wherever that stands."""
    if _JA_NOT.fullmatch(text, old[1], new[0]):
        return True
    moved = JAPANESE_MOVED.match(text, new[1])
    return moved is not None and _JA_FROM.fullmatch(text, old[1], new[0]) is not None


def english_replaced(text: str, old: tuple[int, int], new: tuple[int, int]) -> bool:
    """See `japanese_replaced`."""
    if _EN_NOT_THAT.fullmatch(text, new[1], old[0]):
        return True
    return _around(text, old, new, _EN_MOVED, _EN_TO) or _around(text, old, new, _EN_NOT, _EN_BUT)


def chinese_replaced(text: str, old: tuple[int, int], new: tuple[int, int]) -> bool:
    """See `japanese_replaced`."""
    if _ZH_TO.fullmatch(text, old[1], new[0]) or _ZH_NOT_THAT.fullmatch(text, new[1], old[0]):
        return True
    return _around(text, old, new, _ZH_NOT, _ZH_BUT)


def none_replaced(text: str, old: tuple[int, int], new: tuple[int, int]) -> bool:
    """Return that nothing was: of other languages only explicit dates are read."""
    return False


def _around(
    text: str,
    old: tuple[int, int],
    new: tuple[int, int],
    before: re.Pattern[str],
    between: re.Pattern[str],
) -> bool:
    if between.fullmatch(text, old[1], new[0]) is None:
        return False
    return before.search(text, max(old[0] - _REACH, 0), old[0]) is not None
