import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands.bench import Plan, _summarise, bench_turn, with_embedded_engines
from server.commands.bench_facts import STATEMENTS, seed_facts
from server.commands.bench_load import BusyExtractor
from server.commands.bench_memory import ArbitraryEmbedder, bench_memory, make_up_facts
from server.commands.bench_recall import fill, time_recalls
from server.commands.bench_sentences import SENTENCES
from server.commands.figures import percentile
from server.commands.reach import Place
from server.commands.talk import NO_TURN
from server.config import Config, HistorySection
from server.conversation import Engines
from server.errors import LlmError
from server.memory import Page
from server.memory.extract import RulesExtractor
from server.memory.harvest import Harvest
from server.memory.opening import open_memory
from tests.fakes import FakeAsr, FakeClock, FakeEmbedder, FakeLlm, FakeTts, FakeVad

Omoide = Callable[..., Result]
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)

PROMISED = {
    "turns",
    "language",
    "first_audio_ms_p50",
    "first_audio_ms_p95",
    "stages_ms_p50",
    "prompt_tokens",
    "runs",
}


def turn(first_audio_ms: float | None, **stages_ms: float) -> dict[str, object]:
    return {
        **NO_TURN,
        "said": "Hello?",
        "recalled_facts": int(first_audio_ms == 1000.0),
        "first_audio_ms": first_audio_ms,
        "stages_ms": stages_ms,
        "prompt_tokens": 100,
    }


def test_the_summary_holds_percentiles_of_the_whole_and_of_each_stage() -> None:
    lines: list[str] = []
    turns = [turn(1000.0 + n, asr=float(n), tts=5.0) for n in range(20)]
    turns.append(turn(2000.0, asr=500.0, filler=1.0))
    report = _summarise(turns, "ja", {"llm": "a model"}, lines.append)
    assert report.ok
    assert report.data.keys() >= PROMISED
    assert report.data["turns"] == 21
    assert report.data["first_audio_ms_p50"] == 1010.0
    assert report.data["first_audio_ms_p95"] == 1019.0
    assert report.data["stages_ms_p50"] == {"asr": 10.0, "filler": 1.0, "tts": 5.0}
    assert report.data["prompt_tokens"] == 100
    assert report.data["engines"] == {"llm": "a model"}
    assert report.data["recalled_turns"] == 1
    assert "asr" in "\n".join(lines)


def test_a_turn_without_an_answer_makes_the_whole_fail_and_is_left_out_of_the_figures() -> None:
    report = _summarise([turn(1000.0), turn(None)], "ja", {}, lambda line: None)
    assert not report.ok
    assert report.data["first_audio_ms_p50"] == 1000.0
    assert report.data["failed_turns"] == 1
    assert report.data["error"] == {"code": "no-answer", "message": "A turn had no answer."}


def test_nothing_measured_gives_no_figure() -> None:
    assert percentile([], 50) is None


def test_the_embedded_engines_are_measured_even_if_an_endpoint_is_configured() -> None:
    config = Config.model_validate({"llm": {"engine": "openai", "openai": {"model": "big"}}})
    assert with_embedded_engines(config).llm.engine == "embedded"


@pytest.mark.parametrize("language", SENTENCES)
def test_there_are_different_sentences_for_a_whole_run(language: str) -> None:
    needed = 20 + HistorySection().turns
    assert len(set(SENTENCES[language])) >= needed


