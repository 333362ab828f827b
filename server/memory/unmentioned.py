"""Finds requests not to be spoken to about something, and what takes them back: "don't mention my son", "you can ask about him".

A request to the robot is no statement about a life, with this one exception: it has to be kept to for good.
"""

import re
from functools import lru_cache

from server.memory.lexicon.expressions import expressions
from server.memory.terms import read_as

_PUT_OTHERWISE = {
    "ja": "人に話を話題にして、話して、言って、聞いて、尋ねて、触れて、口にして、名前を出して、持ち出してほしくない、されたくない。聞きたくない。思い出したくない。頼んだ。してもいい。大丈夫。構わない。",
    "en": "You asked, you would prefer, you do not want anyone to talk, be talked, speak, be spoken to, ask, be asked, questioned, mention, be mentioned, "
    "bring up, be brought up, hear, be reminded, discuss, be discussed, name, the subject, the topic of it. You are fine, it is okay, you allow it, you do not mind.",
    "zh": "要求不想让别人再提起提到谈起谈论聊起说起问起问到听到想起被机器人希望愿意可以允许介意话题名字的事情",
}

_BESIDE = re.compile(
    r"[.;:!?,](?=\s|$)|\b(?:because|since|but|and|so)\b|[。！？；，、]|から|ので|けれ?ど|因为|所以|但是?",
    re.IGNORECASE,
)
"""Between a permission and the reasons for it."""
_TOPIC = re.compile(
    r"(?:話題?|こと|件|名前|は|も|なら|的事情?|话题|名字)\W*$|^\W*(?:about|as for|regarding|关于)\b",
    re.I,
)
"""What only names something, so that the permission behind it is for that: "about my son, you can ask again"."""


def put_otherwise(language: str) -> str:
    """Return the words in which such a request, or the end of it, may be told of somebody."""
    return _PUT_OTHERWISE.get(language, _PUT_OTHERWISE["en"])


@lru_cache(maxsize=2_000)
def asks_not_to_mention(sentence: str) -> bool:
    """Say whether a sentence asks never to mention something that it names; one for today, or about "it", does not."""
    lists = expressions("standing", read_as(sentence, ""))
    plain = sentence.replace("’", "'").strip()
    if lists["around"]["for_now"].search(plain):
        return False
    return lists["do_not_mention"]["asked"].search(plain) is not None


def asks_for_silence(sentence: str) -> bool:
    """Say whether a sentence asks not to speak of something, be it only for now: "I don't want to hear about football tonight"."""
    lists = expressions("standing", read_as(sentence, ""))["do_not_mention"]
    plain = sentence.replace("’", "'").strip()
    return any(sign.search(plain) for sign in lists.values())


def is_about_mentioning(sentence: str) -> bool:
    """Say whether a sentence asks not to mention something, or allows it again."""
    signs = (asks_not_to_mention, asks_not_to_mention_them, allows_to_mention)
    return any(sign(sentence) for sign in signs)


def asks_not_to_mention_them(sentence: str) -> bool:
    """Say whether a sentence asks the same of somebody or something that the one before it names: "don't talk about him"."""
    asked = expressions("standing", read_as(sentence, ""))["do_not_mention"]["asked_of_them"]
    return asked.search(sentence.replace("’", "'").strip()) is not None


def allows_to_mention(text: str) -> bool:
    """Say whether a text allows to speak of something again."""
    allowed = expressions("standing", read_as(text, ""))["mention_allowed"]["any"]
    return allowed.search(text.replace("’", "'")) is not None


def allowed(text: str) -> str:
    """Return the part of a text that says what may be spoken of again, without the reasons beside it; empty if nothing may."""
    plain = text.replace("’", "'")
    found = expressions("standing", read_as(text, ""))["mention_allowed"]["any"].search(plain)
    if found is None:
        return ""
    ends = [0, *(match.end() for match in _BESIDE.finditer(plain, 0, found.start()))]
    start = ends.pop()
    while ends and _TOPIC.search(plain[ends[-1] : start]):
        start = ends.pop()
    behind = _BESIDE.search(plain, found.end())
    return plain[start : behind.start() if behind else len(plain)]
