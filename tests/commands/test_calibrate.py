"""What `omoide calibrate` makes of sets: a calibration that is read again and holds for people it has not seen."""

import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from typer.testing import Result

from server.commands import calibrate
from server.commands.lessons import QuestionLesson
from server.commands.recall_sets import RecallSet, SetFact, SetQuestion
from server.config import Config
from server.errors import OmoideError
from server.memory import scoring
from server.memory.calibration import Calibration, load_calibration
from server.memory.comparing import Relation, relations
from server.memory.models import Fact
from server.memory.shelf import Entry, make_entry
from tests.commands.telling import MILK, Events, after, ask, drawn, fact
from tests.fakes import FakeEmbedder

Learn = Callable[..., tuple[Calibration, dict[str, Any]]]

DRINKS = ("tea", "milk", "juice", "cocoa", "water")
DOGS = ("Rex", "Tama", "Bob", "Zoe", "Kim")


def life_of(person: str, number: int) -> list[dict[str, Any]]:
    """Return a small life, with what is asked about it."""
    drink, dog = DRINKS[number % 5], DOGS[number % 5]
    told = [
        ("dog", f"Your dog is called {dog}.", 0),
        ("drink", f"You like to drink {drink}.", 1),
        ("guitar", "You play the guitar.", 2),
        ("gig", "You have a gig with your band.", 3),
        ("key", "The key is under the pot.", 4),
        ("wine", "You like to drink red wine now.", 6),
    ]
    asked: list[tuple[str, int, list[str], list[str]]] = [
        ("What is my dog called?", 5, ["dog"], []),
        ("What do I like to drink?", 5, ["drink"], []),
        ("What do I like to drink?", 8, ["wine"], ["drink"]),
        ("Where is the key?", 9, ["key"], []),
        ("How high is Mount Fuji?", 9, [], []),
        ("When does the moon rise?", 9, [], []),
    ]
    facts = [
        {"type": "fact", "person": person, "id": id_, "text": text, "said_at": at(day)}
        for id_, text, day in told
    ]
    questions = [
        {
            "type": "question",
            "person": person,
            "id": f"q{place}",
            "text": text,
            "asked_at": at(day),
            "expect": expect,
            "forbid": forbid,
        }
        for place, (text, day, expect, forbid) in enumerate(asked)
    ]
    return [*facts, *questions]


def at(day: float) -> str:
    return after(day).isoformat()


LIVES = [row for number in range(6) for row in life_of(f"person {number}", number)]


