"""What the rules of the guard look at: a line of memory, the sentence that is about to be spoken, and the expressions for both."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from server.memory.lexicon.expressions import as_told, expressions
from server.memory.standing import Matter, read_matter
from server.memory.statements import sentences
from server.memory.terms import read_as

Signs: TypeAlias = Mapping[str, re.Pattern[str]]
"""Class to what matches its expressions, in one language."""

LONGEST = 400
"""Characters of a sentence that are looked at; the splitter makes shorter ones."""


@dataclass(frozen=True, slots=True)
class Line:
    """A fact, as the rules read it."""

    id: str
    text: str
    """In the words of the person: "I am allergic to …"."""
    language: str
    """By whose rules it is read."""
    matter: Matter | None
    """Why it has to stand; None of what is only recalled."""

    @property
    def sentences(self) -> list[str]:
        """Its sentences."""
        return sentences(self.text)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence on its way to the voice, and what it answers."""

    text: str
    language: str
    """By whose rules it is read."""
    question: str = ""
    """What the person said."""
    said: str = ""
    """What the reply has said before."""

    @property
    def is_question(self) -> bool:
        """Whether it asks something by its mark."""
        return self.text.rstrip("\"'”」』)） ").endswith(("?", "？"))


def read_line(id_: str, text: str, language: str) -> Line:
    """Prepare a fact for the rules."""
    told = as_told(folded(text))
    return Line(id_, told, read_as(told, language), read_matter(text, language))


def spoken(text: str, language: str, question: str = "", said: str = "") -> Spoken:
    """Prepare a sentence for the rules."""
    plain = folded(text)[-LONGEST:]
    return Spoken(plain, read_as(plain, language), question, said)


def folded(text: str) -> str:
    """Return a text in one width, with straight apostrophes; stops and commas of Japanese and Chinese stay as they are."""
    wide = "".join(
        sign if sign in "？！，；：（）" else unicodedata.normalize("NFKC", sign) for sign in text
    )
    return wide.replace("’", "'")


def signs(group: str, language: str) -> Signs:
    """Return the expressions of a group of `lexicon/guarding.yaml`."""
    return expressions("guarding", language).get(group, {})


@cache
def filled(group: str, sort: str, language: str, **words: str) -> re.Pattern[str] | None:
    """Return the expressions of a class with patterns in the place of the names in angle brackets; None if it has none."""
    sign = signs(group, language).get(sort)
    if sign is None:
        return None
    text = sign.pattern
    for name, pattern in words.items():
        text = text.replace(f"<{name}>", pattern)
    return re.compile(text, re.IGNORECASE)


def has(group: str, sort: str, spoken_: Spoken | Line, text: str | None = None) -> bool:
    """Say whether a text holds an expression of a class."""
    sign = signs(group, spoken_.language).get(sort)
    return sign is not None and sign.search(spoken_.text if text is None else text) is not None
