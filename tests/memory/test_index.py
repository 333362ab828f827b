"""What every vector index must do, in this process, with files, in memory and on a server."""

import threading
import uuid
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.memory.index import Hit, Point, VectorIndex
from tests.memory.indexes import (
    DIMENSIONS,
    ENGINES,
    axis,
    code_of,
    found,
    opened,
    point,
    random_points,
)


@pytest.fixture(scope="module", params=ENGINES)
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VectorIndex]:
    """An index that the tests of this file share; each takes persons of its own."""
    with opened(request.param, tmp_path_factory.mktemp("index")) as index:
        yield index


@pytest.fixture
def person() -> str:
    return f"person {uuid.uuid4().hex}"


def test_dense_search_is_the_cosine_and_nothing_else(index: VectorIndex, person: str) -> None:
    points = random_points(60)
    index.upsert(person, points)
    question = np.random.default_rng(7).standard_normal(DIMENSIONS).astype(np.float32)
    cosines = {
        each.id: float(
            each.dense @ question / np.linalg.norm(each.dense) / np.linalg.norm(question)
        )
        for each in points
    }
    hits = index.search_dense(person, question, 60)
    assert found(hits) == sorted(cosines, key=lambda id_: -cosines[id_])
    assert [hit.score for hit in hits] == pytest.approx(
        sorted(cosines.values(), reverse=True), abs=1e-6
    )
    assert hits[-1].score < 0, "no threshold cuts candidates"


def test_sparse_search_is_the_plain_dot_product(index: VectorIndex, person: str) -> None:
    points = random_points(60)
    index.upsert(person, points)
    question = {1: 0.5, 2: 2.0, 17: 1.0, 39: 0.1, 4_000_000_000: 1.0}
    scores = {
        each.id: sum(weight * each.sparse.get(word, 0) for word, weight in question.items())
        for each in points
        if each.sparse.keys() & question.keys()
    }
    hits = index.search_sparse(person, question, 60)
    assert found(hits) == sorted(scores, key=lambda id_: -scores[id_])
    assert [hit.score for hit in hits] == pytest.approx(
        sorted(scores.values(), reverse=True), abs=1e-6
    )


def test_rare_words_weigh_no_more_than_they_were_given(index: VectorIndex, person: str) -> None:
    common = [point(f"common {i}", axis(0), {1: 1.0}) for i in range(9)]
    index.upsert(person, [*common, point("rare", axis(0), {2: 0.9})])
    assert found(index.search_sparse(person, {1: 1.0, 2: 1.0}, 20))[-1] == "rare"


def test_equal_scores_come_in_the_order_of_their_ids(index: VectorIndex, person: str) -> None:
    names = [f"{i:02}" for i in range(20)]
    index.upsert(person, [point(name, axis(0), {1: 1.0}) for name in reversed(names)])
    assert found(index.search_dense(person, axis(0), 5)) == names[:5]
    assert found(index.search_sparse(person, {1: 2.0}, 5)) == names[:5]


def test_a_point_without_words_is_found_by_meaning_only(index: VectorIndex, person: str) -> None:
    index.upsert(person, [point("silent", axis(0)), point("worded", axis(1), {1: 1.0, 2: 0.0})])
    assert found(index.search_dense(person, axis(0), 1)) == ["silent"]
    assert found(index.search_sparse(person, {1: 1.0, 2: 1.0}, 9)) == ["worded"]


def test_nothing_is_found_where_there_is_nothing(index: VectorIndex, person: str) -> None:
    assert index.search_dense(person, axis(0), 3) == []
    assert index.search_sparse(person, {1: 1.0}, 3) == []
    assert index.count(person) == 0
    assert index.ids(person) == set()
    index.remove(person, ["never there"])
    index.upsert(person, [])
    index.erase(person)
    index.upsert(person, [point("a", axis(0), {1: 1.0})])
    assert index.search_dense(person, axis(0), 0) == []
    assert index.search_sparse(person, {}, 3) == []
    assert index.search_sparse(person, {1: 0.0}, 3) == []
    assert index.search_sparse(person, {99: 1.0}, 3) == []


