"""How relevant every utterance of a person's pages is to a question: the signs of it, for the best of all utterances at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from server.memory.answer_types import AnswerType
from server.memory.line_table import Floats, LineTable
from server.memory.line_vectors import LineVectors
from server.memory.lines import Mark, Role, Tokens, tokens_of
from server.memory.postings import REACH, Channel, Postings
from server.memory.question import Question
from server.memory.speakers import Speakers, asked_role
from server.memory.terms import analyse

Signs: TypeAlias = Mapping[str, Floats]
"""By name, one number for each utterance."""
Places: TypeAlias = NDArray[np.intp]

_ASKING_BEFORE, _PLAIN_BEFORE = 0.75, 0.25
"""How much the utterance right before counts: more if it asks, since this one answers."""
_ASKING_AFTER, _PLAIN_AFTER = 0.1, 0.3
"""How much the one right after counts: less if this one asks."""
_BEFORE, _AFTER = 0.45, 0.25
_FEW_WORDS = 4
_SHORT_RANGE_DAYS = 10
_LONGEST_RANGE_DAYS = 200
_LONGEST_EVENT_DAYS = 60


@dataclass(frozen=True, slots=True)
class PageQuery:
    """A question, cut for the search in pages."""

    question: Question
    role: Role | None
    """Whose lines are likely to hold the answer."""
    words: Tokens
    pairs: Tokens
    pieces: Tokens
    reach: int = REACH
    """How many utterances away what a neighbour says still counts."""


def cut_query(question: Question, speakers: Speakers, reach: int = REACH) -> PageQuery:
    """Cut a question; names of the speakers say who is asked about and are no words to look for."""
    text, language = question.text, question.language
    tokens = tokens_of(text, analyse(text, language), language, without_forms=speakers.forms)
    words, pairs, pieces = (np.unique(np.array(kind, np.uint32)) for kind in tokens)
    role = asked_role(text, language, speakers)
    return PageQuery(question, role, words, pairs, pieces, reach)


FIRST_LOOK: Mapping[str, float] = {
    "words": 6.0, "pairs": 2.0, "pieces": 2.0, "speaker": 1.0, "day_near": 2.0, "day_told": 2.0, "dense": 1.0,
}  # fmt: skip
"""Weights by which it is decided what is looked at closely."""


def page_signs(
    query: PageQuery,
    table: LineTable,
    postings: Postings,
    vectors: LineVectors,
    limit: int,
    first_look: Mapping[str, float] = FIRST_LOOK,
) -> tuple[Places, dict[str, Floats]]:
    """Return the utterances that are worth a close look, and the signs of their relevance.

    Args:
        query: What is asked; `query.question.vector` is used if there is one.
        table: The utterances.
        postings: Of the same.
        vectors: Of the same.
        limit: How many are looked at closely.
        first_look: Weights by which it is decided which.
    """
    asked = query.question.vector
    signs = _word_signs(query, table, postings) | _day_signs(query.question, table)
    if query.role is not None:
        signs["speaker"] = (table.roles == query.role).astype(np.float32)
    if asked is not None:
        signs["dense"] = vectors.look_through(asked)
    known = {name: worth for name, worth in first_look.items() if name in signs}
    looked_at = weigh(signs, known) if known else np.zeros(len(table), np.float32)
    places = best_of(looked_at, limit)
    top = float(signs["words"].max(initial=0.0))
    none = np.zeros(len(places), np.float32)
    close = {"speaker": none} | {name: column[places] for name, column in signs.items()}
    close["words_of_best"] = close["words"] / np.float32(top) if top > 0 else close["words"]
    close |= _kind_signs(query.question, table, places)
    return places, close | _vector_signs(asked, table, vectors, places)


def _word_signs(query: PageQuery, table: LineTable, postings: Postings) -> dict[str, Floats]:
    asks = table.has(Mark.ASKS)
    by_answer = np.where(table.answers, _ASKING_BEFORE, _PLAIN_BEFORE).astype(np.float32)
    by_question = np.where(asks, _ASKING_AFTER, _PLAIN_AFTER).astype(np.float32)
    before = np.full(len(table), _BEFORE, np.float32)
    after = np.full(len(table), _AFTER, np.float32)
    channels = {
        "words": Channel(query.words, query.reach, by_answer, by_question),
        "pairs": Channel(query.pairs, query.reach, before, after),
        "pieces": Channel(query.pieces, query.reach, before, after),
    }
    matched = postings.match([*channels.values()])
    signs = {}
    for (name, channel), row in zip(channels.items(), matched, strict=True):
        whole = float(postings.rarities(channel.tokens).sum())
        signs[name] = row / whole if whole > 0 else row
    return signs


def _kind_signs(question: Question, table: LineTable, places: Places) -> dict[str, Floats]:
    """Return what kind of utterance each is, as far as it matters to the question."""
    wants = question.wants
    wants_days = wants & {AnswerType.DAY, AnswerType.DURATION}
    flags = {
        "asking": table.has(Mark.ENDS_ASKING, places),
        "own": table.has(Mark.OWN, places),
        "after_question": table.answers[places],
        "short": table.words[places] < _FEW_WORDS,
        "opening": table.openings[places],
        "dated": table.dated[places] & bool(wants_days),
    }
    signs: dict[str, Floats] = {name: column.astype(np.float32) for name, column in flags.items()}
    signs["length"] = np.log1p(table.words[places]).astype(np.float32) / np.float32(4)
    signs["offers"] = table.holding(wants, places)
    return signs


def _day_signs(question: Question, table: LineTable) -> dict[str, Floats]:
    """Return how near the day of each utterance is to those asked for, and whether it speaks of one of them."""
    near = np.zeros(len(table), np.float32)
    told = np.zeros(len(table), np.float32)
    days = table.days
    for start, end in question.ranges:
        first, last = start.toordinal(), end.toordinal()
        if last - first > _LONGEST_RANGE_DAYS:
            continue
        if last - first <= _SHORT_RANGE_DAYS:  # people tell of a day for some days after it
            steps = [
                (first, last + 9, 1.0),
                (last + 10, last + 31, 0.4),
                (first - 9, first - 1, 0.3),
            ]
        else:
            steps = [(first, last, 1.0), (last + 1, last + 31, 0.5)]
        for low, high, worth in steps:
            near = np.maximum(near, np.where((days >= low) & (days <= high), np.float32(worth), 0))
        if last - first <= _LONGEST_EVENT_DAYS:
            told = np.maximum(told, table.telling_of(first, last))
    return {"day_near": near.astype(np.float32), "day_told": told.astype(np.float32)}


def _vector_signs(
    asked: Floats | None, table: LineTable, vectors: LineVectors, places: Places
) -> dict[str, Floats]:
    if asked is None:
        none = np.zeros(len(places), np.float32)
        return {"dense": none, "dense_near": none, "closeness": none}
    last = len(table) - 1
    before, after = np.maximum(places - 1, 0), np.minimum(places + 1, last)
    cosines, dense = vectors.stand(asked, np.concatenate([places, before, after]))
    here, earlier, later = np.split(dense, 3)
    follows = (table.talks[before] == table.talks[places]) & (before != places)
    goes_on = (table.talks[after] == table.talks[places]) & (after != places)
    near = 0.5 * (earlier * follows + later * goes_on)
    rest = vectors.rest()
    closeness = (cosines[: len(places)] - rest) / (1.0 - rest)
    return {"dense": here, "dense_near": near, "closeness": closeness.astype(np.float32)}


def weigh(signs: Signs, weights: Mapping[str, float]) -> Floats:
    """Return the weighted sum of signs."""
    columns = (signs[name] * np.float32(worth) for name, worth in weights.items())
    total: Floats = sum(columns, np.zeros((), np.float32))
    return total


def best_of(scores: Floats, limit: int) -> Places:
    """Return the places of the highest scores, best first; of equal ones the later first."""
    if limit < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
    else:
        places = np.arange(len(scores))
    return places[np.lexsort((-places, -scores[places]))[:limit]]
