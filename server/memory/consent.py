"""Reads what people say about being remembered: a wish, or the answer to "may I remember such things?"."""

from enum import StrEnum
from typing import NamedTuple

from server.memory.lexicon.expressions import Expressions, expressions
from server.memory.statements import is_question, sentences
from server.memory.terms import read_as


class Wish(StrEnum):
    """What somebody wants of the memory itself."""

    STOP = "stop"
    """Nothing from now on, until they say otherwise."""
    RESUME = "resume"
    NOT_THIS = "not-this"
    """Neither this nor what was said right before."""
    TALK = "talk"
    """Nothing until this talk is over."""


class Wished(NamedTuple):
    """A wish, and whether nothing else was said."""

    wish: Wish
    alone: bool


_ORDER = (Wish.RESUME, Wish.TALK, Wish.NOT_THIS, Wish.STOP)
"""The narrower before the wider: "don't remember this talk" is no wish to be forgotten for good."""


def wish_of(text: str) -> Wished | None:
    """Return the wish that somebody utters, in whatever of the languages; None if there is none.

    A question whether the robot remembers wishes nothing, nor does a sentence about keys that should not be forgotten.
    """
    spoken = sentences(text)
    for sentence in spoken:
        plain = sentence.replace("’", "'").strip()
        lists = expressions("consent", read_as(plain, ""))
        wish = next((one for one in _ORDER if _is_wished(one, plain, lists)), None)
        if wish is not None:
            others = [one for one in spoken if one != sentence and len(one) > _SHORT]
            return Wished(wish, not others)
    return None


_SHORT = 12
"""A sentence of so few letters beside a wish says nothing: "Please.", "お願い。"."""


def _is_wished(wish: Wish, sentence: str, lists: Expressions) -> bool:
    if (
        wish is not Wish.RESUME
        and is_question(sentence)
        and not lists["asked"]["kindly"].search(sentence)
    ):
        return False
    return lists["wish"][str(wish).replace("-", "_")].search(sentence) is not None


_LONGEST_ANSWER = 60


def agrees(text: str) -> bool | None:
    """Return whether an answer agrees; None if it does neither, or says more than that."""
    plain = text.replace("’", "'").strip()
    if len(plain) > _LONGEST_ANSWER:
        return None
    lists = expressions("consent", read_as(plain, ""))["answer"]
    if lists["refused"].search(plain):
        return False
    return True if lists["agreed"].search(plain) else None