def test_a_language_without_sentences_is_named(omoide: Omoide) -> None:
    result = omoide("bench", "turn", "--language", "tlh", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 2
    assert answer.keys() >= PROMISED
    assert "tlh" in answer["error"]["message"]


# -- a memory for the talk ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", SENTENCES)
async def test_the_person_of_the_benchmark_has_told_fifty_facts(language: str) -> None:
    facts = await seed_facts(language, "bench", NOW)
    assert len(facts) == len({fact.id for fact in facts}) == 50
    assert [fact.quote for fact in facts] == list(STATEMENTS[language])
    assert all(fact.said_at < NOW and fact.person == "bench" for fact in facts)


async def test_the_talk_with_facts_is_reported_and_the_others_stand_under_runs(
    tmp_path: Path,
) -> None:
    llm = FakeLlm(["はい。"], draws=[["{", 0.2] * 500])
    engines = Engines(FakeVad(), FakeAsr(*["文"] * 6, seconds=0.05), llm, FakeTts(0.05, 0.05))
    config = Config.model_validate({"history": {"turns": 1}})
    place = Place(config, tmp_path, engines=engines, embedder=FakeEmbedder())
    report = await bench_turn(place, Plan(turns=1, extracting=True), lambda line: None)
    assert report.ok, report.data
    runs: Any = report.data["runs"]
    assert list(runs) == ["empty", "extracting"]
    assert [report.data["facts"], *(run["facts"] for run in runs.values())] == [50, 0, 50]
    assert [run["turns"] for run in runs.values()] == [1, 1]
    assert all(run.keys() >= PROMISED - {"runs"} for run in runs.values())
    assert (
        len(llm.background_prompts) == 1
    )  # before the second turn there is something to draw from
    assert "文" in llm.background_prompts[0].system
    assert not any(tmp_path.glob("*"))  # noqa: ASYNC240 - it blocks nobody


async def test_the_extractor_of_the_benchmark_keeps_the_model_at_work_for_its_time() -> None:
    llm = FakeLlm(draws=[["{", 0.01]])
    page = Page("I have two cats.", "Nice.", NOW, "en", id="turn", person="bench")
    assert await BusyExtractor(llm, "en", seconds=0.1).extract([page], 0) == Harvest()
    assert len(llm.background_prompts) > 1


async def test_the_extractor_of_the_benchmark_ends_where_a_reply_goes_first() -> None:
    llm = FakeLlm(draws=[["{", LlmError("llm-preempted", "Somebody talks.")]])
    page = Page("I have two cats.", "Nice.", NOW, "en", id="turn", person="bench")
    with pytest.raises(LlmError):
        await BusyExtractor(llm, "en").extract([page], 0)


# -- bench memory ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", SENTENCES)
async def test_facts_are_made_up_in_any_number_and_none_twice(language: str) -> None:
    facts = make_up_facts(language, 2_000, FakeClock())
    assert len({fact.text for fact in facts}) == len({fact.id for fact in facts}) == 2_000
    assert all(fact.said_at < FakeClock().now() for fact in facts)


@pytest.mark.model
async def test_recall_and_embedding_are_measured_apart() -> None:
    lines: list[str] = []
    config = Config.model_validate({"embedding": {"engine": "use"}})
    report = await bench_memory(config, "en", lines.append, sizes=(5, 20), page_sizes=(40,))
    assert report.ok
    retrieval: Any = report.data["retrieval"]
    assert list(retrieval) == ["5", "20"]
    for figures in retrieval.values():
        assert figures["ms_p95"] >= figures["ms_p50"] > 0
        assert figures["first_ms"] > 0
    embedding: Any = report.data["embedding"]
    assert "universal" in embedding["engine"]
    assert embedding["fact_ms_p50"] > 0
    assert any("20 facts" in line for line in lines)
    pages: Any = report.data["pages"]
    assert pages["40"].keys() >= {"ms_p50", "ms_p95", "recall_ms_p50", "recall_ms_p95"}


async def test_a_whole_recall_is_timed_by_how_many_exchanges_there_are() -> None:
    lines: list[str] = []
    times = await time_recalls(Config(), "en", ArbitraryEmbedder(16), (20, 40), lines.append)
    assert list(times) == [20, 40]
    for figures in times.values():
        assert (figures["recall_ms_p95"] or 0) >= (figures["recall_ms_p50"] or 0) > 0
        assert (figures["recall_first_ms"] or 0) > 0
    assert any("recall from 40 pages" in line for line in lines)


@pytest.mark.parametrize("language", SENTENCES)
async def test_the_memory_that_a_recall_is_timed_in_holds_what_one_that_was_talked_to_holds(
    language: str, tmp_path: Path
) -> None:
    embedder, config, clock = ArbitraryEmbedder(16), Config(), FakeClock()
    fill(config, tmp_path, embedder, language, 40, clock.now())
    memory = open_memory(config, tmp_path, embedder, RulesExtractor(), clock)
    try:
        assert await memory.catch_up() == 0, "everything has its vector"
        pages = await memory.archive.pages("bench")
        assert len(pages) == 40
        assert all(page.segment and page.at < clock.now() for page in pages)
        assert len(await memory.archive.facts("bench")) == 4
        assert await memory.archive.waiting("bench") == 0
        recalled = await memory.recall("bench", pages[17].said, language)
        assert pages[17].id in {page.id for page in recalled.pages}
        assert {id_ for line in recalled.lines for id_ in line.sources} <= {"0", "10", "20", "30"}
    finally:
        memory.close()


def test_a_language_without_facts_is_named(omoide: Omoide) -> None:
    result = omoide("bench", "memory", "--language", "tlh", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 2
    assert answer.keys() == {"language", "retrieval", "pages", "embedding", "machine", "error"}
    assert "tlh" in answer["error"]["message"]
