"""The bench over dialogues: topics are made, variants differ where they should, answers are scored, figures have their names."""

import json
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands.answer_prompts import read_verdict
from server.commands.bench_dialogues import DialogueSet, Plan, bench_dialogues, read_set, spread
from server.commands.bench_pages import time_sizes
from server.commands.bench_plot import draw
from server.commands.calibrate_pages import ask_own, learn
from server.commands.dialogue_fit import ask_fitted
from server.commands.dialogue_memory import (
    DialogueMemory,
    KnownVectors,
    RememberedDialogue,
    batches,
    remembered,
)
from server.commands.dialogue_prompts import PARTS, figures_of, look_into_prompts
from server.commands.dialogue_variants import FULL, ranked_variants
from server.commands.dialogues import Dialogue, DialogueQuestion, Utterance
from server.commands.plain_bm25 import PlainBm25
from server.commands.reach import Place
from server.config import Config, ExtractionSection
from server.conversation import Engines
from server.errors import ConfigError
from server.memory import Page
from server.memory.lines import Role
from server.memory.page_weights import PageWeights
from server.memory.speakers import Speakers
from tests.fakes import FakeAsr, FakeEmbedder, FakeLlm, FakeTts, FakeVad

Omoide = Callable[..., Result]
NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
TALK = (
    ("My cat Momo is ill.", "Oh no! What does Momo have?"),
    ("The vet says the cat has a cold.", "Poor Momo, I hope the cat is well soon."),
    ("I planted tomatoes in the garden.", "The garden must look lovely."),
    ("The tomatoes are red now.", "Ripe tomatoes! Time to pick them."),
    ("My sister Ellen moved to Leeds.", "Do you miss your sister?"),
    ("Ellen likes Leeds a lot.", "I am glad for her."),
)
ASKED: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("What is my cat called?", "Momo", ("D1:1",), 4),
    ("What did I plant in the garden?", "tomatoes", ("D3:1",), 4),
    ("Where does my sister Ellen live?", "Leeds", ("D5:1", "D6:1"), 1),
    ("What did Ann say of the war?", "nothing", ("D1:1",), 5),
    ("Who is the king of Spain?", "", (), 4),
)
WEIGHTS = PageWeights({"words": 5.0, "dense": 0.5, "topic": 1.0}, {"words": 5.0}, {}, 0.5)
PROMISED = {
    "questions", "turn_recall_at_5", "turn_recall_at_10", "turn_recall_at_20", "ndcg_at_10", "session_all_at_10",
    "by_category", "retrieve_ms_p50", "ingest_s",
}  # fmt: skip


def dialogue(pages: Sequence[tuple[str, str]] = TALK, hours: float = 24) -> Dialogue:
    """Return a dialogue with one exchange a session, the sessions so many hours apart."""
    utterances = [
        Utterance(
            f"D{session}:{place}",
            role,
            text,
            NOON + timedelta(hours=hours * session, seconds=20 * place),
            session,
        )
        for session, pair in enumerate(pages, 1)
        for place, (role, text) in enumerate(zip(Role, pair, strict=True), 1)
    ]
    late = utterances[-1].at + timedelta(days=1)
    questions = [
        DialogueQuestion(text, answer, frozenset(evidence), category, "", late)
        for text, answer, evidence, category in ASKED
    ]
    return Dialogue("ann", "en", Speakers(("Ann",), ("Bo",)), tuple(utterances), tuple(questions))


@asynccontextmanager
async def held(told: Dialogue, **options: Any) -> AsyncIterator[RememberedDialogue]:
    embedder = KnownVectors(FakeEmbedder())
    async with remembered(told, Config(), embedder, **options) as found:
        yield found


def ranked(
    found: RememberedDialogue, weights: PageWeights = WEIGHTS, **options: Any
) -> DialogueMemory:
    return found.ranked_by(weights, Config().retrieval, **options)


