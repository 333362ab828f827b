"""What every vector index must do, in this process, with files, in memory and on a server."""

import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.errors import StoreError
from server.memory.index import Hit, Point, Vector, VectorIndex, open_index
from server.memory.index_edge import EdgeIndex
from server.memory.index_qdrant import QdrantIndex
from tests.memory.qdrant_stand_in import qdrant_stand_in

DIMENSIONS = 8
ON_DISK = ("edge", "files")
ENGINES = (*ON_DISK, "memory", "shared", "server")


@contextmanager
def opened(
    engine: str, folder: Path, stamp: str = "model-1", dimensions: int = DIMENSIONS
) -> Iterator[VectorIndex]:
    match engine:
        case "edge":
            index = open_index("edge", folder, stamp=stamp, dimensions=dimensions)
        case "files":
            index = open_index("qdrant", folder, stamp=stamp, dimensions=dimensions)
        case "memory":
            index = open_index("qdrant", folder, stamp=stamp, dimensions=dimensions, url=":memory:")
        case "shared":
            index = QdrantIndex(folder, stamp, dimensions, url=":memory:", shared=True)
        case _:
            with qdrant_stand_in() as server:
                index = open_index(
                    "qdrant", folder, stamp=stamp, dimensions=dimensions, url=server.url
                )
                try:
                    yield index
                finally:
                    index.close()
            return
    try:
        yield index
    finally:
        index.close()


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


def point(
    id_: str, dense: Vector | list[float], sparse: Mapping[int, float] | None = None
) -> Point:
    return Point(id_, np.asarray(dense, np.float32), sparse or {})


def axis(number: int) -> Vector:
    return np.asarray(np.eye(DIMENSIONS)[number], np.float32)


def random_points(number: int, seed: int = 0) -> list[Point]:
    random = np.random.default_rng(seed)
    return [
        Point(
            f"fact {i}",
            random.standard_normal(DIMENSIONS).astype(np.float32),
            {int(word): float(random.random()) for word in random.choice(40, 6, replace=False)},
        )
        for i in range(number)
    ]


