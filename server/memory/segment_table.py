"""The segments of one person as search sees them: how near each is to a question, for all of them at once."""

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.memory.line_table import Floats
from server.memory.topics import closenesses

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ShelvedSegment:
    """A segment that is not evicted, as search sees it."""

    id: str
    keys: frozenset[str]
    """Its keywords in the form in which terms are compared."""
    mean: Vector | None
    """Mean of the vectors of its pages, left as long as it comes out; None if none of them has one."""


class SegmentTable:
    """Segments, by which of them have a keyword, and their means as one matrix."""

    def __init__(self, segments: Sequence[ShelvedSegment] = ()) -> None:
        """Take up segments."""
        self.ids = [segment.id for segment in segments]
        self._sizes = np.array([len(segment.keys) for segment in segments], np.float32)
        having: defaultdict[str, list[int]] = defaultdict(list)
        for place, segment in enumerate(segments):
            for key in segment.keys:
                having[key].append(place)
        self._having = {key: np.array(places) for key, places in having.items()}
        means = [(place, one.mean) for place, one in enumerate(segments) if one.mean is not None]
        self._with_mean = np.array([place for place, _ in means], np.intp)
        self._means: Floats = np.array([mean for _, mean in means], np.float32)
        self._lengths: Floats = np.linalg.norm(self._means, axis=1) if means else self._sizes[:0]

    def nearness(self, asked: Set[str], vector: Vector | None, rest: float) -> Floats:
        """Return F of MemoryOS (equation 2) between a question and each segment.

        Args:
            asked: Keys of the terms of the question.
            vector: Of the question; None if there is none.
            rest: What any two cosines come to.
        """
        shared = np.zeros(len(self.ids), np.float32)
        for key in asked & self._having.keys():
            shared[self._having[key]] += 1
        near: Floats = shared / np.maximum(len(asked) + self._sizes - shared, np.float32(1))
        if vector is not None and len(self._means):
            length = float(np.linalg.norm(vector))
            near[self._with_mean] += closenesses(
                self._means @ vector, self._lengths * np.float32(length), rest
            )
        return near