async def test_topics_of_a_dialogue_are_made_so_that_their_sign_tells_something() -> None:
    told = dialogue()
    async with held(told) as found:
        answered = await ranked(found).ask(told.questions[1])
    topics = {one.page: one.signs["topic"] for one in answered.findings.candidates}
    assert topics["ann D3:1"] > 0
    assert topics["ann D3:1"] > topics["ann D5:1"]


async def test_exchanges_without_chains_are_sorted_each_by_itself() -> None:
    """An answer that says nothing by itself stays with what was asked, unless chains are left out."""
    told = dialogue(
        (("My cat Momo is ill.", "What does it have?"), ("A cold.", "Oh."), *TALK[2:]), hours=0.01
    )
    topics = {}
    for is_chained in (True, False):
        async with held(told, is_chained=is_chained) as found:
            answered = await ranked(found).ask(told.questions[0])
        topics[is_chained] = {one.page: one.signs["topic"] for one in answered.findings.candidates}
    assert topics[True]["ann D2:1"] == topics[True]["ann D1:1"] > 0
    assert topics[False]["ann D2:1"] != topics[False]["ann D1:1"] > 0


async def test_the_person_is_known_by_what_rules_draw() -> None:
    told = dialogue((("I am allergic to peanuts.", "I will remember."), *TALK))
    async with held(told) as found:
        priming = await found.priming(told.utterances[-1].at)
    assert any("peanuts" in fact.text for fact in priming.standing)


async def test_without_neighbours_a_word_of_the_turn_before_counts_nothing() -> None:
    told = dialogue((("The cat is called Momo.", "Really?"), ("Yes.", "I see.")), hours=0.01)
    asked = replace(told.questions[0], text="Momo?")
    words = {}
    for reach in (4, 0):
        async with held(told) as found:
            answered = await ranked(found, reach=reach).ask(asked)
        words[reach] = {turn.page: turn.signs["words"] for turn in answered.findings.candidates}
    assert words[4]["ann D2:1"] > 0
    assert words[0]["ann D2:1"] == 0


@pytest.mark.parametrize(
    ("minutes", "turns", "expected"),
    [
        ([0, 1, 2], 8, [3]),
        ([0, 1, 2, 3, 4], 2, [2, 2, 1]),
        ([0, 4, 10, 11], 8, [2, 2]),
        ([0, 5, 11, 11, 11], 2, [2, 2, 1]),
        ([], 8, []),
    ],
)
def test_batches_end_where_facts_would_be_drawn(
    minutes: list[int], turns: int, expected: list[int]
) -> None:
    pages = [Page("Hi.", "", NOON + timedelta(minutes=each)) for each in minutes]
    cut = [*batches(pages, ExtractionSection(turns=turns, silence_minutes=5))]
    assert [len(batch) for batch in cut] == expected
    assert [page for batch in cut for page in batch] == pages


def test_what_a_variant_goes_without_counts_nothing_in_it() -> None:
    signs = (
        "words",
        "pairs",
        "speaker",
        "dated",
        "day_near",
        "day_told",
        "after_question",
        "dense",
        "dense_near",
        "topic",
    )
    weights = PageWeights(dict.fromkeys(signs, 1.0), {"words": 1.0, "topic": 1.0}, {}, 0.5)
    variants = ranked_variants(weights)
    left = {name: set(one.weights.with_vectors) for name, one in variants.items()}
    assert left[FULL] == set(signs)
    assert not variants["no vectors"].has_vectors
    assert [name for name, one in variants.items() if one.is_plain] == ["BM25 only"]
    assert left["dense only"] == {"dense"}
    assert left["no MTM"] == set(signs) - {"topic"}
    assert left["no dates"] == set(signs) - {"dated", "day_near", "day_told"}
    assert left["no neighbours"] == set(signs) - {"after_question", "dense_near"}
    assert variants["no neighbours"].reach == 0
    assert not variants["no chain"].is_chained
    assert all(one.has_portrait for one in variants.values())  # it would change nothing


def place(folder: Path, *answers: Sequence[Any]) -> tuple[Place, FakeLlm]:
    llm = FakeLlm(*(answers or [["Momo"]]))
    engines = Engines(FakeVad(), FakeAsr(), llm, FakeTts())
    return Place(Config(), folder, engines=engines, embedder=FakeEmbedder()), llm


