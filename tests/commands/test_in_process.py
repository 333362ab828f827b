"""Commands that start a server of their own, with fake engines in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.audio import Audio, write_wav
from server.commands import bench, replay, talk
from server.commands.reach import Place
from server.commands.report import Report
from server.config import Config
from server.conversation import Engines
from server.errors import LlmError, TtsError
from server.simulator import Habits, Identity
from tests.fakes import FakeAsr, FakeEmbedder, FakeLlm, FakeTts, FakeVad, Step, voice

ME = Identity("02:00:00:00:00:01", person="Mio")


def place_with(
    data: Path, *heard: str, reply: list[Step] | None = None, tts: FakeTts | None = None
) -> Place:
    config = Config.model_validate({"history": {"turns": 1}, "tts": {"speed": 1}})
    script: list[Step] = ["はい。"] if reply is None else reply
    engines = Engines(
        FakeVad(), FakeAsr(*heard, seconds=0.05), FakeLlm(script), tts or FakeTts(0.05, 0.05)
    )
    return Place(config, data, engines=engines)


def turns_of(report: Report, key: str = "turns") -> list[dict[str, Any]]:
    turns = report.data[key]
    assert isinstance(turns, list)
    return turns


def quietly(line: str) -> None:
    pass


async def test_a_turn_is_told_with_the_times_of_its_stages(tmp_path: Path) -> None:
    wav = tmp_path / "question.wav"
    write_wav(wav, Audio(voice(0.6), 16_000))
    lines: list[str] = []
    place = place_with(tmp_path / "state", "今日は。", "明日は。")
    report = await talk.talk([wav, wav], place, ME, Habits(), lines.append)
    assert report.ok, report.data
    assert report.data["transcript"] == "明日は。"
    assert report.data["reply"] == "はい。"
    assert report.data["prompt_tokens"] == 100
    stages = report.data["stages_ms"]
    assert isinstance(stages, dict)
    assert stages.keys() >= {"endpoint", "llm-first-token", "tts-first-audio"}
    assert any("今日は。" in line for line in lines)


async def test_a_turn_that_the_server_apologises_for_is_an_error(tmp_path: Path) -> None:
    failing = place_with(tmp_path, reply=[LlmError("llm-refused", "No.")])
    report = await talk.say("こんにちは", failing, ME, Habits(mode="manual"), quietly)
    assert not report.ok
    assert report.data["error"] == {
        "code": "llm-refused",
        "message": "The server could not answer and said so; its log tells why.",
    }
    assert report.data["reply"]


async def test_a_phrase_that_fills_the_wait_is_not_taken_for_the_answer(tmp_path: Path) -> None:
    place = place_with(tmp_path, reply=[0.6, "はい。"])
    config = place.config.model_copy(
        update={"pacing": place.config.pacing.model_copy(update={"filler_after_seconds": 0.1})}
    )
    lines: list[str] = []
    habits = Habits(mode="manual")
    report = await talk.say("こんにちは", replace(place, config=config), ME, habits, lines.append)
    answered, sound = report.data["first_audio_ms"], report.data["first_sound_ms"]
    assert isinstance(answered, float)
    assert isinstance(sound, float)
    assert answered > sound + 300
    assert any("to fill the wait" in line for line in lines)
    assert any("first sound of the answer" in line for line in lines)


async def test_what_a_script_only_writes_is_spoken_by_our_own_voice(tmp_path: Path) -> None:
    script = tmp_path / "talk.yaml"
    script.write_text(
        "turns:\n  - text: 猫がいます。\n  - {text: Good night to all of you., language: en}\n"
    )
    tts = FakeTts(0.05, 0.05)
    place = place_with(tmp_path / "state", "ねこがいます", "good night", tts=tts)
    report = await replay.replay(script, place, quietly)
    assert report.ok, report.data
    assert [turn["transcript"] for turn in turns_of(report)] == ["ねこがいます", "good night"]
    assert ("猫がいます。", "ja") in tts.spoken
    assert ("Good night to all of you.", "en") in tts.spoken


async def test_the_benchmark_counts_its_turns_after_those_that_fill_the_history(
    tmp_path: Path,
) -> None:
    heard = ["文一", "文二"]
    place = replace(place_with(tmp_path, *heard, *heard), embedder=FakeEmbedder())
    lines: list[str] = []
    report = await bench.bench_turn(place, bench.Plan(turns=1), lines.append)
    assert report.ok, report.data
    assert (report.data["turns"], report.data["warm_up_turns"]) == (1, 1)
    assert "not counted" in lines[0]
    assert [turn["transcript"] for turn in turns_of(report, "each")] == heard[1:]
    stages = report.data["stages_ms_p50"]
    assert isinstance(stages, dict)
    assert "llm-first-token" in stages
    assert report.data["prompt_tokens"] == 100


async def test_the_benchmark_does_not_measure_a_server_without_a_voice(tmp_path: Path) -> None:
    class Mute(FakeTts):
        async def warm_up(self) -> None:
            raise TtsError("tts-failed", "No voice.")

    with pytest.RaisesGroup(pytest.RaisesExc(TtsError, match="No voice")):
        await bench.bench_turn(
            place_with(tmp_path, "a", "b", tts=Mute()), bench.Plan(turns=1), quietly
        )
