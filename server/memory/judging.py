"""Small models that judge: perceptrons look at vectors, a forest of trees weighs their word with all other signs.

They are learnt with libraries (`server.commands.learning`) and used without: what is here is a few lines of numpy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Signs = Mapping[str, float]
Vectors = NDArray[np.float32]
"""One row for each text."""
NO_OPINION = -4.0
"""Of a pair that lacks a vector: about what a perceptron says of most pairs."""
_LAST_RANK = 10


@dataclass(frozen=True, slots=True)
class Scale:
    """Where vectors of one sort lie, and how far they spread: brings them to about 1."""

    centre: NDArray[np.float32]
    """Shape (dimensions,)."""
    spread: float

    def applied(self, vectors: Vectors) -> Vectors:
        """Return vectors on this scale."""
        return (vectors - self.centre) / np.float32(self.spread)


@dataclass(frozen=True, slots=True)
class Perceptron:
    """One hidden layer of rectifiers."""

    hidden: NDArray[np.float32]
    """Shape (inputs, units)."""
    hidden_bias: NDArray[np.float32]
    out: NDArray[np.float32]
    """Shape (units,)."""
    out_bias: float

    def logits(self, rows: Vectors) -> NDArray[np.float32]:
        """Return the logit of the probability for each row of inputs."""
        layer = np.maximum(rows @ self.hidden + self.hidden_bias, 0)
        return np.asarray(layer @ self.out + np.float32(self.out_bias), np.float32)


def pair_rows(first: Vectors, second: Vectors) -> Vectors:
    """Return what a perceptron looks at in pairs of scaled vectors: both, and where they agree.

    Either may be a single vector, which is then paired with every row of the other.
    """
    one, other = np.broadcast_arrays(first, second)
    return np.hstack([one, other, one * other])


@dataclass(frozen=True, slots=True)
class Forest:
    """Gradient-boosted trees over named signs.

    All trees stand in arrays of shape (trees, nodes); node 0 is the root, a leaf leads to itself.
    """

    names: tuple[str, ...]
    """The signs; `sign` holds places in it. A sign that is not given counts as 0."""
    sign: NDArray[np.int16]
    threshold: NDArray[np.float64]
    """Up to it, the way leads to `left`."""
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]
    """Of the leaves; their sum over the trees, and the bias, are the logit."""
    bias: float
    depth: int
    """Steps from a root to its farthest leaf."""

    def probabilities(self, signs: Sequence[Signs]) -> NDArray[np.float64]:
        """Return the probability that what the trees were grown for is so, for each set of signs."""
        if not signs:
            return np.zeros(0)
        rows = np.array([[one.get(name, 0.0) for name in self.names] for one in signs], np.float64)
        trees = np.arange(len(self.sign))
        node = np.zeros((len(rows), len(trees)), np.int16)
        for _ in range(self.depth):
            told = np.take_along_axis(rows, self.sign[trees, node].astype(np.intp), axis=1)
            goes_left = told <= self.threshold[trees, node]
            node = np.where(goes_left, self.left[trees, node], self.right[trees, node])
        logits = self.value[trees, node].sum(axis=1, dtype=np.float64) + self.bias
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -50, 50))), np.float64)


def add_standing(found: Sequence[dict[str, float]], name: str) -> None:
    """Add how a sign stands among those of all: its rank from 0, at most 10, and how far it is from the best and the second."""
    ordered = sorted((one[name] for one in found), reverse=True)
    ranks = {value: float(rank) for rank, value in reversed([*enumerate(ordered[:_LAST_RANK])])}
    second = ordered[min(1, len(ordered) - 1)] if ordered else 0.0
    for one in found:
        one[f"{name}.rank"] = ranks.get(one[name], float(_LAST_RANK))
        one[f"{name}.below_best"] = one[name] - ordered[0]
        one[f"{name}.above_second"] = one[name] - second