def some(*, is_judged: bool = False) -> DialogueSet:
    return DialogueSet("set.json", "abc", [dialogue()], is_judged=is_judged)


async def test_the_report_has_the_promised_names_and_says_what_it_is_of(tmp_path: Path) -> None:
    lines: list[str] = []
    where, llm = place(tmp_path)
    report = await bench_dialogues(some(), where, Plan(ablate=True), lines.append)
    data: Mapping[str, Any] = report.data
    assert data.keys() >= PROMISED
    assert data["questions"] == 4  # those without evidence are not asked
    assert data["turn_recall_at_10"] == 1.0
    assert set(data["by_category"]) == {"multi-hop", "single-hop", "adversarial", "categories 1-4"}
    wanted = {
        "BM25 only",
        "dense only",
        "no dates",
        "no chain",
        "no neighbours",
        "no MTM",
    }
    assert set(data["ablations"]) >= wanted
    assert all(one.keys() >= PROMISED - {"ingest_s"} for one in data["ablations"].values())
    assert list(data["prompts"]) == ["full", "no LPM", "LPM alone"]
    assert all(one["questions"] == 4 for one in data["prompts"].values())
    assert list(data["recall_by_depth"]) == ["5", "10", "15", "20", "25", "30", "35", "40"]
    assert data["data"] == {"file": "set.json", "sha256": "abc", "dialogues": 1}
    assert data["parameters"]["weights"]
    assert data["parameters"]["retrieval"]["pages"]
    assert not llm.prompts
    assert any("no MTM" in line for line in lines)
    json.dumps(data)


async def test_without_long_term_memory_a_prompt_holds_less_of_the_evidence(tmp_path: Path) -> None:
    """What the person must not be given stands in every prompt, also where its words are nothing like those of the question."""
    told = dialogue((("I am allergic to peanuts.", "I will remember."), *TALK))
    late = told.questions[0]
    asked = (
        replace(
            late, text="Which snack would suit me?", answer="Peanuts", evidence=frozenset({"D1:1"})
        ),
        replace(late, text="Which snack?", answer="red", evidence=frozenset({"D1:2"})),
        replace(late, text="Which snack?", evidence=frozenset({"D1:1"}), asked_at=NOON),
    )
    embedder = KnownVectors(FakeEmbedder())
    async with remembered(told, Config(), embedder) as found:
        prompts = await look_into_prompts(found, Config(), embedder, asked)
    assert {name: len(one) for name, one in prompts.items()} == dict.fromkeys(PARTS, 2)
    for name, is_there in (("LPM alone", True), ("no LPM", False)):
        first, second = prompts[name]
        assert (first.evidence, first.has_answer) == (float(is_there), is_there)
        assert (second.evidence, second.has_answer) == (0.0, False)
        assert (first.tokens > 0) is is_there
    figures = figures_of(prompts["LPM alone"])
    assert (figures["evidence_in_prompt"], figures["answer_in_prompt"]) == (0.5, 0.5)


async def test_an_exchange_that_is_told_brings_both_its_turns(tmp_path: Path) -> None:
    told = dialogue()
    both = replace(told.questions[0], evidence=frozenset({"D1:1", "D1:2"}))
    config = Config.model_validate({"retrieval": {"pages": {"gate": 0.0, "neighbours": 0}}})
    embedder = KnownVectors(FakeEmbedder())
    async with remembered(told, config, embedder) as found:
        prompts = await look_into_prompts(found, config, embedder, [both])
    assert prompts["no LPM"][0].evidence == 1.0
    assert prompts["no LPM"][0].has_answer


