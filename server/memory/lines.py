"""What search needs to know of one utterance, as numbers: worked out once, and kept beside the page."""

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum, IntFlag
from itertools import pairwise
from typing import TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from server.memory import temporal
from server.memory.answer_types import AnswerType, held_types
from server.memory.asking import signs
from server.memory.habits import weekdays
from server.memory.models import Page
from server.memory.terms import Analysis, Term, analyse
from server.query import normalize

VERSION = "1"
"""Of the numbers: whatever changes them changes it, and lines of another version are read anew."""

Tokens: TypeAlias = NDArray[np.uint32]

SILENT = 0.2
"""Weight below which a Japanese word says nothing: it is an auxiliary."""
_PIECE_LETTERS = 4
_LONGEST_EVENT_DAYS = 60
_MOST_DAYS = 4
_MOST_TOKENS = 2_000
_LONGEST = 2_000
"""Characters that are looked at, as `analyse` does: patterns take the square of the length."""
_HEADER = struct.Struct("<HHHHH")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fffー]+")
_GRAMMAR = re.compile(r"[\u3040-\u309f]{2}")
_QUESTION = re.compile(r"[?？]")
_ENDS_ASKING = re.compile(r"[?？][\s!！」』\"'”’)）]*$")


class Role(IntEnum):
    """Whose utterance it is."""

    SAID = 0
    """The person's."""
    HEARD = 1
    """The robot's, as far as it was heard."""


class Channel(IntEnum):
    """Kinds of tokens. A query's are scored apart; in a line they stand together."""

    WORD = 0
    """Words by their dictionary form, and the notions that the text touches."""
    PAIR = 1
    """Two words that follow each other."""
    PIECE = 2
    """Parts of words: what a spelling or a recogniser's mistake leaves."""