def test_a_point_can_be_replaced_and_removed(index: VectorIndex, person: str) -> None:
    index.upsert(person, [point("a", axis(0), {1: 1.0}), point("b", axis(1), {2: 1.0})])
    index.upsert(person, [point("a", axis(2), {3: 1.0})])
    assert index.count(person) == 2
    assert found(index.search_dense(person, axis(2), 1)) == ["a"]
    assert index.search_sparse(person, {1: 1.0}, 3) == []
    index.remove(person, ["a", "never there"])
    assert index.ids(person) == {"b"}
    assert found(index.search_dense(person, axis(2), 3)) == ["b"]
    assert index.search_sparse(person, {3: 1.0}, 3) == []


@pytest.mark.parametrize(
    "bad",
    [
        point("bad", [np.nan] * DIMENSIONS),
        point("bad", [np.inf, *[0.0] * (DIMENSIONS - 1)]),
        point("bad", [0.0] * DIMENSIONS),
        point("bad", [1.0] * (DIMENSIONS + 1)),
        point("bad", [1.0]),
        point("bad", axis(0), {1: np.nan}),
        point("bad", axis(0), {1: np.inf}),
        point("bad", axis(0), {-1: 1.0}),
        point("bad", axis(0), {2**32: 1.0}),
        point("\ud800", axis(0)),
    ],
    ids=lambda bad: f"{bad.id!a} {len(bad.dense)} {dict(bad.sparse)}",
)
def test_what_is_no_vector_is_refused_with_all_that_came_with_it(
    index: VectorIndex, person: str, bad: Point
) -> None:
    assert code_of(lambda: index.upsert(person, [point("good", axis(0)), bad])) == "index-invalid"
    assert index.ids(person) == set()


def test_a_search_for_what_is_no_vector_is_refused(index: VectorIndex, person: str) -> None:
    nothing = np.zeros(DIMENSIONS, np.float32)
    assert code_of(lambda: index.search_dense(person, nothing, 3)) == "index-invalid"
    assert code_of(lambda: index.search_dense(person, nothing[:3], 3)) == "index-invalid"
    assert code_of(lambda: index.search_sparse(person, {1: np.nan}, 3)) == "index-invalid"


def test_vectors_of_any_length_are_compared_by_direction(index: VectorIndex, person: str) -> None:
    tiny, huge = axis(0) * np.float32(1e-30), axis(0) * np.float32(1e30)
    index.upsert(person, [point("tiny", tiny), point("huge", huge)])
    assert index.search_dense(person, huge, 2) == [Hit("huge", 1.0), Hit("tiny", 1.0)]


PERSONS = st.one_of(
    st.sampled_from(
        ["", "A", "a", "../../../escape", "/", "..", "人", "a\x00b", "\ud800", "x" * 9]
    ),
    st.text(st.characters(), max_size=12),
)


@settings(max_examples=8)
@given(persons=st.lists(PERSONS, min_size=2, max_size=4, unique=True), seed=st.integers(0, 99))
def test_nobody_finds_what_belongs_to_somebody_else(
    index: VectorIndex, persons: list[str], seed: int
) -> None:
    belongs: dict[str, set[str]] = {}
    for number, owner in enumerate(persons):
        index.erase(owner)
        points = [
            Point(f"{number}/{each.id}", each.dense, each.sparse)
            for each in random_points(3 + number, seed)
        ]
        index.upsert(owner, points)
        belongs[owner] = {each.id for each in points}
    for owner in persons:
        everything = index.search_dense(owner, axis(seed % DIMENSIONS), 100)
        worded = index.search_sparse(owner, dict.fromkeys(range(40), 1.0), 100)
        assert set(found(everything)) == belongs[owner]
        assert set(found(worded)) == belongs[owner]
        assert index.ids(owner) == belongs[owner]
        assert index.count(owner) == len(belongs[owner])
    index.erase(persons[0])
    assert index.ids(persons[0]) == set()
    assert index.ids(persons[1]) == belongs[persons[1]]


def test_the_same_id_of_two_persons_is_two_points(index: VectorIndex, person: str) -> None:
    index.upsert(person, [point("1", axis(0))])
    index.upsert(f"not {person}", [point("1", axis(1)), point("2", axis(2))])
    index.remove(person, ["2"])
    assert index.search_dense(person, axis(0), 9) == [Hit("1", 1.0)]
    assert index.ids(f"not {person}") == {"1", "2"}


def test_threads_lose_no_points(index: VectorIndex, person: str) -> None:
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(8):
                index.upsert(person, [point(f"{number} {i}", axis(i % DIMENSIONS), {i: 1.0})])
                index.search_dense(person, axis(0), 3)
                index.search_sparse(person, {i: 1.0}, 3)
        except BaseException as error:
            faults.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert index.count(person) == 32