def test_plain_bm25_is_bm25() -> None:
    """By hand: two turns of three and of two words, both of which hold what is asked for; the other holds it twice."""
    told = dialogue((("Cats chase mice.", "Dogs bark."), ("Cats, cats!", "Fish swim.")))
    bm25 = PlainBm25(told)
    found = bm25.ask(replace(told.questions[0], text="Cats?"))
    assert found.turns == ("D2:1", "D1:1")
    mean = (3 + 2 + 2 + 2) / 4
    rarity = math.log1p((4 - 2 + 0.5) / (2 + 0.5))

    def worth(count: int, length: int) -> float:
        return rarity * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * length / mean))

    scores = bm25.scores_of("Cats?")
    assert scores.tolist() == pytest.approx([worth(1, 3), 0.0, worth(2, 2), 0.0])


def test_plain_bm25_finds_what_was_said_before_it_was_asked_and_by_words_alone() -> None:
    told = dialogue()
    bm25 = PlainBm25(told)
    assert bm25.ask(replace(told.questions[1], text="The king of Spain?")).turns == ()
    assert "D4:1" in bm25.ask(replace(told.questions[1], text="tomatoes")).turns
    early = replace(told.questions[1], text="tomatoes", asked_at=NOON + timedelta(days=3, hours=1))
    assert bm25.ask(early).turns == ("D3:1",)  # D4:1 and D4:2 come later
    named = replace(
        told, speakers=Speakers(("Ellen",), ("Bo",))
    )  # its stem is another than its form
    late = replace(told.questions[2], text="Ellen?")
    assert bm25.ask(late).turns
    assert PlainBm25(named).ask(late).turns == ()


async def test_answers_are_scored_and_adversarial_questions_are_not_asked(tmp_path: Path) -> None:
    where, llm = place(tmp_path, ["Momo"], ["red ", "tomatoes"], ["in Leeds"])
    report = await bench_dialogues(some(), where, Plan(answer=True), lambda line: None)
    answers: Any = report.data["answers"]
    assert len(llm.prompts) == 3
    f1 = (1 + 2 / 3 + 2 / 3) / 3
    assert answers[FULL] == {
        "answers": 3,
        "f1": round(f1, 4),
        "bleu_1": round((1 + 0.5 + 0.5) / 3, 4),
        "by_category": {
            "multi-hop": {"f1": 0.6667, "bleu_1": 0.5},
            "single-hop": {"f1": round(5 / 6, 4), "bleu_1": 0.75},
        },
    }
    [asked] = llm.prompts[0].messages
    assert "My cat Momo is ill." in asked.content
    assert "What is my cat called?" in asked.content
    assert report.data["parameters"]["llm"] == llm.name  # type: ignore[index]


async def test_without_a_part_a_prompt_does_not_tell_it(tmp_path: Path) -> None:
    where, llm = place(tmp_path)
    told = dialogue((("I am allergic to peanuts.", "I will remember."), *TALK, *TALK[2:]))
    question = replace(told.questions[0], evidence=frozenset({"D2:1"}))
    one = DialogueSet("set.json", "abc", [replace(told, questions=(question,))])
    report = await bench_dialogues(one, where, Plan(ablate=True, answer=True), lambda line: None)
    answers: Any = report.data["answers"]
    assert list(answers) == [FULL, "no MTM", "no LPM", "no memory", "no chain"]
    prompts = dict(
        zip(answers, (prompt.messages[0].content for prompt in llm.prompts), strict=True)
    )
    known = "What is known of Ann"
    assert known in prompts[FULL]
    assert known not in prompts["no LPM"] + prompts["no memory"]
    relevant = "Relevant exchanges"
    assert relevant in prompts["no LPM"]
    assert relevant not in prompts["no memory"]


async def test_who_is_asked_in_mid_talk_does_not_know_what_is_said_later(tmp_path: Path) -> None:
    where, llm = place(tmp_path)
    told = dialogue((*TALK, ("I am allergic to peanuts.", "I will remember.")))
    late = replace(told.questions[0], evidence=frozenset({"D1:1"}))
    early = replace(late, asked_at=told.utterances[4].at)
    one = DialogueSet("set.json", "abc", [replace(told, questions=(early, late))])
    await bench_dialogues(one, where, Plan(answer=True), lambda line: None)
    before, after = (prompt.messages[0].content for prompt in llm.prompts)
    assert "peanuts" in after.partition("Relevant exchanges")[0]
    assert "peanuts" not in before


