"""Learns to judge from questions whose right facts are known: perceptrons on vectors, then a forest on their word and the signs.

Whoever weighs an opinion must not have been there when it was formed: what the forest is grown on are opinions of
perceptrons that had not seen the person in question.
"""

import importlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.errors import EngineMissing
from server.memory.judging import Forest, Perceptron, Scale, Signs, Vectors

CERTAIN = 4.0
"""Logit of what is always so in the cases that were there to learn from."""
_FOLDS = 5
_MEMBERS = 2
"""Perceptrons, and forests, that are learnt with different dice and averaged."""
_STEPS = 400
_PACE = 0.05
_PULL = 0.001
"""Towards 0, of the weights of a ranking."""
_GROWING = {
    "max_iter": 150,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 40,
    "learning_rate": 0.05,
    "max_features": 0.5,
    "l2_regularization": 5.0,
    "early_stopping": False,
}


@dataclass(frozen=True, slots=True)
class Study:
    """How a perceptron is learnt."""

    units: int = 32
    penalty: float = 10.0
    """Pull of the weights towards 0."""
    rounds: int = 20


def scale_of(vectors: Vectors) -> Scale:
    """Return where vectors lie and how far they spread."""
    centre = vectors.mean(axis=0)
    spread = float((vectors - centre).std(axis=0).mean())
    return Scale(centre.astype(np.float32), spread or 1.0)


def learn_perceptron(rows: Vectors, wanted: NDArray[np.bool_], study: Study) -> Perceptron:
    """Return a perceptron for some rows: several that were learnt with different dice, side by side.

    Raises:
        EngineMissing: scikit-learn is not installed.
    """
    if len(set(wanted.tolist())) < 2:  # there is nothing to tell apart
        return _certain(rows.shape[1], wanted=bool(wanted.any()))
    network = _library("sklearn.neural_network").MLPClassifier
    members = []
    for dice in range(_MEMBERS):
        options = {"alpha": study.penalty, "max_iter": study.rounds, "random_state": dice}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # to stop before it knows everything by heart is meant
            members.append(network((study.units,), **options).fit(rows, wanted))
    return Perceptron(
        np.hstack([member.coefs_[0] for member in members]).astype(np.float32),
        np.concatenate([member.intercepts_[0] for member in members]).astype(np.float32),
        (np.concatenate([member.coefs_[1][:, 0] for member in members]) / _MEMBERS).astype(
            np.float32
        ),
        float(np.mean([member.intercepts_[1][0] for member in members])),
    )


def _certain(inputs: int, *, wanted: bool) -> Perceptron:
    none = np.zeros(1, np.float32)
    return Perceptron(
        np.zeros((inputs, 1), np.float32), none, none, CERTAIN if wanted else -CERTAIN
    )


def opinions_of_strangers(
    rows: Vectors,
    wanted: NDArray[np.bool_],
    persons: Sequence[str],
    study: Study,
    taught: NDArray[np.bool_] | None = None,
) -> NDArray[np.float32]:
    """Return for every row the logit of a perceptron that was learnt without the rows of its person.

    Args:
        rows: Inputs.
        wanted: What is right.
        persons: To whom each row belongs.
        study: How to learn.
        taught: Which rows are good to learn from; all if it is None.
    """
    of_row = np.array(persons)
    names = sorted(set(persons))
    np.random.default_rng(0).shuffle(names)
    logits = np.zeros(len(rows), np.float32)
    for place in range(_FOLDS):
        apart = np.isin(of_row, names[place::_FOLDS])
        known = ~apart if taught is None else ~apart & taught
        if not apart.any():
            continue
        logits[apart] = learn_perceptron(rows[known], wanted[known], study).logits(rows[apart])
    return logits


