"""What is learnt with a library says without it what the library says; and no opinion is of somebody known."""

import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from server.commands import learning
from server.commands.learning import (
    CERTAIN,
    Study,
    grow_forest,
    learn_perceptron,
    opinions_of_strangers,
    scale_of,
)
from server.errors import EngineMissing
from server.memory.judging import Signs, Vectors

NAMES = ("age", "colour", "size", "speed")
PERSONS = [f"person {number // 12}" for number in range(144)]
SHORT = Study(units=32, penalty=0.1, rounds=120)
LOUD = 20
"""Brings rows to a size from which much is learnt in few rounds."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep the library from waiting for cores that are busy with something else."""
    importlib.import_module("sklearn.ensemble")  # only what is loaded can be limited
    with importlib.import_module("threadpoolctl").threadpool_limits(1):
        yield


def some_rows(count: int, columns: int, seed: int = 0) -> Vectors:
    return np.random.default_rng(seed).normal(size=(count, columns)).astype(np.float32)


def some_cases(count: int) -> tuple[list[dict[str, float]], list[bool]]:
    """Return cases some of whose signs are not given, and an answer that takes two of them to know."""
    rows = some_rows(count, len(NAMES))
    given = np.random.default_rng(1).random(rows.shape) < 0.8
    wanted = ((rows[:, 0] > 0) ^ (rows[:, 1] * given[:, 1] > 0.3)).tolist()
    cases = [
        {"age": float(row[0])}
        | {name: float(row[at]) for at, name in enumerate(NAMES) if there[at]}
        for row, there in zip(rows, given, strict=True)
    ]
    return cases, wanted


def table(cases: list[dict[str, float]], names: tuple[str, ...]) -> NDArray[np.float64]:
    return np.array([[case.get(name, 0.0) for name in names] for case in cases])


def logistic(logits: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-logits.astype(np.float64))))


def test_a_forest_says_what_the_library_says() -> None:
    cases, wanted = some_cases(900)
    grown = grow_forest(cases, wanted)
    gardener = importlib.import_module("sklearn.ensemble").HistGradientBoostingClassifier
    members = [
        gardener(**learning._GROWING, random_state=dice).fit(table(cases, NAMES), wanted)
        for dice in range(learning._MEMBERS)
    ]
    unseen = [*some_cases(1200)[0][900:], {}, dict.fromkeys(NAMES, 99.0)]
    logits = np.mean([member.decision_function(table(unseen, NAMES)) for member in members], axis=0)
    assert grown.names == NAMES
    assert grown.depth > 2
    assert np.std(logits) > 0.5, "it has learnt something"
    np.testing.assert_allclose(grown.probabilities(unseen), logistic(logits), rtol=0, atol=1e-6)


def test_a_perceptron_says_what_the_library_says() -> None:
    rows, unseen = some_rows(300, 6), some_rows(100, 6, seed=1)
    wanted = rows[:, 0] * rows[:, 1] > 0
    study = Study(units=5, penalty=0.01, rounds=80)
    network = importlib.import_module("sklearn.neural_network").MLPClassifier
    said = []
    for dice in range(learning._MEMBERS):
        with pytest.warns(Warning, match="reached"):
            member = network((5,), alpha=0.01, max_iter=80, random_state=dice).fit(rows, wanted)
        likely = member.predict_proba(unseen)[:, 1].astype(np.float64)
        said.append(np.log(likely / (1 - likely)))
    assert np.std(said[0] - said[1]) > 0.01, "the dice make a difference"
    found = logistic(learn_perceptron(rows, wanted, study).logits(unseen))
    np.testing.assert_allclose(found, logistic(np.mean(said, axis=0)), rtol=0, atol=1e-4)


def test_a_forest_uses_no_sign_that_it_may_not() -> None:
    cases, wanted = some_cases(400)
    grown = grow_forest(cases, wanted, lambda name: name != "age")
    assert grown.names == ("colour", "size", "speed")
    blind = [{**case, "age": -case["age"]} for case in cases]
    assert grown.probabilities(blind).tolist() == grown.probabilities(cases).tolist()


