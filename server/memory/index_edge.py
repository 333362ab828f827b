"""The vector index in this process: one Qdrant Edge shard, in one folder, for each person."""

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from server.errors import EngineMissing, StoreError
from server.memory.index import (
    TIES,
    Hit,
    Point,
    Vector,
    best,
    owner_key,
    point_id,
    tell_renewal,
    unit,
    words,
)
from server.memory.index_folder import LEAST_FREE_BYTES, IndexFolder

try:
    import qdrant_edge as edge
except ImportError as missing:
    raise EngineMissing(
        "The vector index `edge` is not installed. Run `pip install qdrant-edge-py`, or set index.engine to qdrant."
    ) from missing

T = TypeVar("T")

_DENSE: Final = "dense"
_SPARSE: Final = "words"
_STAMP: Final = "stamp.json"
_SHARD: Final = "shard"
_ANY_OWNER: Final = "[0-9a-f]" * 40
_MOST_OPEN: Final = 64
"""An open shard costs a thread, a file and about 0.1 MB; opening one takes 15 to 50 ms."""
_NEVER_KILOBYTES: Final = 2**40
"""No approximate index is ever built: exact search is fast enough, and finds all."""
_AT_ONCE: Final = 500


class EdgeIndex:
    """See `index.VectorIndex`. Shards are opened when their person is first met."""

    def __init__(
        self,
        folder: Path,
        stamp: str,
        dimensions: int,
        *,
        least_free_bytes: int = LEAST_FREE_BYTES,
        most_open: int = _MOST_OPEN,
    ) -> None:
        """Take `folder`; see `index.open_index` for what is raised.

        Args:
            folder: Belongs to the index alone.
            stamp: What makes vectors comparable.
            dimensions: Length of a dense vector.
            least_free_bytes: Below this nothing is written any more.
            most_open: So many shards are kept open.
        """
        self._folder = IndexFolder(folder)
        self._expected: Final = {"stamp": stamp, "dimensions": dimensions}
        self._dimensions = dimensions
        self._least_free_bytes = least_free_bytes
        self._most_open = most_open
        self._open: OrderedDict[str, edge.EdgeShard] = OrderedDict()
        self._lock = threading.RLock()
        self._is_closed = False

    def upsert(self, person: str, points: Sequence[Point]) -> None:
        """Add points, or replace those of the same id."""
        owner = owner_key(person)
        converted = [self._convert(owner, point) for point in points]
        if not converted:
            return
        self._folder.check_space(self._least_free_bytes)

        def put(shard: edge.EdgeShard) -> None:
            for start in range(0, len(converted), _AT_ONCE):
                piece = converted[start : start + _AT_ONCE]
                shard.update(edge.UpdateOperation.upsert_points(piece))

        self._do(owner, put)

    def remove(self, person: str, ids: Sequence[str]) -> None:
        """Take points out."""
        owner = owner_key(person)
        gone: list[Any] = [point_id(owner, id_) for id_ in ids]
        if gone:
            operation = edge.UpdateOperation.delete_points(gone)
            self._do(owner, lambda shard: shard.update(operation))

    def search_dense(self, person: str, vector: Vector, limit: int) -> list[Hit]:
        """Return the nearest points by cosine."""
        query = edge.Query.Nearest(unit(vector, self._dimensions), using=_DENSE)
        return self._search(person, query, limit)

    def search_sparse(self, person: str, weights: Mapping[int, float], limit: int) -> list[Hit]:
        """Return the points that share words."""
        indices, values = words(weights)
        if not indices:
            return []
        query = edge.Query.Nearest(edge.SparseVector(indices, values), using=_SPARSE)
        return self._search(person, query, limit)

    def count(self, person: str) -> int:
        """Return how many points there are."""
        return self._do(owner_key(person), lambda shard: shard.count(edge.CountRequest(exact=True)))

    def ids(self, person: str) -> set[str]:
        """Return the ids of all points."""
        return self._do(owner_key(person), lambda shard: set(_ids(shard)))

    def erase(self, person: str) -> None:
        """Delete the person's folder."""
        owner = owner_key(person)
        with self._lock:
            self._close_shard(owner)
            self._folder.remove(self._path(owner))

    def erase_others(self, kept: Collection[str]) -> None:
        """Delete the folders of everybody but these persons."""
        owners = {owner_key(person) for person in kept}
        with self._lock:
            for path in list(self._folder.path.glob(_ANY_OWNER)):
                if path.name not in owners:
                    self._close_shard(path.name)
                    self._folder.remove(path)

    def close(self) -> None:
        """Write everything to disk and let others in."""
        with self._lock:
            self._is_closed = True
            for owner in list(self._open):
                self._close_shard(owner)
            self._folder.release()

    def _search(self, person: str, query: Any, limit: int) -> list[Hit]:
        if limit <= 0:
            return []
        request = edge.QueryRequest(limit=limit + TIES, query=query, with_payload=True)
        found = self._do(owner_key(person), lambda shard: shard.query(request))
        return best([Hit(str((hit.payload or {})["id"]), hit.score) for hit in found], limit)

    def _convert(self, owner: str, point: Point) -> "edge.Point":
        vectors: dict[str, Any] = {_DENSE: unit(point.dense, self._dimensions)}
        indices, values = words(point.sparse)
        if indices:
            vectors[_SPARSE] = edge.SparseVector(indices, values)
        payload = {"owner": owner, "id": point.id}
        return edge.Point(point_id(owner, point.id), vectors, payload)

    def _do(self, owner: str, work: "Callable[[edge.EdgeShard], T]") -> T:
        """Do `work` with a person's shard. A shard that fails is closed, and looked at anew before the next call."""
        with self._lock:
            shard = self._shard(owner)
            try:
                with _engine_faults():
                    return work(shard)
            except StoreError:
                self._close_shard(owner)
                raise

    def _shard(self, owner: str) -> "edge.EdgeShard":
        shard = self._open.get(owner)
        if shard is None:
            if (
                self._is_closed
            ):  # a thread that nobody waited for; the folder may be another's by now
                raise StoreError("index-closed", "The vector index is closed.")
            shard = self._load(owner) or self._create(owner)
            self._open[owner] = shard
            if len(self._open) > self._most_open:
                self._close_shard(next(iter(self._open)))
        self._open.move_to_end(owner)
        return shard

    def _load(self, owner: str) -> "edge.EdgeShard | None":
        """Open a person's shard; None if there is none, or none that can be used: then it is deleted."""
        path = self._path(owner)
        if not path.exists():
            return None
        is_ours = self._stamp_of(owner) == self._expected
        if is_ours:
            with suppress(StoreError), _engine_faults():
                shard = edge.EdgeShard.load(str(path / _SHARD))
                if _is_sound(shard, owner, self._dimensions):
                    return shard
                shard.close()
        tell_renewal("damage" if is_ours else "stamp")
        self._folder.remove(path)
        return None

    def _create(self, owner: str) -> "edge.EdgeShard":
        self._folder.check_space(self._least_free_bytes)
        path = self._path(owner)
        with _engine_faults():
            (path / _SHARD).mkdir(parents=True)
            shard = edge.EdgeShard.create(str(path / _SHARD), _shape(self._dimensions))
            # Written last: a folder without a stamp was not finished.
            (path / _STAMP).write_text(json.dumps(self._expected), encoding="utf-8")
        return shard

    def _close_shard(self, owner: str) -> None:
        shard = self._open.pop(owner, None)
        if shard is not None:
            with suppress(StoreError), _engine_faults():
                shard.flush()
                shard.close()

    def _path(self, owner: str) -> Path:
        return self._folder.path / owner

    def _stamp_of(self, owner: str) -> object:
        try:
            return json.loads((self._path(owner) / _STAMP).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None


def _shape(dimensions: int) -> "edge.EdgeConfig":
    return edge.EdgeConfig(
        # Vectors come at unit length, where the dot product is the cosine.
        vectors={_DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Dot)},
        sparse_vectors={_SPARSE: edge.EdgeSparseVectorParams()},
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NEVER_KILOBYTES),
        max_search_threads=1,
    )


