import json
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands import checks, doctor
from server.commands.checks import State
from server.config import Config
from server.folder_lock import lock_data
from tests.ports.openai_stand_in import stand_in, status

Omoide = Callable[..., Result]


def read(result: Result) -> dict[str, dict[str, Any]]:
    answer = json.loads(result.stdout)
    assert answer.keys() >= {"ok", "checks", "error"}
    return {check["name"]: check for check in answer["checks"]}


def test_what_is_well_is_said_and_the_exit_code_is_0(omoide: Omoide) -> None:
    result = omoide("doctor", "--quick", "--json")
    found = read(result)
    assert result.exit_code == 0, result.output
    for name in ("python", "opus", "data", "config", "timezone"):
        assert found[name]["state"] == "ok"
        assert found[name]["advice"] == ""
    assert "Asia/Tokyo" in found["timezone"]["detail"]


def test_a_wrong_configuration_is_a_finding_with_its_line(omoide: Omoide, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("vad:\n  enginee: silero\n")
    result = omoide("doctor", "--quick", "--json")
    found = read(result)
    assert result.exit_code == 1
    assert found["config"]["state"] == "fail"
    assert "config.yaml:2" in found["config"]["detail"]


def test_a_folder_without_the_texts_for_an_answer_fails_and_keeps_a_server_from_starting(
    omoide: Omoide, tmp_path: Path
) -> None:
    (tmp_path / "config.yaml").write_text(f"persona:\n  prompts: {tmp_path}\n")
    looked, served = omoide("doctor", "--quick", "--json"), omoide("serve")
    assert (looked.exit_code, served.exit_code) == (1, 2)
    found = read(looked)["prompts"]
    assert found["state"] == "fail"
    for told in (found["detail"], served.output):
        assert "soul.md" in told
        assert "persona.prompts" in told


def test_a_folder_that_can_not_be_written_fails(omoide: Omoide, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    result = omoide("doctor", "--quick", "--data", file / "state")
    assert result.exit_code == 1
    assert "FAIL  data" in result.stdout
    assert "--data" in result.stdout


def test_a_port_that_is_taken_is_a_warning() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = Config.model_validate(
            {"server": {"host": "127.0.0.1", "device_port": port, "http_port": 0}}
        )
        device_port, http_port = checks.check_ports(config)
    assert device_port.state == "warn"
    assert str(port) in device_port.name
    assert "server.device_port" in device_port.advice
    assert http_port.state == "ok"


async def test_a_server_that_works_in_the_folder_is_no_fault_and_is_to_be_asked_itself(
    tmp_path: Path,
) -> None:
    config = Config.model_validate({"server": {"http_port": 8123}})
    with lock_data(tmp_path):
        [found] = await checks.check_engines(config, tmp_path)
    assert found.state == "warn"
    assert str(tmp_path) in found.detail
    assert "http://127.0.0.1:8123/health" in found.advice


async def test_an_endpoint_that_does_not_answer_fails_and_none_is_not_looked_for() -> None:
    config = Config.model_validate({"llm": {"openai": {"base_url": "http://127.0.0.1:9/v1"}}})
    finding = await checks.check_endpoint(config)
    assert finding is not None
    assert finding.state == "fail"
    assert "http://127.0.0.1:9/v1" in finding.detail
    assert await checks.check_endpoint(Config()) is None


def test_requirements_are_read_with_their_extra() -> None:
    requirements = [
        "anyio",
        "tzdata; sys_platform == 'win32'",
        'onnxruntime>=1.2,<3; extra == "embedded"',
        'pytest; extra == "test"',
        "typer[all]>=0.9",
    ]
    found = list(checks._read_requirements(requirements))
    assert [pair for pair in found if pair[0] != "tzdata"] == [
        ("anyio", ""),
        ("onnxruntime", "embedded"),
        ("typer", ""),
    ]


def test_a_package_that_is_missing_fails_and_one_of_an_extra_is_a_warning() -> None:
    assert not checks._is_installed("surely-no-such-package")
    needed = checks._describe_missing("", ["a", "b"])
    assert (needed.state, needed.detail) == ("fail", "missing: a, b")
    extra = checks._describe_missing("voice-en", ["piper-tts"])
    assert extra.state == "warn"
    assert "voice-en" in extra.advice
    for finding in (needed, extra, checks._describe_missing("qwen", ["torch"])):
        assert f"{sys.executable} -m pip install" in finding.advice


def test_going_without_the_english_voice_is_told_once_and_is_no_warning() -> None:
    here = checks.Finding("model", "ok", "63 MB")
    gone = checks.Finding("model", "warn", "missing")

    without = checks._describe_voice_en(has_engine=False, voice=gone)
    half = [checks._describe_voice_en(True, gone), checks._describe_voice_en(False, here)]

    assert without.state == "info"
    assert "Japanese voice" in without.detail
    assert "GPL" in without.advice
    assert [finding.state for finding in half] == ["warn", "warn"]
    assert checks._describe_voice_en(True, here).state == "ok"
    named = [finding.name for finding in (*checks.check_packages(), *checks.check_models())]
    assert not any("voice" in name or "piper" in name for name in named)


@pytest.mark.parametrize(
    ("states", "last_line"),
    [
        (("ok", "info"), "All is well."),
        (("ok", "warn", "info"), "It works, but look at WARN above."),
        (("warn", "fail"), "Something is wrong: see FAIL above."),
    ],
)
def test_the_verdict_is_that_of_the_worst_finding(
    states: tuple[State, ...], last_line: str
) -> None:
    findings = [checks.Finding("a check", state, "") for state in states]

    assert doctor.verdict(findings) == last_line


async def test_an_endpoint_that_has_moved_fails() -> None:
    async with stand_in(status(308, location="https://elsewhere.example/v1/models")) as server:
        finding = await checks.check_endpoint(Config(llm={"openai": {"base_url": server.url}}))
    assert finding is not None
    assert finding.state == "fail"
    assert "https://elsewhere.example" in finding.detail


async def test_a_key_that_can_not_be_sent_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-geheim あ")
    finding = await checks.check_endpoint(Config(llm={"openai": {"model": "gpt-5-mini"}}))
    assert finding is not None
    assert finding.state == "fail"
    assert "OPENAI_API_KEY" in finding.detail
    assert "geheim" not in finding.detail


class Models(BaseHTTPRequestHandler):
    """Lists two models."""

    def do_GET(self) -> None:
        body = json.dumps({"data": [{"id": "llama3.2:3b"}, {"id": "qwen3:8b"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


async def test_a_model_that_the_endpoint_does_not_offer_is_named() -> None:
    with HTTPServer(("127.0.0.1", 0), Models) as models:
        thread = threading.Thread(target=models.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{models.server_port}/v1"
        found = {
            name: await checks.check_endpoint(
                Config(llm={"openai": {"base_url": url, "model": name}})
            )
            for name in ("qwen3:8b", "qwen3:80b")
        }
        models.shutdown()
        thread.join()
    right, wrong = found["qwen3:8b"], found["qwen3:80b"]
    assert right is not None
    assert right.state == "ok"
    assert wrong is not None
    assert wrong.state == "fail"
    assert "llama3.2:3b" in wrong.advice


async def test_a_model_without_address_and_key_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    finding = await checks.check_endpoint(Config(llm={"openai": {"model": "gpt-5-mini"}}))
    assert finding is not None
    assert finding.state == "warn"
    assert "OPENAI_API_KEY" in finding.advice
