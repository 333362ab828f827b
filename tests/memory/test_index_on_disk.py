"""What an index keeps in files or on a server: reopened, killed, torn, full, and shared by mistake."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from server.errors import StoreError
from server.memory.index import open_index
from server.memory.index_edge import EdgeIndex
from server.memory.index_qdrant import QdrantIndex
from tests.memory.indexes import (
    DIMENSIONS,
    ENGINES,
    ON_DISK,
    axis,
    code_of,
    found,
    opened,
    point,
    random_points,
)
from tests.memory.qdrant_stand_in import qdrant_stand_in
from tests.on_disk import bytes_of


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
        assert id_.encode() not in bytes_of(tmp_path)
        assert index.ids("stays") == {"other"}
        assert index.ids("goes") == set()


@pytest.mark.parametrize("engine", ENGINES)
def test_others_than_those_who_are_kept_are_erased_but_not_on_a_server(
    engine: str, tmp_path: Path
) -> None:
    persons = ("hana", "ken", "../yui")
    with opened(engine, tmp_path) as index:
        for person in persons:
            index.upsert(person, [point("a", axis(0))])
        index.erase_others(["ken", "nobody"])
        kept = [person for person in persons if index.count(person)]
        assert kept == (list(persons) if engine == "server" else ["ken"])
        index.erase_others([])
        assert index.count("ken") == (engine == "server")
        index.upsert("hana", [point("b", axis(1))])
        assert "b" in index.ids("hana")


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


@pytest.mark.parametrize("engine", ON_DISK)
def test_a_thread_that_comes_late_finds_an_index_closed(engine: str, tmp_path: Path) -> None:
    with opened(engine, tmp_path) as index:
        index.upsert("hana", [point("a", axis(0))])
    with pytest.raises(StoreError):
        index.upsert("hana", [point("b", axis(1))])
    with opened(engine, tmp_path) as index:
        assert index.ids("hana") == {"a"}