def found(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(StoreError) as caught:
        call()
    return caught.value.code


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


def test_many_points_are_all_listed(tmp_path: Path) -> None:
    for engine in ("edge", "shared"):
        with opened(engine, tmp_path / engine) as index:
            points = [point(str(i), axis(i % DIMENSIONS)) for i in range(1200)]
            index.upsert("p", points)
            assert index.ids("p") == {each.id for each in points}


@pytest.mark.parametrize("engine", ON_DISK)
def test_points_are_there_again_after_reopening(engine: str, tmp_path: Path) -> None:
    points = random_points(30)
    with opened(engine, tmp_path) as index:
        index.upsert("p", points)
        index.remove("p", ["fact 3"])
        before = index.search_dense("p", axis(0), 40), index.search_sparse("p", {5: 1.0}, 40)
    with opened(engine, tmp_path) as index:
        assert index.count("p") == 29
        after = index.search_dense("p", axis(0), 40), index.search_sparse("p", {5: 1.0}, 40)
    assert before == after


@pytest.mark.parametrize("engine", ON_DISK)
@pytest.mark.parametrize(("stamp", "dimensions"), [("model-2", DIMENSIONS), ("model-1", 4)])
def test_points_of_another_model_are_gone(
    engine: str, stamp: str, dimensions: int, tmp_path: Path
) -> None:
    with opened(engine, tmp_path) as index:
        index.upsert("p", random_points(3))
    with opened(engine, tmp_path, stamp, dimensions) as index:
        assert index.count("p") == 0
        index.upsert("p", [point("new", [1.0] * dimensions)])
    with opened(engine, tmp_path) as index:
        assert index.ids("p") == set()


@pytest.mark.parametrize("engine", ON_DISK)
def test_hostile_persons_stay_in_the_folder(engine: str, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "index"
    with opened(engine, folder) as index:
        for person in ("../../../escape", "/escape", "..", "C:\\escape", "con", "a/b\x00"):
            index.upsert(person, [point("a", axis(0))])
            assert index.count(person) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["index"]
    assert not list(tmp_path.rglob("*escape*"))


@pytest.mark.parametrize("engine", ON_DISK)
def test_an_erased_person_leaves_nothing_on_disk(engine: str, tmp_path: Path) -> None:
    id_ = uuid.uuid4().hex
    with opened(engine, tmp_path) as index:
        index.upsert("stays", [point("other", axis(0))])
        index.upsert("goes", [point(id_, axis(0), {1: 1.0})])
        index.erase("goes")
        index.erase("goes")
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(id_.encode() in path.read_bytes() for path in files)
        assert index.ids("stays") == {"other"}
        assert index.ids("goes") == set()


def test_erasing_reaches_what_another_model_left_on_a_server() -> None:
    with qdrant_stand_in() as server:
        for stamp in ("old", "new"):
            index = QdrantIndex(Path(), stamp, DIMENSIONS, url=server.url)
            index.upsert("goes", [point("a", axis(0))])
            index.upsert("stays", [point("b", axis(0))])
        index.erase("goes")
        names = [each.name for each in server.client.get_collections().collections]
        assert len(names) == 2
        for name in names:
            assert server.client.count(name).count == 1
        index.close()


def test_a_server_is_told_to_keep_owners_together_and_to_search_exactly() -> None:
    with qdrant_stand_in() as server:
        index = open_index("qdrant", Path(), stamp="m", dimensions=DIMENSIONS, url=server.url)
        index.upsert("p", [point("a", axis(0))])
        index.close()
        collection, payload_index = server.created
        assert collection["hnsw_config"]["m"] == 0
        assert "modifier" not in collection["sparse_vectors"]["words"]
        assert payload_index["field_name"] == "owner"
        assert payload_index["field_schema"]["is_tenant"] is True


def test_faults_of_a_server_say_what_to_do() -> None:
    with qdrant_stand_in() as server:
        index = open_index("qdrant", Path(), stamp="m", dimensions=DIMENSIONS, url=server.url)
        index.upsert("p", [point("a", axis(0))])
        server.client.delete_collection(server.client.get_collections().collections[0].name)
        server.key = "secret"
        assert code_of(lambda: index.count("p")) == "index-refused"
        server.key = ""
        assert index.count("p") == 0, "a collection that was deleted is made anew"
        index.upsert("p", [point("a", axis(0))])
        assert index.count("p") == 1
    assert code_of(lambda: index.count("p")) == "index-unreachable"
    index.close()


@pytest.mark.parametrize("engine", ON_DISK)
def test_a_second_one_on_the_same_folder_is_refused(engine: str, tmp_path: Path) -> None:
    again = (
        "import sys, pathlib\n"
        "from server.errors import StoreError\n"
        "from server.memory.index import open_index\n"
        "try:\n"
        "    open_index(sys.argv[1], pathlib.Path(sys.argv[2]), stamp='model-1', dimensions=8)\n"
        "except StoreError as error:\n"
        "    print(error.code, error)\n"
    )
    name = "qdrant" if engine == "files" else engine
    with opened(engine, tmp_path) as index:
        index.upsert("p", [point("a", axis(0))])
        answer = subprocess.run(
            [sys.executable, "-c", again, name, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.startswith("index-locked Another process works")
        assert code_of(lambda: opened(engine, tmp_path).__enter__()) == "index-locked"
        assert index.count("p") == 1
    with opened(engine, tmp_path) as index:
        assert index.count("p") == 1


WRITER = """
import sys, pathlib, numpy as np
from server.memory.index import Point, open_index
index = open_index(sys.argv[1], pathlib.Path(sys.argv[2]), stamp="model-1", dimensions=8)
for number in range(100_000):
    vector = np.ones(8, np.float32)
    vector[number % 8] = number
    index.upsert("p", [Point(str(number), vector, {number % 50: 1.0})])
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("engine", ON_DISK)
def test_what_was_written_is_there_after_a_kill(engine: str, tmp_path: Path) -> None:
    name = "qdrant" if engine == "files" else engine
    for wanted in (1, 60):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, name, str(tmp_path)], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            written = [int(writer.stdout.readline()) for _ in range(wanted)]
            os.kill(writer.pid, signal.SIGKILL)
        with opened(engine, tmp_path) as index:
            assert {str(number) for number in written} <= index.ids("p")
            everything = index.search_dense("p", axis(0), 100_000)
            assert set(found(everything)) == index.ids("p")
            index.upsert("p", [point("new", axis(1), {77: 1.0})])
            assert found(index.search_sparse("p", {77: 1.0}, 5)) == ["new"]


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * min(path.stat().st_size, 4096))


def blank(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * min(path.stat().st_size, 4096))


DAMAGES: list[tuple[str, Callable[[Path], None]]] = [
    ("stamp.json", halve),
    ("stamp.json", Path.unlink),
    ("shard/edge_config.json", halve),
    ("shard/segments/*/segment.json", Path.unlink),
    ("shard/segments/*/version.info", Path.unlink),
    ("shard/segments/*/mutable_id_tracker.mappings", Path.unlink),
    ("shard/segments/*/mutable_id_tracker.mappings", overwrite),
    ("shard/segments/*/vector_storage-dense/vectors/chunk_0.mmap", blank),
    ("shard/segments/*/vector_storage-dense/vectors/chunk_0.mmap", overwrite),
    ("shard/segments/*/vector_storage-dense/vectors/status.dat", halve),
    ("shard/segments/*/vector_storage-dense/deleted/flags_a.dat", overwrite),
    ("shard/segments/*/payload_storage/page_0.dat", overwrite),
    ("shard/segments/*/payload_storage/tracker.dat", blank),
    ("shard/wal/open-1", overwrite),
]


@pytest.mark.parametrize(("place", "damage"), DAMAGES)
def test_a_torn_shard_never_answers_wrongly_and_can_be_filled_again(
    place: str, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    points = random_points(20)
    with opened("edge", tmp_path) as index:
        index.upsert("p", points)
        index.upsert("q", points)
        expected = index.search_dense("p", axis(0), 20)
    victim = min(path for path in tmp_path.iterdir() if path.is_dir())
    torn = list(victim.glob(place))
    assert torn
    for path in torn:
        damage(path)
    with opened("edge", tmp_path) as index:
        left = {person: index.ids(person) for person in "pq"}
        for person in "pq":
            hits = index.search_dense(person, axis(0), 20)
            assert hits == [hit for hit in expected if hit.id in left[person]]
            index.upsert(person, [each for each in points if each.id not in left[person]])
            assert index.search_dense(person, axis(0), 20) == expected
        assert max(len(ids) for ids in left.values()) == 20, "the other shard was left alone"


def test_a_shard_under_a_wrong_name_is_not_taken_for_that_persons(tmp_path: Path) -> None:
    with opened("edge", tmp_path) as index:
        index.upsert("p", [point("secret", axis(0))])
        (of_p,) = [path for path in tmp_path.iterdir() if path.is_dir()]
        index.upsert("q", [point("own", axis(0))])
        (of_q,) = [path for path in tmp_path.iterdir() if path.is_dir() and path != of_p]
    kept = tmp_path / "kept"
    of_q.rename(kept)
    of_p.rename(of_q)
    with opened("edge", tmp_path) as index:
        assert index.ids("q") == set()


@pytest.mark.parametrize("place", ["meta.json", "collection/*/storage.sqlite"])
def test_torn_files_of_the_client_are_thrown_away(place: str, tmp_path: Path) -> None:
    with opened("files", tmp_path) as index:
        index.upsert("p", random_points(20))
    (torn,) = (tmp_path / "qdrant").glob(place)
    overwrite(torn)
    halve(torn)
    with opened("files", tmp_path) as index:
        assert index.count("p") == 0
        index.upsert("p", random_points(20))
        assert index.count("p") == 20


def test_nothing_is_written_on_a_disk_that_is_nearly_full(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, "model-1", DIMENSIONS)
    index.upsert("p", [point("a", axis(0))])
    index.close()
    index = EdgeIndex(tmp_path, "model-1", DIMENSIONS, least_free_bytes=2**60)
    assert code_of(lambda: index.upsert("p", [point("b", axis(1))])) == "index-full"
    assert code_of(lambda: index.upsert("new", [point("b", axis(1))])) == "index-full"
    assert index.ids("p") == {"a"}
    index.remove("p", ["a"])
    index.close()


class FailingShard:
    """A shard whose files went away under it."""

    def query(self, *_: object) -> None:
        raise RuntimeError("vector offset out of bounds")

    flush = close = query


def test_a_shard_that_failed_is_opened_anew(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, "model-1", DIMENSIONS)
    index.upsert("p", [point("a", axis(0))])
    for owner, shard in list(index._open.items()):
        shard.close()
        index._open[owner] = FailingShard()  # type: ignore[assignment]
    assert code_of(lambda: index.search_dense("p", axis(0), 1)) == "index-failed"
    assert found(index.search_dense("p", axis(0), 1)) == ["a"]
    index.close()


def test_only_so_many_shards_are_kept_open(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, "model-1", DIMENSIONS, most_open=2)
    for round_ in range(2):
        for person in "abcde":
            index.upsert(person, [point(f"{person} {round_}", axis(0))])
            assert len(index._open) <= 2
    assert [index.count(person) for person in "abcde"] == [2] * 5
    index.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file") as caught, opened("edge", tmp_path / "file"):
        pass
    assert caught.value.code == "index-failed"


def test_the_rest_of_a_deletion_that_was_cut_short_goes_at_the_next_start(tmp_path: Path) -> None:
    rest = tmp_path / ".gone-1" / "shard"
    rest.mkdir(parents=True)
    (rest / "wal").write_text("x")
    with opened("edge", tmp_path):
        assert not rest.exists()
