"""`omoide calibrate`: set what the numbers of an embedder mean, on sets whose right answers are known."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from server import embedding
from server.commands.recall_sets import RecallSet, SetFact, SetQuestion, memory_id
from server.commands.recall_test import ask_all, measure, play
from server.commands.report import Report, Tell
from server.config import Config
from server.errors import OmoideError
from server.memory import Memory
from server.memory.calibrating import (
    Asked,
    Judged,
    fit_personal,
    fit_weights,
    personal_of_strangers,
)
from server.memory.calibration import load_calibration, write_calibration
from server.memory.comparing import change_signs
from server.memory.scoring import Calibration
from server.memory.wording import Aligned, plain_analysis
from server.ports import Embedder

NOTHING: Mapping[str, object] = {"embedder": "", "judgements": 0, "gate": None, "error": None}
GATES = tuple(float(gate) for gate in np.round(np.arange(0.1, 0.61, 0.025), 3))
MOST_FALSE = 0.1
"""Share of questions without an answer that may bring something to mind."""
CHANGE_THRESHOLD = 0.4
"""A replaced fact that stays costs a wrong answer; one that goes too early costs an answer."""
_FARTHEST = 0.05
"""Share of the pairs of replaced and replacing facts that may be too far apart to be looked at."""


@dataclass(frozen=True, slots=True)
class _Learnt:
    """What the sets teach: of facts for questions, of questions, and of pairs of facts."""

    relevance: list[tuple[int, Judged]]
    """With the number of the question."""
    questions: list[Asked]
    changes: list[tuple[float, Judged]]
    """With the cosine of the two facts."""


async def calibrate(sets: Sequence[RecallSet], config: Config, target: Path, tell: Tell) -> Report:
    """Fit weights on some sets, choose the gate, and write all to a file.

    The gate is the lowest at which no more than `MOST_FALSE` of the questions without an answer recall anything.

    Raises:
        OmoideError: ``recall-set-invalid``: there is nothing to learn from.
    """
    embedder = embedding.build(config.embedding)
    try:
        await embedder.warm_up()
        known = load_calibration(config.retrieval.calibration, embedder.model)
        learnt = _Learnt([], [], [])
        for each in sets:
            await _learn(each, config, embedder, learnt)
        if not any(judged.wanted for _, judged in learnt.relevance):
            raise OmoideError("recall-set-invalid", "No question of these sets expects a fact.")
        calibration = _fit(learnt, known)
        write_calibration(target, calibration, embedder.model)
        gate = await _choose_gate(sets, config, embedder, target, tell)
        write_calibration(target, replace(calibration, gate=gate), embedder.model)
    finally:
        await embedder.aclose()
    tell(f"Written: {target}. Use it with retrieval.calibration.")
    judgements = len(learnt.relevance) + len(learnt.changes)
    return Report(
        {
            "embedder": embedder.model,
            "judgements": judgements,
            "gate": gate,
            "file": str(target),
            "error": None,
        }
    )


def _fit(learnt: _Learnt, known: Calibration) -> Calibration:
    """Fit relevance on what the direction of personal questions says of persons that it was not fitted on."""
    personal = personal_of_strangers(learnt.questions)
    judged = [
        replace(
            one,
            signs={
                **one.signs,
                "personal": personal[number],
                "coverage_personal": personal[number] * one.signs["coverage"],
            },
        )
        for number, one in learnt.relevance
    ]
    closeness = known.closeness
    distances = [cosine for cosine, one in learnt.changes if one.wanted]
    if distances:
        topic = float(np.quantile(distances, _FARTHEST))
        near = [one for cosine, one in learnt.changes if cosine >= topic]
        closeness = replace(
            closeness, topic=topic, changes=fit_weights(near), threshold=CHANGE_THRESHOLD
        )
    return replace(
        known,
        weights=fit_weights(judged),
        closeness=closeness,
        personal=fit_personal(learnt.questions),
    )


async def _learn(
    recall_set: RecallSet, config: Config, embedder: Embedder, learnt: _Learnt
) -> None:
    """Note the signs of every fact for every question as they are at its moment, and of every pair of facts."""
    wording = Aligned()
    questions = recall_set.questions
    vectors = await embedder.embed([wording.of_query(one.text) for one in questions], "query")
    by_question = {id(one): vector for one, vector in zip(questions, vectors, strict=True)}
    async with aclosing(play(recall_set, config, embedder)) as played:
        async for memory, question in played:
            number = len(learnt.questions)
            vector = by_question[id(question)]
            learnt.questions.append(Asked(vector, question.person, bool(question.expect)))
            judged = await _judge(memory, question, recall_set.language_of(question.text))
            learnt.relevance.extend((number, one) for one in judged)
    learnt.changes.extend(await _judge_pairs(recall_set, embedder))


async def _judge(memory: Memory, question: SetQuestion, language: str) -> list[Judged]:
    wanted = {memory_id(question.person, fact) for fact in question.expect}
    outdated = {memory_id(question.person, fact) for fact in question.forbid}
    found = await memory.search(question.person, question.text, language, question.asked_at)
    return [
        Judged(candidate.signs, candidate.fact.id in wanted)
        for candidate in found
        if candidate.fact.id not in outdated
    ]


async def _judge_pairs(recall_set: RecallSet, embedder: Embedder) -> list[tuple[float, Judged]]:
    """Return the signs of replacement of every two facts of a person that are near enough to each other.

    Which fact replaces which is read from the questions: the forbidden fact is replaced by that of the expected ones
    that is nearest to it. Pairs of which the set says neither yes nor no are left out.
    """
    facts = [event for event in recall_set.events if isinstance(event, SetFact)]
    wording = Aligned()
    rows = await embedder.embed([wording.of_fact(fact.text) for fact in facts], "passage")
    vectors = {(fact.person, fact.id): row for fact, row in zip(facts, rows, strict=True)}
    heirs = _find_heirs(recall_set, vectors)
    judged = []
    for old in facts:
        for new in facts:
            if new.person != old.person or new.said_at <= old.said_at:
                continue
            key = (old.person, old.id)
            cosine = float(vectors[key] @ vectors[new.person, new.id])
            is_heir = heirs.get(key) == new.id
            if key in heirs and not is_heir:
                continue
            judged.append((cosine, Judged(_pair_signs(recall_set, old, new, cosine), is_heir)))
    return judged


def _find_heirs(
    recall_set: RecallSet, vectors: Mapping[tuple[str, str], np.ndarray]
) -> dict[tuple[str, str], str]:
    said_at = {
        (event.person, event.id): event.said_at
        for event in recall_set.events
        if isinstance(event, SetFact)
    }
    heirs: dict[tuple[str, str], str] = {}
    for question in recall_set.questions:
        person = question.person
        for old in question.forbid:
            near = [*question.expect, *filter(None, [heirs.get((person, old))])]
            near = [new for new in near if said_at[person, new] > said_at[person, old]]
            if near:
                heirs[person, old] = max(
                    near, key=lambda new: float(vectors[person, new] @ vectors[person, old])
                )
    return heirs


def _pair_signs(
    recall_set: RecallSet, old: SetFact, new: SetFact, cosine: float
) -> dict[str, float]:
    before = old.as_fact(recall_set.language_of(old.text))
    after = new.as_fact(recall_set.language_of(new.text))
    return change_signs(
        before,
        after,
        plain_analysis(before.text, before.language),
        plain_analysis(after.text, after.language),
        cosine,
    )


async def _choose_gate(
    sets: Sequence[RecallSet], config: Config, embedder: Embedder, target: Path, tell: Tell
) -> float:
    retrieval = config.retrieval.model_copy(update={"calibration": str(target), "gate": None})
    tried = config.model_copy(update={"retrieval": retrieval})
    asked = [one for each in sets for one in await ask_all(each, tried, embedder, {})]
    chosen = GATES[-1]
    for gate in reversed(GATES):
        figures = measure(asked, gate)
        tell(f"gate {gate}: hit@3 {figures['hit_at_3']}, false recall {figures['false_recall']}")
        share = figures["false_recall"]
        if isinstance(share, float) and share <= MOST_FALSE:
            chosen = gate
    return chosen
