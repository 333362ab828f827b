import json
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.comparison import scripted
from scripts.comparison.children import RivalError, started, surroundings
from scripts.comparison.comparing import Plan, compare, tell_rows
from scripts.comparison.endpoint import Counters, Endpoint, serve_models
from scripts.comparison.environments import OURS, RIVALS, STAMP, Rival, complaint, prepare
from scripts.comparison.excerpts import cut, spread
from scripts.comparison.measuring import Outcome, exchanges, measure_system, size_of
from scripts.rivals.protocol import first, narrow
from server.commands.dialogues import Dialogue, DialogueQuestion, Utterance, read_dialogues
from server.config import Config
from server.errors import ConfigError
from server.memory import Page
from server.memory.day_summaries import DayTalk, ModelSummarizer
from server.memory.extract import ModelExtractor
from server.memory.harvest import Harvest
from server.memory.lines import Role
from server.memory.models import Origin
from server.memory.speakers import Speakers
from server.ports import EmbeddingError, LlmEvent, TextDelta
from server.prompting import PromptFiles
from server.turn import Prompt
from tests.fakes import FakeEmbedder, FakeLlm

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)

SAID = (
    ("D1:1", Role.SAID, "I went to Kyoto. It rained."),
    ("D1:2", Role.HEARD, "My cat\nis called Momo!"),
    ("D1:3", Role.SAID, "I bought a guitar."),
    ("D1:4", Role.SAID, "It is red."),
)
ASKED: tuple[tuple[str, set[str]], ...] = (
    ("Kyoto", {"D1:1"}),
    ("Momo", {"D1:2"}),
    ("unheard of", {"D1:3", "D1:4"}),
    ("Mars", set()),
)

WORDS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=7).map(" ".join)
SENTENCES = st.builds(str.__add__, WORDS, st.sampled_from(".!?"))


def dialogue() -> Dialogue:
    turns = [
        Utterance(id_, role, text, NOON + timedelta(seconds=20 * place), 1)
        for place, (id_, role, text) in enumerate(SAID)
    ]
    questions = [
        DialogueQuestion(text, "", frozenset(evidence), 4, "", NOON) for text, evidence in ASKED
    ]
    return Dialogue("a", "en", Speakers(("Ann",), ("Bo",)), tuple(turns), tuple(questions))


def locomo(name: str, questions: int) -> dict[str, object]:
    """Return a dialogue in the form of the files; every third question has no evidence that exists."""
    turns = [{"speaker": who, "dia_id": f"D1:{n}", "text": who} for n, who in enumerate("AB", 1)]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "A",
            "speaker_b": "B",
            "session_1": turns,
            "session_1_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {
                "question": f"q{n}",
                "answer": "x",
                "category": 4,
                "evidence": ["D9:9" if n % 3 == 2 else "D1:1"],
            }
            for n in range(questions)
        ],
    }


@pytest.fixture
async def models() -> AsyncIterator[Endpoint]:
    async with serve_models(FakeEmbedder()) as running:
        yield running


# --- Which turns a memory stands for


def test_a_memory_that_quotes_one_turn_comes_from_that_turn() -> None:
    texts = {"1": "Ann: I like tea. And you?", "2": "Bo: I like coffee."}
    assert narrow("Ann: I like tea.", ["1", "2"], texts) == ["1"]
    assert narrow("I like coffee.", ["1", "2"], texts) == ["2"]


def test_a_memory_in_other_words_comes_from_all_its_turns() -> None:
    texts = {"1": "Ann: I like tea.", "2": "Bo: I like coffee."}
    assert narrow("Ann is fond of tea", ["1", "2"], texts) == ["1", "2"]


def test_turns_count_once_where_they_first_come() -> None:
    assert first(iter(["b", "a", "b", "c", "a", "d"]), 3) == ["b", "a", "c"]


def test_others_are_told_names_and_one_line_for_each_turn() -> None:
    one, two, three = exchanges(dialogue())
    assert [(turn.id, turn.role, turn.text) for turn in one.turns] == [
        ("D1:1", "user", "Ann: I went to Kyoto. It rained."),
        ("D1:2", "assistant", "Bo: My cat is called Momo!"),
    ]
    assert [turn.id for turn in (*two.turns, *three.turns)] == ["D1:3", "D1:4"]
    assert one.at == "2026-05-03 12:00:00"
    assert len({one.at, two.at, three.at}) == 3


# --- Part of the data


