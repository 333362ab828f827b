import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from firmware_bridge.events import ShowTranscript
from server.commands.replay_script import read_script
from server.errors import ConfigError
from tests.simulator.fake_server import Connection, FakeServer

Omoide = Callable[..., Result]
Start = Callable[..., FakeServer]


async def echo(connection: Connection, text: str) -> None:
    await connection.send(ShowTranscript(text or "a tone"))
    await connection.reply(f"You said {text or 'a tone'}.", 0.1)


def write(folder: Path, text: str) -> Path:
    path = folder / "talk.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def read(result: Result) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_what_comes_back_is_compared_with_what_was_expected(
    omoide: Omoide, serve_script: Start, wav: Path
) -> None:
    script = write(
        wav.parent,
        f"""
turns:
  - text: ｱｲｽ please
    as_text: true
    expect_transcript_contains: アイス PLEASE
    expect_reply_contains: [you said, アイス]
  - wav: {wav.name}
    pause_seconds: 0.1
    expect_transcript_contains: a tone
  - text: Good night.
    as_text: true
    expect_reply_contains: [Good, morning]
""",
    )
    server = serve_script(echo)
    result = omoide("replay", script, "--url", server.url, "--json")
    report = read(result)
    assert result.exit_code == 1
    assert (report["passed"], report["failed"], report["error"]) == (2, 1, None)
    assert [turn["passed"] for turn in report["turns"]] == [True, True, False]
    assert report["turns"][2]["failures"] == ["the reply does not contain 'morning'"]
    assert report["turns"][1]["said"] == wav.name
    assert len(server.connections) == 1


def test_each_device_and_person_has_a_connection_of_its_own(
    omoide: Omoide, serve_script: Start, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        """
device: "02:00:00:00:00:0a"
turns:
  - {text: one, as_text: true}
  - {text: two, as_text: true, device: "02:00:00:00:00:0b", person: Mio}
  - {text: three, as_text: true}
""",
    )
    server = serve_script(echo)
    result = omoide("replay", script, "--url", server.url)
    names = [
        (request.headers["Device-Id"], request.headers.get("Omoide-Person", ""))
        for connection in server.connections
        if (request := connection.socket.request) is not None
    ]
    assert result.exit_code == 0, result.output
    assert names == [("02:00:00:00:00:0a", ""), ("02:00:00:00:00:0b", "Mio")]
    assert "3 of 3 turns passed" in result.stdout


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("turns:\n  - text: hello\n  - txt: hello\n", 3, "Did you mean 'text'?"),
        ("turns:\n  - text: hello\n    wav: a.wav\n", 2, "either 'text' or 'wav'"),
        ("turns:\n  - wav: a.wav\n    as_text: true\n", 2, "'as_text' needs 'text'"),
        ("persn: Mio\nturns:\n  - text: hello\n", 1, "Did you mean 'person'?"),
        ("device: x\nturns: []\n", 2, "turns"),
        ("turns:\n  - text: hello\n    pause_seconds: -1\n", 3, "pause_seconds"),
        ("turns:\n  - text: hello\n    language: japanese\n", 3, "language"),
        ("turns:\n  - text: [\n", 3, "YAML"),
        ("turns:\n  - text: hello\n  - {extract: true, recalls: x}\n", 3, "stand alone"),
        ("turns:\n  - extract: true\n  - restart: true\n", 1, "at least one turn"),
        ("at: soon\nturns:\n  - text: hello\n", 1, "at"),
        ("at: 0001-01-01T00:00\nturns:\n  - text: hello\n", 1, "at"),
    ],
)
def test_a_broken_script_names_file_line_and_what_is_wrong(
    text: str, line: int, hint: str, tmp_path: Path
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_script(path)
    assert f"{path}:{line}:" in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("device: x\n", "{path}: turns: this key is needed."),
        ("turns: []\n", "{path}:1: turns: a talk needs at least one turn (found [])."),
        (
            "turns:\n  - txt: hello\n",
            "{path}:2: turns.0.txt: there is no such key. Did you mean 'text'?",
        ),
        ("turns: hello\n", "{path}:1: turns: write a list, such as [hello] (found 'hello')."),
        ("- text: hello\n", "{path}:1: expected keys such as 'turns:', found something else."),
    ],
)
def test_one_mistake_in_a_script_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_script(path)
    assert str(caught.value) == message.format(path=path)
    assert caught.value.code == "script-invalid"


def test_a_script_that_is_not_there_is_not_taken_for_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_script(tmp_path / "none.yaml")
    assert "none.yaml can't be read" in str(caught.value)
    assert "--config" not in str(caught.value)


def test_a_broken_script_is_an_error_of_the_command(omoide: Omoide, tmp_path: Path) -> None:
    result = omoide("replay", write(tmp_path, "turns: 7\n"), "--json")
    report = read(result)
    assert result.exit_code == 2
    assert report["error"]["code"] == "script-invalid"
    assert report["turns"] == []


def test_a_server_elsewhere_is_not_started_again_nor_told_the_time(
    omoide: Omoide, tmp_path: Path
) -> None:
    for extra in (
        "at: 2026-09-27T18:00\nturns:\n",
        "turns:\n  - {text: a, as_text: true}\n  - restart: true\n",
    ):
        script = write(tmp_path, f"{extra}  - {{text: hello, as_text: true}}\n")
        result = omoide("replay", script, "--url", "ws://127.0.0.1:1", "--json")
        assert result.exit_code == 2
        assert read(result)["error"]["code"] == "own-server-needed"


def test_a_server_that_keeps_its_memory_to_itself_fails_what_was_expected_of_it(
    omoide: Omoide, serve_script: Start, tmp_path: Path
) -> None:
    script = write(tmp_path, "turns:\n  - {text: hello, as_text: true, recalls: nothing}\n")
    server = serve_script(echo)
    result = omoide("replay", script, "--url", server.url, "--json")
    assert read(result)["turns"][0]["failures"] == ["the server does not say what it recalled"]
