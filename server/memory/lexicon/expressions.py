"""Lists of expressions by which a sentence is sorted, without a model: each a regular expression, by group and class."""

import re
from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from server.memory import lexicon
from server.memory.wording import without_dates, without_frame

Expressions: TypeAlias = Mapping[str, Mapping[str, re.Pattern[str]]]
"""Group to class to what matches any expression of the class."""

LANGUAGES = ("ja", "en", "zh")
FAMILY = lexicon.KIN | {
    "mother_in_law", "father_in_law", "sister_in_law", "brother_in_law", "child_in_law",
}  # fmt: skip
"""Classes of people in a family, by blood or marriage."""
CLOSE = FAMILY | {"family", "friend"}
"""Classes of people whom somebody grieves for. Pets are a notion of their own."""


@cache
def expressions(name: str, language: str) -> Expressions:
    """Return the expressions of a list in one language.

    A list may name pieces of its own, in a group ``pieces``: ``<name>`` stands for one in all that comes behind.

    Args:
        name: Of the list, without the ending of its file.
        language: Two-letter code; of one that is not in the lists, English counts.
    """
    code = language if language in LANGUAGES else "en"
    content = lexicon.written(name)
    pieces = {
        piece: f"(?:{'|'.join(by_language.get(code, ()))})"
        for piece, by_language in content.get("pieces", {}).items()
    }
    return {
        group: {
            sort: _pattern(by_language[code], code, pieces)
            for sort, by_language in classes.items()
            if by_language.get(code)
        }
        for group, classes in content.items()
        if group != "pieces"
    }


def as_told(text: str) -> str:
    """Return a fact in the words of the person, in which expressions are looked for: "You have …" becomes "I have …".

    What is quoted in a fact of the rules is in these words already; there, "you" is whom they talked to.
    """
    plain = without_dates(text).replace("’", "'")
    quoted = without_frame(plain)
    if quoted != plain:
        return quoted
    for second, first in _FIRST_PERSON:
        plain = second.sub(first, plain)
    return plain


_OBJECT_OF = "told|tells?|lets?|gives?|gave|makes?|made|wants?|asked|advised|forbidden|forbids?|forbade|stung|kill|for|to|by|with|of|about"
_FIRST_PERSON = [
    (re.compile(second, re.IGNORECASE), first)
    for second, first in (
        (r"\byou(?:'re| are)\b", "I am"),
        (r"\byou were\b", "I was"),
        (rf"\b({_OBJECT_OF}) you\b", r"\1 me"),
        (r"\byou\b", "I"),
        (r"\byour\b", "my"),
        (r"\byours\b", "mine"),
        (r"\byourself\b", "myself"),
        ("あなた", "私"),
        ("你", "我"),
    )
]


def _pattern(alternatives: list[str], language: str, pieces: Mapping[str, str]) -> re.Pattern[str]:
    text = "|".join(alternatives)
    for name, words in {**_words(language), **pieces}.items():
        text = text.replace(f"<{name}>", words)
    if language == "en":
        text = rf"(?<!\w)(?:{text})(?!\w)"
    return re.compile(text, re.IGNORECASE)


@cache
def _words(language: str) -> Mapping[str, str]:
    """Return what names in angle brackets stand for: `kin` for the family, `close` for friends and pets as well."""
    people, notions = lexicon.persons(language), lexicon.concepts(language)
    known = {**people.words, **people.phrases}
    kin = _any_of([word for word, kinds in known.items() if lexicon.KIN & {*kinds}])
    close = _any_of([word for word, kinds in known.items() if CLOSE & {*kinds}])
    named = {**notions.words, **notions.phrases}
    pets = _any_of([word for word, kinds in named.items() if "pet" in kinds and word not in _KEEP])
    frame = _FRAMES[language]
    return {
        "kin": frame.format(kin),
        "close": f"(?:{frame.format(close)}|{frame.format(pets)})",
        "past": r"た(?!い|く|ら|り|が[るりっ]|かっ)",
        **_REQUESTS,
    }


_REQUESTS = {
    "never": r"(?:もう|あまり|あんまり|二度と|絶対に?|決して|これ以上|これから|今後|一切|私に|僕に|俺に|私の前では?|なるべく|できれば|、)*",
    "bid": r"(?=ください|下さい|ほし|欲し|くれ|もらえ|もらい|いただ|頂|ちょうだい|頂戴|おいて|ね|よ|お願い|に(?:して|お願い)|[、。,.!！?？…\s]|$)",
    "request": (
        r"(?:(?:^|[,;:—–!] ?|[.] |please )(?:(?:please|just|so|and|but|kindly|hey|ok|okay|from now on|again),? )*(?:don'?t|do not|never|try not to|let's not|stop|quit|avoid|no more)"
        r"|(?:can|could|would|will) (?:you|we) (?:please |maybe |just )*(?:not|never|stop|avoid)"
        r"|(?:rather|prefer(?: it)?|appreciate it|glad|grateful|happy|nice|kind|like it|better|best|hope)(?: that| if)? (?:you|we) (?:didn't|don't|won't|do not|did not|never|not|wouldn't|avoid(?:ed)?|stop(?:ped)?|could (?:not|stop|avoid)|would (?:not|stop|avoid))"
        r"|(?:don't|do not|never) (?:want|like|need) (?:you|anyone|anybody|people|others) to"
        r"|(?:ask(?:ed)?|want|beg|told|need|like) (?:you|people) (?:not to|never to|to not|to never)"
        r"|you (?:must|should|need|are|'re)(?:n't| not| never)(?: to)?)"
        r"(?: (?:please|ever|even|you|keep|go|going|start|to|be))*"
    ),
    "raise": r"(?:(?:talk|speak|chat|ask|tell|hear)(?:ed|ing|s)?(?: (?:to|with) (?:me|us))?(?: (?:me|us))?(?: (?:anything|any ?more|again|questions|any questions|more|openly))*"
    r" (?:about|of)|remind(?:ed|ing)? me of|mention(?:ed|ing)?|(?:bring(?:ing)?|brought) up|discuss(?:ed|ing)?|refer(?:red|ring)? to)",
    "matter": r"(?!(?:(?:it|that|this|these|those|them|him|her|me|you|yourself|anything|something|everything|nothing|things?|stuff)\b"
    r"(?=\ *(?:$|[.,;!?]|\b(?:again|now|any ?more|please|ever|to|too|with|here|today|okay|ok|yet|so|in|at|for|like|when|while|until)\b))"
    r"|what\b|how\b|why\b|so\b))[\w'-]+(?![^.,;!?]* to (?:anyone|anybody|him|her|them|others|people|the (?:kids|children|others)|my \w+\W*$))",
    "refrain": r"(?:别|別|不要|不许|不許|不准|请勿|請勿)(?:再|跟我|对我|對我|和我|跟我们|当着我的面|在我面前|老是?|总是?|又|随便|去|来|动不动就)*",
}
"""Pieces of expressions for what is not to be mentioned: how it is put, and what "it" may not be."""
_FRAMES = {
    "ja": "(?:(?<![丈工義]){}(?![公校指切方子友戚]))",
    "en": r"(?:(?<!\w){}(?:-in-law|s)?(?!\w))",
    "zh": "(?:(?<![妈爸姐哥]){}(?![妈爸姐哥]))",
}
"""What keeps a word for a person from being a part of another: 丈夫, 主人公, 妈妈, "parentheses"."""
_KEEP = frozenset({"飼う", "飼い"})
"""Words about pets that are no pets."""


def _any_of(words: list[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"