def test_an_excerpt_holds_the_first_dialogues_and_only_questions_with_evidence(
    tmp_path: Path,
) -> None:
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    whole.write_text(json.dumps([locomo(name, 9) for name in "abc"]))
    cut(whole, part, 2, 3)
    dialogues, _ = read_dialogues(part)
    assert [one.name for one in dialogues] == ["a", "b"]
    assert [question.text for question in dialogues[0].questions] == ["q0", "q3", "q6"]
    assert all(question.evidence for one in dialogues for question in one.questions)


@given(st.lists(st.integers(), unique=True), st.none() | st.integers(1, 30))
def test_a_choice_of_questions_keeps_their_order_and_is_as_large_as_wished(
    rows: list[int], count: int | None
) -> None:
    chosen = spread(rows, count)
    assert len(chosen) == (len(rows) if count is None else min(count, len(rows)))
    assert chosen == [row for row in rows if row in set(chosen)]
    assert chosen[:1] == rows[:1]


# --- The scripted language model


def ask_model(system: str, prompt: str) -> str:
    return scripted.answer(
        [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    )


def test_mem0_is_given_every_new_sentence_with_its_speaker_and_no_old_one() -> None:
    prompt = (
        '## Last k Messages\nuser: Ann: Old words.\n\n## Existing Memories\n[{"text": "Ann: Old."}]'
        "\n\n## New Messages\nuser: Ann: I went to Kyoto yesterday. Wow! It rained all day long.\nassistant: Bo: Oh: why?\n"
        "\n\n## Observation Date\n2026-05-03\n\n# Output:"
    )
    answered = json.loads(ask_model("# ROLE\nYou are a Memory Extractor - precise", prompt))
    assert [(one["text"], one["attributed_to"]) for one in answered["memory"]] == [
        ("Ann: I went to Kyoto yesterday.", "user"),
        ("Ann: It rained all day long.", "user"),
        ("Bo: Oh: why?", "assistant"),
    ]
    assert [one["id"] for one in answered["memory"]] == ["0", "1", "2"]


def test_memoryos_is_given_knowledge_that_names_the_time_of_its_turn() -> None:
    prompt = (
        "Please extract:\nUser: Ann: I sing (well). (Timestamp: 2026-05-03 12:00:00)\n"
        "Assistant: - (Timestamp: 2026-05-03 12:00:00)\n\n【User Private Data】\nExtract."
    )
    answered = ask_model("You are a knowledge extraction assistant.", prompt)
    assert answered == (
        "【User Private Data】\n- Ann: I sing (well). (2026-05-03 12:00:00)\n\n"
        "【Assistant Knowledge】\n- - (2026-05-03 12:00:00)"
    )


@pytest.mark.parametrize(
    ("now", "expected"), [("I play my guitar daily", "true"), ("It rained", "false")]
)
def test_pages_with_a_word_in_common_are_continuous(now: str, expected: str) -> None:
    prompt = (
        "Return ONLY.\nPrevious Page:\nUser: Ann: A guitar!\nAssistant: Bo: Nice\n\n"
        f"Current Page:\nUser: Ann: {now}\nAssistant: -\n\nContinuous?"
    )
    assert ask_model("You are a conversation continuity detector.", prompt) == expected


def test_topics_are_a_list_of_themes_with_keywords() -> None:
    prompt = "Analyze.\n\nConversation content:\nUser: Ann: My guitar is old\nAssistant: Bo: Hm"
    (topic,) = json.loads(ask_model("an expert in analyzing dialogue topics.", prompt))
    assert topic["keywords"] == ["guitar"]
    assert topic["content"] == "Ann: My guitar is old Bo: Hm"


def test_keywords_are_those_of_the_text_and_not_of_the_request() -> None:
    prompt = "Extract important keywords. Be selective and concise:\nThe red guitar\n\nKeywords:"
    assert ask_model("You are an expert in keyword extraction.", prompt) == "guitar"


def test_a_request_that_is_not_known_is_refused() -> None:
    with pytest.raises(scripted.UnknownPromptError, match="Sing"):
        ask_model("Sing", "a song")


@given(st.lists(SENTENCES, min_size=1, max_size=5))
def test_facts_are_sentences_of_their_turn_and_known_as_such(sentences: list[str]) -> None:
    said = f"Ann: {' '.join(sentences)}"
    drawn = [fact.removeprefix("Ann: ") for fact in scripted.facts(said)]
    longer = [one for one in sentences if len(one.split()) >= 4]
    assert drawn == (longer or sentences[:1])
    assert all(
        narrow(f"Ann: {one}", ["1", "2"], {"1": said, "2": "Bo: 4"}) == ["1"] for one in drawn
    )


def test_japanese_sentences_are_told_apart_and_short_ones_left_out() -> None:
    drawn = scripted.facts("健太: 京都へ行ってきた。うん。ずっと雨だった。")
    assert drawn == ["健太: 京都へ行ってきた。", "健太: ずっと雨だった。"]


# --- The endpoint


async def test_the_endpoint_embeds_questions_and_passages_in_their_own_ways() -> None:
    embedder = FakeEmbedder()
    async with (
        serve_models(embedder) as running,
        openai.AsyncOpenAI(api_key="none", base_url=running.base_url) as client,
    ):
        kept = await client.embeddings.create(
            model="passage", input=["tea", "rain"], encoding_format="float"
        )
        await client.embeddings.create(model="query", input="tea?", encoding_format="float")
    assert embedder.embedded == [("tea", "passage"), ("rain", "passage"), ("tea?", "query")]
    expected = await FakeEmbedder().embed(["tea", "rain"], "passage")
    assert np.allclose([one.embedding for one in kept.data], expected)
    assert running.counters.embedding_seconds > 0


async def test_the_endpoint_counts_calls_of_the_language_model_and_tells_what_it_could_not_answer(
    models: Endpoint,
) -> None:
    async with openai.AsyncOpenAI(
        api_key="none", base_url=models.base_url, max_retries=0
    ) as client:
        answered = await client.chat.completions.create(
            model="scripted",
            messages=[
                {"role": "system", "content": "expert in keyword extraction"},
                {"role": "user", "content": "concise:\nguitar\n\nKeywords:"},
            ],
        )
        with pytest.raises(openai.BadRequestError, match="no answer is known"):
            await client.chat.completions.create(
                model="scripted", messages=[{"role": "system", "content": "Sing"}]
            )
    assert answered.choices[0].message.content == "guitar"
    assert models.counters.chats == 2
    assert len(models.counters.refused) == 1


def test_embeddings_at_the_same_time_are_counted_once() -> None:
    counters = Counters(clock=iter([10.0, 14.0, 20.0, 21.0]).__next__)
    with counters.embedding(), counters.embedding():
        pass
    with counters.embedding():
        pass
    assert counters.embedding_seconds == 5.0


# --- Drivers

FAKE = """
import json, sys, urllib.request
from scripts.rivals.protocol import serve

class Words:
    def __init__(self, settings):
        self.settings, self.turns = settings, []
        print("noise on standard output")

    def add(self, exchange):
        self.turns += exchange.turns
        self.chat("expert in keyword extraction", "concise:\\nguitar\\n\\nKeywords:")

    def settle(self):
        open(self.settings.folder + "/kept", "w").write("12345")

    def ask(self, question, limit):
        BEHAVIOUR
        return [turn.id for turn in self.turns if question in turn.text][:limit]

    def chat(self, system, prompt):
        messages = [{"content": system}, {"content": prompt}]
        self.post("/chat/completions", {"model": "m", "messages": messages})

    def post(self, path, body):
        request = urllib.request.Request(self.settings.base_url + path, json.dumps(body).encode())
        try:
            urllib.request.urlopen(request).close()
        except urllib.error.HTTPError as error:
            error.close()

serve("pip", Words)
"""


def driver(folder: Path, behaviour: str = "pass") -> list[str | Path]:
    """Write a driver whose system finds turns by a word; `behaviour` is what it does when it is asked."""
    path = folder / "driver.py"
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})" + FAKE
    path.write_text(program.replace("BEHAVIOUR", behaviour))
    return [sys.executable, path]


