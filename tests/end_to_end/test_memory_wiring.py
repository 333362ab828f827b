"""A whole server gives memory the traits of the prompt files and the robot's name, and lets a model sum days up."""

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from anyio import to_thread

from server.app import App
from server.conversation import Engines
from server.memory.day_summaries import ModelSummarizer
from server.memory.models import Level, Page
from server.memory.traits import FILE
from tests.end_to_end.running import running
from tests.fakes import PROMPTS, FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.memory.remembering import answer, fact, page
from tests.memory.tiers import trait

SONG = "Kiko sang you a lullaby about a fox."
TRIAL = answer(
    (1, "昨日、妹の美咲と動物園に行ってきたんだ。", "あなたは昨日、妹の美咲と動物園に行った。")
)


def engines(*draws: str) -> Engines:
    llm = FakeLlm(["[happy] うん。"], draws=[[draw] for draw in draws])
    return Engines(FakeVad(), FakeAsr(), llm, FakeTts())


async def keep(app: App, *pages: Page) -> None:
    for each in pages:
        await to_thread.run_sync(app.memory._store.pages.add, each)


async def test_traits_are_told_by_their_names_and_the_robot_knows_what_it_did(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, engines(TRIAL), persona={"name": "Kiko"}) as server:
        memory, now = server.app.memory, server.app.clock.now()
        await keep(server.app, page("なんで空は青いの?", now, id_="1"))
        shown = trait("curiosity", Level.HIGH, now, "1")
        done = replace(fact(SONG, now, language="en"), about="Kiko")
        memory._store.add_facts([done], now, traits=[shown])
        found = await memory.recall("hana", "What lullaby did you sing for me?", "en")
        assert [line.text for line in found.lines] == [SONG]
        assert any("high" in line for line in found.portrait), found.portrait
        assert memory.consolidator.extractor.extractor._agent == "Kiko"  # type: ignore[attr-defined]


async def test_a_persona_folder_of_an_earlier_version_still_starts(tmp_path: Path) -> None:
    folder = tmp_path / "persona"
    await to_thread.run_sync(shutil.copytree, PROMPTS, folder)
    await to_thread.run_sync((folder / FILE).unlink)
    persona = {"prompts": str(folder)}
    async with running(tmp_path / "data", engines(TRIAL), persona=persona) as server:
        assert not server.app.troubles


@pytest.mark.parametrize("draw", [TRIAL, '{"facts": []}'])
async def test_a_model_that_draws_facts_sums_days_up_too(tmp_path: Path, draw: str) -> None:
    written = json.dumps({"summary": "あなたは猫を飼い始めました。"}, ensure_ascii=False)
    async with running(tmp_path, engines(draw, written)) as server:
        diary, now = server.app.memory.diary, server.app.clock.now()
        await keep(server.app, page("猫を飼い始めたんだ。", now - timedelta(days=2)))
        assert await diary.keep_up() == 1
        [day] = (await server.app.memory.recall("hana", "おはよう", "ja")).days
        is_model = isinstance(diary.summarizer, ModelSummarizer)
        assert is_model == (draw == TRIAL)
        assert (day.text == "あなたは猫を飼い始めました。") == is_model
        assert "猫" in day.text
