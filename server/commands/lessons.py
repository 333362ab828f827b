"""What sets of facts and questions teach: the signs of every fact for every question, and of every two facts.

Nothing is stored for it. A question sees the facts that were said before it and not yet replaced, as the set has it.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from server.commands.recall_sets import RecallSet, SetFact, SetQuestion, memory_id
from server.memory.comparing import cosine_of, details_agree, signs_between
from server.memory.models import Fact
from server.memory.question import read_question
from server.memory.scoring import signs_of
from server.memory.shelf import Entry, fill_shelf, make_entry
from server.memory.wording import Aligned
from server.ports import Embedder

Vector = NDArray[np.float32]
Signs = dict[str, float]

_BATCH = 64
_NEAREST = 30
_FEW = 7
"""Below so many facts a person counts as little known."""


@dataclass(frozen=True, slots=True)
class QuestionLesson:
    """A question and the facts that it could bring to mind."""

    person: str
    vector: Vector
    wanted: frozenset[str]
    """Ids of the facts that answer it."""
    expected: int
    """How many it takes; more than `wanted` if one of them has been replaced."""
    shelves: Sequence[Mapping[str, Signs]]
    """The signs of its facts: as they are when all are known, and when only few are, as in the first days of a robot."""
    vectors: Mapping[str, Vector]
    of_empty_day: bool
    """It asks of a day on which nothing is: in form it is like any other question."""


@dataclass(frozen=True, slots=True)
class ChangeLesson:
    """A new fact and those that it could replace."""

    person: str
    vector: Vector
    signs: Sequence[Signs]
    vectors: Sequence[Vector]
    replaced: Sequence[bool]
    closest_alike: float
    """Highest cosine with a fact that says something else, though dates, numbers, names and negation are the same."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """All that sets teach."""

    questions: list[QuestionLesson] = field(default_factory=list)
    changes: list[ChangeLesson] = field(default_factory=list)


async def draw_lessons(sets: Sequence[RecallSet], embedder: Embedder, week_start: int) -> Lessons:
    """Return what some sets teach to an embedder.

    Raises:
        OmoideError: The embedder fails.
    """
    lessons = Lessons()
    for number, recall_set in enumerate(sets):
        wording = Aligned()
        facts = [event for event in recall_set.events if isinstance(event, SetFact)]
        told = await _embed(embedder, [wording.of_fact(fact.text) for fact in facts], "passage")
        asked = recall_set.questions
        queries = await _embed(embedder, [wording.of_query(one.text) for one in asked], "query")
        lesson_set = _LessonSet(
            recall_set, f"{number}/", dict(zip(_keys(facts), told, strict=True))
        )
        by_question = zip(asked, queries, strict=True)
        lessons.questions.extend(
            lesson_set.of_question(question, vector, week_start) for question, vector in by_question
        )
        lessons.changes.extend(lesson for fact in facts for lesson in lesson_set.of_change(fact))
    return lessons


async def _embed(embedder: Embedder, texts: Sequence[str], kind: str) -> list[Vector]:
    rows: list[Vector] = []
    for start in range(0, len(texts), _BATCH):
        part = texts[start : start + _BATCH]
        rows += list(await embedder.embed(part, "query" if kind == "query" else "passage"))
    return rows


def _keys(facts: Sequence[SetFact]) -> list[str]:
    return [memory_id(fact.person, fact.id) for fact in facts]


class _LessonSet:
    """One set, with its facts made ready."""

    def __init__(self, recall_set: RecallSet, prefix: str, vectors: Mapping[str, Vector]) -> None:
        self._set = recall_set
        self._prefix = prefix
        self._vectors = vectors
        self._facts = [event for event in recall_set.events if isinstance(event, SetFact)]
        self._entries = {
            memory_id(fact.person, fact.id): make_entry(
                fact.as_fact(recall_set.language_of(fact.text)),
                vectors[memory_id(fact.person, fact.id)],
            )
            for fact in self._facts
        }
        self._heirs = _find_heirs(recall_set, vectors)
        self._lots = np.random.default_rng(0)

    def of_question(self, question: SetQuestion, vector: Vector, week_start: int) -> QuestionLesson:
        """Return what a question teaches."""
        outdated = {memory_id(question.person, fact) for fact in question.forbid}
        facts = [
            entry.fact
            for key, entry in self._entries.items()
            if entry.fact.person == question.person
            and entry.fact.said_at < question.asked_at
            and key not in outdated
            and not self._is_replaced(key, question)
        ]
        vectors = {fact.id: self._vectors[fact.id] for fact in facts}
        language = self._set.language_of(question.text)
        read = read_question(question.text, language, question.asked_at, week_start)
        wanted = {memory_id(question.person, fact) for fact in question.expect} & vectors.keys()
        shelves = []
        for known in (facts, self._few_of(facts, wanted)):
            shelf = fill_shelf(known, {fact.id: vectors[fact.id] for fact in known}, 0)
            cosines = shelf.cosines(vector, set(shelf.entries))
            shelves.append(signs_of(read, shelf, cosines, shelf.entries))
        return QuestionLesson(
            self._prefix + question.person,
            vector,
            frozenset(wanted),
            len(question.expect),
            shelves,
            vectors,
            of_empty_day=not question.expect and bool(read.ranges),
        )

    def _few_of(self, facts: Sequence[Fact], wanted: Set[str]) -> list[Fact]:
        """Return the wanted facts among a few others, drawn by lot."""
        others = [fact for fact in facts if fact.id not in wanted]
        count = int(self._lots.integers(0 if wanted else min(1, len(others)), _FEW))
        drawn = self._lots.permutation(len(others))[:count]
        return [fact for fact in facts if fact.id in wanted] + [others[place] for place in drawn]

    def of_change(self, fact: SetFact) -> list[ChangeLesson]:
        """Return what a new fact teaches; nothing if it is the first one.

        It is looked at among all that is known, where only little is, and where nothing is but the fact that is nearest to
        it: at the beginning of an acquaintance that is no reason to take it for the one that has changed.
        """
        key = memory_id(fact.person, fact.id)
        new = self._entries[key]
        known = [
            entry
            for other, entry in self._entries.items()
            if entry.fact.person == fact.person
            and entry.fact.said_at < fact.said_at
            and self._heirs.get(other, key) == key
        ]
        known.sort(key=lambda entry: -cosine_of(entry, new))
        known = known[:_NEAREST]
        replaced = {entry.fact.id for entry in known if self._heirs.get(entry.fact.id) == key}
        few = {each.id for each in self._few_of([entry.fact for entry in known], replaced)}
        return [
            self._change(new, some)
            for some in (known, [entry for entry in known if entry.fact.id in few], known[:1])
            if some
        ]

    def _change(self, new: Entry, known: Sequence[Entry]) -> ChangeLesson:
        return ChangeLesson(
            self._prefix + new.fact.person,
            self._vectors[new.fact.id],
            signs_between(new, known),
            [self._vectors[entry.fact.id] for entry in known],
            [self._heirs.get(entry.fact.id) == new.fact.id for entry in known],
            max((cosine_of(old, new) for old in known if details_agree(old, new)), default=0.0),
        )

    def _is_replaced(self, key: str, question: SetQuestion) -> bool:
        heir = self._heirs.get(key)
        return heir is not None and self._entries[heir].fact.said_at < question.asked_at


def _find_heirs(recall_set: RecallSet, vectors: Mapping[str, Vector]) -> dict[str, str]:
    """Return which fact replaces which, by id.

    It is read from the questions: a forbidden fact is replaced by the nearest of the expected ones that were said later.
    """
    said_at = {
        memory_id(event.person, event.id): event.said_at
        for event in recall_set.events
        if isinstance(event, SetFact)
    }
    heirs: dict[str, str] = {}
    for question in recall_set.questions:
        expected = [memory_id(question.person, fact) for fact in question.expect]
        for old in (memory_id(question.person, fact) for fact in question.forbid):
            near = [*expected, *filter(None, [heirs.get(old)])]
            near = [new for new in near if said_at[new] > said_at[old]]
            if near:
                heirs[old] = max(near, key=lambda new: float(vectors[new] @ vectors[old]))
    return heirs
