"""`omoide bench prompt`: the scripted talk, its two layouts, and what is reported of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands.bench_prompt import (
    LAYOUTS,
    NOTHING,
    TURNS,
    Asked,
    Update,
    as_text,
    bench_prompt,
    common_prefix_tokens,
    memory_first,
    memory_last,
    script_talk,
)
from server.commands.reach import Place
from server.config import Config
from server.conversation import Engines
from server.memory.wording import without_frame
from server.ports import LlmTraits
from server.prompting import PromptFiles
from server.turn import Message, Prompt
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad

Omoide = Callable[..., Result]

SHORT = LlmTraits(compact=True, prompt_budget_tokens=600, local=True)
LONG = LlmTraits(compact=False, prompt_budget_tokens=3000, local=True)


def prompt(system: str, *said: str) -> Prompt:
    return Prompt(system, tuple(Message("user", words) for words in said), "en")


def test_two_prompts_are_alike_up_to_the_first_sign_that_differs() -> None:
    one = prompt("You are Omo.", "Hello!", "How are you?")
    assert common_prefix_tokens(one, one) == pytest.approx(len(as_text(one)) / 3, abs=1)
    other = replace(one, messages=(one.messages[0], Message("user", "Who are you?")))
    whole, part = common_prefix_tokens(one, one), common_prefix_tokens(one, other)
    assert common_prefix_tokens(prompt("You are Omo.", "Hello!"), one) < part < whole
    assert common_prefix_tokens(one, prompt("I am Omo.")) == 0


async def talk(language: str, traits: LlmTraits, update: Update) -> list[Asked]:
    return await script_talk(language, traits, 3, update)


@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("traits", [SHORT, LONG], ids=["short", "long"])
async def test_both_layouts_say_the_same_in_another_order(language: str, traits: LlmTraits) -> None:
    files = PromptFiles()
    for asked in await talk(language, traits, Update.FACTS):
        last, first = memory_last(files, asked), memory_first(files, asked)
        words = without_frame(asked.recalled.lines[0].text)
        assert words in last.messages[-1].content or words in last.messages[-3].content
        assert words in first.system
        assert not any(words in message.content for message in first.messages)
        assert first.messages[-1].content.endswith(asked.question)
        assert first.system.endswith(last.system)


async def test_facts_change_from_turn_to_turn_only_where_memory_is_updated() -> None:
    for update in Update:
        turns = await talk("en", LONG, update)
        assert len(turns) == TURNS
        assert all(len(turn.recalled.lines) == 3 for turn in turns)
        changes = [one.recalled.lines != other.recalled.lines for one, other in pairwise(turns)]
        assert set(changes) == {update is Update.FACTS}
    assert [len(turn.history) for turn in turns] == [0, 1, 2, 3, 3, 3]


@pytest.mark.parametrize("language", ["ja", "en"])
async def test_an_update_of_the_portrait_leaves_less_to_begin_with_than_one_of_the_facts(
    language: str,
) -> None:
    """What stands before the portrait is read already; the portrait, the days and the talk behind it are not."""
    alike = {}
    for update in Update:
        turns = await talk(language, LONG, update)
        prompts = [memory_last(PromptFiles(), turn) for turn in turns]
        alike[update] = [common_prefix_tokens(*pair) for pair in pairwise(prompts)]
        changes = {
            (
                one.recalled.portrait != other.recalled.portrait,
                one.recalled.days != other.recalled.days,
            )
            for one, other in pairwise(turns)
        }
        assert changes == {(update is Update.PORTRAIT,) * 2}
    persona, _, _ = prompts[-1].system.partition("<about_the_person>")
    for portrait, facts in zip(alike[Update.PORTRAIT], alike[Update.FACTS], strict=True):
        assert len(persona) // 4 < portrait < facts


async def test_every_talk_is_read_and_all_turns_but_the_first_are_reported(tmp_path: Path) -> None:
    model, lines = FakeLlm(["a"]), list[str]()
    engines = Engines(FakeVad(), FakeAsr(), model, FakeTts())
    report = await bench_prompt(Place(Config(), tmp_path, engines=engines), "en", lines.append)
    runs: Any = report.data["runs"]
    assert report.ok
    assert report.data.keys() == NOTHING.keys()
    keys = ("prompt", "layout", "updated", "portrait_updated")
    updates = {"short": [(False, False), (True, False)]}
    updates["long"] = [*updates["short"], (False, True)]
    assert [tuple(run[key] for key in keys) for run in runs] == [
        (length, layout, *each)
        for length, some in updates.items()
        for layout in LAYOUTS
        for each in some
    ]
    assert len(model.prompts) == len(runs) * TURNS
    for run in runs:
        for key in ("first_token_ms", "prompt_tokens", "read_tokens", "common_prefix_tokens"):
            assert len(run[key]) == TURNS - 1
        assert run["read_tokens"] == [100] * (TURNS - 1)
    assert sum("memory first" in line for line in lines) == 5


def test_a_language_without_a_talk_is_named(omoide: Omoide) -> None:
    result = omoide("bench", "prompt", "--language", "tlh", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 2
    assert answer.keys() == NOTHING.keys()
    assert "tlh" in answer["error"]["message"]
