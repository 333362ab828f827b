"""Indexes of every kind for tests, and points to put into them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from server.errors import StoreError
from server.memory.index import Hit, Point, Vector, VectorIndex, open_index
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
