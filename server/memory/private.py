"""Sorts what somebody says by matters that are not simply kept: religion, politics, sexuality, money, others, and orders for good."""

import re
from collections.abc import Mapping
from enum import StrEnum

from server.memory.lexicon.expressions import FAMILY, expressions
from server.memory.orders import bids_for_good
from server.memory.statements import is_order, is_question
from server.memory.terms import analyse, read_as


class Category(StrEnum):
    """A matter of which each person, or who keeps the house, may want something kept or not."""

    RELIGION = "religion"
    POLITICS = "politics"
    SEXUALITY = "sexuality"
    MONEY = "money"
    OTHERS = "others"
    """What is nobody's business of somebody who is no family: the neighbour's illness, a colleague's debts."""
    RULES = "rules"
    """What the robot is to do for good: "from now on always call me Captain"."""


def category_of(sentence: str, language: str) -> Category | None:
    """Return what a sentence is about that may not simply be kept; None if about nothing such. A question is not.

    One's own health, losses and family are none of these: they are what a companion is for.
    """
    plain = sentence.replace("’", "'").strip()
    if bids_for_good(plain):
        return Category.RULES
    if is_question(plain) or is_order(plain):
        return None
    lists = expressions("private", read_as(plain, language))
    if _is_of_others(plain, language, lists["others"]):
        return Category.OTHERS
    own = lists["own"]
    return next((Category(name) for name, sign in own.items() if sign.search(plain)), None)


def _is_of_others(text: str, language: str, signs: Mapping[str, re.Pattern[str]]) -> bool:
    if not (signs["who"].search(text) and signs["matter"].search(text)):
        return False
    if signs["oneself"].search(text):
        return False
    return not analyse(text, language).persons & (FAMILY | {"family"})
