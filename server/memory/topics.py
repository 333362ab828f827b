"""Sorts exchanges into segments, one topic each (MemoryOS, section 3.1 and equations 2 and 3)."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from server.config import SegmentsSection
from server.memory.gist import Rarity, keywords_of, shortened, telling_sentence
from server.memory.harvest import Topic
from server.memory.heat import to_evict
from server.memory.models import Page, Segment
from server.memory.terms import analyse
from server.memory.tiers import Sorting

Vector = NDArray[np.float32]

MOST_KEYWORDS = 12
LONGEST_LINE = 160
"""Of a summary, which has two lines at most."""
_NAMESPACE = uuid.UUID("5a1f0f4e-98c5-4d0b-9a57-3f1f0b4b7c11")


@dataclass(frozen=True, slots=True)
class MidTerm:
    """The middle tier of one person as it stands."""

    segments: Sequence[Segment] = ()
    """Those that are not evicted."""
    centroids: Mapping[str, Vector] = field(default_factory=dict)
    """Mean direction of the pages of each, of length 1; missing where no page has a vector."""
    segment_of: Mapping[str, str] = field(default_factory=dict)
    """Where the pages of the person lie that have been sorted: page to segment."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What the likeness of two topics is measured by."""

    rest: float
    """Mean cosine of unrelated lines of the embedder."""
    similarity: float
    """Likeness above which they are one topic (θ)."""
    rarity: Rarity


def sort_pages(
    pages: Sequence[Page],
    topics: Sequence[Topic],
    known: MidTerm,
    vectors: Mapping[str, Vector],
    *,
    rarity: Rarity,
    rest: float,
    window: timedelta,
    section: SegmentsSection,
    now: datetime,
) -> Sorting:
    """Decide for every page of a batch in which one segment it lies, and which segments make room.

    Pages of one topic go together, all others one by one. Each goes to the segment that it is most like, if it is more
    like it than `section.similarity`; otherwise a new one begins. What lies in a segment already stays there, so sorting
    a batch again changes nothing; ids of new segments follow from their first page.

    Args:
        pages: Of one person, oldest first.
        topics: What a model named; none if there is no model. Pages that are not in the batch are passed over.
        known: The middle tier so far.
        vectors: Of length 1, by page; a page may have none.
        rarity: How telling a term is.
        rest: Mean cosine of unrelated lines of this embedder, below 1; see `likeness`.
        window: Pause after which another talk begins.
        section: Threshold, capacity and weights of heat.
        now: The present moment, aware.
    """
