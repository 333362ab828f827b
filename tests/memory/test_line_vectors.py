"""Vectors of utterances: how far each stands out for a query, whatever is missing, equal or broken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.memory.line_table import Floats
from server.memory.line_vectors import SHORT, LineVectors

LONG = 384
DIMENSIONS = st.sampled_from([1, 3, SHORT, SHORT + 1, LONG])


def rows_of(number: int, dimensions: int, seed: int = 0) -> Floats:
    """Return random directions of length 1."""
    rows = np.random.default_rng(seed).standard_normal((number, dimensions)).astype(np.float32)
    return unit(rows)


def unit(rows: Floats) -> Floats:
    found: Floats = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return found


def places(number: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.arange(number)


def everything(vectors: LineVectors, query: Floats) -> list[Floats]:
    whole = places(len(vectors))
    return [vectors.look_through(query), *vectors.stand(query, whole), vectors.of(whole)]


def assert_same(one: LineVectors, other: LineVectors, query: Floats) -> None:
    assert len(one) == len(other)
    for a, b in zip(everything(one, query), everything(other, query), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)


@pytest.mark.parametrize("dimensions", [3, LONG])
def test_what_is_nearest_stands_out_most(dimensions: int) -> None:
    rows = rows_of(50, dimensions)
    vectors = LineVectors(rows)
    for place in range(0, 50, 7):
        cosines, stands = vectors.stand(rows[place], places(50))
        assert vectors.look_through(rows[place]).argmax() == stands.argmax() == place
        assert cosines[place] == pytest.approx(1, abs=1e-2)


def test_stands_are_standard_deviations_above_the_mean() -> None:
    rows, query = rows_of(40, 16), rows_of(1, 16, seed=1)[0]
    cosines = rows @ query
    expected = (cosines - cosines.mean()) / cosines.std()
    vectors = LineVectors(rows)
    np.testing.assert_allclose(vectors.look_through(query), expected, atol=1e-2)
    found, stands = vectors.stand(query, places(40))
    np.testing.assert_allclose(stands, expected, atol=1e-2)
    np.testing.assert_allclose(found, cosines, atol=1e-2)


def test_the_short_form_finds_about_what_whole_vectors_find() -> None:
    query = rows_of(1, LONG, seed=1)[0]
    rows = unit(rows_of(500, LONG) + np.linspace(0, 1, 500, dtype=np.float32)[:, None] * query)
    short, (_, whole) = (
        LineVectors(rows).look_through(query),
        LineVectors(rows).stand(query, places(500)),
    )
    assert np.corrcoef(short, whole)[0, 1] > 0.9
    assert len({*(-short).argsort()[:50]} & {*(-whole).argsort()[:10]}) >= 9


def test_a_large_store_is_measured_by_a_sample() -> None:
    rows, query = rows_of(5_300, 8), rows_of(1, 8, seed=1)[0]
    cosines = rows @ query
    _, stands = LineVectors(rows).stand(query, places(5_300))
    np.testing.assert_allclose(stands, (cosines - cosines.mean()) / cosines.std(), atol=0.3)


@pytest.mark.parametrize("dimensions", [4, LONG])
def test_what_has_no_vector_stands_nowhere_and_moves_no_mean(dimensions: int) -> None:
    rows, query = rows_of(12, dimensions), rows_of(1, dimensions, seed=1)[0]
    rows[[0, 5, 11]] = 0
    held = rows.any(axis=1)
    vectors, without = LineVectors(rows), LineVectors(rows[held])
    assert vectors.missing().tolist() == [0, 5, 11]
    for found, expected in zip(everything(vectors, query), everything(without, query), strict=True):
        assert not found[~held].any()
        np.testing.assert_allclose(found[held], expected, atol=1e-5)


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dimensions", [4, LONG])
def test_a_broken_vector_counts_as_missing(broken: float, dimensions: int) -> None:
    """Row 85: one NaN would spoil the mean, and so the rank of every utterance."""
    rows, query = rows_of(9, dimensions), rows_of(1, dimensions, seed=1)[0]
    empty, spoilt = rows.copy(), rows.copy()
    empty[4] = 0
    spoilt[4, 1] = broken
    expected = LineVectors(empty)
    grown = LineVectors(spoilt[:3])
    grown.add(spoilt[3:])
    put = LineVectors(empty)
    put.put({4: spoilt[4]})
    for vectors in (LineVectors(spoilt), grown, put):
        assert vectors.missing().tolist() == [4]
        assert_same(vectors, expected, query)


@pytest.mark.parametrize("dimensions", [3, LONG])
@pytest.mark.parametrize("number", [1, 2, 7, 1000])
def test_where_all_are_the_same_none_stands_out(number: int, dimensions: int) -> None:
    rows = np.repeat(rows_of(1, dimensions), number, axis=0)
    vectors = LineVectors(rows)
    for query in rows_of(20, dimensions, seed=1):
        cosines, stands = vectors.stand(query, places(number))
        assert not vectors.look_through(query).any()
        assert not stands.any()
        np.testing.assert_allclose(cosines, rows @ query, atol=1e-2)


def test_a_query_of_zeros_finds_nothing() -> None:
    vectors, query = LineVectors(rows_of(9, LONG)), np.zeros(LONG, np.float32)
    assert not any(found.any() for found in everything(vectors, query)[:3])


@pytest.mark.parametrize("dimensions", [4, LONG])
def test_an_empty_store_answers_with_nothing_and_grows(dimensions: int) -> None:
    rows, query = rows_of(5, dimensions), rows_of(1, dimensions, seed=1)[0]
    vectors = LineVectors(rows[:0])
    assert [found.size for found in everything(vectors, query)] == [0, 0, 0, 0]
    assert vectors.rest() == 0
    vectors.add(rows[:0])
    vectors.add(rows)
    assert_same(vectors, LineVectors(rows), query)


def test_vectors_that_come_later_count_like_those_that_were_there() -> None:
    rows, query = rows_of(8, LONG), rows_of(1, LONG, seed=1)[0]
    vectors = LineVectors(np.zeros_like(rows))
    assert not any(found.any() for found in everything(vectors, query))
    vectors.put({place: rows[place] for place in range(8)})
    assert not vectors.missing().size
    assert_same(vectors, LineVectors(rows), query)


@given(st.integers(0, 40), DIMENSIONS, st.integers(0, 99), st.data())
def test_growing_equals_building_at_once(
    number: int, dimensions: int, seed: int, data: st.DataObject
) -> None:
    rows, query = rows_of(number, dimensions, seed), rows_of(1, dimensions, seed + 100)[0]
    for place in data.draw(st.sets(st.integers(0, max(0, number - 1)), max_size=number)):
        rows[place] = 0
    cut = data.draw(st.integers(0, number))
    grown = LineVectors(rows[:cut])
    for row in rows[cut:]:
        grown.add(row[None, :])
    assert_same(grown, LineVectors(rows), query)


def test_only_what_is_asked_for_is_returned_and_in_that_order() -> None:
    rows = rows_of(9, 4)
    vectors = LineVectors(rows)
    chosen = np.array([7, 0, 7])
    _, every = vectors.stand(rows[3], places(9))
    _, some = vectors.stand(rows[3], chosen)
    np.testing.assert_allclose(some, every[chosen], atol=1e-6)
    np.testing.assert_allclose(vectors.of(chosen), rows[chosen], atol=1e-3)


def test_rest_is_about_the_cosine_of_any_two() -> None:
    rows = unit(rows_of(400, LONG) + 0.1)
    assert LineVectors(rows).rest() == pytest.approx((rows @ rows.T).mean(), abs=1e-2)
    assert LineVectors(rows[:1]).rest() == 0


def test_a_large_store_that_grew_is_measured_about_alike() -> None:
    rows, query = rows_of(1_400, 16), rows_of(1, 16, seed=1)[0]
    grown = LineVectors(rows[:1_000])
    for row in rows[1_000:]:
        grown.add(row[None, :])
    whole = LineVectors(rows)
    np.testing.assert_array_equal(grown.of(places(1_400)), whole.of(places(1_400)))
    one, other = (vectors.stand(query, places(1_400))[1] for vectors in (grown, whole))
    np.testing.assert_allclose(one, other, atol=0.3)
    assert grown.rest() == pytest.approx(whole.rest(), abs=0.02)


@pytest.mark.parametrize("factor", [1.0, 2.0**-10, 2.0**-20, 0.0, -1.0])
def test_whole_vectors_come_back_as_halves_hold_them(factor: float) -> None:
    rows = np.float32(factor) * rows_of(20, 8)
    found = LineVectors(rows).of(places(20))
    np.testing.assert_array_equal(found, rows.astype(np.float16).astype(np.float32))


@given(st.integers(1, 20), DIMENSIONS, st.integers(0, 99), st.data())
def test_a_copy_is_filled_and_grows_and_the_first_stays_as_it_was(
    number: int, dimensions: int, seed: int, data: st.DataObject
) -> None:
    rows, query = rows_of(number, dimensions, seed), rows_of(1, dimensions, seed + 100)[0]
    lacking = data.draw(st.sets(st.integers(0, number - 1)))
    some = rows.copy()
    some[list(lacking)] = 0
    first = LineVectors(some)
    newer = first.copy()
    newer.put({place: rows[place] for place in lacking})
    newer.add(rows)
    assert_same(first, LineVectors(some), query)
    assert first.missing().tolist() == sorted(lacking)
    np.testing.assert_allclose(newer.of(places(2 * number)), np.vstack([rows, rows]), atol=1e-3)
