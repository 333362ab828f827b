"""Learning how pages are ranked: names that fit the code, topics that only add, words that know nothing of vectors."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.commands.calibrate_pages import BY_WORDS, ONLY_ADDS, WITH_VECTORS, calibrate_pages
from server.commands.learning import learn_ranking
from server.config import Config
from server.memory.line_table import PlacedLine
from server.memory.lines import Role, read_line
from server.memory.page_recall import gate_signs, rank
from server.memory.page_shelf import PageShelf
from server.memory.page_signs import cut_query
from server.memory.page_weights import PageWeights, load_page_weights
from server.memory.question import read_question
from server.memory.speakers import Speakers
from tests.fakes import FakeEmbedder
from tests.memory.remembering import NOON

THINGS = {
    "ann": ("cat", "Momo", "tomatoes", "garden", "sister", "Leeds", "violin", "attic"),
    "cleo": ("dog", "Rex", "beans", "balcony", "uncle", "York", "drum", "cellar"),
}


def written(folder: Path) -> list[Path]:
    """Write two dialogues with questions about them."""
    paths = []
    for name, (pet, called, crop, place, kin, town, music, room) in THINGS.items():
        sessions = [
            [f"My {pet} is called {called}.", "How nice.", "It is cold today.", "Wear a coat."],
            [f"I grow {crop} on the {place}.", "Do they do well?", "They do.", "Good."],
            [f"My {kin} lives in {town}.", "Far away!", "I went by train.", "A long way."],
            [f"The {music} stands in the {room}.", "Do you play it?", "Never.", "A pity."],
        ]
        asked = (
            f"What is the {pet} called?",
            f"Where do I grow {crop}?",
            f"Where does my {kin} live?",
            f"Where is the {music}?",
        )
        talk: dict[str, Any] = {"speaker_a": name, "speaker_b": "Bo"}
        for number, texts in enumerate(sessions, 1):
            talk[f"session_{number}_date_time"] = f"2026-05-{number:02}T10:00"
            talk[f"session_{number}"] = [
                {
                    "dia_id": f"D{number}:{turn}",
                    "speaker": (name, "Bo")[(turn + 1) % 2],
                    "text": text,
                }
                for turn, text in enumerate(texts, 1)
            ]
        qa = [
            {"question": text, "answer": "", "evidence": [f"D{number}:1"], "category": 4}
            for number, text in enumerate(asked, 1)
        ]
        paths.append(folder / f"{name}.json")
        entry = {"sample_id": name, "conversation": talk, "qa": qa}
        paths[-1].write_text(json.dumps([entry]), encoding="utf-8")
    return paths


async def test_what_is_learnt_can_be_loaded_and_has_the_names_of_the_signs(tmp_path: Path) -> None:
    target = tmp_path / "pages.json"
    report = await calibrate_pages(
        written(tmp_path), target, Config(), lambda line: None, FakeEmbedder()
    )
    weights = load_page_weights(str(target))
    assert report.data["questions"] == 8
    assert weights.with_vectors.keys() == set(WITH_VECTORS)
    assert weights.by_words.keys() == set(BY_WORDS)
    assert weights.with_vectors["words"] > 0 < weights.by_words["words"]
    assert weights.learnt_from == "ann, cleo"
    assert_gate_fits(weights)


async def test_the_gate_learns_from_what_people_say_that_no_memory_answers(tmp_path: Path) -> None:
    idle = tmp_path / "idle.jsonl"
    orders = ("Play a song for the cat.", "Turn the garden lamp off.", "Read to my sister.")
    rows: list[dict[str, object]] = [{"type": "fact", "person": "bo", "id": "f", "text": "A.", "said_at": NOON.isoformat()}]  # fmt: skip
    rows += [
        {"type": "question", "person": "bo", "id": text, "text": text, "asked_at": NOON.isoformat(), "expect": [], "forbid": []}
        for text in orders
    ]  # fmt: skip
    idle.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    gates = []
    for files in (written(tmp_path), [*written(tmp_path), idle]):
        target = tmp_path / "pages.json"
        await calibrate_pages(files, target, Config(), lambda line: None, FakeEmbedder())
        gates.append(load_page_weights(str(target)).gate)
    assert gates[0]["orders"] == 0 > gates[1]["orders"]


def test_the_packaged_weights_have_the_names_of_the_signs() -> None:
    """A name that the code no longer knows counts nothing, and nobody would notice."""
    weights = load_page_weights()
    assert weights.with_vectors.keys() == set(WITH_VECTORS)
    assert weights.by_words.keys() == set(BY_WORDS)
    assert_gate_fits(weights)


def assert_gate_fits(weights: PageWeights) -> None:
    at = NOON - timedelta(days=1)
    line = PlacedLine("page", Role.SAID, at, read_line("My cat is ill.", "en", at))
    shelf = PageShelf.of([line], {}, 4)
    question = read_question("What of my cat?", "en", NOON)
    findings = rank(shelf, cut_query(question, Speakers()), weights, None)
    assert weights.gate.keys() == {*gate_signs(question, findings.candidates), "bias"}
    assert findings.candidates[0].signs.keys() >= {*weights.with_vectors, *weights.by_words}


def test_no_packaged_weight_was_learnt_from_sets_that_may_not_be_learnt_from() -> None:
    assert "locomo" not in load_page_weights().learnt_from.casefold()


@pytest.mark.parametrize("least", [-np.inf, 0.0])
def test_a_weight_does_not_fall_below_its_least(least: float) -> None:
    rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    lessons = [(rows, np.array([True, False, False]))]
    found, bounded = learn_ranking(lessons), learn_ranking(lessons, np.array([-np.inf, least]))
    assert found[1] < 0 < found[0]
    assert bounded[1] == max(found[1], least) or np.isclose(bounded[1], found[1])
    assert bounded[0] > 0


def test_what_only_adds_is_among_the_signs() -> None:
    assert set(BY_WORDS) >= ONLY_ADDS
    weights = load_page_weights()
    assert all(weights.with_vectors[name] >= 0 <= weights.by_words[name] for name in ONLY_ADDS)