def grow_forest(
    signs: Sequence[Signs], wanted: Sequence[bool], use: Callable[[str], bool] = lambda name: True
) -> Forest:
    """Return a forest that tells the wanted from the unwanted by their signs.

    Args:
        signs: Of many cases.
        wanted: What is right for each of them.
        use: Says of a sign whether it may be used.

    Raises:
        EngineMissing: scikit-learn is not installed.
    """
    names = sorted({name for one in signs for name in one if use(name)})
    if len(set(wanted)) < 2:  # there is nothing to tell apart
        return _as_arrays([], CERTAIN if any(wanted) else -CERTAIN, tuple(names))
    gardener = _library("sklearn.ensemble").HistGradientBoostingClassifier
    rows = np.array([[one.get(name, 0.0) for name in names] for one in signs])
    trees: list[NDArray[Any]] = []
    bias = 0.0
    for dice in range(_MEMBERS):
        grown = gardener(**_GROWING, random_state=dice).fit(rows, np.array(wanted))
        # There is no public way to the trees; a test compares what is read here with what the library says.
        trees += [predictor.nodes for (predictor,) in grown._predictors]  # noqa: SLF001
        bias += float(grown._baseline_prediction[0, 0]) / _MEMBERS  # noqa: SLF001
    return _as_arrays(trees, bias, tuple(names))


def _as_arrays(trees: Sequence[NDArray[Any]], bias: float, names: tuple[str, ...]) -> Forest:
    shape = (len(trees), max((len(nodes) for nodes in trees), default=1))
    sign = np.zeros(shape, np.int16)
    threshold, value = np.zeros(shape), np.zeros(shape, np.float32)
    left = np.tile(np.arange(shape[1], dtype=np.int16), (shape[0], 1))
    right = left.copy()
    for row, nodes in enumerate(trees):
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        leaves = np.flatnonzero(nodes["is_leaf"])
        sign[row, inner] = nodes["feature_idx"][inner]
        threshold[row, inner] = nodes["num_threshold"][inner]
        left[row, inner] = nodes["left"][inner]
        right[row, inner] = nodes["right"][inner]
        value[row, leaves] = nodes["value"][leaves] / _MEMBERS
    depth = max((int(nodes["depth"].max()) for nodes in trees), default=0)
    return Forest(names, sign, threshold, left, right, value, bias, depth)


def _library(name: str) -> Any:
    """Import a library that only learning needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EngineMissing(
            "Learning needs scikit-learn: `pip install 'omoide[calibrate]'`."
        ) from error


def learn_ranking(
    lessons: Sequence[tuple[NDArray[np.float64], NDArray[np.bool_]]],
    least: NDArray[np.float64] | float = -np.inf,
) -> NDArray[np.float64]:
    """Return weights under which the wanted rows of every lesson score highest: a conditional logit.

    Args:
        lessons: Of each question the signs of its candidates, shape (candidates, signs), and which of them are wanted.
        least: Below which no weight falls, of each sign or of all.
    """
    worths = np.zeros(lessons[0][0].shape[1])
    speed, force = np.zeros_like(worths), np.zeros_like(worths)
    for step in range(1, _STEPS + 1):  # Adam
        slope = _PULL * worths
        for rows, wanted in lessons:
            scores = rows @ worths
            likely = np.exp(scores - scores.max())
            slope += ((likely / likely.sum()) @ rows - rows[wanted].mean(axis=0)) / len(lessons)
        speed = 0.9 * speed + 0.1 * slope
        force = 0.99 * force + 0.01 * slope**2
        worths -= _PACE * (speed / (1 - 0.9**step)) / (np.sqrt(force / (1 - 0.99**step)) + 1e-8)
        worths = np.maximum(worths, least)
    return worths


def learn_logistic(
    rows: NDArray[np.float64], wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """Return weights and bias of a logistic model; both answers count alike, however often each occurs.

    Raises:
        EngineMissing: scikit-learn is not installed.
    """
    spread = rows.std(axis=0)
    spread[spread == 0] = 1.0
    model = _library("sklearn.linear_model").LogisticRegression(
        class_weight="balanced", max_iter=1_000
    )
    model.fit(rows / spread, wanted)
    return model.coef_[0] / spread, float(model.intercept_[0])
