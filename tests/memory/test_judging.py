"""Small models by hand: a forest that is walked, a perceptron that is reckoned, signs that stand among each other."""

import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.judging import Forest, Perceptron, Scale, Vectors, add_standing, pair_rows

NAMES = ("wet", "cold")
NUMBERS = st.floats(-5, 5, width=16)


def forest(*trees: Sequence[tuple[int, float, int, int, float]], bias: float = 0.0) -> Forest:
    """Return a forest of full trees; a node is the place of its sign, its threshold, where it leads, its value."""
    sign, threshold, left, right, value = (
        np.array([[node[part] for node in tree] for tree in trees]) for part in range(5)
    )
    return Forest(
        NAMES,
        sign.astype(np.int16),
        threshold.astype(np.float64),
        left.astype(np.int16),
        right.astype(np.int16),
        value.astype(np.float32),
        bias,
        2,
    )


WEATHER = forest(
    # Wet up to 1: -2; else cold up to 0: +1, or +3.
    [(0, 1.0, 1, 2, 0), (0, 0, 1, 1, -2), (1, 0.0, 3, 4, 0), (0, 0, 3, 3, 1), (0, 0, 4, 4, 3)],
    # A tree that is all leaf.
    [(0, 0, 0, 0, 0.5), *((0, 0, node, node, 9.0) for node in range(1, 5))],
    bias=0.25,
)


def logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def walked(grown: Forest, signs: dict[str, float]) -> float:
    """Return the probability as one would find it by hand."""
    logit = grown.bias
    for tree in range(len(grown.sign)):
        node = 0
        while grown.left[tree, node] != node:
            told = signs.get(grown.names[grown.sign[tree, node]], 0.0)
            leads = grown.left if told <= grown.threshold[tree, node] else grown.right
            node = int(leads[tree, node])
        logit += float(grown.value[tree, node])
    return logistic(logit)


@pytest.mark.parametrize(
    ("signs", "logit"),
    [
        ({"wet": 0.5, "cold": 1.0}, -1.25),
        ({"wet": 1.0, "cold": 1.0}, -1.25),  # a threshold belongs to the left
        ({"wet": 1.5, "cold": 0.0}, 1.75),
        ({"wet": 1.5, "cold": 0.5}, 3.75),
        ({"wet": 1.5}, 1.75),  # what is not given counts as 0
        ({}, -1.25),
        ({"wet": 1.5, "cold": 0.5, "windy": 7.0}, 3.75),
    ],
)
def test_each_case_finds_its_leaves(signs: dict[str, float], logit: float) -> None:
    assert WEATHER.probabilities([signs]) == pytest.approx([logistic(logit)])


def test_no_cases_have_no_probabilities() -> None:
    assert WEATHER.probabilities([]).shape == (0,)


@pytest.mark.parametrize(("bias", "expected"), [(1e6, 1.0), (-1e6, 0.0)])
def test_what_is_certain_is_still_a_probability(bias: float, expected: float) -> None:
    certain = forest([(0, 0.0, 0, 0, 0.0)], bias=bias)
    assert certain.probabilities([{}]) == pytest.approx([expected])


@st.composite
def grown_forests(draw: st.DrawFn) -> Forest:
    def leaf(node: int) -> tuple[int, float, int, int, float]:
        return 0, 0.0, node, node, draw(NUMBERS)

    def branch(left: int) -> tuple[int, float, int, int, float]:
        return draw(st.integers(0, 1)), draw(NUMBERS), left, left + 1, 0.0

    trees = [
        [branch(1), branch(3), draw(st.sampled_from([leaf(2), branch(5)])), *map(leaf, range(3, 7))]
        for _ in range(draw(st.integers(1, 4)))
    ]
    return forest(*trees, bias=draw(NUMBERS))


@given(grown_forests(), st.lists(st.dictionaries(st.sampled_from(NAMES), NUMBERS), max_size=6))
def test_many_cases_at_once_go_the_way_that_each_would_go_alone(
    grown: Forest, cases: list[dict[str, float]]
) -> None:
    found = grown.probabilities(cases)
    assert found == pytest.approx([walked(grown, case) for case in cases], abs=1e-6)


def test_a_hidden_unit_below_zero_is_silent() -> None:
    perceptron = Perceptron(
        np.array([[1, -1], [2, 0]], np.float32),
        np.array([0.5, 0], np.float32),
        np.array([2, 10], np.float32),
        -1.0,
    )
    rows = np.array([[1, 1], [-3, 0], [0, 0]], np.float32)
    # (3.5, -1), (-2.5, 3), (0.5, 0)
    assert perceptron.logits(rows) == pytest.approx([6.0, 29.0, 0.0])
    assert perceptron.logits(rows[:0]).shape == (0,)


def test_a_pair_is_both_vectors_and_where_they_agree() -> None:
    first, second = (np.array([row], np.float32) for row in ([1, -2], [3, 4]))
    assert pair_rows(first, second).tolist() == [[1, -2, 3, 4, 3, -8]]


def test_a_scale_moves_the_centre_to_zero() -> None:
    scale = Scale(np.array([1, 2], np.float32), 0.5)
    found: Vectors = scale.applied(np.array([[1, 2], [2, 1]], np.float32))
    assert found.tolist() == [[0, 0], [2, -2]]
    assert found.dtype == np.float32


def test_the_standing_of_a_sign_is_its_rank_and_its_distances() -> None:
    found = [{"near": 0.5, "own": 7.0}, {"near": 0.75}, {"near": 0.25}]
    add_standing(found, "near")
    assert found == [
        {"near": 0.5, "own": 7.0, "near.rank": 1, "near.below_best": -0.25, "near.above_second": 0},
        {"near": 0.75, "near.rank": 0, "near.below_best": 0, "near.above_second": 0.25},
        {"near": 0.25, "near.rank": 2, "near.below_best": -0.5, "near.above_second": -0.25},
    ]


def test_what_stands_alone_is_the_best_and_beside_itself() -> None:
    found = [{"near": -0.5}]
    add_standing(found, "near")
    assert found == [{"near": -0.5, "near.rank": 0, "near.below_best": 0, "near.above_second": 0}]
    add_standing([], "near")


def test_equals_share_a_rank_and_none_is_beyond_ten() -> None:
    found = [{"near": float(value)} for value in (9, 9, *range(8, -8, -1))]
    add_standing(found, "near")
    assert [one["near.rank"] for one in found] == [0, 0, *range(2, 10), *[10] * 8]


@given(st.lists(NUMBERS, min_size=1, max_size=15), st.randoms())
def test_standing_does_not_depend_on_the_order(values: list[float], dice: Random) -> None:
    found = [{"near": value} for value in values]
    shuffled = list(found)
    dice.shuffle(shuffled)
    again = [dict(one) for one in found]
    add_standing(shuffled, "near")
    add_standing(again, "near")
    assert found == again
    best = max(found, key=lambda one: one["near"])
    assert best["near.rank"] == best["near.below_best"] == 0
    assert all(one["near.below_best"] <= 0 for one in found)
    assert sum(one["near.above_second"] > 0 for one in found) <= 1
