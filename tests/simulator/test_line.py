"""How a robot finds its server: by asking OTA, or by an address that it is given."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from firmware_bridge.ota import OtaRequest, build_answer, parse_request
from server.simulator import Habits, Identity, open_robot
from server.simulator.line import Door, LineError, find_door
from tests.simulator.fake_server import running_server

ME = Identity("02:00:00:00:00:01", person="Mio")


class FakeOta(ThreadingHTTPServer):
    """Answers every POST the same way and remembers who asked."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body
        self.visits: list[tuple[str, OtaRequest]] = []
        super().__init__(("127.0.0.1", 0), _Visit)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Visit(BaseHTTPRequestHandler):
    server: FakeOta

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.visits.append((self.path, parse_request(dict(self.headers), body)))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@contextmanager
def running_ota(answer: object, status: int = 200) -> Iterator[FakeOta]:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    with FakeOta(status, body) as ota:
        thread = threading.Thread(target=ota.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield ota
        finally:
            ota.shutdown()
            thread.join()


def answer_with(url: str, token: str = "a-token") -> dict[str, object]:
    return build_answer(
        OtaRequest(ME.device),
        websocket_url=url,
        token=token,
        protocol_version=1,
        now=datetime(2026, 11, 29, tzinfo=UTC),
    )


async def test_a_robot_asks_ota_and_comes_with_the_token_it_got() -> None:
    async with running_server() as server:
        with running_ota(answer_with(server.url + "/xiaozhi/v1/")) as ota:
            async with open_robot(ota.url, ME, Habits(mode="manual")) as robot:
                answer = await robot.write("Hello?")
        request = server.connections[0].socket.request
    assert answer.error is None
    path, visit = ota.visits[0]
    assert path == "/xiaozhi/ota/"
    assert (visit.device_id, visit.client_id) == (ME.device, ME.client)
    assert request is not None
    assert request.headers["Authorization"] == "Bearer a-token"
    assert request.headers["Client-Id"] == ME.client
    assert request.headers["Omoide-Person"] == "Mio"
    assert request.headers["Protocol-Version"] == "1"


async def test_pcm_takes_the_other_path_on_the_same_port() -> None:
    with running_ota(answer_with("wss://robots.example:8000/xiaozhi/v1/")) as ota:
        door = await find_door(ota.url, ME, "pcm")
    assert door == Door("wss://robots.example:8000/pcm", "a-token")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ws://robots.example:8000", "ws://robots.example:8000/xiaozhi/v1/"),
        ("wss://robots.example/", "wss://robots.example/xiaozhi/v1/"),
        ("ws://robots.example:8000/elsewhere", "ws://robots.example:8000/elsewhere"),
    ],
)
async def test_an_address_of_a_websocket_is_taken_as_it_is(given: str, expected: str) -> None:
    assert await find_door(given, ME, "xiaozhi") == Door(expected)


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (b"<html>", 200, "server-unreachable"),
        ([1], 200, "ota-failed"),
        ({"error": "no"}, 403, "ota-failed"),
        ({"mqtt": {}}, 200, "ota-useless"),
    ],
)
async def test_an_answer_that_no_robot_could_use_is_named(
    answer: object, status: int, code: str
) -> None:
    """78/xiaozhi-mqtt-gateway#3: an answer that was no JSON ended the program."""
    with running_ota(answer, status) as ota:
        with pytest.raises(LineError) as caught:
            await find_door(ota.url, ME, "xiaozhi")
        assert ota.url in str(caught.value)
    assert caught.value.code == code


def test_the_same_device_always_has_the_same_client_id_and_another_has_another() -> None:
    assert Identity("a").client == Identity("a", person="Mio").client
    assert Identity("a").client != Identity("b").client


@pytest.mark.parametrize("person", ["花子", "José", "100%", "a b"])
async def test_a_name_of_any_script_arrives_as_it_is_called(person: str) -> None:
    me = Identity(ME.device, person=person)
    async with running_server() as server:
        with running_ota(answer_with(server.url + "/xiaozhi/v1/")) as ota:
            async with open_robot(ota.url, me, Habits(mode="manual")) as robot:
                await robot.write("Hello?")
        request = server.connections[0].socket.request
    assert request is not None
    assert unquote(request.headers["Omoide-Person"]) == person
