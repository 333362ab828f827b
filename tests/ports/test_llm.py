"""What every language model must do, and what the real embedded ones do."""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from server.config import Config, LlmSection, OpenAiLlmSection
from server.errors import LlmError
from server.llm import build
from server.llm.embedded import EmbeddedLlm
from server.llm.gguf import Answer, Body, GgufModel
from server.llm.openai import OpenAiLlm
from server.ports import Llm, TextDelta, Usage
from server.weights import GEMMA, SMOLLM2, obtain
from tests.ports.asked import ask, prompt_in
from tests.ports.openai_stand_in import reply, stand_in, texts

Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[tuple[Llm, str]]]
"""Opens an engine, and says in which language to talk to it."""

ENGINES = ("embedded-ja", "embedded-en", "openai")


@pytest.fixture(scope="module")
def embedded(models: Path) -> Llm:
    return build(Config(llm={"engine": "embedded"}), models)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, embedded: Llm) -> Opening:
    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[Llm, str]]:
        if request.param != "openai":
            yield embedded, request.param[-2:]
            return
        async with stand_in(reply("I am ", "fine.")) as server:
            own = OpenAiLlmSection(base_url=server.url, model="tiny")
            llm = OpenAiLlm(LlmSection(openai=own))
            yield llm, "en"
            await llm.aclose()

    return opened


@pytest.mark.model
async def test_answers_in_pieces_and_tells_the_cost_last(engine: Opening) -> None:
    async with engine() as (llm, language):
        await llm.warm_up()
        *pieces, usage = await ask(llm, prompt_in(language))
        assert all(isinstance(piece, TextDelta) for piece in pieces)
        assert texts(pieces).strip()
        assert isinstance(usage, Usage)
        assert usage.prompt_tokens > 5
        assert usage.completion_tokens > 0


@pytest.mark.model
async def test_answers_after_an_interruption(engine: Opening) -> None:
    async with engine() as (llm, language):
        async with aclosing(llm.stream(prompt_in(language))) as events:
            await anext(events)
        with anyio.move_on_after(0.05):
            await ask(llm, prompt_in(language))
        assert texts(await ask(llm, prompt_in(language)))


@pytest.mark.model
async def test_two_people_at_once_both_get_an_answer(engine: Opening) -> None:
    async with engine() as (llm, language):
        answers: list[str] = []

        async def talk() -> None:
            answers.append(texts(await ask(llm, prompt_in(language))))

        async with anyio.create_task_group() as people:
            people.start_soon(talk)
            people.start_soon(talk)
        assert len(answers) == 2
        assert all(answers)


@pytest.mark.model
async def test_traits_leave_room_for_a_prompt(engine: Opening) -> None:
    async with engine() as (llm, language):
        await llm.warm_up()
        assert llm.traits(language).prompt_budget_tokens >= 100
        assert llm.traits("xx").prompt_budget_tokens >= 100


@pytest.mark.model
async def test_the_budget_does_not_change_when_warming_up_again(models: Path) -> None:
    llm = EmbeddedLlm(LlmSection(), ["en"], models)
    llm._en.tokens_per_second = 0.0
    await llm.warm_up()
    measured = llm._en.tokens_per_second
    assert measured > 0
    await llm.warm_up()
    assert llm._en.tokens_per_second == measured


@pytest.mark.model
@pytest.mark.parametrize("language", ["ja", "en"])
async def test_a_prefix_that_was_read_before_is_not_read_again(
    embedded: Llm, language: str
) -> None:
    await ask(embedded, prompt_in(language))
    usages = [
        event
        for event in await ask(embedded, prompt_in(language, "もう一度? Again?"))
        if isinstance(event, Usage)
    ]
    assert usages[0].cached_tokens > 0.5 * usages[0].prompt_tokens


@pytest.mark.model
@pytest.mark.parametrize("language", ["ja", "en"])
async def test_the_talk_of_another_robot_in_between_costs_no_prefix(
    embedded: Llm, language: str
) -> None:
    await ask(embedded, prompt_in(language))
    await ask(
        embedded,
        prompt_in(language, padding="まったく別の前置き。An entirely different preamble. " * 5),
    )
    usages = [
        event
        for event in await ask(embedded, prompt_in(language, "もう一度? Again?"))
        if isinstance(event, Usage)
    ]
    assert usages[0].cached_tokens > 0.5 * usages[0].prompt_tokens


@pytest.mark.model
async def test_the_japanese_model_answers_one_line_of_the_talk(embedded: Llm) -> None:
    answer = texts(await ask(embedded, prompt_in("ja")))
    assert "\n" not in answer
    assert "人:" not in answer
    assert any("\u3040" <= character <= "\u9fff" for character in answer)


@pytest.mark.model
async def test_a_prompt_that_is_too_long_is_explained(models: Path) -> None:
    config = Config(llm={"engine": "embedded", "embedded": {"context_tokens": 512}})
    llm = build(config, models)
    with pytest.raises(LlmError, match="context_tokens"):
        await ask(llm, prompt_in("en", padding="word " * 2000))
    assert texts(await ask(llm, prompt_in("en")))
    await llm.aclose()


class WatchedModel:
    """A real model, of which is noted how far it reads and writes."""

    is_chat_model = False

    def __init__(self, model: GgufModel) -> None:
        self.model = model
        self.read_tokens: list[int] = []
        self.all_tokens = 0
        self.events_after_stop = 0

    def complete(self, body: Body, on_event: Callable[[Body], bool]) -> None:
        def watch(event: Body) -> bool:
            progress: dict[str, Any] = event.get("prompt_progress", {})
            self.read_tokens.append(int(progress.get("processed", 0)))
            self.all_tokens = max(self.all_tokens, int(progress.get("total", 0)))
            stop = on_event(event)
            self.events_after_stop += stop
            return stop

        self.model.complete(body, watch)


@pytest.mark.model
@pytest.mark.parametrize("weights", [GEMMA, SMOLLM2], ids=lambda weights: weights.name)
async def test_a_model_that_is_reading_a_long_prompt_stops_at_once(
    weights: Any, models: Path
) -> None:
    def load() -> GgufModel:
        path = obtain(weights, models) / weights.files[0].name
        return GgufModel(path, threads=2, context_tokens=2048)

    model = WatchedModel(await anyio.to_thread.run_sync(load))
    turn = threading.Lock()
    answer = Answer(model, {"prompt": "one two three " * 500, "max_tokens": 50}, turn)
    while not model.read_tokens:
        await anyio.sleep(0.01)
    answer.stop()
    await anyio.to_thread.run_sync(turn.acquire)
    assert model.events_after_stop == 1
    assert model.all_tokens > 1000
    assert max(model.read_tokens) <= 5 * 32


@pytest.mark.model
def test_a_model_keeps_its_logs_to_itself(models: Path, tmp_path: Path) -> None:
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    program = (
        "import sys; from pathlib import Path; from server.llm.gguf import GgufModel; from server.weights import *\n"
        "model = GgufModel(obtain(SMOLLM2, Path(sys.argv[1])) / SMOLLM2.files[0].name, threads=2, context_tokens=512)\n"
        "model.complete({'prompt': 'Hello', 'max_tokens': 3}, lambda event: False)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(models)], capture_output=True, text=True, check=True
    )
    assert run.stdout + run.stderr == ""
