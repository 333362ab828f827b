import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from server.errors import OmoideError
from server.gateway import read_claim, serve_devices
from server.ports import Device
from tests.doors.premises import (
    FROM_AFAR,
    ROBOT,
    Doors,
    ask,
    end_of,
    greet,
    open_doors,
)
from tests.patience import SECONDS, until

KEY = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
UPGRADE = f"Upgrade: websocket\r\nConnection: Upgrade\r\n{KEY}"
OWN = "person-aa-bb-cc-dd-ee-ff"


def afar(client_id: str = "first", **more: str) -> dict[str, str]:
    return {"Device-Id": ROBOT, "Client-Id": client_id, **FROM_AFAR, **more}


async def person_of(doors: Doors, path: str = "/pcm", **options: Any) -> str:
    """Connect and return whose memory the conversation gets."""
    known = len(doors.app.devices)
    async with doors.robot(path, **options) as line:
        await greet(line)
        await until(lambda: len(doors.app.devices) > known)
    return doors.app.devices[-1].person


def parse_response(raw: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest)
    return int(first.split()[1]), headers, body


# Who is asking


@pytest.mark.parametrize("style", [str.lower, str.upper, str.title])
async def test_header_names_count_in_any_case(tmp_path: Path, style: Any) -> None:
    """X#1574, X#1335: the handshake was refused for the case of a header."""
    async with open_doors(tmp_path) as doors:
        token = doors.app.access.visit(
            read_claim({"device-id": ROBOT, "client-id": "first"}, {}),
            doors.app.access.callers.identify("192.168.1.9", {}),
        )
        given = {"Device-Id": ROBOT, "Client-Id": "first", "Authorization": f"bearer  {token} "}
        headers = {style(name): value for name, value in (given | FROM_AFAR).items()}
        assert await person_of(doors, headers=headers) == OWN
        assert doors.app.devices[0].id == ROBOT


