"""Sets weights on questions whose right facts are known: logistic regressions, small enough to be fitted anywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RIDGE = 0.3
"""Pull of every weight towards 0, so that a sign that few questions have stays small."""
PERSONAL_RIDGE = 200.0
"""The same for the direction in the embedder's space, which has hundreds of weights."""
_FOLDS = 6
_STEPS = 100
_BIAS_PULL = 1e-3

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """Signs, and whether what they speak for is so."""

    signs: Mapping[str, float]
    wanted: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its vector, who asked it, and whether memory has an answer."""

    vector: NDArray[np.float32]
    person: str
    personal: bool


def fit_weights(judged: Sequence[Judged], ridge: float = RIDGE) -> dict[str, float]:
    """Return the weights under which the judgements are the most likely ones, with ``bias``.

    Args:
        judged: Many, wanted and unwanted.
        ridge: Pull towards 0.
    """
    names = sorted({name for one in judged for name in one.signs})
    rows = np.array([[one.signs.get(name, 0.0) for name in names] for one in judged])
    weights = _fit(rows, np.array([float(one.wanted) for one in judged]), ridge)
    return {"bias": float(weights[-1])} | dict(zip(names, weights[:-1].tolist(), strict=True))


def fit_personal(asked: Sequence[Asked]) -> NDArray[np.float32]:
    """Return the direction in which questions of one's own life differ from others: the dimensions and a bias."""
    rows = np.array([one.vector for one in asked], np.float64)
    mean, spread = rows.mean(axis=0), float(rows.std(axis=0).mean()) or 1.0
    wanted = np.array([float(one.personal) for one in asked])
    weights = _fit((rows - mean) / spread, wanted, PERSONAL_RIDGE)
    direction = weights[:-1] / spread
    return np.append(direction, weights[-1] - direction @ mean).astype(np.float32)


def personal_of_strangers(asked: Sequence[Asked]) -> list[float]:
    """Return for every question how personal it looks to a direction that was fitted without its person."""
    persons = sorted({one.person for one in asked})
    fold = {person: place % _FOLDS for place, person in enumerate(persons)}
    folds = min(_FOLDS, len(persons))
    logits = [0.0] * len(asked)
    for place in range(folds):
        others = [one for one in asked if fold[one.person] != place]
        if not others:
            continue
        direction = fit_personal(others)
        for number, one in enumerate(asked):
            if fold[one.person] == place:
                logits[number] = float(one.vector @ direction[:-1] + direction[-1])
    return logits


def _fit(rows: Numbers, wanted: Numbers, ridge: float) -> Numbers:
    """Return the weights of a logistic regression by Newton's method; the last one is the bias."""
    rows = np.c_[rows, np.ones(len(rows))]
    pull = np.append(np.full(rows.shape[1] - 1, ridge), _BIAS_PULL)
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(rows @ weights, -50, 50)))
        slope = rows.T @ (wanted - likely) - pull * weights
        curvature = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.diag(pull)
        step = np.linalg.solve(curvature, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-7:
            break
    return weights
