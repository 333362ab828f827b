"""Ranking on a shelf: segments lift their pages, what weighs nothing is not looked at, nothing from the future is found."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from server.memory.line_table import Floats, PlacedLine
from server.memory.lines import Role, read_line
from server.memory.models import Segment
from server.memory.page_recall import PageFindings, rank
from server.memory.page_shelf import PageShelf
from server.memory.page_signs import cut_query
from server.memory.page_weights import PageWeights
from server.memory.question import read_question
from server.memory.speakers import Speakers
from tests.memory.remembering import NOON, opened

DIMENSIONS = 4
SAID = ("My cat Momo is ill.", "I planted tomatoes.", "It rained all day.", "The sky was grey.")
TOMATOES = "What of the tomatoes?"


def direction(axis: int) -> Floats:
    row: Floats = np.zeros(DIMENSIONS, np.float32)
    row[axis] = 1
    return row


def shelf_of(*said: str, vectors: Mapping[str, Floats] | None = None) -> PageShelf:
    """Put utterances on a shelf, a day apart and each a page of its own; the first one is 10 days ago."""
    lines = []
    for number, text in enumerate(said):
        at = NOON - timedelta(days=10 - number)
        lines.append(PlacedLine(f"{number}", Role.SAID, at, read_line(text, "en", at)))
    keyed = {(page, int(Role.SAID)): row for page, row in (vectors or {}).items()}
    return PageShelf.of(lines, keyed, DIMENSIONS)


def segment(id_: str, *keywords: str) -> Segment:
    return Segment(id_, "hana", "en", "", frozenset(keywords), NOON, NOON)


def found(
    shelf: PageShelf,
    text: str,
    weights: Mapping[str, float],
    vector: Floats | None = None,
    gate: float | None = None,
    days: int = 0,
    *,
    segments: int = 5,
) -> PageFindings:
    question = read_question(text, "en", NOON + timedelta(days=days))
    query = cut_query(replace(question, vector=vector), Speakers())
    return rank(
        shelf,
        query,
        PageWeights(weights, weights, {"words": 4.0, "bias": -1.0}, 0.5),
        gate,
        segments,
    )


def pages(findings: PageFindings) -> list[str]:
    return [one.page for one in findings.candidates]


def test_the_best_come_first_with_every_sign() -> None:
    [best, *_] = found(shelf_of(*SAID), TOMATOES, {"words": 1.0}).candidates
    assert best.page == "1"
    assert best.role == Role.SAID
    assert best.score == best.signs["words"] > 0
    assert best.signs.keys() >= {"topic", "dense", "closeness", "offers", "words_of_best"}


def test_pages_of_a_segment_with_the_word_are_lifted() -> None:
    shelf = shelf_of(*SAID)
    shelf.segment_of = {"2": "weather", "3": "weather", "1": "garden"}
    shelf.put_segments([segment("weather", "storm", "rain"), segment("garden", "tomato")])
    weights = {"words": 1.0, "topic": 1.0}
    assert set(pages(found(shelf, "Was there a storm?", weights))[:2]) == {"2", "3"}
    topics = {one.page: one.signs["topic"] for one in found(shelf, "A storm?", weights).candidates}
    assert topics["2"] == topics["3"] > 0 == topics["0"] == topics["1"]


def test_segments_are_near_by_their_vectors_too() -> None:
    vectors = {"0": direction(0), "1": direction(1), "2": direction(2), "3": direction(2)}
    shelf = shelf_of(*SAID, vectors=vectors)
    shelf.segment_of = {"0": "a", "1": "b", "2": "c", "3": "c"}
    shelf.put_segments([segment("a", "x"), segment("b", "y"), segment("c", "z")])
    topics = {
        one.page: one.signs["topic"]
        for one in found(shelf, "?", {"topic": 1.0}, vector=direction(2)).candidates
    }
    assert topics["2"] == topics["3"] > max(topics["0"], topics["1"])


@pytest.mark.parametrize("few", [0, 2, 5])
def test_only_the_nearest_segments_count(few: int) -> None:
    shelf = shelf_of(*(f"Word {number}." for number in range(7)))
    shelf.segment_of = {f"{number}": f"{number}" for number in range(7)}
    shelf.put_segments(
        [segment(f"{number}", "storm", *"abcdefg"[: number + 1]) for number in range(7)]
    )
    candidates = found(shelf, "storm", {"topic": 1.0}, segments=few).candidates
    nearest = {one.page for one in candidates if one.signs["topic"] > 0}
    assert nearest == set("01234"[:few])


async def test_how_many_segments_count_is_configured(tmp_path: Path) -> None:
    said = ["猫のタマを飼い始めたんだ。", "ピアノの発表会があった。", "猫の病院に行った。"]
    counted = []
    for few in (0, 1, 9):
        told = {"pages": {"segments": few, "gate": 0.0}}
        apart = {"similarity": 2.0}
        with opened(tmp_path / str(few), retrieval=told, segments=apart) as room:
            for text in said:
                room.tell(text)
                await room.memory.extract()
                room.clock.pass_time(hours=1)
            recalled = await room.memory.recall("hana", "猫はどう?", "ja")
            counted.append(sum(page.parts["topic"] > 0 for page in recalled.pages))
    assert counted == [0, 1, 2]


def test_what_weighs_nothing_does_not_decide_what_is_looked_at() -> None:
    """A variant by words alone must not depend on vectors, nor one by vectors on words."""
    crowd = [f"Tomatoes, tomatoes {number}." for number in range(150)]
    vectors = {"150": direction(0), **{f"{number}": direction(1) for number in range(150)}}
    shelf = shelf_of(*crowd, "It rained.", vectors=vectors)
    alone = found(shelf, TOMATOES, {"dense": 1.0}, vector=direction(0), days=200)
    assert pages(alone)[0] == "150"
    by_words = found(shelf, TOMATOES, {"words": 1.0}, vector=direction(0), days=200)
    assert "150" not in pages(by_words)


def test_nothing_that_was_said_later_is_found() -> None:
    shelf = shelf_of(*SAID)
    assert set(pages(found(shelf, TOMATOES, {"words": 1.0}, days=-9))) == {"0", "1"}


@pytest.mark.parametrize(("gate", "passes"), [(None, True), (0.0, True), (1.0, False)])
def test_the_gate_is_that_of_the_weights_unless_another_is_set(
    gate: float | None, passes: bool
) -> None:
    findings = found(shelf_of(*SAID), TOMATOES, {"words": 1.0}, gate=gate)
    assert 0.5 < findings.relevance < 1
    assert findings.passed is passes
    assert not found(shelf_of(*SAID), "Who is king of Spain?", {"words": 1.0}).passed
