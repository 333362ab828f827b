"""Tells what a talk asks for of the persona from what belongs into other layers, in what a model wrote or the rules found.

What is drawn for Soul or Identity has to be asked for by the person, in words that they said. What would get into memory as a
fact, though it says who the robot is, is left out there: it would stand in prompts beside what is fixed.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from server.memory.answer_parts import PersonaDraft
from server.memory.attribution import sentences_around
from server.memory.checks import is_quoted, pages_of, plain_line
from server.memory.grounding import is_spoken
from server.memory.harvest import Asked
from server.memory.layers.fields import FIELDS, FieldKey, LayerName, field_of
from server.memory.layers.requests import requests_in
from server.memory.models import Page
from server.memory.statements import is_hypothetical, is_question
from server.memory.terms import letters

MISFILED, UNSAID = "layer-misfiled", "layer-unsaid"
"""Why something is left out: it belongs elsewhere; the person did not ask for it."""

_FOR_GOOD = re.compile(
    r"\bfrom (?:now|today|this day) on,?\s+(?:please\s+|(?:can|could|would|will) you\s+)?(?!(?:i|i'm|i'll|we|my|our|it|he|she|they|there|the|this|that)\b)"
    r"|(?:これから|今日から|今後|ずっと)[^。]*(?:て(?:ください|下さい|ほしい|欲しい|くれ|ね|よ)|なさい|あなた|きみ|君|お前|おまえ)"
    r"|(?:从现在|从今|以后|今后)[^。]*(?:你|请)",
    re.IGNORECASE,
)
"""What is asked of the robot to last, in whatever words it is put."""


class SortedOut(NamedTuple):
    """What is left of what a model drew for the persona."""

    asked: tuple[Asked, ...]
    left_out: Counter[str]
    """By reason."""


def sorted_out(
    drafts: Sequence[PersonaDraft], pages: Sequence[Page], only: LayerName | None = None
) -> SortedOut:
    """Return what the person really asked for, in their words; each field of an exchange once.

    Args:
        drafts: As a model wrote them.
        pages: What it read.
        only: The layer that it was asked about; what it writes for another is left out.
    """
    found: dict[tuple[FieldKey, str], Asked] = {}
    left_out = Counter[str]()
    for draft in drafts:
        field = field_of(*draft.field.partition(".")[::2])
        if field is None or field.layer is not (only or field.layer):
            left_out[MISFILED] += 1
            continue
        asked = _asked(FieldKey(field.key), draft, pages)
        if asked is None:
            left_out[UNSAID] += 1
        else:
            found.setdefault((asked.key, asked.page), asked)
    return SortedOut((*found.values(),), left_out)


def tells_of_persona(text: str, quote: str, agent: str = "") -> bool:
    """Say whether a fact tells who the robot is to be.

    Args:
        text: The fact.
        quote: The words that it was drawn from.
        agent: The name that stands in facts about the robot; empty if it is about the person.
    """
    asked = (letters(request.value) for request in requests_in(quote))
    if any(value in letters(text) for value in asked if value):
        return True
    return bool(agent) and any(requests_in(told) for told in _as_told_to(agent, text))


def _asked(key: FieldKey, draft: PersonaDraft, pages: Sequence[Page]) -> Asked | None:
    for page in pages_of(draft.turn, pages):
        if not is_quoted(draft.quote, page):
            continue
        for sentence in sentences_around(draft.quote, page.said):
            if value := _value(key, draft, sentence, page):
                return Asked(key, value, page.person, page.id)
    return None


def _value(key: FieldKey, draft: PersonaDraft, sentence: str, page: Page) -> str:
    """Return what a sentence asks for in a field: by a sure form, else as a model put it, in words of the person."""
    sure = next((one.value for one in requests_in(sentence) if one.key is key), "")
    if sure or key is FieldKey.NAME:
        return sure
    if is_question(sentence) or is_hypothetical(sentence) or not _FOR_GOOD.search(sentence):
        return ""
    value = plain_line(draft.value, FIELDS[key].longest)
    return value if value and is_spoken(value, draft.quote, page.said, page.language) else ""


_ITS_NAME = (
    (re.compile(r"\b(?:its|his|her|their) (?:own )?name\b", re.IGNORECASE), "your name"),
    (re.compile("(?:自分|じぶん|それ)の名前"), "あなたの名前"),
    (re.compile("(?:它|他|她)?(?:自己)?的名字"), "你的名字"),
)


_SAID = r"(?:(?:said|told you|says|answered)\s(?:that\s)?|说|告诉你)"


def _as_told_to(agent: str, text: str) -> list[str]:
    """Return a sentence about the robot as it would be said to it."""
    for its, your in _ITS_NAME:
        text = its.sub(your, text)
    english = re.sub(rf"^{re.escape(agent)}'s\b", "Your", text)
    english = re.sub(rf"^{re.escape(agent)}(?: is| has been| was) (?=\w)", "You are ", english)
    told = re.sub(rf"^{re.escape(agent)}\s*{_SAID}", "", english)
    return [english, told, text.replace(agent, "あなた", 1), text.replace(agent, "你", 1)]
