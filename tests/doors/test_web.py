import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from server.callers import Caller
from server.claims import Claim
from server.errors import EngineMissing, StoreError
from server.recording import RecentTurns
from server.turn import Happening, Missed, Recollection, Stage, Transcript, Turn, TurnEvent
from tests.doors.premises import (
    FROM_AFAR,
    ROBOT,
    end_of,
    exchange,
    greet,
    open_doors,
)
from tests.memory.remembering import turn as spoken
from tests.memory.test_store import full_disk
from tests.patience import until

MASTER = {"api_token": "master"}
WITH_TOKEN = {"Authorization": "Bearer master"}


def turn(number: int, device: str = ROBOT) -> Turn:
    return Turn(
        id=f"turn-{number}",
        device=device,
        person="taro",
        started_at=datetime(2026, 5, 3, tzinfo=UTC),
        transcript=Transcript("こんにちは", "ja"),
        reply="はい。そうです。",
        heard="はい。",
        emotion="happy",
        prompt_tokens=120,
        events=[
            TurnEvent(Happening.TURN_START, 0.0),
            TurnEvent(Happening.ERROR, 5.0, "llm-failed"),
        ],
        stages_ms={Stage.ASR: 500.0},
        first_audio_ms=1200.0,
    )


# Reading


async def test_health_says_how_every_engine_is(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        before = (await web.get("/health")).json()
        assert (before["ok"], before["state"]) == (False, "warming")
        assert before["version"]
        assert before["engines"]["asr"] == {"name": "fake-asr", "state": "loading"}
        doors.app.warm.set()
        after = (await web.get("/health")).json()
        assert (after["ok"], after["state"]) == (True, "ready")
        doors.app.troubles["llm"] = EngineMissing("Install the extra `embedded`.")
        answer = await web.get("/health")
        assert answer.status_code == 200
        assert (answer.json()["ok"], answer.json()["state"]) == (False, "failing")
        assert answer.json()["engines"]["tts"] == {"name": "fake-tts", "state": "warm"}
        assert answer.json()["engines"]["llm"] == {
            "name": "fake-llm",
            "state": "failed",
            "code": "engine-missing",
            "message": "Install the extra `embedded`.",
        }


async def test_health_says_that_what_is_said_can_not_be_stored(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        doors.app.warm.set()
        memory = doors.app.memory
        with full_disk(memory._store):
            memory.turn_finished(spoken("長い話" * 9000))
            with pytest.raises(StoreError, match="full"):
                await memory.extract()
            drawn = await web.post("/api/debug/extract", json={})
            assert (drawn.status_code, drawn.json()["error"]["code"]) == (507, "store-full")
            answer = (await web.get("/health")).json()
            assert (answer["ok"], answer["state"]) == (False, "failing")
            assert (answer["memory"]["state"], answer["memory"]["code"]) == ("failed", "store-full")
        assert (await web.post("/api/debug/extract", json={})).status_code == 200
        answer = (await web.get("/health")).json()
        assert (answer["state"], answer["memory"]) == ("ready", {"state": "ready"})


async def test_from_elsewhere_health_says_nothing_about_single_engines(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True, access=MASTER) as doors, doors.web() as web:
        answer = await web.get("/health", headers=FROM_AFAR)
        assert (answer.status_code, set(answer.json())) == (200, {"ok", "state", "version"})
        assert "engines" in (await web.get("/health", headers=FROM_AFAR | WITH_TOKEN)).json()


async def test_turns_are_listed_with_all_that_explains_them(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for number in range(5):
            doors.app.recent.turn_finished(turn(number, "other" if number == 2 else ROBOT))
        turns = (await web.get("/api/turns", params={"device": ROBOT, "limit": 3})).json()["turns"]
        assert [one["id"] for one in turns] == ["turn-1", "turn-3", "turn-4"]
        shown = turns[0]
        assert shown["transcript"] == "こんにちは"
        assert (shown["reply"], shown["heard"]) == ("はい。そうです。", "はい。")
        assert (shown["stages_ms"], shown["first_audio_ms"]) == ({"asr": 500.0}, 1200.0)
        assert shown["events"][1] == {"event": "error", "at_ms": 5.0, "code": "llm-failed"}
        assert (shown["device"], shown["person"], shown["prompt_tokens"]) == (ROBOT, "taro", 120)


async def test_metrics_count_turns_and_time_their_stages(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        failed = turn(2)
        failed.error = "llm-failed"
        failed.recalled = Recollection(missed={"pages": Missed.LATE})
        for one in (turn(1), failed):
            doors.app.metrics.turn_finished(one)
        answer = await web.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    for line in (
        'omoide_turns_total{outcome="answered"} 1.0',
        'omoide_turns_total{outcome="failed"} 1.0',
        'omoide_turn_errors_total{code="llm-failed"} 1.0',
        'omoide_recall_missed_total{part="pages",reason="late"} 1.0',
        'omoide_stage_seconds_bucket{le="0.5",stage="asr"} 2.0',
        'omoide_stage_seconds_bucket{le="0.3",stage="asr"} 0.0',
        "omoide_first_audio_seconds_count 2.0",
        "omoide_connections 0.0",
    ):
        assert line in answer.text.splitlines()


async def test_the_description_of_the_api_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        page = await web.get("/docs")
        assert page.status_code == 200
        assert "/api/devices/{device_id}/accept" in page.text
        assert "http" not in page.text.replace("http-equiv", "").replace("/openapi.json", "")
        assert "<script" not in page.text
        assert "/api/turns" in (await web.get("/openapi.json")).json()["paths"]


# Devices


async def test_devices_can_be_listed_accepted_and_forgotten(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web, doors.robot() as line:
        await greet(line)
        devices = (await web.get("/api/devices")).json()["devices"]
        assert [one["id"] for one in devices] == [ROBOT]
        assert (devices[0]["connected"], devices[0]["guest"]) == (True, False)
        assert "first" not in json.dumps(devices[0]["id"])
        accepted = await web.post(f"/api/devices/{ROBOT}/accept", json={})
        assert (accepted.json()["accepted"], accepted.json()["connected"]) == (True, True)
        gone = await web.delete(f"/api/devices/{ROBOT}")
        assert gone.json() == {"forgotten": [ROBOT]}
        assert await end_of(line) == (4001, "this device was removed")
        assert (await web.get("/api/devices")).json() == {"devices": []}


async def test_the_client_id_which_may_stand_for_a_token_is_not_shown(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        headers = {"Device-Id": ROBOT, "Client-Id": "very-secret"}
        async with doors.robot(headers=headers) as line:
            await greet(line)
        assert "very-secret" not in (await web.get("/api/devices")).text


async def test_an_accepted_guest_is_asked_to_come_back(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for client in ("first", "second"):
            headers = {"Device-Id": ROBOT, "Client-Id": client, **FROM_AFAR}
            async with doors.robot(headers=headers) as line:
                await greet(line)
                await until(lambda: bool(doors.app.devices))
                guest = doors.app.devices[-1].id
                if client == "second":
                    await web.post(f"/api/devices/{guest}/accept", json={})
                    assert (await end_of(line))[0] == 4001
            doors.app.devices.clear()


async def test_a_robot_that_is_given_to_somebody_comes_back_as_theirs(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web, doors.robot() as line:
        await greet(line)
        doors.app.access.seats.take(ROBOT, "")
        answer = await web.post(f"/api/devices/{ROBOT}/accept", json={"person": "mio"})
        assert answer.json()["person"] == "mio"
        assert (await end_of(line))[0] == 4001
        async with doors.robot() as again:
            await greet(again)
        assert (doors.app.devices[-1].person, doors.app.devices[-1].is_guest) == ("mio", False)


async def test_revoking_a_token_ends_the_connection(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web, doors.robot() as line:
        await greet(line)
        answer = await web.post(f"/api/devices/{ROBOT}/revoke", json={})
        assert answer.json() == {"revoked": ROBOT}
        assert (await end_of(line))[0] == 4001


async def test_a_guest_that_was_accepted_is_shown_as_connected_and_sent_away_when_forgotten(
    tmp_path: Path,
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for client in ("first", "second"):
            headers = {"Device-Id": ROBOT, "Client-Id": client, **FROM_AFAR}
            async with doors.robot(headers=headers) as line:
                await greet(line)
        guest = (await web.get("/api/devices")).json()["devices"][1]["id"]
        await web.post(f"/api/devices/{guest}/accept", json={})
        async with doors.robot(headers=headers) as line:
            await greet(line)
            devices = (await web.get("/api/devices")).json()["devices"]
            assert [one["connected"] for one in devices] == [False, True]
            await web.delete(f"/api/devices/{guest}")
            assert await end_of(line) == (4001, "this device was removed")


async def test_a_full_registry_is_listed_without_a_look_at_the_file_for_each_device(
    tmp_path: Path,
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        for number in range(50):
            doors.app.access.visit(Claim(f"robot-{number}", "client"), Caller("192.0.2.1", False))
        looks = 0
        look = doors.app.access._registry._refresh

        def count() -> None:
            nonlocal looks
            looks += 1
            look()

        doors.app.access._registry._refresh = count  # type: ignore[method-assign]
        devices = (await web.get("/api/devices")).json()["devices"]
        assert (len(devices), looks) == (50, 1)


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_an_unknown_device_is_said_so(tmp_path: Path, method: str) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        path = "/api/devices/nobody" + ("/accept" if method == "POST" else "")
        answer = await web.request(method, path, json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "device-unknown")


# Who may use it

API = [
    ("GET", "/metrics"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/api/turns"),
    ("GET", "/api/devices"),
    ("POST", f"/api/devices/{ROBOT}/accept"),
    ("DELETE", f"/api/devices/{ROBOT}"),
    ("GET", "/nothing"),
    ("GET", "/xiaozhi/otaX"),
]


async def test_from_elsewhere_the_api_needs_its_token(tmp_path: Path) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    refused = ((FROM_AFAR, "missing"), (FROM_AFAR | wrong, "wrong"), (wrong, "wrong"))
    limits = {"wrong_tokens_per_minute": 1000}
    async with (
        open_doors(tmp_path, http=True, access=MASTER, limits=limits) as doors,
        doors.web() as web,
    ):
        for method, path in API:
            for headers, code in refused:
                answer = await web.request(method, path, headers=headers)
                told = (path, answer.status_code, answer.json()["error"]["code"])
                assert told == (path, 401, f"token-{code}")
                assert answer.headers["www-authenticate"] == "Bearer"
            answer = await web.request(method, path, headers=FROM_AFAR | WITH_TOKEN)
            assert (path, answer.status_code) != (path, 401)


async def test_a_page_that_points_its_own_name_here_reads_nothing(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True, access=MASTER) as doors, doors.web() as web:
        host = {"Host": f"evil.example:{doors.http_port}"}
        answer = await web.get("/api/turns", headers=host)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "host-foreign")
        assert set((await web.get("/health", headers=host)).json()) == {"ok", "state", "version"}
        assert (await web.get("/api/turns", headers=host | WITH_TOKEN)).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1"])
async def test_a_page_from_elsewhere_changes_nothing(tmp_path: Path, origin: str) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web, doors.robot() as line:
        await greet(line)
        for method, path in (
            ("POST", f"/api/devices/{ROBOT}/accept"),
            ("DELETE", f"/api/devices/{ROBOT}"),
        ):
            answer = await web.request(method, path, json={}, headers={"Origin": origin})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin-foreign")
            assert "access-control-allow-origin" not in answer.headers
        assert len(doors.app.access.devices()) == 1


async def test_the_own_page_may_change_things(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web, doors.robot() as line:
        await greet(line)
        headers = {"Origin": doors.base_url}
        answer = await web.post(f"/api/devices/{ROBOT}/accept", json={}, headers=headers)
        assert answer.status_code == 200


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
async def test_what_a_form_could_send_needs_a_token(tmp_path: Path, kind: str | None) -> None:
    async with open_doors(tmp_path, http=True, access=MASTER) as doors, doors.web() as web:
        headers = {"Content-Type": kind} if kind else {}
        path = f"/api/devices/{ROBOT}/accept"
        answer = await web.post(path, content=b"{}", headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (415, "content-type-wrong")
        assert (await web.post(path, headers=headers | WITH_TOKEN)).status_code == 404


# Mistakes and crashes


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not-found"),
        ("GET", "/xiaozhi/v1/", 404, "not-found"),
        ("GET", "/api/turns/", 404, "not-found"),
        ("PUT", "/api/turns", 405, "method-not-allowed"),
        ("GET", "/api/turns?limit=many", 422, "request-invalid"),
        ("GET", "/api/turns?limit=0", 422, "request-invalid"),
        ("POST", f"/api/devices/{ROBOT}/accept", 422, "request-invalid"),
    ],
)
async def test_every_refusal_has_one_shape(
    tmp_path: Path, method: str, path: str, status: int, code: str
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        answer = await web.request(method, path, json={"persn": 5})
        assert answer.status_code == status
        assert set(answer.json()) == {"error"}
        assert answer.json()["error"]["code"] == code
        assert answer.json()["error"]["message"]
        assert ("allow" in answer.headers) == (status == 405)


async def test_who_looks_for_robots_here_is_told_their_port(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
        with capture_logs() as logs:
            answer = await web.get("/xiaozhi/v1/", headers=upgrade)
        assert str(doors.device_port) in answer.json()["error"]["message"]
        assert [entry["event"] for entry in logs] == ["websocket-at-the-http-door"]


class BrokenTurns(RecentTurns):
    def list(self, device: str | None = None) -> list[Turn]:
        raise RuntimeError("what the person said")


async def test_a_crash_is_a_code_outside_and_one_line_inside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        doors.app.recent = BrokenTurns(1)
        with capture_logs() as logs:
            answer = await web.get("/api/turns")
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal-error")
        assert [(entry["event"], entry["path"]) for entry in logs] == [
            ("request-failed", "/api/turns")
        ]
        assert "test_web.py" in logs[0]["where"]
        assert "person said" not in repr(logs) + answer.text + caplog.text
        assert (await web.get("/health")).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Transfer-Encoding": "chunked"}])
async def test_a_body_that_is_too_long_is_not_kept(
    tmp_path: Path, headers: Mapping[str, str]
) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:

        async def body() -> object:
            for _ in range(2000):
                yield b" " * 1024

        content = body() if headers else b" " * 2_000_000
        kind = {"Content-Type": "application/json"}
        answer = await web.post(f"/api/devices/{ROBOT}/accept", content=content, headers=kind)  # type: ignore[arg-type]
        code = answer.json()["error"]["code"]
        assert (answer.status_code, code) == (413, "body-too-long")


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xfe\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_bytes_that_are_no_http_are_refused_in_json_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, raw: bytes
) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        with capture_logs() as logs:
            answer = await exchange(doors.http_port, raw)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "http-invalid"
        assert [entry["event"] for entry in logs] == ["http-trouble"]
        assert caplog.records == []
