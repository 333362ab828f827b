"""Everything that search needs of the pages of one person, ready in memory; it grows page by page."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from server.memory.line_table import LineTable, PlacedLine
from server.memory.line_vectors import LineVectors
from server.memory.lines import Role, word_token
from server.memory.models import Segment
from server.memory.postings import Postings
from server.memory.segment_table import SegmentTable, ShelvedSegment
from server.memory.topics import keys_of

Vector = NDArray[np.float32]
_NOWHERE = 0
"""No token of any word."""
LineKey = tuple[str, int]
"""Page and role."""


@dataclass(slots=True)
class PageShelf:
    """The utterances of one person as they stood at one moment."""

    table: LineTable
    postings: Postings
    vectors: LineVectors
    newest: tuple[datetime, str] | None = None
    """Time and id of the last page."""
    pages: int = 0
    """How many pages, those without any line too."""
    counter: int = 0
    """The store's change counter that this reflects."""
    cuts: int = 0
    """The store's counter of what was taken out of pages that this reflects."""
    segment_of: dict[str, str] = field(default_factory=dict)
    """Segment of each page; empty until it has been sorted."""
    segments: Sequence[ShelvedSegment] = ()
    segment_table: SegmentTable = field(default_factory=SegmentTable)
    """Of the same."""
    _sums: dict[str, Vector] = field(default_factory=dict)
    """By segment: the sum of the vectors of what the person said in its pages."""
    _counts: Counter[str] = field(default_factory=Counter)
    """How many these are."""
    _summed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """By utterance: whether it is in a sum. A page stays in its segment, so that only new ones have to be added."""

    def copy(self) -> "PageShelf":
        """Return the same, to be changed while this shelf stays as it is. Only the newest copy may be changed."""
        return replace(
            self,
            table=self.table.copy(),
            postings=self.postings.copy(),
            vectors=self.vectors.copy(),
            segment_of=dict(self.segment_of),
            _sums=dict(self._sums),
            _counts=self._counts.copy(),
            _summed=self._summed.copy(),
        )

    @classmethod
    def of(
        cls, lines: Sequence[PlacedLine], vectors: Mapping[LineKey, Vector], dimensions: int
    ) -> "PageShelf":
        """Put lines on a shelf.

        Args:
            lines: Oldest first.
            vectors: By page and role; a line may have none.
            dimensions: Of the vectors.
        """
        table = LineTable(lines)
        postings = Postings([placed.line.tokens for placed in lines], table.talks.tolist())
        return cls(table, postings, LineVectors(_rows(lines, vectors, dimensions)))

    def add(
        self, lines: Sequence[PlacedLine], vectors: Mapping[LineKey, Vector], dimensions: int
    ) -> None:
        """Add lines that follow."""
        start = len(self.table)
        self.table.add(lines)
        for placed, talk in zip(lines, self.table.talks[start:].tolist(), strict=True):
            self.postings.add(placed.line.tokens, talk)
        self.vectors.add(_rows(lines, vectors, dimensions))

    def put_vectors(self, vectors: Mapping[LineKey, Vector]) -> None:
        """Give lines that had none their vectors."""
        found = {}
        for place in self.vectors.missing().tolist():
            row = vectors.get((self.table.pages[place], int(self.table.roles[place])))
            if row is not None:
                found[place] = row
        if found:
            self.vectors.put(found)

    def put_segments(self, segments: Sequence[Segment]) -> None:
        """Take up the segments as they are now; those that are evicted lead nowhere."""
        self._sum_up()
        self.segments = tuple(
            ShelvedSegment(
                segment.id,
                keys_of(segment.keywords, segment.language),
                self._sums[segment.id] / np.float32(self._counts[segment.id])
                if segment.id in self._sums
                else None,
            )
            for segment in segments
            if segment.evicted_at is None
        )
        self.segment_table = SegmentTable(self.segments)

    def _sum_up(self) -> None:
        """Add what has got a segment or a vector since to the sums."""
        more = len(self.table) - len(self._summed)
        self._summed = np.append(self._summed, np.zeros(more, bool))
        waiting = ~self._summed & (self.table.roles == Role.SAID.value)
        waiting[self.vectors.missing()] = False
        found: dict[str, list[int]] = {}
        for place in np.flatnonzero(waiting).tolist():
            if segment := self.segment_of.get(self.table.pages[place], ""):
                found.setdefault(segment, []).append(place)
        for segment, places in found.items():
            added = self.vectors.of(np.array(places)).sum(axis=0)
            self._sums[segment] = self._sums.get(segment, np.float32(0)) + added
            self._counts[segment] += len(places)
            self._summed[places] = True

    def said_vectors(self, pages: Collection[str]) -> dict[str, Vector]:
        """Return the vectors of what the person said in some pages, where there are any."""
        wanted = [
            place
            for place, page in enumerate(self.table.pages)
            if page in pages and self.table.roles[place] == Role.SAID
        ]
        rows = self.vectors.of(np.array(wanted, np.intp))
        return {
            self.table.pages[place]: row
            for place, row in zip(wanted, rows, strict=True)
            if row.any()
        }

    def rarity(self, key: str) -> float:
        """Return how telling a word is among what was said and heard, from 0 to 1."""
        if not len(self.table):
            return 1.0
        tokens = np.array([word_token(key), _NOWHERE], np.uint32)
        here, nowhere = self.postings.rarities(tokens).tolist()
        return float(here / nowhere)


def _rows(
    lines: Sequence[PlacedLine], vectors: Mapping[LineKey, Vector], dimensions: int
) -> NDArray[np.float32]:
    rows = np.zeros((len(lines), dimensions), np.float32)
    for place, placed in enumerate(lines):
        row = vectors.get((placed.page, placed.role))
        if row is not None and len(row) == dimensions:
            rows[place] = row
    return rows
