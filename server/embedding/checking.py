"""Checks what a model calculated before anybody relies on it."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from server.ports import EmbeddingError, Vectors

_LEAST_LENGTH: Final = 1e-6


def check(rows: Sequence[ArrayLike], count: int, dimensions: int, engine: str) -> Vectors:
    """Return the vectors of `count` texts at unit length.

    A longer vector is cut to `dimensions`, as models are made for that are trained to say the most important first.

    Raises:
        EmbeddingError: ``embedding-invalid``, with the positions of the texts whose vectors can't be used.
    """
    if len(rows) != count:
        raise EmbeddingError(
            "embedding-invalid", f"{engine} gave {len(rows)} vectors for {count} texts."
        )
    vectors = np.zeros((count, dimensions), np.float32)
    bad: list[int] = []
    for position, row in enumerate(rows):
        vector = _unit(row, dimensions)
        if vector is None:
            bad.append(position)
        else:
            vectors[position] = vector
    if bad:
        lengths = ", ".join(sorted({str(np.shape(rows[position])) for position in bad}))
        raise EmbeddingError(
            "embedding-invalid",
            f"{engine} gave {len(bad)} of {count} vectors that can't be used: not finite, zero, or shorter than the "
            f"{dimensions} numbers that `dimensions` asks for (shape {lengths}). Nothing of it is stored.",
            positions=bad,
        )
    return vectors


def _unit(row: ArrayLike, dimensions: int) -> Vectors | None:
    """Return `row` at unit length; None if it can't be used. Calculated in float64, so that no length overflows."""
    try:
        vector = np.asarray(row, np.float64)
    except (TypeError, ValueError):
        return None
    if vector.ndim != 1 or len(vector) < dimensions:
        return None
    vector = vector[:dimensions]
    if not np.isfinite(vector).all():
        return None
    largest = float(np.abs(vector).max())
    if largest < _LEAST_LENGTH:
        return None
    scaled = vector / largest
    unit: Vectors = (scaled / np.linalg.norm(scaled)).astype(np.float32)
    return unit
