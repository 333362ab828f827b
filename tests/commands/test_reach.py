"""Getting the server's own record of a turn: from the HTTP API of a server elsewhere."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from server.commands.reach import Place, on_free_ports, reach
from server.config import Config, RecordingSection
from server.recording import describe
from server.simulator import Identity
from server.turn import Stage, Turn

ME = Identity("AA:BB:CC:00:00:01")


def turn_of(device: str, number: int) -> Turn:
    turn = Turn(f"turn{number}", device, "mio", datetime(2026, 11, 29, tzinfo=UTC))
    turn.stages_ms[Stage.ASR] = 100.0 * number
    return turn


class FakeApi(ThreadingHTTPServer):
    """Answers with the turns that it is given, in the shape of the API."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.token = ""
        self.requests: list[str] = []
        super().__init__(("127.0.0.1", 0), _Visit)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Visit(BaseHTTPRequestHandler):
    server: FakeApi

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        allowed = not self.server.token or self.headers["Authorization"] == (
            f"Bearer {self.server.token}"
        )
        self.send_response(200 if allowed else 401)
        self.end_headers()
        body = {"turns": [describe(turn) for turn in self.server.turns]}
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@contextmanager
def running_api() -> Iterator[FakeApi]:
    with FakeApi() as api:
        thread = threading.Thread(target=api.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield api
        finally:
            api.shutdown()
            thread.join()


def quietly(line: str) -> None:
    pass


async def test_only_new_turns_of_the_own_device_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.commands.reach._TRACE_SECONDS", 60.0)
    with running_api() as api:
        api.turns = [turn_of("aa:bb:cc:00:00:01", 1)]
        async with reach(Place(Config(), tmp_path, api.url), quietly) as reached:
            await reached.watch()
            api.turns += [turn_of("aa:bb:cc:00:00:01", 2), turn_of("somebody else", 3)]
            trace = await reached.new_trace(ME)
            monkeypatch.setattr("server.commands.reach._TRACE_SECONDS", 0.3)
            again = await reached.new_trace(ME)
    assert again is None
    assert trace is not None
    assert trace["id"] == "turn2"
    assert trace["stages_ms"] == {"asr": 200.0}


async def test_a_guest_finds_its_turns_under_the_name_it_was_given(tmp_path: Path) -> None:
    with running_api() as api:
        async with reach(Place(Config(), tmp_path, api.url), quietly) as reached:
            api.turns = [turn_of("aa:bb:cc:00:00:01~12345678", 1)]
            trace = await reached.new_trace(ME)
    assert trace is not None


async def test_the_configured_token_is_sent(tmp_path: Path) -> None:
    config = Config.model_validate({"access": {"api_token": "open sesame"}})
    with running_api() as api:
        api.token = "open sesame"
        api.turns = [turn_of("aa:bb:cc:00:00:01", 1)]
        async with reach(Place(config, tmp_path, api.url), quietly) as reached:
            assert reached.token == "open sesame"
            assert await reached.new_trace(ME) is not None


@pytest.mark.parametrize(("token", "hint"), [("", "--token"), ("wrong", "refuses the API token")])
async def test_a_server_that_keeps_its_turns_to_itself_is_asked_once_and_told_of(
    token: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.commands.reach._TRACE_SECONDS", 0.3)
    lines: list[str] = []
    with running_api() as api:
        api.token = "open-sesame"
        async with reach(Place(Config(), tmp_path, api.url, token=token), lines.append) as reached:
            await reached.watch()
            assert await reached.new_trace(ME) is None
        assert len(api.requests) == 1
    assert len(lines) == 1
    assert api.url in lines[0]
    assert hint in lines[0]


async def test_a_token_that_is_given_wins_over_the_configured_one(tmp_path: Path) -> None:
    config = Config.model_validate({"access": {"api_token": "another"}})
    with running_api() as api:
        api.token = "open-sesame"
        api.turns = [turn_of("aa:bb:cc:00:00:01", 1)]
        place = Place(config, tmp_path, api.url, token="open-sesame")
        async with reach(place, quietly) as reached:
            assert reached.token == "open-sesame"
            assert await reached.new_trace(ME) is not None


def test_a_server_of_our_own_is_hidden_and_remembers_its_turns() -> None:
    config = on_free_ports(Config(recording=RecordingSection(recent_turns=0)))
    assert (config.server.host, config.server.device_port, config.server.http_port) == (
        "127.0.0.1",
        0,
        0,
    )
    assert config.recording.recent_turns > 0