def _ids(shard: "edge.EdgeShard") -> Iterator[str]:
    offset: Any = None
    while True:
        records, offset = shard.scroll(
            edge.ScrollRequest(limit=10_000, offset=offset, with_payload=True)
        )
        for record in records:
            yield str((record.payload or {})["id"])
        if offset is None:
            return


def _is_sound(shard: "edge.EdgeShard", owner: str, dimensions: int) -> bool:
    """Whether every point has its owner and a vector. Files that were cut off or zeroed load without an error."""
    number = shard.count(edge.CountRequest(exact=True))
    owned = edge.Filter(must=[edge.FieldCondition(key="owner", match=edge.MatchValue(value=owner))])
    if shard.count(edge.CountRequest(exact=True, filter=owned)) != number:
        return False
    # Irrational enough that no whole vector is at a right angle to it.
    probe = [math.sqrt(i + 2) % 1 - 0.5 for i in range(dimensions)]
    query = edge.Query.Nearest(probe, using=_DENSE)
    hits = shard.query(edge.QueryRequest(limit=max(1, number), query=query))
    return len(hits) == number and all(math.isfinite(hit.score) and hit.score for hit in hits)


@contextmanager
def _engine_faults() -> Iterator[None]:
    """Turn what the engine raises into an error that says what to do."""
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        # A broken assertion of the native code arrives as a BaseException of its own.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise StoreError(
            "index-failed",
            f"The vector index failed ({type(error).__name__}). It is checked and filled again from the store; if this comes "
            "back, delete the folder of the index.",
        ) from error