async def test_what_a_model_thinks_aloud_is_no_part_of_its_answer(tmp_path: Path) -> None:
    where, _ = place(tmp_path, ["<think>The cat? ", "Momo!</think>\n", "Momo"])
    told = dialogue()
    one = DialogueSet("set.json", "abc", [replace(told, questions=told.questions[:1])])
    report = await bench_dialogues(one, where, Plan(answer=True), lambda line: None)
    answers: Any = report.data["answers"]
    assert answers[FULL]["f1"] == 1.0


async def test_a_judge_gives_points_and_what_it_does_not_judge_is_counted(tmp_path: Path) -> None:
    verdict = ["accuracy: 1, correctness: 0.5, coherence: 1"]
    where, llm = place(tmp_path, ["Momo"], verdict, ["Red"], ["A fine answer!"], ["Leeds"], verdict)
    report = await bench_dialogues(
        some(is_judged=True), where, Plan(answer=True), lambda line: None
    )
    figures: Any = report.data["answers"]
    assert figures[FULL] | {"by_category": None} == {
        "answers": 3, "accuracy": 1.0, "correctness": 0.5, "coherence": 1.0, "unjudged": 1, "by_category": None,
    }  # fmt: skip
    judged = llm.prompts[1].messages[0].content
    assert "Right answer\nMomo" in judged
    assert "Reply\nMomo" in judged


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("accuracy: 1, correctness: 0.5, coherence: 0", (1, 0.5, 0)),
        ('{"accuracy": 0, "correctness": 1.0, "coherence": 0.5}', (0, 1, 0.5)),
        ("Accuracy：1\nCorrectness：0\nCoherence：1", (1, 0, 1)),
        ("**Accuracy:** 1\n**Correctness**: 0.5\n**Coherence:** 1.0.", (1, 0.5, 1)),
        ("accuracy: 1, correctness: 0.50, coherence: 1.", (1, 0.5, 1)),
        ("First accuracy: 0. No: accuracy: 1, correctness: 1, coherence: 1", (1, 1, 1)),
        ("accuracy: 0.5, correctness: 1, coherence: 1", None),
        ("accuracy: 1, correctness: 10, coherence: 1", None),
        ("accuracy: 1, correctness: 0.55, coherence: 1", None),
        ("accuracy: 1, coherence: 1", None),
        ("", None),
    ],
)
def test_a_verdict_is_read_or_is_none(text: str, expected: tuple[float, ...] | None) -> None:
    points = read_verdict(text)
    assert (None if points is None else tuple(points.values())) == expected


def test_fewer_questions_are_taken_from_the_whole_length() -> None:
    questions = [replace(dialogue().questions[0], text=f"{number}") for number in range(10)]
    assert [one.text for one in spread(questions, 4)] == ["0", "2", "5", "7"]
    assert spread(questions, 10) == spread(questions, None) == spread(questions, 99) == questions


async def test_an_exchange_whose_halves_have_one_id_is_one_result() -> None:
    """What is looked for in GVD is an exchange, and both its halves may be found."""
    told = dialogue()
    joined = tuple(replace(turn, id=turn.id.split(":")[0]) for turn in told.utterances)
    async with held(replace(told, utterances=joined)) as found:
        answered = await ranked(found).ask(told.questions[0])
    assert len(answered.findings.candidates) == 2 * len(TALK)
    assert sorted(answered.turns) == [f"D{number}" for number in range(1, len(TALK) + 1)]


