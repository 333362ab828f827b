import itertools
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.doors.premises import FROM_AFAR, ROBOT, Doors, exchange, greet, open_doors
from tests.patience import SECONDS

PATH = "/xiaozhi/ota/"
BODY = {
    "version": 2,
    "mac_address": ROBOT,
    "uuid": "first",
    "application": {"name": "xiaozhi", "version": "2.2.4"},
    "board": {"type": "m5stack-stack-chan"},
}
HEADERS = {"Device-Id": ROBOT, "Client-Id": "first"}


async def ask_ota(doors: Doors, host: str = "192.168.1.50:8003", **headers: str) -> dict[str, Any]:
    async with doors.web() as web:
        answer = await web.post(PATH, json=BODY, headers={**HEADERS, "Host": host, **headers})
    assert answer.status_code == 200
    fields: dict[str, Any] = answer.json()
    return fields


def put_firmware(data: Path, *names: str) -> None:
    (data / "firmware").mkdir()
    for name in names:
        (data / "firmware" / name).write_bytes(name.encode())


async def test_the_answer_names_the_host_that_the_robot_asked(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        for host, name in (
            ("192.168.1.50:8003", "192.168.1.50"),
            ("robot-server.lan", "robot-server.lan"),
            ("[2001:db8::1]:8003", "[2001:db8::1]"),
        ):
            answer = await ask_ota(doors, host, **FROM_AFAR)
            assert answer["websocket"]["url"] == f"ws://{name}:{doors.device_port}/xiaozhi/v1/"


@pytest.mark.parametrize(
    ("public_url", "url"),
    [
        ("https://talk.example", "wss://talk.example/xiaozhi/v1/"),
        ("http://talk.example:8003", "ws://talk.example:{port}/xiaozhi/v1/"),
        ("talk.example:8003", "ws://talk.example:{port}/xiaozhi/v1/"),
        ("http://[2001:db8::1]:8003/", "ws://[2001:db8::1]:{port}/xiaozhi/v1/"),
        ("http://talk.example:9000/omoide", "ws://talk.example:9000/omoide/xiaozhi/v1/"),
    ],
)
async def test_a_configured_address_wins(tmp_path: Path, public_url: str, url: str) -> None:
    server = {"public_url": public_url}
    async with open_doors(tmp_path, http=True, server=server) as doors:
        doors.app.access.callers.http_port = 8003
        answer = await ask_ota(doors)
        assert answer["websocket"]["url"] == url.format(port=doors.device_port)


NO_HOSTS = [
    'evil"',
    "a b",
    "evil/path",
    "user@evil",
    "a,b",
    "evil\\n",
    "<script>",
    "a:b:c",
    "[::g]",
    "[:::]",
]


async def test_a_host_that_is_none_is_refused_in_json(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for host in NO_HOSTS:
            headers = {**HEADERS, **FROM_AFAR, "Host": host}
            answer = await web.post(PATH, json=BODY, headers=headers)
            told = (host, answer.status_code, answer.json()["error"]["code"])
            assert told == (host, 400, "host-invalid")
            assert "evil" not in answer.text


async def test_without_a_host_the_answer_names_the_address_that_was_called(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        raw = await exchange(doors.http_port, b"GET /xiaozhi/ota/ HTTP/1.0\r\n\r\n")
        answer = json.loads(raw.partition(b"\r\n\r\n")[2])
        assert answer["websocket"]["url"] == f"ws://127.0.0.1:{doors.device_port}/xiaozhi/v1/"


async def test_a_robot_that_follows_the_answer_gets_in(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        answer = await ask_ota(doors, f"127.0.0.1:{doors.http_port}", **FROM_AFAR)
        token = answer["websocket"]["token"]
        assert answer["websocket"]["url"] == f"ws://127.0.0.1:{doors.device_port}/xiaozhi/v1/"
        headers = {**HEADERS, **FROM_AFAR, "Authorization": f"Bearer {token}"}
        async with doors.robot(headers=headers) as line:
            await greet(line)
        assert (await ask_ota(doors, **FROM_AFAR))["websocket"]["token"] == token


async def test_another_client_gets_another_token(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        tokens = [
            (await ask_ota(doors, **{"Client-Id": client}))["websocket"]["token"]
            for client in ("first", "second", "first")
        ]
        assert tokens[0] == tokens[2] != tokens[1]


ZONES = [
    ("Asia/Tokyo", "2026-05-03T12:00", 540),
    ("America/New_York", "2026-01-15T12:00", -300),
    ("America/New_York", "2026-07-15T12:00", -240),
    ("America/New_York", "2026-11-01T00:30", -240),
    ("America/New_York", "2026-11-01T03:30", -300),
    ("Asia/Kathmandu", "2026-05-03T12:00", 345),
]


async def test_the_clock_of_the_robot_is_right(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        for zone, moment, offset in ZONES:
            now = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
            doors.app.clock.moment = now
            time = (await ask_ota(doors))["server_time"]
            assert time == {"timestamp": round(now.timestamp() * 1000), "timezone_offset": offset}


async def test_the_answer_has_neither_mqtt_nor_activation(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        assert set(await ask_ota(doors)) == {"websocket", "server_time", "firmware"}


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"application":5}', b"x" * 200_000],
    ids=lambda body: repr(body[:9]),
)
async def test_every_robot_gets_its_answer_whatever_it_sends(tmp_path: Path, body: bytes) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for method, path in itertools.product(("GET", "POST"), ("/xiaozhi/ota/", "/xiaozhi/ota")):
            answer = await web.request(method, path, content=body, headers=HEADERS)
            assert (method, path, answer.status_code) == (method, path, 200)
            assert answer.json()["websocket"]["token"]


async def test_who_a_robot_is_may_stand_in_its_body_unless_that_is_endless(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for padding, is_known in ((100, True), (100_000, False)):
            answer = await web.post(PATH, json={**BODY, "padding": "x" * padding})
            assert (answer.status_code, bool(answer.json()["websocket"]["token"])) == (
                200,
                is_known,
            )


async def test_what_strangers_write_into_forwarding_headers_is_not_believed(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        with capture_logs() as logs:
            await ask_ota(doors, **FROM_AFAR)
        assert logs[0]["peer"] == "127.0.0.1"


async def test_a_web_page_from_elsewhere_can_not_register_a_robot(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        async with doors.web() as web:
            for origin in ("http://evil.example", "null"):
                headers = {**HEADERS, "Origin": origin, "Content-Type": "text/plain"}
                answer = await web.post(PATH, content=json.dumps(BODY), headers=headers)
                assert (answer.status_code, answer.json()["error"]["code"]) == (
                    403,
                    "origin-foreign",
                )
        assert doors.app.access.devices() == []


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
async def test_a_page_that_points_its_own_name_here_gets_no_token(
    tmp_path: Path, method: str
) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        async with doors.web() as web:
            headers = {**HEADERS, "Host": f"evil.example:{doors.http_port}"}
            answer = await web.request(method, PATH, headers=headers)
            assert answer.status_code == 403
            assert "websocket" not in answer.text
        assert doors.app.access.devices() == []


async def test_a_page_on_another_machine_that_points_its_own_name_here_gets_no_token(
    tmp_path: Path,
) -> None:
    access = {"trusted_proxies": ["127.0.0.1"]}
    async with open_doors(tmp_path, http=True, access=access) as doors, doors.web() as web:
        headers = {**HEADERS, "X-Forwarded-For": "192.168.1.20", "Host": "evil.example"}
        answer = await web.get(PATH, headers=headers)
        assert answer.json()["websocket"]["token"] == ""
        assert doors.app.access.devices() == []
        answer = await web.post(PATH, headers=headers)
        assert answer.json()["websocket"]["token"] != ""


async def test_a_page_from_elsewhere_that_hides_its_origin_gets_no_token(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        async with doors.web() as web:
            for site in ("cross-site", "same-site"):
                answer = await web.get(PATH, headers={**HEADERS, "Sec-Fetch-Site": site})
                assert (site, answer.status_code) == (site, 403)
        assert doors.app.access.devices() == []


async def test_a_robot_may_call_this_server_by_a_name_that_was_allowed(tmp_path: Path) -> None:
    access = {"allowed_hosts": ["voice.lan"]}
    async with open_doors(tmp_path, http=True, access=access) as doors:
        answer = await ask_ota(doors, "voice.lan")
        assert answer["websocket"]["url"] == f"ws://voice.lan:{doors.device_port}/xiaozhi/v1/"


@pytest.mark.parametrize("device_id", ["", "a b", "x" * 80, "../../etc"])
async def test_who_does_not_say_its_name_gets_the_address_but_no_token(
    tmp_path: Path, device_id: str
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        answer = await web.get(PATH, headers={"Device-Id": device_id} if device_id else {})
        assert (answer.status_code, answer.json()["websocket"]["token"]) == (200, "")
        assert doors.app.access.devices() == []


async def test_activation_is_confirmed(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        answer = await web.post(f"{PATH}activate", json={}, headers=HEADERS)
        assert (answer.status_code, answer.json()) == (200, {})


async def test_without_a_newer_file_there_is_no_update(tmp_path: Path) -> None:
    put_firmware(tmp_path, "m5stack-stack-chan_2.2.4.bin", "other-board_9.9.9.bin", "notes.txt")
    async with open_doors(tmp_path, http=True) as doors:
        assert (await ask_ota(doors))["firmware"] == {"version": "2.2.4", "url": ""}


async def test_a_newer_file_is_offered_and_can_be_fetched(tmp_path: Path) -> None:
    put_firmware(tmp_path, *(f"m5stack-stack-chan_2.{minor}.0.bin" for minor in (1, 3, 10, 9)))
    async with open_doors(tmp_path, http=True) as doors:
        offered = (await ask_ota(doors, f"127.0.0.1:{doors.http_port}", **FROM_AFAR))["firmware"]
        assert offered["version"] == "2.10.0"
        async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as web:
            file = await web.get(offered["url"], headers=FROM_AFAR)
        assert (file.status_code, file.content) == (200, b"m5stack-stack-chan_2.10.0.bin")


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "..%5csecret",
        "notes.txt",
        "a_1.0.bin/../../secret",
        "/etc/passwd",
        "",
        "a_2.0.bin%00",
    ],
)
async def test_nothing_but_firmware_can_be_fetched(tmp_path: Path, name: str) -> None:
    put_firmware(tmp_path, "a_1.0.bin", "notes.txt")
    async with open_doors(tmp_path, http=True) as doors:
        request = f"GET {PATH}download/{name} HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n"
        raw = await exchange(doors.http_port, request.encode())
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b" 404 " in head
    assert json.loads(body)["error"]["code"] == "not-found"


async def test_a_link_out_of_the_folder_is_no_firmware(tmp_path: Path) -> None:
    put_firmware(tmp_path, "a_1.0.bin")
    (tmp_path / "secret").write_text("secret")
    try:
        (tmp_path / "firmware" / "a_9.0.bin").symlink_to(tmp_path / "secret")
        (tmp_path / "firmware" / "a_2.0.bin").symlink_to("a_1.0.bin")
    except OSError:
        pytest.skip("no rights to make links")
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        assert (await web.get(f"{PATH}download/a_9.0.bin")).status_code == 404
        assert (await web.get(f"{PATH}download/a_2.0.bin")).text == "a_1.0.bin"


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ("bytes=5-1", 400, "http-400"),
        ("lines=1-2", 400, "http-400"),
        ("bytes=900-", 416, "range-not-satisfiable"),
    ],
)
async def test_a_range_that_is_none_is_refused_in_json(
    tmp_path: Path, wanted: str, status: int, code: str
) -> None:
    put_firmware(tmp_path, "a_1.0.bin")
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        address = f"{PATH}download/a_1.0.bin"
        answer = await web.get(address, headers={"Range": wanted})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert answer.json()["error"]["message"]
        assert answer.headers.get("content-range") == ("bytes */9" if status == 416 else None)
        part = await web.get(address, headers={"Range": "bytes=2-4"})
        assert (part.status_code, part.text) == (206, "1.0")


async def test_one_visit_is_one_line_in_the_log(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        with capture_logs() as logs:
            await ask_ota(doors)
        assert [entry["event"] for entry in logs] == ["robot-asked-for-server"]
        assert (logs[0]["board"], logs[0]["version"]) == ("m5stack-stack-chan", "2.2.4")