def test_scaled_vectors_lie_about_zero_and_spread_by_one() -> None:
    rows: Vectors = (some_rows(200, 5) * 3 + np.arange(5)).astype(np.float32)
    scaled = scale_of(rows).applied(rows)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(5), abs=1e-5)
    assert scaled.std(axis=0).mean() == pytest.approx(1)


def test_vectors_that_are_all_the_same_can_be_scaled() -> None:
    rows = np.ones((3, 4), np.float32)
    assert scale_of(rows).applied(rows).tolist() == np.zeros((3, 4)).tolist()


def rows_that_only_show_the_person() -> tuple[Vectors, NDArray[np.bool_]]:
    """Return rows that say whose they are and nothing else, and answers that are each person's own."""
    rows = np.zeros((len(PERSONS), 12), np.float32)
    rows[np.arange(len(PERSONS)), np.arange(len(PERSONS)) // 12] = LOUD
    return rows, np.arange(len(PERSONS)) // 12 % 2 == 0


def right(logits: NDArray[np.float32], wanted: NDArray[np.bool_]) -> float:
    return float(((logits > 0) == wanted).mean())


def test_opinions_do_not_come_from_the_persons_own_rows() -> None:
    rows, wanted = rows_that_only_show_the_person()
    assert right(learn_perceptron(rows, wanted, SHORT).logits(rows), wanted) == 1.0
    believed = opinions_of_strangers(rows, wanted, PERSONS, SHORT)
    for number in (0, 5, 11):
        own = np.array(PERSONS) == f"person {number}"
        swapped = np.where(own, ~wanted, wanted)
        again = opinions_of_strangers(rows, swapped, PERSONS, SHORT)
        assert again[own].tolist() == believed[own].tolist()
        assert again[~own].tolist() != believed[~own].tolist(), "others do learn from them"


def test_opinions_are_right_where_others_show_what_is_right() -> None:
    rows = some_rows(len(PERSONS), 4) * LOUD
    wanted = rows[:, 0] > 0
    assert right(opinions_of_strangers(rows, wanted, PERSONS, SHORT), wanted) > 0.8


def test_nothing_is_learnt_from_rows_that_are_not_good_to_learn_from() -> None:
    rows = some_rows(len(PERSONS), 4) * LOUD
    wanted, taught = rows[:, 0] > 0, np.arange(len(PERSONS)) % 3 > 0
    believed = opinions_of_strangers(rows, wanted, PERSONS, SHORT, taught)
    nonsense = np.where(taught, wanted, ~wanted)
    again = opinions_of_strangers(rows, nonsense, PERSONS, SHORT, taught)
    assert again.tolist() == believed.tolist()
    assert right(believed[~taught], wanted[~taught]) > 0.8, "they are judged all the same"


@pytest.mark.parametrize("answer", [True, False])
def test_where_there_is_one_answer_only_it_is_certain(answer: bool) -> None:
    cases, rows = some_cases(100)[0], some_rows(len(PERSONS), 4)
    grown = grow_forest(cases, [answer] * 100)
    certain = CERTAIN if answer else -CERTAIN
    assert grown.probabilities(cases) == pytest.approx(logistic(np.full(100, certain)))
    assert grown.probabilities([]).shape == (0,)
    wanted = np.full(len(PERSONS), answer)
    assert set(learn_perceptron(rows, wanted, SHORT).logits(rows).tolist()) == {certain}
    assert set(opinions_of_strangers(rows, wanted, PERSONS, SHORT).tolist()) == {certain}


def test_without_any_case_nothing_is_likely() -> None:
    assert grow_forest([], []).probabilities([{"age": 1.0}]).max() < 0.05


NO_SIGNS: list[Signs] = [{"a": 1.0}, {"a": 0.0}]


@pytest.mark.parametrize(
    "learn",
    [
        lambda: grow_forest(NO_SIGNS, [True, False]),
        lambda: learn_perceptron(some_rows(2, 2), np.array([True, False]), SHORT),
        lambda: opinions_of_strangers(
            some_rows(4, 2), np.array([True, False] * 2), ["a", "a", "b", "b"], SHORT
        ),
    ],
)
def test_without_the_library_it_is_said_how_to_get_it(
    learn: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sklearn", "sklearn.ensemble", "sklearn.neural_network"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(EngineMissing, match=r"omoide\[calibrate\]"):
        learn()
