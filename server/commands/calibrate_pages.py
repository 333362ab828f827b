"""`omoide calibrate-pages`: learns from dialogues with questions how much each sign of a page counts, and when to stay silent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from server import embedding
from server.commands.dialogue_memory import Found, KnownVectors, RememberedDialogue, remembered
from server.commands.dialogues import Dialogue, DialogueQuestion, read_dialogues
from server.commands.learning import learn_logistic, learn_ranking
from server.commands.recall_sets import read_recall_set
from server.commands.report import Report, Tell
from server.config import Config, RetrievalSection
from server.memory.page_recall import gate_signs
from server.memory.page_weights import PageWeights, write_page_weights
from server.memory.question import read_question
from server.ports import Embedder

T = TypeVar("T")

NOTHING = {"questions": 0, "weights": {}, "threshold": None, "error": None}
BY_WORDS = (
    "words", "words_of_best", "pairs", "pieces", "speaker", "dated", "day_near", "day_told", "asking", "own", "offers",
    "after_question", "topic",
)  # fmt: skip
"""Signs that a sum is learnt over. How long an utterance is and where in a talk it stands would tell more about the sets than
about people."""
WITH_VECTORS = (*BY_WORDS, "dense", "dense_near")
ONLY_ADDS = frozenset({"topic"})
"""Signs that can't tell against an utterance: what lies near the question is not worse for that."""
MOST_FALSE = 0.2
"""Share of what was never talked of that may bring pages to mind."""
_FOREIGN = 2
"""Questions of other dialogues that are asked for each of one's own."""
_SILENT = 3
"""As many of what people say to a robot all day, and no memory answers."""
_START = PageWeights(
    {"words": 6.0, "dense": 1.0, "speaker": 1.0}, {"words": 6.0, "speaker": 1.0}, {}, 0.0
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked of a dialogue."""

    dialogue: Dialogue
    question: DialogueQuestion
    found: Found
    own: bool
    """Whether the dialogue holds the answer."""
    by_words: Found | None = None
    """What is found without a vector: other candidates, and signs that know nothing of one. Asked of own questions alone."""


def _lessons(
    answered: Iterable[tuple[DialogueQuestion, Found]], names: Sequence[str]
) -> list[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    """Return, of each question whose evidence was found, the signs of the candidates and which of them hold the answer."""
    lessons = []
    for question, found in answered:
        signs = [one.signs for one in found.findings.candidates]
        rows = np.array([[each[name] for name in names] for each in signs], np.float64)
        wanted = np.array([turn in question.evidence for turn in found.turns], bool)
        if wanted.any():
            lessons.append((rows, wanted))
    return lessons


async def calibrate_pages(
    files: Sequence[Path],
    target: Path,
    config: Config,
    tell: Tell,
    embedder: Embedder | None = None,
) -> Report:
    """Learn and write.

    Args:
        files: Sets of dialogues, and (`.jsonl`) recall sets: what no fact of theirs answers is said to the dialogues, too.
        target: Where the weights are written.
        config: Embedding and retrieval are taken from it.
        tell: Told how well it went.
        embedder: In place of the configured one.

    Raises:
        OmoideError: ``dialogues-broken``, ``recall-set-invalid``, or an engine is missing or fails.
    """
    dialogues = [
        one for file in files if not _is_recall_set(file) for one in read_dialogues(file)[0]
    ]
    idle = _unanswered(file for file in files if _is_recall_set(file))
    known = KnownVectors(embedder or embedding.build(config.embedding))
    try:
        await known.warm_up()
        asked = [
            each for one in dialogues for each in await _ask(one, dialogues, idle, config, known)
        ]
    finally:
        await known.aclose()
    weights = learn(asked, ", ".join(file.stem for file in files))
    weights = _with_gate(asked, weights, tell)
    write_page_weights(target, weights)
    tell(f"Written: {target}. Use it with retrieval.pages.calibration.")
    return Report(
        {
            **NOTHING,
            "questions": sum(each.own for each in asked),
            "weights": dict(weights.with_vectors),
            "threshold": weights.threshold,
        }
    )


def _is_recall_set(file: Path) -> bool:
    return file.suffix == ".jsonl"


def _unanswered(files: Iterable[Path]) -> dict[str, list[str]]:
    """Return by language what people in recall sets say that no memory answers."""
    found: dict[str, dict[str, None]] = {}
    for read in map(read_recall_set, files):
        for question in read.questions:
            if not question.expect:
                found.setdefault(read.language_of(question.text), {})[question.text] = None
    return {language: list(texts) for language, texts in found.items()}


def learn(asked: Sequence[Asked], learnt_from: str) -> PageWeights:
    """Return weights under which the right utterances come first."""
    own = [each for each in asked if each.own]
    with_vectors = _learn_sum(((each.question, each.found) for each in own), WITH_VECTORS)
    by_words = _learn_sum(
        ((each.question, each.by_words) for each in own if each.by_words), BY_WORDS
    )
    return PageWeights(with_vectors, by_words, {}, 1.0, learnt_from)


def _learn_sum(
    answered: Iterable[tuple[DialogueQuestion, Found]], names: Sequence[str]
) -> dict[str, float]:
    least = np.array([0.0 if name in ONLY_ADDS else -np.inf for name in names])
    learnt = learn_ranking(_lessons(answered, names), least)
    return {name: round(float(worth), 3) for name, worth in zip(names, learnt, strict=True)}


async def ask_own(
    held: RememberedDialogue, questions: Sequence[DialogueQuestion], section: RetrievalSection
) -> list[Asked]:
    """Ask a dialogue some of its own questions, as they are asked to learn from."""
    memory = held.ranked_by(_START, section)
    by_words = held.ranked_by(_START, section, has_vectors=False)
    await memory.embed(questions)
    return [
        Asked(
            held.dialogue,
            one,
            await memory.ask(one),
            bool(one.evidence),
            await by_words.ask(one),
        )
        for one in questions
    ]


async def _ask(
    dialogue: Dialogue,
    others: Sequence[Dialogue],
    idle: Mapping[str, Sequence[str]],
    config: Config,
    embedder: KnownVectors,
) -> list[Asked]:
    """Ask a dialogue its own questions and, as if they were about it, some of others; say to it what no memory answers."""
    dice = np.random.default_rng(0)
    foreign = [
        (one, other)
        for other in others
        if other.language == dialogue.language and other.name != dialogue.name
        for one in other.questions
        if one.evidence
    ]
    foreign = _some(foreign, _FOREIGN * len(dialogue.questions), dice)
    texts = _some(idle.get(dialogue.language, ()), _SILENT * len(dialogue.questions), dice)
    asked = []
    async with remembered(dialogue, config, embedder) as held:
        asked = await ask_own(held, dialogue.questions, config.retrieval)
        memory = held.ranked_by(_START, config.retrieval)
        last = dialogue.utterances[-1].at
        for text in texts:
            said = DialogueQuestion(text, "", frozenset(), 0, "", last + timedelta(days=1))
            asked.append(Asked(dialogue, said, await memory.ask(said), False))
        for question, other in foreign:
            late = replace(question, asked_at=max(last, question.asked_at), evidence=frozenset())
            found = await memory.ask(late, other.speakers)
            asked.append(Asked(dialogue, late, found, False))
    return asked


def _some(whole: Sequence[T], count: int, dice: np.random.Generator) -> list[T]:
    return [whole[place] for place in dice.permutation(len(whole))[:count]]


def _with_gate(asked: Sequence[Asked], weights: PageWeights, tell: Tell) -> PageWeights:
    """Learn when to stay silent; the threshold is chosen on dialogues that were not learnt from."""
    known = [_of_gate(each, weights) for each in asked]
    names = list(known[0])
    rows = np.array([[each[name] for name in names] for each in known])
    own = np.array([each.own for each in asked])
    owners = [each.dialogue.name for each in asked]
    likely = np.zeros(len(asked))
    for apart in sorted(set(owners)):
        out = np.array([owner == apart for owner in owners])
        if len(set(own[~out].tolist())) == 2:
            worths, bias = learn_logistic(rows[~out], own[~out])
            likely[out] = 1 / (1 + np.exp(-(rows[out] @ worths + bias)))
    threshold = 1.0
    for tried in np.round(np.arange(0.95, 0.04, -0.05), 2):
        kept, false = float((likely[own] >= tried).mean()), float((likely[~own] >= tried).mean())
        tell(f"gate {tried}: {kept:.3f} of the own questions pass, {false:.3f} of all else")
        if false <= MOST_FALSE:
            threshold = float(tried)
    worths, bias = learn_logistic(rows, own)
    gate = {name: round(float(worth), 4) for name, worth in zip(names, worths, strict=True)}
    return replace(weights, gate=gate | {"bias": round(float(bias), 4)}, threshold=threshold)


def _of_gate(asked: Asked, weights: PageWeights) -> dict[str, float]:
    """Return what the gate looks at, with candidates in the order of these weights."""
    scored = [
        replace(
            one, score=sum(worth * one.signs[name] for name, worth in weights.with_vectors.items())
        )
        for one in asked.found.findings.candidates
    ]
    scored.sort(key=lambda one: -one.score)
    question = asked.question
    return gate_signs(
        read_question(question.text, asked.dialogue.language, question.asked_at), scored
    )
