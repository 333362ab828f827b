"""The vector index through Qdrant's client: a server, files of its own without a server, or nothing but memory.

Without a server each person has a collection, because there a filter looks at every point of everybody in Python. On a
server all persons share one: a collection of its own costs a server megabytes for each, a filter by owner nearly nothing.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog

from server.errors import EngineMissing, StoreError
from server.memory.index import (
    TIES,
    Hit,
    Point,
    Vector,
    best,
    owner_key,
    point_id,
    stamp_key,
    tell_renewal,
    unit,
    words,
)
from server.memory.index_folder import LEAST_FREE_BYTES, IndexFolder

try:
    from qdrant_client import QdrantClient, models
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
except ImportError as missing:
    raise EngineMissing(
        "The vector index `qdrant` is not installed. Run `pip install qdrant-client`, or set index.engine to edge."
    ) from missing

log = structlog.get_logger(__name__)

T = TypeVar("T")

IN_MEMORY: Final = ":memory:"
_DENSE: Final = "dense"
_SPARSE: Final = "words"
_PREFIX: Final = "omoide-"
_FILES: Final = "qdrant"
_AT_ONCE: Final = 256
_PAGE: Final = 5_000
_EXACT: Final = models.SearchParams(exact=True)
_SERVER_SECONDS: Final = 10
_CONFLICT: Final = 409


class QdrantIndex:
    """See `index.VectorIndex`. One lock around everything: the client without a server loses points to threads."""

    def __init__(
        self,
        folder: Path,
        stamp: str,
        dimensions: int,
        *,
        url: str = "",
        api_key: str = "",
        shared: bool | None = None,
    ) -> None:
        """Connect; see `index.open_index` for what is raised.

        Args:
            folder: Belongs to the index alone. Used only if `url` is empty.
            stamp: What makes vectors comparable.
            dimensions: Length of a dense vector.
            url: Of a server, or ``:memory:``.
            api_key: Of the server.
            shared: Whether all persons share a collection; None for what fits `url`.
        """
        self._dimensions = dimensions
        self._folder = None if url else IndexFolder(folder)
        self._remote = url not in ("", IN_MEMORY)
        self._shared = self._remote if shared is None else shared
        self._base = f"{_PREFIX}{stamp_key(stamp, dimensions)}"
        self._known: set[str] = set()
        self._lock = threading.RLock()
        try:
            self._client = self._connect(url, api_key)
            self._discard_others()
        except BaseException:
            if self._folder is not None:
                self._folder.release()
            raise

    def upsert(self, person: str, points: Sequence[Point]) -> None:
        """Add points, or replace those of the same id."""
        owner = owner_key(person)
        converted = [self._convert(owner, point) for point in points]
        if not converted:
            return
        if self._folder is not None:
            self._folder.check_space(LEAST_FREE_BYTES)

        def put(name: str) -> None:
            for start in range(0, len(converted), _AT_ONCE):
                piece = converted[start : start + _AT_ONCE]
                self._client.upsert(name, piece, wait=True)

        self._do(owner, put, make=True)

    def remove(self, person: str, ids: Sequence[str]) -> None:
        """Take points out."""
        owner = owner_key(person)
        gone: list[Any] = [str(point_id(owner, id_)) for id_ in ids]
        if gone:
            chosen = models.PointIdsList(points=gone)
            self._do(owner, lambda name: self._client.delete(name, chosen, wait=True))

    def search_dense(self, person: str, vector: Vector, limit: int) -> list[Hit]:
        """Return the nearest points by cosine."""
        return self._search(person, unit(vector, self._dimensions), _DENSE, limit)

    def search_sparse(self, person: str, weights: Mapping[int, float], limit: int) -> list[Hit]:
        """Return the points that share words."""
        indices, values = words(weights)
        if not indices:
            return []
        query = models.SparseVector(indices=indices, values=values)
        return self._search(person, query, _SPARSE, limit)

    def count(self, person: str) -> int:
        """Return how many points there are."""
        owner = owner_key(person)
        owned = self._filter(owner)
        found = self._do(owner, lambda name: self._client.count(name, count_filter=owned))
        return found.count if found else 0

    def ids(self, person: str) -> set[str]:
        """Return the ids of all points."""
        owner = owner_key(person)
        return self._do(owner, lambda name: set(self._ids(name, owner))) or set()

    def erase(self, person: str) -> None:
        """Delete the person's collections, or the person's points in those that are shared."""
        owner = owner_key(person)
        with self._lock, _client_faults():
            for name in self._collections():
                if name.endswith(f"-{owner}"):
                    self._client.delete_collection(name)
                    self._known.discard(name)
                elif self._shared:
                    owned = models.FilterSelector(filter=_owned_by(owner))
                    self._client.delete(name, owned, wait=True)

    def erase_others(self, kept: Collection[str]) -> None:
        """Delete the collections of everybody but these persons; those that are shared on a server stay."""
        if self._remote:
            return
        owners = [owner_key(person) for person in kept]
        with self._lock, _client_faults():
            for name in self._collections():
                if self._shared:
                    others = models.Filter(must_not=[_owned_by(owner) for owner in owners])
                    self._client.delete(name, models.FilterSelector(filter=others), wait=True)
                elif not name.endswith(tuple(f"-{owner}" for owner in owners)):
                    self._client.delete_collection(name)
                    self._known.discard(name)

    def close(self) -> None:
        """Write everything to disk and let others in."""
        with self._lock:
            self._client.close()
            if self._folder is not None:
                self._folder.release()

    def _connect(self, url: str, api_key: str) -> QdrantClient:
        if self._folder is None:
            if not self._remote:
                return QdrantClient(url)
            return QdrantClient(
                url=url, api_key=api_key or None, timeout=_SERVER_SECONDS, check_compatibility=False
            )
        files = self._folder.path / _FILES
        try:
            return QdrantClient(path=str(files))
        except Exception as error:
            # The lock is ours, so whatever is wrong is in the files: half a JSON, half a database.
            log.debug("index-unreadable", error=type(error).__name__)
            tell_renewal("damage")
            self._folder.remove(files)
        with _client_faults():
            return QdrantClient(path=str(files))

    def _discard_others(self) -> None:
        """Delete what was made under another stamp. On a server it may be another Omoide's, and stays."""
        with _client_faults():
            for name in self._collections():
                if not (self._remote or name.startswith(self._base)):
                    tell_renewal("stamp")
                    self._client.delete_collection(name)

    def _collections(self) -> list[str]:
        found = self._client.get_collections().collections
        return [each.name for each in found if each.name.startswith(_PREFIX)]

    def _search(self, person: str, query: Any, using: str, limit: int) -> list[Hit]:
        owner = owner_key(person)
        if limit <= 0:
            return []
        found = self._do(
            owner,
            lambda name: self._client.query_points(
                name,
                query=query,
                using=using,
                limit=limit + TIES,
                query_filter=self._filter(owner),
                search_params=_EXACT if self._remote else None,
            ),
        )
        hits = found.points if found else []
        return best([Hit(str((hit.payload or {})["id"]), hit.score) for hit in hits], limit)

    def _convert(self, owner: str, point: Point) -> models.PointStruct:
        vectors: dict[str, Any] = {_DENSE: unit(point.dense, self._dimensions)}
        indices, values = words(point.sparse)
        if indices:
            vectors[_SPARSE] = models.SparseVector(indices=indices, values=values)
        payload = {"owner": owner, "id": point.id}
        return models.PointStruct(
            id=str(point_id(owner, point.id)), vector=vectors, payload=payload
        )

    def _ids(self, name: str, owner: str) -> Iterator[str]:
        offset: Any = None
        while True:
            records, offset = self._client.scroll(
                name, scroll_filter=self._filter(owner), limit=_PAGE, offset=offset
            )
            for record in records:
                yield str((record.payload or {})["id"])
            if offset is None:
                return

    def _filter(self, owner: str) -> models.Filter | None:
        return _owned_by(owner) if self._shared else None

    def _do(self, owner: str, work: Callable[[str], T], *, make: bool = False) -> T | None:
        """Do `work` with the collection that holds a person's points; None if there is none and it is not to be made."""
        name = self._base if self._shared else f"{self._base}-{owner}"
        with self._lock, _client_faults():
            if name not in self._known:
                if not self._client.collection_exists(name):
                    if not make:
                        return None
                    self._create(name)
                self._known.add(name)
            try:
                return work(name)
            except UnexpectedResponse:
                self._known.discard(name)  # somebody may have deleted it
                raise

    def _create(self, name: str) -> None:
        try:
            self._client.create_collection(
                name,
                # Vectors come at unit length, where the dot product is the cosine.
                vectors_config={
                    _DENSE: models.VectorParams(size=self._dimensions, distance=models.Distance.DOT)
                },
                sparse_vectors_config={_SPARSE: models.SparseVectorParams()},
                # No approximate index: exact search among one owner's points is fast, and finds all.
                hnsw_config=models.HnswConfigDiff(m=0),
            )
        except UnexpectedResponse as error:
            if error.status_code != _CONFLICT:  # else another server was faster
                raise
        if self._remote:
            self._client.create_payload_index(
                name,
                "owner",
                models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
                wait=True,
            )


def _owned_by(owner: str) -> models.Filter:
    condition = models.FieldCondition(key="owner", match=models.MatchValue(value=owner))
    return models.Filter(must=[condition])


@contextmanager
def _client_faults() -> Iterator[None]:
    """Turn what the client raises into an error that says what to do. What a server wrote is left out."""
    try:
        yield
    except StoreError:
        raise
    except ResponseHandlingException as error:
        raise StoreError(
            "index-unreachable",
            "The Qdrant server can't be reached. Check that it runs, the network, and index.url.",
        ) from error
    except UnexpectedResponse as error:
        if error.status_code in (401, 403):
            raise StoreError(
                "index-refused", "The Qdrant server refuses the key. Check index.api_key."
            ) from error
        raise StoreError(
            "index-failed",
            f"The Qdrant server answered with HTTP status {error.status_code}. See its log.",
        ) from error
    except Exception as error:
        raise StoreError(
            "index-failed",
            f"The vector index failed ({type(error).__name__}). It can be filled again from the store; if this comes back, "
            "delete the folder of the index.",
        ) from error