async def test_browsers_say_who_they_are_in_the_query_string(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        async with doors.web(headers=FROM_AFAR) as web:
            headers = {"Device-Id": ROBOT, "Client-Id": "first"}
            answer = (await web.post("/xiaozhi/ota/", json={}, headers=headers)).json()
        identity = f"/pcm?device-id={ROBOT}&client-id=first"
        token = answer["websocket"]["token"]
        for query in (f"&token={token}", f"&authorization=Bearer%20{token}"):
            assert await person_of(doors, identity + query, headers=FROM_AFAR) == OWN
        status, error = await doors.refusal(identity + "&token=wrong", FROM_AFAR)
        assert (status, error["code"]) == (401, "token-wrong")


def test_headers_win_over_the_query_string() -> None:
    claim = read_claim(
        {"device-id": "header", "omoide-person": "taro"},
        {"Device-ID": "query", "Client-ID": "c", "person": "hanako", "token": "t"},
    )
    assert (claim.device_id, claim.client_id, claim.token, claim.person) == (
        "header",
        "c",
        "t",
        "taro",
    )


@pytest.mark.parametrize(
    "header", ["%E5%A4%AA%E9%83%8E", "太郎", "太郎".encode().decode("latin-1")]
)
def test_the_name_of_a_person_may_be_in_any_script(header: str) -> None:
    assert read_claim({"omoide-person": header}, {}).person == "太郎"


async def test_the_token_from_ota_opens_the_door_and_that_of_another_device_does_not(
    tmp_path: Path,
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web(headers=FROM_AFAR) as web:
        tokens = {}
        for name in (ROBOT, "other"):
            headers = {"Device-Id": name, "Client-Id": "first"}
            answer = (await web.post("/xiaozhi/ota/", json={}, headers=headers)).json()
            tokens[name] = answer["websocket"]["token"]
        opened = afar(Authorization=f"Bearer {tokens[ROBOT]}")
        assert await person_of(doors, headers=opened) == OWN
        for caller in (FROM_AFAR, {}):
            wrong = {"Device-Id": ROBOT, "Client-Id": "first", **caller}
            wrong["Authorization"] = f"Bearer {tokens['other']}"
            status, error = await doors.refusal(headers=wrong)
            assert (status, error["code"]) == (401, "token-wrong")
        status, error = await doors.refusal(headers=afar())
        assert (status, error["code"]) == (401, "token-missing")


async def test_a_known_device_with_a_new_client_is_a_guest_until_accepted(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        assert await person_of(doors, headers=afar()) == OWN
        assert (await person_of(doors, headers=afar("second"))).startswith("guest-")
        guest = doors.app.devices[-1].id
        accepted = await web.post(f"/api/devices/{guest}/accept", json={})
        assert accepted.json()["guest"] is False
        assert await person_of(doors, headers=afar("second")) == OWN


async def test_a_guest_does_not_throw_the_owner_out(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors, doors.robot(headers=afar()) as owner:
        await greet(owner)
        assert (await person_of(doors, headers=afar("second"))).startswith("guest-")
        assert (await ask(owner, {"type": "text", "text": "still here"}))["text"] == "still here"


async def test_a_person_can_be_chosen_on_this_machine_only(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        here = {"Device-Id": ROBOT, "Omoide-Person": "taro"}
        assert await person_of(doors, headers=here) == "taro"
        assert (
            await person_of(doors, f"/pcm?device-id={ROBOT}&person=hanako", headers={}) == "hanako"
        )
        elsewhere = {
            "Device-Id": "other",
            "Client-Id": "x",
            "Omoide-Person": "taro",
            **FROM_AFAR,
        }
        assert await person_of(doors, headers=elsewhere) == "person-other"


# Who is refused


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/", {}, 404, "unknown-path"),
        ("/xiaozhi/ota/", {}, 404, "unknown-path"),
        ("/xiaozhi/v2/", {}, 404, "unknown-path"),
        ("/pcm", {"Device-Id": "a b"}, 400, "device-id-invalid"),
        ("/pcm", FROM_AFAR, 400, "device-id-missing"),
        ("/pcm?person=" + "x" * 65, {}, 400, "person-invalid"),
        ("/pcm", {"Origin": "http://evil.example"}, 403, "origin-foreign"),
        ("/pcm", {"Origin": "null", **FROM_AFAR}, 403, "origin-foreign"),
    ],
)
async def test_refusals_are_json_and_one_line_in_the_log(
    tmp_path: Path, path: str, headers: Mapping[str, str], status: int, code: str
) -> None:
    async with open_doors(tmp_path) as doors:
        with capture_logs() as logs:
            got, error = await doors.refusal(path, headers)
        assert (got, error["code"]) == (status, code)
        assert error["message"]
        assert [entry["event"] for entry in logs] == ["device-refused"]
        named = {name.lower(): value for name, value in headers.items()}.get("device-id", "")
        assert (logs[0]["device"], logs[0]["hint"]) == (named, error["message"])
        assert doors.app.devices == []


async def test_a_robot_that_waits_for_approval_is_told_so(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True, access={"mode": "approve"}) as doors:
        status, error = await doors.refusal(headers=afar())
        assert (status, error["code"]) == (403, "device-waiting")
        assert f"omoide devices accept {ROBOT}" in error["message"]
        async with doors.web() as web:
            await web.post(f"/api/devices/{ROBOT}/accept", json={})
        assert await person_of(doors, headers=afar()) == OWN


async def test_a_page_that_points_its_own_name_at_this_machine_is_refused(tmp_path: Path) -> None:
    request = f"GET /pcm HTTP/1.1\r\nHost: evil.example\r\nDevice-Id: x\r\n{UPGRADE}\r\n"
    async with open_doors(tmp_path) as doors:
        status, _, body = parse_response(await doors.exchange(request.encode()))
    assert (status, json.loads(body)["error"]["code"]) == (403, "host-foreign")


async def test_with_a_valid_token_any_page_may_connect(tmp_path: Path) -> None:
    async with open_doors(tmp_path, access={"api_token": "master"}) as doors:
        headers = {"Device-Id": ROBOT, "Origin": "null", "Authorization": "Bearer master"}
        assert await person_of(doors, headers=headers | FROM_AFAR) == OWN


async def test_a_full_house_refuses_new_robots_but_not_a_returning_one(tmp_path: Path) -> None:
    async with open_doors(tmp_path, limits={"connections": 1}) as doors:
        async with doors.robot() as first:
            await greet(first)
            status, error = await doors.refusal(headers={"Device-Id": "other"})
            assert (status, error["code"]) == (503, "too-many-connections")
            async with doors.robot() as again:
                await greet(again)
                assert (await end_of(first))[0] == 4000
                assert (await ask(again, {"type": "text", "text": "hi"}))["text"] == "hi"
        await until(lambda: ROBOT not in doors.app.access.presence)
        async with doors.robot(headers={"Device-Id": "other"}) as line:
            await greet(line)


async def test_refused_requests_do_not_use_up_places(tmp_path: Path) -> None:
    async with open_doors(tmp_path, limits={"connections": 1}) as doors:
        broken = f"GET /pcm HTTP/1.1\r\nHost: localhost\r\nDevice-Id: x\r\nUpgrade: websocket\r\n{KEY}\r\n"
        for _ in range(3):
            assert (await doors.refusal("/nowhere"))[0] == 404
            await doors.exchange(broken.encode())
        async with doors.robot() as line:
            await greet(line)


# What is no WebSocket


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/xiaozhi/ota/", "/pcm"])
async def test_plain_http_is_sent_to_the_http_door(tmp_path: Path, method: str, path: str) -> None:
    async with open_doors(tmp_path) as doors:
        request = f"{method} {path} HTTP/1.1\r\nHost: 192.168.1.5:8000\r\nContent-Length: 0\r\n\r\n"
        with capture_logs() as logs:
            status, headers, body = parse_response(await doors.exchange(request.encode()))
        url = "http://192.168.1.5:8003/xiaozhi/ota/"
    assert (status, headers["upgrade"]) == (426, "websocket")
    if method == "HEAD":
        assert body == b""
    else:
        error = json.loads(body)["error"]
        assert (error["http_port"], error["ota_url"]) == (8003, url)
    assert [entry["event"] for entry in logs] == ["http-at-the-robots-door"]
    assert url in logs[0]["hint"]


async def test_the_hint_holds_nothing_that_the_request_made_up(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        request = b'GET / HTTP/1.1\r\nHost: evil"/><script>\r\n\r\n'
        _, _, body = parse_response(await doors.exchange(request))
    assert b"evil" not in body


async def test_a_request_with_a_body_is_closed_with_a_line_that_names_the_http_port(
    tmp_path: Path,
) -> None:
    request = b"POST /xiaozhi/ota/ HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
    async with open_doors(tmp_path) as doors:
        with capture_logs() as logs:
            await doors.exchange(request)
            await until(lambda: bool(logs))
    assert [entry["event"] for entry in logs] == ["no-websocket-request"]
    assert "8003" in logs[0]["hint"]


@pytest.mark.parametrize(
    "extra",
    [
        "",
        "Connection: Upgrade\r\n",
        f"Connection: close\r\n{KEY}",
        f"Connection: upgrade\r\n{KEY.replace('13', '7')}",
    ],
)
async def test_a_broken_handshake_is_refused_in_json(tmp_path: Path, extra: str) -> None:
    request = (
        f"GET /pcm HTTP/1.1\r\nHost: localhost\r\nDevice-Id: x\r\nUpgrade: websocket\r\n{extra}\r\n"
    )
    async with open_doors(tmp_path) as doors:
        with capture_logs() as logs:
            status, _, body = parse_response(await doors.exchange(request.encode()))
    assert status in (400, 426)
    assert json.loads(body)["error"]["code"] == "handshake-broken"
    assert [entry["event"] for entry in logs] == ["handshake-broken"]


# The door itself


async def test_the_hello_is_answered_before_any_model_is_ready(tmp_path: Path) -> None:
    async def load_for_ever(_: Device) -> None:
        await anyio.sleep_forever()

    async with open_doors(tmp_path, load_for_ever) as doors, doors.robot("/xiaozhi/v1/") as line:
        hello = {"type": "hello", "version": 1, "transport": "websocket"}
        answer = await ask(line, hello)
    assert (answer["type"], answer["transport"]) == ("hello", "websocket")
    assert answer["audio_params"] == {
        "format": "opus",
        "sample_rate": 24000,
        "channels": 1,
        "frame_duration": 60,
    }
    assert answer["session_id"]


async def test_robots_are_never_pinged_and_nothing_is_compressed(tmp_path: Path) -> None:
    """X#3348: robots that answer no pings lost their line after 40 s."""
    async with open_doors(tmp_path) as doors, doors.robot(compression="deflate") as line:
        await greet(line)
        await until(lambda: bool(doors.app.devices))
        socket = doors.app.devices[0]._socket  # type: ignore[attr-defined]
        assert socket.ping_interval is None
        assert line.protocol.extensions == []


async def test_stopping_the_server_says_good_bye_to_every_robot(tmp_path: Path) -> None:
    with capture_logs() as logs:
        async with open_doors(tmp_path) as doors:
            url = f"ws://127.0.0.1:{doors.device_port}/pcm"
            line = await connect(url, additional_headers={"Device-Id": ROBOT}, proxy=None)
            await greet(line)
    assert await end_of(line) == (1001, "the server stops")
    assert ROBOT not in doors.app.access.presence
    assert (logs[-1]["event"], logs[-1]["reason"]) == ("device-left", "the server stops")


async def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        taken = {"host": "127.0.0.1", "device_port": doors.device_port}
        other = type(doors.app)(type(doors.app.config)(server=taken), tmp_path)
        with pytest.raises(OmoideError, match=str(doors.device_port)) as caught:
            await serve_devices(other)
        assert caught.value.code == "port-unusable"


async def test_connections_are_counted(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        async with doors.robot() as line:
            await greet(line)
            assert b"omoide_connections 1.0" in doors.app.metrics.render()
        await until(lambda: b"omoide_connections 0.0" in doors.app.metrics.render())


async def test_a_client_that_leaves_in_the_middle_of_the_handshake_is_forgotten(
    tmp_path: Path,
) -> None:
    async with open_doors(tmp_path, limits={"connections": 1}) as doors:
        request = f"GET /pcm HTTP/1.1\r\nHost: localhost\r\nDevice-Id: x\r\n{UPGRADE}\r\n"
        for _ in range(5):
            async with await anyio.connect_tcp("127.0.0.1", doors.device_port) as stream:
                await stream.send(request.encode())

        async def try_again() -> bool:
            try:
                async with doors.robot() as line:
                    await greet(line)
                    return True
            except InvalidStatus:
                return False

        with anyio.fail_after(SECONDS):
            while not await try_again():
                await anyio.sleep(0.01)