async def test_a_system_is_measured_on_every_question_that_has_evidence(
    tmp_path: Path, models: Endpoint
) -> None:
    outcome = await measure_system(driver(tmp_path), [dialogue(), dialogue()], models)
    figures = outcome.figures()
    assert figures["questions"] == 6
    assert figures["turn_recall_at_10"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["ndcg_at_10"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["turns"] == 8
    assert figures["llm_calls_per_turn"] == 0.75
    assert figures["llm_calls_per_query"] == 0.0
    assert figures["disk_bytes"] == 10
    assert outcome.version
    assert outcome.adding_ms > 0
    assert len(outcome.asking_ms) == 6


async def test_what_embedding_takes_is_not_the_systems_own_time(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.seconds = 0.2
    embeds = "self.post('/embeddings', {'model': 'query', 'input': question})"
    async with serve_models(embedder) as running:
        outcome = await measure_system(driver(tmp_path, embeds), [dialogue()], running)
    assert min(outcome.asking_ms) >= 200
    assert all(
        one.found.seconds * 1000 < whole - 199
        for one, whole in zip(outcome.answered, outcome.asking_ms, strict=True)
    )


async def test_an_error_of_the_system_is_the_reason(tmp_path: Path, models: Endpoint) -> None:
    with pytest.raises(RivalError, match=r"^ask: ValueError: no index$"):
        await measure_system(driver(tmp_path, "raise ValueError('no index')"), [dialogue()], models)


async def test_the_last_words_of_a_driver_that_ends_are_the_reason(
    tmp_path: Path, models: Endpoint
) -> None:
    ends = (
        "sys.stderr.write('first\\nout of memory\\n'); sys.stderr.flush(); import os; os._exit(3)"
    )
    with pytest.raises(RivalError, match=r"^ended during ask: out of memory$"):
        await measure_system(driver(tmp_path, ends), [dialogue()], models)


async def test_a_driver_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    mute = [sys.executable, "-c", "import time; time.sleep(60)"]
    async with started(mute, tmp_path, patience_seconds=0.2) as child:
        with pytest.raises(RivalError, match=r"^no answer to settle in 0\.2 s$"):
            await child.ask("settle")


async def test_figures_that_rest_on_a_failed_model_are_not_reported(
    tmp_path: Path, models: Endpoint
) -> None:
    with pytest.raises(
        RivalError, match="a model failed it: UnknownPromptError: no answer is known to 'Sing'"
    ):
        await measure_system(driver(tmp_path, "self.chat('Sing', '')"), [dialogue()], models)


async def test_figures_that_rest_on_vectors_that_could_not_be_made_are_not_reported(
    tmp_path: Path,
) -> None:
    embedder = FakeEmbedder()
    embedder.fails = lambda texts: EmbeddingError("embedding-failed", "no memory left")
    embeds = "self.post('/embeddings', {'model': 'query', 'input': question})"
    async with serve_models(embedder) as running:
        with pytest.raises(RivalError, match="no memory left"):
            await measure_system(driver(tmp_path, embeds), [dialogue()], running)


def test_a_driver_gets_no_keys_and_no_packages_of_ours(tmp_path: Path) -> None:
    ours = {"PATH": "/bin", "PYTHONPATH": "/x", "OPENAI_BASE_URL": "u", "DASHSCOPE_API_KEY": "k"}
    theirs = surroundings({**ours, "HOME": "/h", "https_proxy": "p"}, tmp_path)
    assert not theirs.keys() & {"PYTHONPATH", "OPENAI_BASE_URL", "DASHSCOPE_API_KEY", "https_proxy"}
    assert (theirs["PATH"], theirs["HOME"]) == ("/bin", str(tmp_path))


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
async def test_every_driver_says_so_if_its_package_is_missing(
    rival: Rival, tmp_path: Path, models: Endpoint
) -> None:
    without_packages = [sys.executable, "-S", "-m", rival.driver]
    with pytest.raises(RivalError, match=r"^open: ModuleNotFoundError: No module named"):
        await measure_system(without_packages, [dialogue()], models)


def test_nothing_measured_has_no_averages() -> None:
    figures = Outcome().figures()
    assert figures["turn_recall_at_10"] is None
    assert figures["add_ms_per_turn"] is None


def test_the_size_of_a_folder_counts_what_lies_deeper(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_bytes(b"123")
    (tmp_path / "d").write_bytes(b"4")
    assert size_of(tmp_path) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="tells no blocks")
def test_room_that_is_only_reserved_is_not_counted(tmp_path: Path) -> None:
    with (tmp_path / "reserved").open("wb") as file:
        file.write(b"12")
        file.truncate(32 * 1024 * 1024)
    assert size_of(tmp_path) < 1024 * 1024


# --- Our own driver, pip, and the table


async def test_omoide_is_measured_as_the_others_are_with_its_model_and_its_batches(
    models: Endpoint, tmp_path: Path
) -> None:
    """Three exchanges without a silence between them are one batch, and one day that is summed up."""
    config = tmp_path / "config.yaml"
    config.write_text("extraction:\n  turns: 8\n")
    python = await prepare(OURS, tmp_path)
    outcome = await measure_system([python, "-m", OURS.driver, config], [dialogue()], models)
    figures = outcome.figures()
    assert figures["turn_recall_at_10"] == 1.0
    assert figures["questions"] == 3
    assert outcome.chats_adding == models.counters.chats == 2
    assert figures["llm_calls_per_turn"] == 0.5
    assert figures["llm_calls_per_query"] == 0.0
    assert 10_000 < outcome.disk_bytes < 2_000_000
    assert outcome.adding_ms > 0
    assert outcome.version
    assert not models.counters.refused


async def test_what_omoide_asks_a_model_for_depends_on_its_batches(
    models: Endpoint, tmp_path: Path
) -> None:
    """Of twenty exchanges on one topic: a call for each batch, one for the topic that turned hot, one for the day."""
    calls = {}
    for turns in (8, 5):
        config = tmp_path / f"{turns}.yaml"
        config.write_text(f"extraction:\n  turns: {turns}\n")
        python = await prepare(OURS, tmp_path)
        outcome = await measure_system([python, "-m", OURS.driver, config], [talk_of(20)], models)
        calls[turns] = outcome.chats_adding
    assert calls == {8: 3 + 1 + 1, 5: 4 + 1 + 1}


def talk_of(exchanges: int) -> Dialogue:
    """Return a dialogue of so many exchanges within a few minutes, with the same questions about the first of them."""
    more = [
        Utterance(f"D2:{n}", Role.SAID, f"I have {n} apples.", NOON + timedelta(minutes=n), 1)
        for n in range(3, exchanges)
    ]
    one = dialogue()
    return replace(one, utterances=(*one.utterances, *more))


@pytest.mark.parametrize("language", ["ja", "en", "zh"])
async def test_the_scripted_model_answers_omoide_in_a_form_that_it_can_read(language: str) -> None:
    said = {
        "ja": "昨日は京都へ行ってきました。京都は好きですか？",
        "en": "I went to Kyoto yesterday. Do you like Kyoto?",
        "zh": "我昨天去了京都。你喜欢京都吗？",
    }[language]
    llm = FakeLlm(draws=[])
    pages = [Page(said, "OK.", NOON, language, id="one", person="ann")]

    async def stream(prompt: Prompt) -> AsyncGenerator[LlmEvent, None]:
        yield TextDelta(ask_model(prompt.system, prompt.messages[-1].content))

    llm.stream = stream  # type: ignore[method-assign]
    files = PromptFiles()
    drawn = await ModelExtractor(llm, files).extract(pages, 0)
    assert [fact.quote for fact in drawn.facts] == [re.split("(?<=[.。])", said)[0]]
    assert [topic.pages for topic in drawn.topics] == [("one",)]
    assert await ModelExtractor(llm, files).portray(pages, [], 0) == Harvest()
    told = await ModelSummarizer(llm, files).summarize(DayTalk(NOON.date(), pages), 0, NOON)
    assert told.text
    assert told.origin is Origin.MODEL


@pytest.mark.slow
async def test_an_environment_is_kept_until_other_packages_are_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / STAMP).write_text("a b\n--no-deps c")
    kept = await prepare(Rival("some", "nowhere", (("a", "b"), ("--no-deps", "c"))), tmp_path)
    assert kept.is_relative_to(folder)
    assert [file.name for file in folder.iterdir()] == [STAMP]

    wanting = Rival("some", "nowhere", (("--no-index", "no-such-package"),))
    with pytest.raises(RivalError, match=r"^ERROR: Could not find .* no-such-package"):
        await prepare(wanting, tmp_path)
    assert kept.exists()
    assert not (folder / STAMP).exists()


@pytest.mark.parametrize(
    ("errors", "reason"),
    [
        (
            "WARNING: x\nERROR: Cannot install a\nERROR: ResolutionImpossible",
            "ERROR: Cannot install a",
        ),
        ("no venv here\n\n", "no venv here"),
        ("", "it said nothing"),
    ],
)
def test_the_reason_is_what_pip_says_first(errors: str, reason: str) -> None:
    assert complaint(errors) == reason


def test_a_system_that_can_not_run_stands_in_the_table_with_the_reason() -> None:
    lines: list[str] = []
    good = {
        "turn_recall_at_10": 0.7312,
        "disk_bytes": 1234567,
        "notes": ["by turns"],
        "error": None,
    }
    rows: list[Mapping[str, Any]] = [
        {"system": "good", "version": "1.0", **good},
        {"system": "bad", "notes": ["never"], "error": "no wheel"},
    ]
    tell_rows(rows, lines.append)
    assert lines[1].split() == ["good", "1.0", "0.731", *"------", "1,234,567"]
    assert lines[2].split() == ["bad", *"--------"]
    assert "good: by turns." in lines
    assert "bad: can't run: no wheel." in lines
    assert not any("never" in line for line in lines)


async def test_a_system_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "x.json", tmp_path, systems=("omoide", "zep"))
    with pytest.raises(ConfigError, match=r"No system zep\. Possible: omoide, bm25s"):
        await compare(plan, Config(), print)
