"""An array that grows holds what came in, in order, and is seldom copied."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.memory.growing import GrowingArray


@given(st.lists(st.integers(0, 7), max_size=30), st.integers(0, 5))
def test_rows_stand_in_the_order_in_which_they_came(sizes: list[int], first: int) -> None:
    numbers = iter(range(1_000))
    whole = [[next(numbers)] * 2 for _ in range(first)]
    grown = GrowingArray(np.array(whole, np.int64).reshape(-1, 2))
    for size in sizes:
        more = [[next(numbers)] * 2 for _ in range(size)]
        grown.extend(np.array(more, np.int64).reshape(-1, 2))
        whole += more
        assert grown.rows.tolist() == whole


def test_what_comes_row_by_row_is_copied_a_few_times_in_all() -> None:
    grown = GrowingArray(np.zeros((0, 3), np.float32))
    copied = 0
    for number in range(5_000):
        before, held = grown.rows.__array_interface__["data"][0], len(grown.rows)
        grown.extend(np.full((1, 3), number, np.float32))
        copied += held * (grown.rows.__array_interface__["data"][0] != before)
    assert copied < 4 * 5_000


def test_a_row_can_be_written_in_its_place() -> None:
    grown = GrowingArray(np.zeros(2, bool))
    grown.extend(np.zeros(3, bool))
    grown.rows[4] = True
    grown.extend(np.zeros(9, bool))
    assert np.flatnonzero(grown.rows).tolist() == [4]


def test_a_copy_grows_and_the_first_stays_as_it_was() -> None:
    first = GrowingArray(np.zeros(2, np.int64))
    first.extend(np.ones(1, np.int64))
    newer = first.copy()
    newer.extend(np.full(5, 2, np.int64))
    assert first.rows.tolist() == [0, 0, 1]
    assert newer.rows.tolist() == [0, 0, 1, 2, 2, 2, 2, 2]
