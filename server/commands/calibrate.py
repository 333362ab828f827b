"""`omoide calibrate`: learn what the numbers of an embedder mean, on sets whose right answers are known."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from server import embedding
from server.commands.learning import (
    Study,
    grow_forest,
    learn_perceptron,
    opinions_of_strangers,
    scale_of,
)
from server.commands.lessons import ChangeLesson, Lessons, QuestionLesson, draw_lessons
from server.commands.recall_sets import RecallSet
from server.commands.report import Report, Tell
from server.config import Config
from server.errors import OmoideError
from server.memory import comparing, scoring
from server.memory.calibration import Calibration, Opinion, write_calibration
from server.memory.comparing import Closeness
from server.memory.judging import NO_OPINION, Forest, Perceptron, Scale, Vectors, pair_rows
from server.memory.scoring import judged

NOTHING: Mapping[str, object] = {"embedder": "", "judgements": 0, "gate": None, "error": None}
GATES = tuple(float(gate) for gate in np.round(np.arange(0.3, 0.96, 0.01), 2))
"""Below the first, what is recalled would be wrong in two of three cases."""
MOST_FALSE = 0.1
"""Share of questions without an answer that may bring something to mind."""
_THRESHOLDS = tuple(float(each) for each in np.round(np.arange(0.2, 0.81, 0.05), 2))
_AS_GOOD = 0.01
"""Settings whose worth differs by less are as good as each other: sets are small."""
TOP = 3
_FOLDS = 5
_FEWEST_PERSONS = 5
_HARD = 4
"""Of the facts that a question does not want, so many of the nearest are shown to a perceptron: the others are easy."""
_OF_QUESTIONS = Study(penalty=5.0, rounds=40)
_OF_PAIRS = Study()
_LEAST_SAME = 0.9
_SAME_ABOVE = 0.005
"""How much closer than any two different facts of the sets two have to be to say the same."""
_ANYWHERE = frozenset({"dense.rank", "closeness.rank"})
_OF_ONE_EMBEDDER = re.compile(
    r"dense(?:_above_mean|_below_top)?|(?:coverage_)?personal|(?:dense|closeness|paired)(?:\.\w+)?"
)
"""Signs that mean something else for every embedder."""
_OF_VECTORS = re.compile(r"dense|paired|(?:coverage_)?personal")


async def calibrate(
    sets: Sequence[RecallSet], config: Config, target: Path, tell: Tell, *, plain: bool = False
) -> Report:
    """Learn from some sets, choose the gate, and write all to a file.

    Args:
        sets: Facts and questions.
        config: Embedder and week are taken from it.
        target: The file.
        tell: Prints lines for people.
        plain: Learn only what holds for any embedder: no vectors, no size of cosines.

    Raises:
        OmoideError: ``recall-set-invalid``: there is nothing to learn from.
    """
    embedder = embedding.build(config.embedding)
    try:
        await embedder.warm_up()
        lessons = await draw_lessons(sets, embedder, config.retrieval.week_start)
    finally:
        await embedder.aclose()
    _check(lessons)
    calibration = _learn(lessons, tell, plain=plain)
    write_calibration(target, calibration, embedder.model)
    tell(f"Written: {target}. Use it with retrieval.calibration.")
    judgements = sum(len(shelf) for one in lessons.questions for shelf in one.shelves)
    judgements += sum(len(one.signs) for one in lessons.changes)
    return Report(
        {
            "embedder": embedder.model,
            "judgements": judgements,
            "gate": calibration.gate,
            "file": str(target),
            "error": None,
        }
    )


def _check(lessons: Lessons) -> None:
    if not any(one.wanted for one in lessons.questions):
        raise OmoideError("recall-set-invalid", "No question of these sets expects a fact.")
    if len({one.person for one in lessons.questions}) < _FEWEST_PERSONS:
        raise OmoideError(
            "recall-set-invalid",
            f"These sets ask for fewer than {_FEWEST_PERSONS} persons. The gate is chosen on persons that were not learnt "
            "from: add some, or learn together with the sets in recordings/recall.",
        )


def _learn(lessons: Lessons, tell: Tell, *, plain: bool) -> Calibration:
    tell(f"{len(lessons.questions)} questions, {len(lessons.changes)} new facts.")
    opinion = None if plain else _form_opinion(lessons.questions)
    cases = _cases_of(lessons.questions, opinion)
    gate = _choose_gate(cases, tell, plain=plain)
    relevance = _grow_relevance(cases, _all_or_plain(plain=plain))
    words = _grow_relevance(cases, _needs_no_vector)
    closeness = _learn_changes(lessons.changes, tell, plain=plain)
    return Calibration(gate, relevance, words, closeness, opinion)


@dataclass(frozen=True, slots=True)
class _Case:
    """A question, and what the forest sees of its facts on one shelf."""

    lesson: QuestionLesson
    signs: Mapping[str, dict[str, float]]


# Relevance ------------------------------------------------------------------------------------------------------------


def _form_opinion(lessons: Sequence[QuestionLesson]) -> Opinion:
    questions = scale_of(np.stack([one.vector for one in lessons]))
    facts = scale_of(np.stack([row for one in lessons for row in one.vectors.values()]))
    learnable = np.array([not one.of_empty_day for one in lessons])
    rows = questions.applied(np.stack([one.vector for one in lessons]))
    personal = learn_perceptron(rows[learnable], _answered(lessons)[learnable], _OF_QUESTIONS)
    pairs, wanted, taught, _ = _pairs(lessons, questions, facts)
    pairing = learn_perceptron(pairs[taught], wanted[taught], _OF_PAIRS)
    return Opinion(questions, facts, personal, pairing)


def _cases_of(lessons: Sequence[QuestionLesson], opinion: Opinion | None) -> list[_Case]:
    """Return the shelves of all lessons with the opinions of perceptrons that did not know the person."""
    if opinion is None:
        return [
            _Case(one, scoring.with_opinions(shelf, 0.0, {}))
            for one in lessons
            for shelf in one.shelves
        ]
    persons = [one.person for one in lessons]
    rows = opinion.questions.applied(np.stack([one.vector for one in lessons]))
    learnable = np.array([not one.of_empty_day for one in lessons])
    personal = opinions_of_strangers(rows, _answered(lessons), persons, _OF_QUESTIONS, learnable)
    pairs, wanted, taught, owners = _pairs(lessons, opinion.questions, opinion.facts)
    logits = iter(opinions_of_strangers(pairs, wanted, owners, _OF_PAIRS, taught).tolist())
    cases = []
    for one, word in zip(lessons, personal, strict=True):
        paired = {key: next(logits) for key in one.vectors}
        cases += [
            _Case(one, scoring.with_opinions(shelf, float(word), paired)) for shelf in one.shelves
        ]
    return cases


def _pairs(
    lessons: Sequence[QuestionLesson], questions: Scale, facts: Scale
) -> tuple[Vectors, NDArray[np.bool_], NDArray[np.bool_], list[str]]:
    """Return the pairs of all questions and facts, which are wanted, which are worth learning, and whose they are."""
    rows: list[Vectors] = []
    wanted: list[bool] = []
    taught: list[bool] = []
    owners: list[str] = []
    for one in lessons:
        if not one.vectors:
            continue
        told = np.stack(list(one.vectors.values()))
        rows.append(pair_rows(questions.applied(one.vector), facts.applied(told)))
        right = [key in one.wanted for key in one.vectors]
        signs = one.shelves[0]
        hard = sorted(one.vectors, key=lambda key: -signs[key]["dense"])[:_HARD]
        wanted += right
        taught += [
            not one.of_empty_day and (is_right or key in hard)
            for key, is_right in zip(one.vectors, right, strict=True)
        ]
        owners += [one.person] * len(right)
    return np.vstack(rows), np.array(wanted), np.array(taught), owners


def _answered(lessons: Sequence[QuestionLesson]) -> NDArray[np.bool_]:
    return np.array([one.expected > 0 for one in lessons])


def _grow_relevance(cases: Sequence[_Case], use: Callable[[str], bool]) -> Forest:
    signs = [each for case in cases for each in case.signs.values()]
    wanted = [key in case.lesson.wanted for case in cases for key in case.signs]
    return grow_forest(signs, wanted, use)


def _all_or_plain(*, plain: bool) -> Callable[[str], bool]:
    """Return what says of a sign whether a forest may use it."""
    return _holds_anywhere if plain else lambda name: True


def _needs_no_vector(name: str) -> bool:
    return _OF_VECTORS.match(name) is None


def _holds_anywhere(name: str) -> bool:
    return name in _ANYWHERE or _OF_ONE_EMBEDDER.fullmatch(name) is None


def _choose_gate(cases: Sequence[_Case], tell: Tell, *, plain: bool) -> float:
    """Return the lowest gate that lets no more than `MOST_FALSE` through, for persons that the forest was grown without."""
    ranked: list[tuple[QuestionLesson, list[tuple[float, str]]]] = []
    for apart in _folds([case.lesson.person for case in cases]):
        known = [case for case in cases if case.lesson.person not in apart]
        if not any(case.lesson.wanted for case in known):
            continue
        forest = _grow_relevance(known, _all_or_plain(plain=plain))
        for case in cases:
            if case.lesson.person in apart:
                likely = judged(forest, list(case.signs.values()))
                best = sorted(zip(likely, case.signs, strict=True), reverse=True)[:TOP]
                ranked.append((case.lesson, best))
    chosen = GATES[-1]
    for gate in reversed(GATES):
        hits, false = _shares(ranked, gate)
        if round(gate * 100) % 5 == 0:
            tell(f"gate {gate}: hit@3 {hits:.3f}, false recall {false:.3f} (persons unknown to it)")
        if false <= MOST_FALSE:
            chosen = gate
    return chosen


def _middle_of_best(worth: Mapping[float, float]) -> float:
    """Return the setting that is worth most; of several that are as good, the one in the middle."""
    enough = max(worth.values()) - _AS_GOOD
    best = [setting for setting, value in worth.items() if value >= enough]
    return best[len(best) // 2]


def _folds(persons: Sequence[str]) -> list[set[str]]:
    """Return the persons in a few groups, each of which is left out once."""
    names = sorted(set(persons))
    np.random.default_rng(1).shuffle(names)
    return [set(names[place::_FOLDS]) for place in range(min(_FOLDS, len(names)))]


def _shares(
    ranked: Sequence[tuple[QuestionLesson, list[tuple[float, str]]]], gate: float
) -> tuple[float, float]:
    hits, false = [False], [False]
    for lesson, top in ranked:
        recalled = {key for likely, key in top if likely >= gate}
        if lesson.expected:
            hits.append(len(lesson.wanted) == lesson.expected and lesson.wanted <= recalled)
        else:
            false.append(bool(recalled))
    return sum(hits) / max(len(hits) - 1, 1), sum(false) / max(len(false) - 1, 1)


# Change ---------------------------------------------------------------------------------------------------------------


def _learn_changes(lessons: Sequence[ChangeLesson], tell: Tell, *, plain: bool) -> Closeness:
    replaced = [word for one in lessons for word in one.replaced]
    scale: Scale | None = None
    pairing: Perceptron | None = None
    cases = [comparing.with_opinions(one.signs, [NO_OPINION] * len(one.signs)) for one in lessons]
    if not plain and any(replaced):
        scale = scale_of(np.stack([row for one in lessons for row in one.vectors]))
        pairs = np.vstack([_change_rows(one, scale) for one in lessons])
        owners = [one.person for one in lessons for _ in one.signs]
        hard = np.array(
            [
                _is_hard(one, word)
                for lesson in lessons
                for one, word in zip(lesson.signs, lesson.replaced, strict=True)
            ]
        )
        pairing = learn_perceptron(pairs[hard], np.array(replaced)[hard], _OF_PAIRS)
        logits = iter(
            opinions_of_strangers(pairs, np.array(replaced), owners, _OF_PAIRS, hard).tolist()
        )
        cases = [
            comparing.with_opinions(one.signs, [next(logits) for _ in one.signs]) for one in lessons
        ]
    threshold = _choose_threshold(lessons, cases, tell, plain=plain)
    changes = _grow_changes(lessons, cases, plain=plain)
    closest = max((one.closest_alike for one in lessons), default=0.0)
    same = 1.0 if plain or not closest else min(max(closest + _SAME_ABOVE, _LEAST_SAME), 1.0)
    return Closeness(same, threshold, changes, scale, pairing)


def _grow_changes(
    lessons: Sequence[ChangeLesson], cases: Sequence[Sequence[dict[str, float]]], *, plain: bool
) -> Forest:
    flat = [each for one in cases for each in one]
    replaced = [word for one in lessons for word in one.replaced]
    return grow_forest(flat, replaced, _all_or_plain(plain=plain))


def _choose_threshold(
    lessons: Sequence[ChangeLesson],
    cases: Sequence[Sequence[dict[str, float]]],
    tell: Tell,
    *,
    plain: bool,
) -> float:
    """Return the threshold with the best balance of missed and wrong replacements, for persons that the forest did not know."""
    likely: list[float] = []
    replaced: list[bool] = []
    for apart in _folds([one.person for one in lessons]):
        known = [place for place, one in enumerate(lessons) if one.person not in apart]
        chosen = [lessons[place] for place in known]
        if not any(word for one in chosen for word in one.replaced):
            continue
        forest = _grow_changes(chosen, [cases[place] for place in known], plain=plain)
        for lesson, one in zip(lessons, cases, strict=True):
            if lesson.person in apart:
                likely += forest.probabilities(one).tolist()
                replaced += lesson.replaced
    words, wanted = np.array(likely), np.array(replaced, bool)
    worth = {}
    for tried in _THRESHOLDS:
        taken = words >= tried
        right, wrong = int(np.sum(taken & wanted)), int(np.sum(taken & ~wanted))
        missed = int(np.sum(~taken & wanted))
        tell(
            f"threshold {tried}: {right} replacements right, {wrong} wrong, {missed} missed (persons unknown to it)"
        )
        worth[tried] = round(right / max(right + (wrong + missed) / 2, 1.0), 4)
    return _middle_of_best(worth)


def _is_hard(signs: Mapping[str, float], replaced: bool) -> bool:
    return replaced or signs["closeness.rank"] < 2 * _HARD


def _change_rows(lesson: ChangeLesson, scale: Scale) -> Vectors:
    return pair_rows(scale.applied(np.stack(lesson.vectors)), scale.applied(lesson.vector))
