"""The utterances of one person's pages, oldest first, as columns: what search reckons with for all of them at once."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from server.memory.answer_types import AnswerType
from server.memory.lines import Line, Mark, Role

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

TALK_GAP = timedelta(minutes=30)
"""After so long a pause another talk begins: what is said then does not answer what was asked before."""


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """An utterance and where it stands."""

    page: str
    """Id of its page."""
    role: Role
    at: datetime
    line: Line


class LineTable:
    """Columns over utterances; `pages` and `roles` say which each is. Grows at the end."""

    def __init__(self, lines: Sequence[PlacedLine] = ()) -> None:
        """Start with some utterances, oldest first."""
        self.pages: list[str] = []
        self.roles: Integers = np.zeros(0, np.int64)
        self.days: Integers = np.zeros(0, np.int64)
        """Day of each, counted as `date.toordinal` does."""
        self.moments: Integers = np.zeros(0, np.int64)
        """Time of each, in seconds since 1970."""
        self.talks: Integers = np.zeros(0, np.int64)
        self.openings: Flags = np.zeros(0, bool)
        """The first two of a talk."""
        self.marks: Integers = np.zeros(0, np.int64)
        self.answers: Flags = np.zeros(0, bool)
        """Whether the one before it, in the same talk, asks something."""
        self.words: Integers = np.zeros(0, np.int64)
        self.dated: Flags = np.zeros(0, bool)
        """Whether it speaks of days."""
        self._holds: Integers = np.zeros(0, np.int64)
        self._stretches: Integers = np.zeros((0, 3), np.int64)
        """Utterance, first and last day that it speaks of."""
        self._last_at: datetime | None = None
        self.add(lines)

    def __len__(self) -> int:
        return len(self.pages)

    def add(self, lines: Sequence[PlacedLine]) -> None:
        """Add utterances that follow those that are there."""
        start = len(self)
        talks, openings = self._talks_of(lines)
        self.pages = [*self.pages, *(placed.page for placed in lines)]
        self.roles = _extended(self.roles, [placed.role for placed in lines])
        self.days = _extended(self.days, [placed.at.date().toordinal() for placed in lines])
        self.moments = _extended(self.moments, [int(placed.at.timestamp()) for placed in lines])
        self.talks = _extended(self.talks, talks)
        self.openings = np.append(self.openings, np.array(openings, bool))
        self.marks = _extended(self.marks, [placed.line.marks for placed in lines])
        self.words = _extended(self.words, [placed.line.words for placed in lines])
        dated = [bool(placed.line.days) for placed in lines]
        self.dated = np.append(self.dated, np.array(dated, bool))
        self._holds = _extended(self._holds, [_bits(placed.line.holds) for placed in lines])
        stretches = [
            (start + place, first.toordinal(), last.toordinal())
            for place, placed in enumerate(lines)
            for first, last in placed.line.days
        ]
        self._stretches = np.vstack([self._stretches, np.array(stretches, np.int64).reshape(-1, 3)])
        asks = self.has(Mark.ASKS)
        follows = self.talks[1:] == self.talks[:-1]
        self.answers = np.append(np.zeros(min(1, len(self)), bool), asks[:-1] & follows)

    def copy(self) -> "LineTable":
        """Return the same, to be added to while this object stays as it is."""
        return copy(self)  # `add` makes every column anew

    def has(self, mark: Mark, places: Places | None = None) -> Flags:
        """Return which utterances have a mark; of all, or of those at some places."""
        marks = self.marks if places is None else self.marks[places]
        found: Flags = (marks & int(mark)) != 0
        return found

    def holding(self, wanted: frozenset[AnswerType], places: Places) -> Floats:
        """Return what share of the wanted sorts of answer some utterances have to offer; 0 if none is wanted."""
        holds = self._holds[places]
        shares = np.zeros(len(places), np.float32)
        for place, kind in enumerate(AnswerType):
            if kind in wanted:
                shares += (holds >> place & 1).astype(np.float32)
        return shares / np.float32(max(1, len(wanted)))

    def telling_of(self, first: int, last: int) -> Flags:
        """Return which utterances speak of a stretch of days, given by ordinals."""
        meets = (self._stretches[:, 1] <= last) & (self._stretches[:, 2] >= first)
        flags = np.zeros(len(self), bool)
        flags[self._stretches[meets, 0]] = True
        return flags

    def _talks_of(self, lines: Sequence[PlacedLine]) -> tuple[list[int], list[bool]]:
        """Return the number of the talk that each new utterance belongs to, and whether it is one of its first two."""
        talk = int(self.talks[-1]) if len(self) else -1
        within = int((self.talks == talk).sum())
        talks, openings = [], []
        for placed in lines:
            at = placed.at.astimezone(UTC)  # a difference within one zone is that of its clocks
            if self._last_at is None or at - self._last_at > TALK_GAP:
                talk, within = talk + 1, 0
            self._last_at = at
            talks.append(talk)
            openings.append(within < 2)
            within += 1
        return talks, openings


def _extended(column: Integers, values: Sequence[int]) -> Integers:
    return np.append(column, np.array(values, np.int64))


def _bits(kinds: frozenset[AnswerType]) -> int:
    return sum(1 << place for place, kind in enumerate(AnswerType) if kind in kinds)
