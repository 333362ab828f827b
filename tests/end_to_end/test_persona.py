"""A whole server on loopback: what is asked of the robot in a talk, and what its next prompt says it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from server.conversation import Engines
from server.simulator import Identity, open_robot
from tests.end_to_end.running import Running, running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad

ROBOT = Identity("aa:bb:cc:00:11:22", "hana")
NAMED = "これからあなたの名前はモモだよ。"


def engines(*draws: str) -> tuple[Engines, FakeLlm]:
    llm = FakeLlm(["はい。"], draws=[[draw] for draw in draws])
    return Engines(FakeVad(), FakeAsr(), llm, FakeTts(0.0, 0.02)), llm


async def told(server: Running, *said: str) -> None:
    async with open_robot(server.http_url, ROBOT) as robot:
        for text in said:
            await robot.write(text)


@pytest.mark.parametrize(
    ("lock", "line"),
    [
        ("locked", "名前（固定）：Omo (オモ)"),
        ("proposed", "名前（要承認）：Omo (オモ)"),
        ("open", "名前：モモ"),
    ],
)
async def test_the_next_prompt_says_what_the_lock_lets_it_say(
    tmp_path: Path, lock: str, line: str
) -> None:
    house, llm = engines()
    persona = {"locks": {"identity": {"name": lock}}}
    async with running(tmp_path, house, persona=persona) as server:
        await told(server, NAMED)
        await server.app.memory.extract()  # all that was handed in is done then
        await told(server, "名前は？")
        proposals = server.app.layers.proposals()
        assert [one.occasion.person for one in proposals] == ["hana"] * (lock == "proposed")
        assert "identity.name" in server.app.metrics.render().decode()
    first, *_, last = [prompt.system for prompt in llm.prompts if "# Identity" in prompt.system]
    assert "Omo (オモ)" in first
    assert line in last.splitlines()


async def test_what_a_model_draws_for_the_persona_goes_past_the_locks_to_the_layers(
    tmp_path: Path,
) -> None:
    said = "これからは夜は小さな声で話してほしいな。"
    entries: list[dict[str, Any]] = [
        {"field": "identity.name", "value": "モモ", "turn": 1, "quote": said},
        {"field": "identity.voice", "value": "夜は小さな声で話す", "turn": 1, "quote": said},
    ]
    house, _ = engines(json.dumps({"facts": [], "persona": entries}, ensure_ascii=False))
    extraction = {"engine": "llm"}
    consent = {"rules": "keep"}  # or what is asked for good is held back until somebody agrees
    async with running(tmp_path, house, extraction=extraction, consent=consent) as server:
        await told(server, said)
        await server.app.memory.extract(put_off=True)
        [proposal] = server.app.layers.proposals()
        assert (proposal.key, proposal.lines) == ("identity.voice", ("夜は小さな声で話す",))
        await server.app.layers.accept(proposal.id)
        await told(server, "こんばんは。")
        assert "夜は小さな声で話す" in server.app.prompts.persona().fields[proposal.key].text
    async with running(tmp_path, engines()[0], extraction=extraction) as server:
        [manner] = server.app.layers.persona().fields[proposal.key].lines
        assert manner.endswith("夜は小さな声で話す"), "added to what stood there"
