"""How much a sentence is like danger signs, by its vector: weights that come with the program, for embedders that they were learnt for."""

import math
import re
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from server.memory.safety.models import HIDDEN, SignalKind

Vectors = NDArray[np.float32]

WEIGHTS = "danger.npz"
NOTHING = "none"
"""The class of what is no sign."""
_DIMENSIONS = 512
_ALONE = re.compile(r"use-multilingual-v3 ")
_BLENDED = re.compile(r"blend\((?P<share>[\d.]+) use-multilingual-v3 ")
_LIKELY, _SURE = 0.6, 0.8
"""Probability of a sign from which it goes into the queue; of one that somebody is told of the same day."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """A logistic model with one class for each kind of sign, and one for none."""

    classes: tuple[str, ...]
    centre: Vectors
    spread: float
    weights: Vectors
    bias: Vectors
    share: float = 1.0
    """Of the encoder that it was learnt for in the cosine of a blend; its numbers come first."""

    def kinds(self, vectors: Vectors) -> list[SignalKind | None]:
        """Return the kind of sign that each sentence is like; None for one that is like none."""
        own = vectors[:, :_DIMENSIONS] / math.sqrt(self.share)
        logits = ((own - self.centre) / self.spread) @ self.weights.T + self.bias
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        likely = odds / odds.sum(axis=1, keepdims=True)
        place = self.classes.index(NOTHING)
        none, likely[:, place] = likely[:, place].copy(), -1.0
        return [
            kind if 1 - rest >= (_SURE if kind in HIDDEN else _LIKELY) else None
            for best, rest in zip(likely.argmax(axis=1), none, strict=True)
            for kind in (SignalKind(self.classes[best]),)
        ]


def load_likeness(embedder: str) -> Likeness | None:
    """Return the model for an embedder; None if there is none for its vectors.

    Args:
        embedder: `Embedder.model`.
    """
    blended = _BLENDED.match(embedder)
    if blended is None and _ALONE.match(embedder) is None:
        return None
    content = (files("server.memory") / "calibrations" / WEIGHTS).read_bytes()
    with np.load(BytesIO(content), allow_pickle=False) as stored:
        return Likeness(
            tuple(map(str, stored["classes"])),
            stored["centre"],
            float(stored["spread"]),
            stored["weights"],
            stored["bias"],
            float(blended["share"]) if blended else 1.0,
        )