def test_times_are_measured_by_size_and_drawn(tmp_path: Path) -> None:
    times = time_sizes(Config(), "en", 16, sizes=(40, 80))
    assert list(times) == [40, 80]
    for figures in times.values():
        assert (figures["ms_p95"] or 0) >= (figures["ms_p50"] or 0) > 0
        assert (figures["read_ms_p50"] or 0) <= (figures["ms_p50"] or 0)
    pytest.importorskip("matplotlib")
    curves: dict[str, dict[str, float | None]] = {
        "full": {"5": 0.5, "10": 0.8},
        "no dates": {"5": 0.4, "10": None},
    }
    draw(curves, times, tmp_path / "both.png")
    draw({}, times, tmp_path / "times.png")
    sizes = {name: (tmp_path / f"{name}.png").stat().st_size for name in ("both", "times")}
    assert sizes["both"] > sizes["times"] > 1000


@pytest.mark.parametrize("name", ["plot.txt", "nowhere/plot.png"])
def test_a_picture_that_can_not_be_drawn_is_refused_before_the_work(
    name: str, omoide: Omoide, tmp_path: Path
) -> None:
    (tmp_path / "set.json").write_text("[]", encoding="utf-8")
    for options in (("--locomo", "set.json"), ()):
        result = omoide("bench", "memory", *options, "--plot", name, "--json")
        assert result.exit_code == 2
        assert json.loads(result.stdout)["error"]["code"] == "plot-unwritable"


def test_no_set_is_read_where_none_is_named() -> None:
    assert read_set(None, None) is None


def test_a_set_that_can_not_be_read_leaves_the_promised_names(omoide: Omoide) -> None:
    for options in (("--locomo", "none.json"), ("--gvd", "none.json", "none.json")):
        result = omoide("bench", "memory", *options, "--json")
        answer = json.loads(result.stdout)
        assert result.exit_code == 2
        assert answer.keys() == PROMISED | {"error"}
        assert answer["error"]["code"] == "dialogues-broken"


def other(told: Dialogue) -> Dialogue:
    """Return the same dialogue of somebody else."""
    return replace(told, name="cleo", speakers=Speakers(("Cleo",), ("Bo",)))


async def test_a_fit_ranks_each_dialogue_by_what_the_others_taught(tmp_path: Path) -> None:
    """What lies in the wrong places teaches the other to look in the wrong places; its own questions teach it nothing."""
    told = dialogue()
    both = [told, other(dialogue((TALK[5], TALK[4], TALK[1], TALK[0], *TALK[2:4])))]
    where, _ = place(tmp_path)
    report = await bench_dialogues(
        DialogueSet("set.json", "abc", both), where, Plan(fitted=True), lambda line: None
    )
    fitted: Any = report.data["fitted"]
    assert fitted.keys() >= PROMISED - {"ingest_s"}
    assert fitted["questions"] == report.data["questions"] == 8
    assert not report.data["ablations"]

    embedder = KnownVectors(FakeEmbedder())
    asked = [(one, [each for each in one.questions if each.evidence]) for one in both]
    by_others = await ask_fitted(asked, Config(), embedder)
    turns = [one.found.turns for one in by_others if one.dialogue is told]
    assert turns == await ranked_as_taught_by(both[1], told)
    assert turns != await ranked_as_taught_by(told, told)


async def ranked_as_taught_by(teacher: Dialogue, told: Dialogue) -> list[tuple[str, ...]]:
    async with held(teacher) as teaching:
        questions = [one for one in teacher.questions if one.evidence]
        weights = learn(await ask_own(teaching, questions, Config().retrieval), "")
    async with held(told) as found:
        memory = ranked(found, weights)
        return [(await memory.ask(one)).turns for one in told.questions if one.evidence]


@pytest.mark.parametrize(
    "dialogues", [[], [dialogue()], [dialogue(), replace(dialogue(), questions=())]]
)
async def test_a_fit_wants_another_dialogue_to_learn_from(
    dialogues: Sequence[Dialogue], tmp_path: Path
) -> None:
    where, _ = place(tmp_path)
    few = DialogueSet("set.json", "abc", dialogues)
    with pytest.raises(ConfigError, match="at least two") as raised:
        await bench_dialogues(few, where, Plan(fitted=True), lambda line: None)
    assert raised.value.code == "dialogues-few"
    if dialogues:
        report = await bench_dialogues(few, where, Plan(), lambda line: None)
        assert report.data["fitted"] is None
