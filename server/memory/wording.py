"""The forms of a text that are compared: without dates, without its subject, in one spelling.

Questions are asked in the first person, facts are told in the second. Both lose the subject before they are embedded,
so that "where do I live" and "you live in Leeds" lie close together.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from server.memory import temporal
from server.memory.temporal import TimeSpan
from server.memory.terms import Analysis, analyse
from server.query import normalize

_BRACKETS = re.compile(r"\s*[(（][^()（）]*\d[^()（）]*[)）]")
_SUBJECT_JA = re.compile(r"^(?:あなた|私|わたし|僕|ぼく|俺|おれ|うち)(?:は|の|が|って|には|、)?")
_FRAMES = {"ja": "あなたは「{}」と話した。", "zh": "你说过：“{}”。", "en": 'You said: "{}"'}
"""What stands around a statement that is kept word for word."""
_FRAMED = re.compile(
    "|".join(re.escape(frame).replace(r"\{\}", "(.+)") for frame in _FRAMES.values()), re.DOTALL
)


def framed(words: str, language: str) -> str:
    """Put a statement into the form of a fact without changing a word of it."""
    return _FRAMES.get(language, _FRAMES["en"]).format(words)


def quoted(sentence: str, language: str) -> str:
    """Quote a statement of somebody word for word in the form of a fact; an English sentence ends inside the marks."""
    words = sentence.strip().rstrip("。．.!！")
    ends_itself = language in ("ja", "zh") or words.endswith(("?", "？"))
    return framed(words if ends_itself else f"{words}.", language)


def without_frame(text: str) -> str:
    """Return the words of a fact that is nothing but a quotation; any other as it is."""
    quotation = _FRAMED.fullmatch(text)
    return next(filter(None, quotation.groups())) if quotation else text


def without_dates(text: str) -> str:
    """Return a fact without the dates in brackets."""
    return _BRACKETS.sub("", text)


def bare(text: str) -> str:
    """Return a fact without the dates in brackets and without the frame around a quoted statement."""
    return without_frame(without_dates(text))


class Wording(Protocol):
    """How texts are put before they are embedded; `version` is stamped on every vector."""

    version: str

    def of_fact(self, text: str) -> str:
        """Return what is embedded of a fact."""

    def of_query(self, text: str) -> str:
        """Return what is embedded of a query."""


class Aligned:
    """Facts and queries in one form: no brackets, no subject, no marks, no capitals."""

    version = "aligned-2"

    def of_fact(self, text: str) -> str:
        """Return a fact without dates, frame and subject."""
        return _SUBJECT_JA.sub("", normalize(bare(text)).casefold()) or text

    def of_query(self, text: str) -> str:
        """Return a query without its subject and marks."""
        return _SUBJECT_JA.sub("", normalize(text).casefold()) or text


class AsSpoken:
    """Facts as they stand and queries as they were transcribed, as the article had it."""

    version = "as-spoken"

    def of_fact(self, text: str) -> str:
        """Return the fact."""
        return text

    def of_query(self, text: str) -> str:
        """Return the query."""
        return text


def without(text: str, spans: Sequence[TimeSpan]) -> str:
    """Take time expressions out of a text."""
    for span in sorted(spans, key=lambda span: span.start, reverse=True):
        text = f"{text[: span.start]} {text[span.end :]}"
    return " ".join(text.split())


@lru_cache(maxsize=20_000)
def plain_analysis(text: str, language: str) -> Analysis:
    """Return the terms of a fact; its times are left out, they are compared as days."""
    plain = normalize(bare(text))
    return analyse(without(plain, _times(plain, language)), language)


def _times(text: str, language: str) -> list[TimeSpan]:
    return temporal.find_times(text, language, _ANY_MOMENT)


_ANY_MOMENT = datetime.fromisoformat("2026-01-01T12:00:00+00:00")
"""Which words are a time does not depend on the day."""
