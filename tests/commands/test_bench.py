import json
from collections.abc import Callable

import pytest
from typer.testing import Result

from server.commands.bench import _summarise, percentile, with_embedded_engines
from server.commands.bench_sentences import SENTENCES
from server.commands.talk import NO_TURN
from server.config import Config, HistorySection

Omoide = Callable[..., Result]

PROMISED = {
    "turns",
    "language",
    "first_audio_ms_p50",
    "first_audio_ms_p95",
    "stages_ms_p50",
    "prompt_tokens",
}


def turn(first_audio_ms: float | None, **stages_ms: float) -> dict[str, object]:
    return {
        **NO_TURN,
        "said": "Hello?",
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
