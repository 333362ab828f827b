"""Vectors by person: a derived index that can be thrown away and filled again from the store at any time."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, Protocol, assert_never

import numpy as np
import structlog
from numpy.typing import NDArray

from server.errors import StoreError

log = structlog.get_logger(__name__)

Vector = NDArray[np.float32]

_DECIMALS: Final = 6
"""Two engines add up the same numbers in another order; beyond this their scores differ."""
TIES: Final = 32
"""So many more hits are asked for than wanted, so that equal scores at the end are cut by id, not by chance."""
_MOST_WORDS: Final = 2**32


@dataclass(frozen=True, slots=True)
class Point:
    """What the index knows of one text."""

    id: str
    dense: Vector
    """Its meaning; need not be of unit length."""
    sparse: Mapping[int, float]
    """Its words: number of the word to weight; may be empty."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A point that was found."""

    id: str
    score: float


class VectorIndex(Protocol):
    """Vectors of all persons, each person's apart from the others'.

    Holds ids, owners and vectors, never text. What it holds of a person may lag behind the store, or be gone: after a
    kill, when files were damaged, or when the model changed. Compare `ids` with the store when a person is first met and
    after an ``index-failed``, and upsert what is missing.

    Calls block. They may come from several threads, and are made one after the other.

    Raises:
        StoreError: Codes ``index-invalid`` (a vector that is not finite, is zero, or has a wrong length; nothing of the
            call was stored), ``index-full``, ``index-failed``, ``index-unreachable``, ``index-refused``.
    """

    def upsert(self, person: str, points: Sequence[Point]) -> None:
        """Add points, or replace those of the same id."""

    def remove(self, person: str, ids: Sequence[str]) -> None:
        """Take points out. Ids that are not there don't matter. Their vectors may stay in the files until `erase`."""

    def search_dense(self, person: str, vector: Vector, limit: int) -> list[Hit]:
        """Return the nearest points by cosine, best first, equal ones by id."""

    def search_sparse(self, person: str, weights: Mapping[int, float], limit: int) -> list[Hit]:
        """Return the points that share words by the dot product of the weights, best first, equal ones by id."""

    def count(self, person: str) -> int:
        """Return how many points there are."""

    def ids(self, person: str) -> set[str]:
        """Return the ids of all points."""

    def erase(self, person: str) -> None:
        """Delete everything of a person, from disk too, and what other models left of them."""

    def erase_others(self, kept: Collection[str]) -> None:
        """Delete everything of everybody but these persons. What is on a server may be another Omoide's, and stays."""

    def close(self) -> None:
        """Write everything to disk and let others in."""


def open_index(
    engine: Literal["edge", "qdrant"],
    folder: Path,
    *,
    stamp: str,
    dimensions: int,
    url: str = "",
    api_key: str = "",
) -> VectorIndex:
    """Open an index, made as needed.

    Args:
        engine: ``edge`` is Qdrant in this process; ``qdrant`` its client, with a server or without.
        folder: Where the files are; belongs to the index alone.
        stamp: What makes vectors comparable: model and version of the normaliser. Points made under another stamp, or of
            another length, are not there any more.
        dimensions: Length of a dense vector.
        url: Of a Qdrant server; ``:memory:`` keeps nothing; empty for files in `folder`. Only for ``qdrant``.
        api_key: Of the Qdrant server.

    Raises:
        StoreError: ``index-locked``: another process works in `folder`; ``index-unreachable``; ``index-failed``.
        EngineMissing: The package of the engine is not installed.
    """
    match engine:
        case "edge":
            from server.memory.index_edge import EdgeIndex  # noqa: PLC0415 - its package may be missing

            return EdgeIndex(folder, stamp, dimensions)
        case "qdrant":
            from server.memory.index_qdrant import QdrantIndex  # noqa: PLC0415

            return QdrantIndex(folder, stamp, dimensions, url=url, api_key=api_key)
        case unknown:
            assert_never(unknown)


def owner_key(person: str) -> str:
    """Return the name under which a person's points are kept: safe in a path, and not to be read back."""
    return sha256(person.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def point_id(owner: str, id_: str) -> uuid.UUID:
    """Return the id of a point inside an engine, which takes UUIDs only. Different for every owner.

    Raises:
        StoreError: ``index-invalid``: no engine can keep such an id.
    """
    try:
        id_.encode()
    except UnicodeEncodeError:
        raise invalid("an id with a lone surrogate") from None
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}/{id_}")


def stamp_key(stamp: str, dimensions: int) -> str:
    """Return a short name of what makes vectors comparable."""
    return sha256(f"{stamp}\n{dimensions}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def unit(vector: Vector, dimensions: int) -> list[float]:
    """Return a dense vector as an engine wants it, at unit length.

    Raises:
        StoreError: ``index-invalid``.
    """
    numbers = np.asarray(vector, np.float64)
    if numbers.shape != (dimensions,):
        raise invalid(f"a vector of shape {numbers.shape} instead of ({dimensions},)")
    if not np.isfinite(numbers).all():
        raise invalid("a vector that is not finite")
    largest = float(np.abs(numbers).max())
    if largest == 0:
        raise invalid("a vector of zeros")
    numbers = numbers / largest
    unit_numbers: list[float] = (numbers / np.linalg.norm(numbers)).astype(np.float32).tolist()
    return unit_numbers


def words(weights: Mapping[int, float]) -> tuple[list[int], list[float]]:
    """Return sparse weights as an engine wants them: in order, without zeros.

    Raises:
        StoreError: ``index-invalid``.
    """
    kept = sorted((word, float(weight)) for word, weight in weights.items() if weight != 0)
    values = np.asarray([weight for _, weight in kept], np.float32)
    if not np.isfinite(values).all() or any(not 0 <= word < _MOST_WORDS for word, _ in kept):
        raise invalid("word weights that are not finite, or of a word beyond 32 bits")
    return [word for word, _ in kept], values.tolist()


def best(hits: list[Hit], limit: int) -> list[Hit]:
    """Return the first `limit` hits in the order that all engines agree on."""
    rounded = [Hit(hit.id, round(hit.score, _DECIMALS)) for hit in hits]
    return sorted(rounded, key=lambda hit: (-hit.score, hit.id))[:limit]


def tell_renewal(reason: Literal["stamp", "damage"]) -> None:
    """Log that an index, or a person's part of it, is thrown away. Nobody need worry: it is a copy."""
    note = "Nothing is lost: the index is a copy, and is made anew from memory.db."
    if reason == "stamp":
        log.info(
            "index-renewed", reason="another model made it, or it was never finished", note=note
        )
    else:
        log.warning("index-renewed", reason="its files were damaged", note=note)


def invalid(what: str) -> StoreError:
    """Return the error for something that must not get into the index."""
    return StoreError("index-invalid", f"The vector index was handed {what}. It was not stored.")
