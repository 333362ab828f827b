"""The vectors of one person's utterances: a short form to look through all of them, the whole ones for the best.

The short form is a projection onto random axes, which keeps cosines about as they are whatever the model
(Johnson and Lindenstrauss); whole vectors of ten thousand exchanges would take longer to multiply than all else together.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from server.memory.line_table import Floats

SHORT = 128
"""Numbers of the short form."""
_SAMPLE = 1_000
"""Utterances from which mean and spread of the cosines are reckoned."""

Halves = NDArray[np.float16]


class LineVectors:
    """One row for each utterance; an utterance that has no vector yet has a row of zeros. Grows at the end."""

    def __init__(self, rows: Floats) -> None:
        """Hold rows of shape (utterances, dimensions), each of length 1 or zero."""
        self._axes = _axes(rows.shape[1])
        self._whole: Halves = rows.astype(np.float16)
        self._short: Floats = _shortened(rows, self._axes)
        self._missing = ~rows.any(axis=1)
        self._sample = self._draw()

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, rows: Floats) -> None:
        """Add the rows of utterances that follow."""
        self._whole = np.vstack([self._whole, rows.astype(np.float16)])
        self._short = np.vstack([self._short, _shortened(rows, self._axes)])
        self._missing = np.append(self._missing, ~rows.any(axis=1))
        self._sample = self._draw()

    def put(self, place: int, row: Floats) -> None:
        """Give an utterance its vector."""
        self._whole[place] = row
        self._short[place] = _shortened(row[None, :], self._axes)[0]
        self._missing[place] = False

    def look_through(self, query: Floats) -> Floats:
        """Return about how far each cosine with `query` stands above the mean, in standard deviations."""
        cosines = self._short @ _shortened(query[None, :], self._axes)[0]
        held = cosines[~self._missing]
        if not len(held) or held.std() == 0:
            return np.zeros(len(cosines), np.float32)
        stands = (cosines - held.mean()) / held.std()
        stands[self._missing] = 0.0
        return stands.astype(np.float32)

    def stand(self, query: Floats, places: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the cosines of some utterances, and how far each stands above the mean of all; 0 of those without a vector."""
        cosines = self._whole[places].astype(np.float32) @ query
        sample = self._sample @ query
        spread = float(sample.std()) if len(sample) else 0.0
        stands = (cosines - sample.mean()) / spread if spread > 0 else np.zeros_like(cosines)
        stands[self._missing[places]] = 0.0
        return cosines, stands.astype(np.float32)

    def of(self, places: NDArray[np.intp]) -> Floats:
        """Return whole vectors."""
        return self._whole[places].astype(np.float32)

    def _draw(self) -> Floats:
        held = np.flatnonzero(~self._missing)
        chosen = held[:: max(1, len(held) // _SAMPLE)]
        return self._whole[chosen].astype(np.float32)


@cache
def _axes(dimensions: int) -> Floats | None:
    """Return random axes at right angles, the same in every process; None for vectors that are short already."""
    if dimensions <= SHORT:
        return None
    normal = np.random.default_rng(0).standard_normal((dimensions, SHORT))
    return np.linalg.qr(normal)[0].astype(np.float32)


def _shortened(rows: Floats, axes: Floats | None) -> Floats:
    if axes is None:
        return rows.astype(np.float32)
    short = rows @ axes
    lengths = np.linalg.norm(short, axis=1, keepdims=True)
    return (short / np.where(lengths > 0, lengths, 1)).astype(np.float32)