class Mark(IntFlag):
    """What kind of utterance it is."""

    ASKS = 1
    """It holds a question: what follows may be the answer."""
    ENDS_ASKING = 2
    OWN = 4
    """It speaks of the speaker."""


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance."""

    tokens: Tokens
    """One number for every occurrence of a token."""
    marks: Mark
    holds: frozenset[AnswerType]
    """The sorts of answer that it has to offer."""
    days: tuple[tuple[date, date], ...]
    """The stretches of days that it speaks of; first and last day of each."""
    words: int
    """How many telling words it has."""


def read_line(text: str, language: str, at: datetime, week_start: int = 0) -> Line:
    """Work out the numbers of an utterance.

    Args:
        text: As it was said or heard.
        language: Two-letter code of it.
        at: When; aware, in the person's zone.
        week_start: First day of the week, 0 for Monday.
    """
    plain = normalize(text)[:_LONGEST]
    spans = temporal.find_times(plain, language, at, week_start=week_start)
    terms = analyse(plain, language)
    tokens = [token for channel in tokens_of(plain, terms, language) for token in channel]
    days = [(span.first_day, span.last_day) for span in spans]
    days = [(first, last) for first, last in days if (last - first).days <= _LONGEST_EVENT_DAYS]
    asking = signs(plain, language)
    asks = asking.asks if language != "en" else False  # in English the mark tells it best
    marks = Mark(0)
    marks |= Mark.ASKS if asks or _QUESTION.search(text) else Mark(0)
    marks |= Mark.ENDS_ASKING if asks or _ENDS_ASKING.search(text) else Mark(0)
    marks |= Mark.OWN if asking.own else Mark(0)
    return Line(
        np.array(tokens[:_MOST_TOKENS], np.uint32),
        marks,
        _holds(plain, terms, language, on_days=bool(spans or weekdays(plain))),
        tuple(days[:_MOST_DAYS]),
        sum(term.weight >= SILENT for term in terms.terms),
    )


def lines_of(page: Page, week_start: int = 0) -> dict[Role, Line]:
    """Return the lines of a page; what was not said, or not heard, is missing."""
    spoken = {Role.SAID: page.said, Role.HEARD: page.heard}
    return {
        role: read_line(text, page.language, page.at, week_start)
        for role, text in spoken.items()
        if text.strip()
    }


def tokens_of(
    text: str, terms: Analysis, language: str, without_forms: Iterable[str] = ()
) -> tuple[list[int], list[int], list[int]]:
    """Return the tokens of a text by `Channel`.

    Args:
        text: Normalized.
        terms: Of that text.
        language: Two-letter code of it.
        without_forms: Keys and sounds of terms that are left out, in lower case: names that say who speaks, not what of.
    """
    left_out = frozenset(without_forms)
    wide = _WIDE.search(text) is not None
    kept = [
        term
        for term in terms.terms
        if left_out.isdisjoint((term.key.casefold(), term.sound.casefold()))
        and (not wide or term.weight >= SILENT)
    ]
    words = [_number("w", term.key) for term in kept]
    words += [_number("n", notion) for notion in sorted(terms.notions)]
    pairs = [_number("p", f"{one.key} {other.key}") for one, other in pairwise(kept)]
    for form in sorted(left_out, key=len, reverse=True):
        if len(form) > 1:  # a single sign is a part of many other words
            text = text.replace(form, " ")
    return words, pairs, _pieces(text, kept)


def word_token(key: str) -> int:
    """Return the token of a word, by the key of its term."""
    return _number("w", key)


def pack_line(line: Line) -> bytes:
    """Return a line as bytes, for the store."""
    holds = sum(1 << place for place, kind in enumerate(AnswerType) if kind in line.holds)
    days = np.array([day.toordinal() for stretch in line.days for day in stretch], "<i4")
    head = _HEADER.pack(line.marks, holds, line.words, len(line.days), len(line.tokens))
    return head + days.tobytes() + line.tokens.astype("<u4").tobytes()


def unpack_line(data: bytes) -> Line:
    """Read what `pack_line` made.

    Raises:
        ValueError: It did not make this.
    """
    try:
        marks, holds, words, stretches, tokens = _HEADER.unpack_from(data)
    except struct.error as error:
        raise ValueError("no line: too short") from error
    if len(data) != _HEADER.size + 8 * stretches + 4 * tokens:
        raise ValueError("no line: wrong length")
    if marks >> len(Mark) or holds >> len(AnswerType):
        raise ValueError("no line: unknown flags")
    days = np.frombuffer(data, "<i4", 2 * stretches, _HEADER.size).reshape(-1, 2).tolist()
    return Line(
        np.frombuffer(data, "<u4", tokens, _HEADER.size + 8 * stretches),
        Mark(marks),
        frozenset(kind for place, kind in enumerate(AnswerType) if holds >> place & 1),
        tuple((date.fromordinal(first), date.fromordinal(last)) for first, last in days),
        words,
    )


def _holds(text: str, terms: Analysis, language: str, *, on_days: bool) -> frozenset[AnswerType]:
    held = set(held_types(text, terms, language, on_days=on_days))
    if terms.persons or terms.names - terms.places:
        held.add(AnswerType.PERSON)
    if terms.proper:
        held.add(AnswerType.NAME)
    return frozenset(held)


def _pieces(text: str, terms: Sequence[Term]) -> list[int]:
    """Return four letters at a time of words in letters, and pairs of signs where no blanks part the words."""
    pieces = [
        _number("g", word[start : start + _PIECE_LETTERS])
        for term in terms
        if term.sound.isascii()
        for word in (f"_{term.sound}_",)
        for start in range(max(1, len(word) - _PIECE_LETTERS + 1))
    ]
    return pieces + [
        _number("g", pair)
        for run in _WIDE.findall(text)
        for pair in (run[start : start + 2] for start in range(len(run) - 1))
        if not _GRAMMAR.match(pair)
    ]


def _number(kind: str, key: str) -> int:
    return crc32((kind + key).encode("utf-8", "surrogatepass"))