@pytest.fixture
def embedders(monkeypatch: pytest.MonkeyPatch) -> list[FakeEmbedder]:
    """Let `calibrate` build fakes; return those that it has built."""
    built: list[FakeEmbedder] = []

    def build(section: object) -> FakeEmbedder:
        built.append(FakeEmbedder())
        return built[-1]

    monkeypatch.setattr("server.commands.calibrate.embedding.build", build)
    return built


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Keep the library from waiting for cores that are busy with something else."""
    importlib.import_module("sklearn.ensemble")  # only what is loaded can be limited
    with importlib.import_module("threadpoolctl").threadpool_limits(1):
        yield


@pytest.fixture
def learn(omoide: Callable[..., Result], embedders: list[FakeEmbedder], tmp_path: Path) -> Learn:
    """Run `omoide calibrate` over some rows; return what it wrote, read again, and its report."""

    def run(rows: Sequence[dict[str, Any]], *options: str) -> tuple[Calibration, dict[str, Any]]:
        file, target = tmp_path / "set.jsonl", tmp_path / "mine.npz"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        result = omoide("calibrate", file, "--out", target, "--json", *options)
        assert result.exit_code == 0, result.output
        assert [one.closed for one in embedders] == [True]
        written = load_calibration(str(target), "fake-1", FakeEmbedder().dimensions)
        return written, json.loads(result.stdout)

    return run


def judged(
    calibration: Calibration, lesson: QuestionLesson, *, vectors_known: bool = True
) -> list[tuple[float, str]]:
    """Return what a calibration makes of the facts of a question, the likeliest first."""
    vector, vectors = (lesson.vector, lesson.vectors) if vectors_known else (None, {})
    signs = scoring.with_opinions(
        lesson.shelves[0], calibration.personal(vector), calibration.paired(vector, vectors)
    )
    likely = calibration.relevances(signs, vectors.keys())
    return sorted(((value, key) for key, value in likely.items()), reverse=True)


@pytest.mark.parametrize("options", [[], ["--plain"]])
def test_what_was_learnt_is_read_again_and_holds_for_somebody_new(
    options: list[str], learn: Learn
) -> None:
    calibration, report = learn(LIVES, *options)
    assert calibration.gate in calibrate.GATES
    assert report["gate"] == calibration.gate
    assert report["embedder"] == "fake-1"
    assert report["error"] is None
    newcomer: Events = [
        fact("dog", "Your dog is called Max.", 0),
        fact("drink", "You like to drink coffee.", 1),
        fact("key", "The key is in the drawer.", 2),
        ask("What is my dog called?", 5, ["dog"]),
        ask("Where is the key?", 6, ["key"]),
        ask("How high is Mount Fuji?", 7),
    ]
    lessons = anyio.run(drawn, newcomer)
    [dog, key, nothing] = [judged(calibration, lesson) for lesson in lessons.questions]
    assert [found[0][1] for found in (dog, key)] == ["mio/dog", "mio/key"]
    assert min(dog[0][0], key[0][0]) > calibration.gate > nothing[0][0]
    by_words = judged(calibration, lessons.questions[0], vectors_known=False)
    assert by_words[0][1] == "mio/dog", "without vectors words are enough"


def test_judgements_of_a_plain_calibration_hold_for_any_embedder(
    learn: Learn,
) -> None:
    calibration, _ = learn(LIVES, "--plain")
    assert (calibration.opinion, calibration.closeness.pairing) == (None, None)
    names = {*calibration.relevance.names, *calibration.closeness.changes.names}
    sizes = {"dense", "dense_above_mean", "dense_below_top", "closeness", "personal", "paired"}
    assert not names & sizes
    assert not [name for name in names if name.startswith("paired") or "personal" in name]
    assert {"dense.rank", "dense_deviations", "closeness.rank", "coverage"} <= names
    assert not names & {"dense.below_best", "dense.above_second", "closeness.below_best"}


@pytest.mark.parametrize("options", [[], ["--plain"]])
def test_where_there_are_no_vectors_no_sign_of_one_is_looked_at(
    options: list[str], learn: Learn
) -> None:
    names = learn(LIVES, *options)[0].words.names
    assert not [
        name for name in names if name.startswith(("dense", "paired")) or "personal" in name
    ]
    assert {"coverage", "coverage.rank", "asks"} <= set(names)


def test_a_calibration_for_one_embedder_looks_at_its_vectors(
    learn: Learn,
) -> None:
    calibration, _ = learn(LIVES)
    assert calibration.opinion is not None
    assert calibration.closeness.pairing is not None
    assert {"dense", "paired", "personal"} <= set(calibration.relevance.names)
    assert {"closeness", "paired"} <= set(calibration.closeness.changes.names)


PERSONS = [f"person {number}" for number in range(5)]
Ask = Callable[[str], SetQuestion]


@pytest.mark.parametrize(
    ("persons", "asks", "hint"),
    [
        (PERSONS, lambda who: ask("How high is Mount Fuji?", 5, person=who), "expects a fact"),
        (PERSONS, lambda who: ask("My drink?", -1, ["milk"], person=who), "expects a fact"),
        ([], lambda who: ask("My drink?", 5, person=who), "expects a fact"),
        (PERSONS[:4], lambda who: ask("My drink?", 5, ["milk"], person=who), "fewer than 5"),
    ],
)
async def test_a_set_from_which_nothing_can_be_learnt_is_refused(
    persons: list[str], asks: Ask, hint: str, embedders: list[FakeEmbedder], tmp_path: Path
) -> None:
    events = [fact("milk", "You drink milk.", 0, person=who) for who in PERSONS]
    with pytest.raises(OmoideError, match=hint) as caught:
        await calibrated([*events, *map(asks, persons)], tmp_path)
    assert caught.value.code == "recall-set-invalid"
    assert names_in(tmp_path) == []
    assert [one.closed for one in embedders] == [True]


async def test_an_embedder_that_fails_is_closed_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    embedder = FakeEmbedder()
    embedder.fails = lambda texts: OmoideError("embedding-failed", "no")
    monkeypatch.setattr("server.commands.calibrate.embedding.build", lambda section: embedder)
    with pytest.raises(OmoideError, match="no") as caught:
        await calibrated([MILK, ask("What do I drink?", 1, ["milk"])], tmp_path)
    assert caught.value.code == "embedding-failed"
    assert embedder.closed
    assert names_in(tmp_path) == []


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def calibrated(events: Events, folder: Path) -> Calibration:
    target = folder / "mine.npz"
    recall_set = RecallSet(tuple(events), japanese=False)
    await calibrate.calibrate([recall_set], Config(), target, lambda line: None)
    return load_calibration(str(target), "fake-1", FakeEmbedder().dimensions)


def lives_of_few_words(*texts: str) -> list[SetFact | SetQuestion]:
    """Return the same few facts for five persons, of whom each is asked after the first."""
    facts = [
        fact(f"f{place}", text, place, who) for who in PERSONS for place, text in enumerate(texts)
    ]
    return [*facts, *(ask("What do I drink?", 20, ["f0"], person=who) for who in PERSONS)]


def told(text: str, vector: Any, day: float = 0) -> Entry:
    return make_entry(Fact(text, "mio", text, "en", after(day)), vector)


@pytest.mark.usefixtures("embedders")
async def test_where_nobody_tells_two_facts_nothing_is_ever_replaced(tmp_path: Path) -> None:
    calibration = await calibrated(lives_of_few_words("You drink milk."), tmp_path)
    old, new = told("You like tea.", None), told("You no longer like tea.", None, 1)
    assert relations(new, [old], calibration.closeness) == [Relation.DIFFERENT]


@pytest.mark.usefixtures("embedders")
async def test_a_set_without_like_facts_does_not_make_all_facts_the_same(tmp_path: Path) -> None:
    lives = lives_of_few_words("You drink milk.", "Your dog is called Rex.")
    calibration = await calibrated(lives, tmp_path)
    texts = ["You play the guitar.", "You run every morning."]
    rows = await FakeEmbedder().embed(texts, "passage")
    old, new = (told(text, row) for text, row in zip(texts, rows, strict=True))
    assert relations(new, [old], calibration.closeness) != [Relation.SAME]
