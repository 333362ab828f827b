"""The vectors of one person's utterances: a short form to look through all of them, the whole ones for the best.

The short form is a projection onto random axes, which keeps cosines about as they are whatever the model
(Johnson and Lindenstrauss); whole vectors of ten thousand exchanges would take longer to multiply than all else together.
"""

import math
from collections.abc import Mapping
from copy import copy
from functools import cache

import numpy as np
from numpy.typing import NDArray

from server.memory.growing import GrowingArray
from server.memory.line_table import Floats

SHORT = 128
"""Numbers of the short form."""
_SAMPLE = 500
"""Utterances from which mean and spread of the cosines are reckoned."""
_LEAST_SPREAD = 1e-6
"""Below it cosines differ by rounding alone."""

_GROWN = 1.1
_MORE_FRACTION_BITS = 13
"""A float has more of them than a half."""
_SIGN_AND_HALF = np.int32(0x8FFFFFFF - 2**32)
"""Where the bits of a half lie in a float; those between sign and exponent are copies of the sign."""
_EXPONENTS_APART = np.float32(2.0 ** (127 - 15))

Halves = NDArray[np.float16]


class LineVectors:
    """One row for each utterance; an utterance that has no vector yet has a row of zeros. Grows at the end."""

    def __init__(self, rows: Floats) -> None:
        """Hold rows of shape (utterances, dimensions), each of length 1 or zero; a broken one counts as zero."""
        self._axes = _axes(rows.shape[1])
        rows = _sound(rows)
        self._whole = GrowingArray(rows.astype(np.float16))
        self._short = GrowingArray(_shortened(rows, self._axes))
        self._missing = (rows == 0).all(axis=1)
        """A later copy of this object may have filled these rows: here they count as zero."""
        self._held = int(rows.any(axis=1).sum())
        self._drawn_of = 0
        self._draw()

    def __len__(self) -> int:
        return len(self._whole.rows)

    def copy(self) -> "LineVectors":
        """Return the same, to be changed while this object stays as it is. Only the newest copy may be changed."""
        twin: LineVectors = copy(self)
        twin._whole, twin._short = self._whole.copy(), self._short.copy()
        twin._missing = self._missing.copy()
        return twin

    def add(self, rows: Floats) -> None:
        """Add the rows of utterances that follow."""
        rows = _sound(rows)
        self._whole.extend(rows.astype(np.float16))
        self._short.extend(_shortened(rows, self._axes))
        self._missing = np.append(self._missing, (rows == 0).all(axis=1))
        self._held += int(rows.any(axis=1).sum())
        self._draw()

    def put(self, by_place: Mapping[int, Floats]) -> None:
        """Give utterances their vectors."""
        whole, short, missing = self._whole.rows, self._short.rows, self._missing
        for place, row in by_place.items():
            rows = _sound(row[None, :])
            whole[place] = rows[0]
            short[place] = _shortened(rows, self._axes)[0]
            missing[place] = not rows.any()
        self._held = int((~missing).sum())
        self._draw()

    def missing(self) -> NDArray[np.intp]:
        """Return the places of utterances without a vector."""
        return np.flatnonzero(self._missing)

    def look_through(self, query: Floats) -> Floats:
        """Return about how far each cosine with `query` stands above the mean, in standard deviations."""
        missing = self._missing
        cosines = self._short.rows @ _shortened(query[None, :], self._axes)[0]
        stands = _standing(cosines, cosines[~missing] if missing.any() else cosines)
        stands[missing] = 0.0
        return stands

    def stand(self, query: Floats, places: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the cosines of some utterances, and how far each stands above the mean of all; 0 of those without a vector."""
        cosines = self.of(places) @ query
        stands = _standing(cosines, self._sample @ query)
        stands[self._missing[places]] = 0.0
        return cosines, stands

    def of(self, places: NDArray[np.intp]) -> Floats:
        """Return whole vectors."""
        rows = _widened(self._whole.rows[places])
        rows[self._missing[places]] = 0.0
        return rows

    def rest(self) -> float:
        """Return the mean cosine of any two utterances: models differ in it, and what lies below tells nothing."""
        return self._rest

    def _draw(self) -> None:
        """Draw the sample anew; when utterances come one by one, only once there are a tenth more of them."""
        known = self._drawn_of
        if known > _SAMPLE and known <= self._held < known * _GROWN:
            return
        self._drawn_of = self._held
        chosen = np.flatnonzero(~self._missing)[:: max(1, self._held // _SAMPLE)]
        self._sample = self._whole.rows[chosen].astype(np.float32)
        mean = self._sample.mean(axis=0) if len(chosen) > 1 else np.zeros(1, np.float32)
        self._rest = float(np.clip(mean @ mean, 0.0, 0.99))


def _sound(rows: Floats) -> Floats:
    """Return rows with zeros in the place of broken ones (NaN, infinity): one would spoil the mean of all."""
    return np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, np.float32(0))


def _widened(halves: Halves) -> Floats:
    """Return finite halves as floats, by moving their bits: five times as fast as `astype`, which goes one by one."""
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= _MORE_FRACTION_BITS
    bits &= _SIGN_AND_HALF
    widened: Floats = bits.view(np.float32)
    widened *= _EXPONENTS_APART
    return widened


def _standing(cosines: Floats, sample: Floats) -> Floats:
    """Return how far cosines stand above the mean of a sample; zeros if all of the sample are the same."""
    if not len(sample):
        return np.zeros_like(cosines)
    mean = np.add.reduce(sample) / np.float32(len(sample))
    apart = sample - mean
    spread = math.sqrt(float(apart @ apart) / len(sample))  # far less to do than `std`
    if spread < _LEAST_SPREAD:
        return np.zeros_like(cosines)
    stands: Floats = (cosines - mean) / np.float32(spread)
    return stands


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
