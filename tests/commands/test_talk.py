"""`omoide talk` and `omoide say` from the command line, with a scripted server elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from firmware_bridge.events import ShowTranscript
from server.audio import read_audio
from tests.simulator.fake_server import Connection, FakeServer, Script

Omoide = Callable[..., Result]
Start = Callable[..., FakeServer]

PROMISED = {
    "transcript",
    "reply",
    "emotion",
    "first_audio_ms",
    "stages_ms",
    "prompt_tokens",
    "underruns",
    "overflows",
    "error",
}


def read(result: Result) -> dict[str, Any]:
    """Standard output is one JSON object and nothing else."""
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


def count_questions() -> Script:
    number = 0

    async def script(connection: Connection, text: str) -> None:
        nonlocal number
        number += 1
        await connection.send(ShowTranscript(f"question {number}"))
        await connection.reply(f"Answer {number}.", 0.2)

    return script


def test_a_sound_file_is_answered_and_the_answer_is_saved(
    omoide: Omoide, serve_script: Start, wav: Path, tmp_path: Path
) -> None:
    server = serve_script()
    result = omoide("talk", wav, "--url", server.url, "--json", "--data", tmp_path / "state")
    answer = read(result)
    assert result.exit_code == 0
    assert answer.keys() >= PROMISED
    assert answer["transcript"] == "a tone"
    assert answer["reply"] == "Hello there."
    assert answer["emotion"] == "happy"
    assert answer["first_audio_ms"] > 0
    assert (answer["underruns"], answer["overflows"], answer["error"]) == (0, 0, None)
    saved = Path(answer["audio"])
    assert saved.parent == tmp_path / "state" / "recordings"
    assert read_audio(saved).seconds == pytest.approx(0.3)


def test_several_files_are_turns_of_one_connection_and_the_last_is_on_top(
    omoide: Omoide, serve_script: Start, wav: Path
) -> None:
    server = serve_script(count_questions())
    answer = read(omoide("talk", wav, wav, "--url", server.url, "--json"))
    assert [turn["reply"] for turn in answer["turns"]] == ["Answer 1.", "Answer 2."]
    assert answer["reply"] == "Answer 2."
    assert answer["turns"][0].keys() >= PROMISED
    assert len({turn["audio"] for turn in answer["turns"]}) == 2
    assert len(server.connections) == 1


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (["--protocol", "pcm"], "/pcm"),
        (["--framing", "3"], "/xiaozhi/v1/"),
        (["--mode", "manual"], "/xiaozhi/v1/"),
    ],
)
def test_the_robot_speaks_the_protocol_that_was_asked_for(
    options: list[str], path: str, omoide: Omoide, serve_script: Start, wav: Path
) -> None:
    server = serve_script()
    answer = read(omoide("talk", wav, "--url", server.url, "--json", *options))
    request = server.connections[0].socket.request
    assert answer["error"] is None
    assert request is not None
    assert request.path == path


def test_device_and_person_are_told_to_the_server(omoide: Omoide, serve_script: Start) -> None:
    server = serve_script()
    omoide("say", "Hello?", "--url", server.url, "--device", "aa:bb", "--person", "Mio")
    request = server.connections[0].socket.request
    assert request is not None
    assert request.headers["Device-Id"] == "aa:bb"
    assert request.headers["Omoide-Person"] == "Mio"


def test_a_text_is_answered_in_the_same_shape(omoide: Omoide, serve_script: Start) -> None:
    server = serve_script()
    result = omoide("say", "How are you?", "--url", server.url, "--json")
    answer = read(result)
    assert result.exit_code == 0
    assert answer.keys() >= PROMISED
    assert answer["transcript"] == "How are you?"
    assert answer["first_audio_ms"] > 0


def test_an_empty_text_is_refused_at_once(omoide: Omoide) -> None:
    result = omoide("say", " ", "--url", "http://127.0.0.1:1", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "text-empty"


def test_people_read_lines(omoide: Omoide, serve_script: Start, wav: Path) -> None:
    server = serve_script()
    result = omoide("talk", wav, "--url", server.url)
    assert result.exit_code == 0
    assert "a tone" in result.stdout
    assert "Hello there." in result.stdout
    assert "saved as" in result.stdout


def test_a_broken_file_is_named_and_keeps_the_shape(omoide: Omoide, tmp_path: Path) -> None:
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF and nothing else")
    result = omoide("talk", broken, "--json")
    answer = read(result)
    assert result.exit_code == 1
    assert answer.keys() >= PROMISED
    assert answer["error"]["code"] == "audio-unreadable"
    assert str(broken) in answer["error"]["message"]
    assert f"error[{answer['error']['code']}]: " in result.stderr
    assert "Traceback" not in result.output


def test_a_server_that_is_not_there_is_an_error_in_one_line(omoide: Omoide, wav: Path) -> None:
    result = omoide("say", "Hello?", "--url", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error[server-unreachable]: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_wrong_configuration_ends_with_a_code_of_its_own(omoide: Omoide, tmp_path: Path) -> None:
    config = tmp_path / "wrong.yaml"
    config.write_text("llm:\n  enginee: auto\n")
    result = omoide("say", "Hello?", "--config", config, "--json")
    answer = read(result)
    assert result.exit_code == 2
    assert f"{config}:2" in answer["error"]["message"]
    assert "engine" in answer["error"]["message"]


def test_a_connection_that_is_lost_in_the_middle_ends_the_turns_but_keeps_them(
    omoide: Omoide, serve_script: Start, wav: Path
) -> None:
    async def script(connection: Connection, text: str) -> None:
        await connection.reply("Well", 0.1, stop=False)
        await connection.socket.close(1011, "out of order")

    server = serve_script(script)
    result = omoide("talk", wav, wav, "--url", server.url, "--json")
    answer = read(result)
    assert result.exit_code == 1
    assert answer["error"]["code"] == "connection-closed"
    assert answer["reply"] == "Well"
    assert len(answer["turns"]) == 1
