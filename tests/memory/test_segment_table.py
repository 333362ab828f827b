"""Segments in one table: nearness to a question equals equation 2 of MemoryOS, segment by segment."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.line_table import Floats
from server.memory.segment_table import SegmentTable, ShelvedSegment
from server.memory.topics import closeness

KEYS = st.frozensets(st.sampled_from("abcde"), max_size=4)
DIMENSIONS = 4


def vector_of(seed: int) -> Floats:
    row = np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)
    unit: Floats = row / np.linalg.norm(row)
    return unit


def by_formula(
    segments: Sequence[ShelvedSegment], asked: frozenset[str], vector: Floats | None, rest: float
) -> list[float]:
    near = []
    for segment in segments:
        united = asked | segment.keys
        jaccard = len(asked & segment.keys) / len(united) if united else 0.0
        likeness = 0.0
        if vector is not None and segment.mean is not None:
            likeness = closeness(segment.mean, vector, rest)
        near.append(jaccard + likeness)
    return near


@st.composite
def segments(draw: st.DrawFn) -> list[ShelvedSegment]:
    seeds = draw(st.lists(st.none() | st.integers(0, 50), max_size=6))
    return [
        ShelvedSegment(f"{place}", draw(KEYS), None if seed is None else 0.7 * vector_of(seed))
        for place, seed in enumerate(seeds)
    ]


@given(segments(), KEYS, st.none() | st.integers(0, 50), st.floats(0, 0.9))
def test_nearness_is_that_of_the_formula(
    some: list[ShelvedSegment], asked: frozenset[str], seed: int | None, rest: float
) -> None:
    vector = None if seed is None else vector_of(seed)
    near = SegmentTable(some).nearness(asked, vector, rest)
    np.testing.assert_allclose(near, by_formula(some, asked, vector, rest), atol=1e-5)


def test_shared_keywords_and_a_like_vector_add_up() -> None:
    mean = vector_of(1)
    table = SegmentTable(
        [
            ShelvedSegment("both", frozenset("ab"), mean),
            ShelvedSegment("words", frozenset("ab"), None),
        ]
    )
    both, words = table.nearness({"a", "b"}, mean, 0.0).tolist()
    assert (both, words) == (pytest.approx(2), pytest.approx(1))
    assert table.nearness({"c"}, None, 0.0).tolist() == [0, 0]
