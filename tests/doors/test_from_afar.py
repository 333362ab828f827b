"""From another address without a token there is nothing but health, the OTA answer and its firmware; walked route by route."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from firmware_bridge import ProtocolError, negotiate
from server.security_headers import SECURITY_HEADERS
from server.web.routes import create_web
from tests.doors.premises import FROM_AFAR, ROBOT, Doors, greet, open_doors
from tests.doors.test_grants import MARKS, filled, routes, talk

OPEN = {"/health", "/xiaozhi/ota", "/xiaozhi/ota/", "/xiaozhi/ota/activate", "/xiaozhi/ota/download/{name}"}  # fmt: skip
"""What answers everybody."""
PATIENT = {"http_requests_per_minute": 10_000}
WEBSOCKETS = (
    "/xiaozhi/v1/",
    "/pcm",
    "/ws",
    "/xiaozhi/v1",
    "/",
    "/api/turns",
    "/xiaozhi/ota/",
    "/console",
    "/mcp",
)


async def ask(
    web: httpx2.AsyncClient, method: str, path: str, fact_id: str
) -> tuple[httpx2.Response, str]:
    where = filled(
        path,
        person="hana",
        fact_id=fact_id,
        event_id="none",
        device_id=ROBOT,
        name="robot_9.9.9.bin",
        layer="soul",
        field="mission",
        proposal_id="none",
        webhook="none",
    )
    query = {"q": f"What about {MARKS['hana']}?"}
    return await web.request(method, where, params=query, json={}), path


async def test_every_route_but_the_few_open_ones_is_shut(tmp_path: Path) -> None:
    firmware = tmp_path / "firmware"
    firmware.mkdir()
    (firmware / "robot_9.9.9.bin").write_bytes(b"firmware")
    async with open_doors(tmp_path, http=True, limits=PATIENT) as doors:
        fact_ids = await talk(doors)
        async with doors.web(headers=FROM_AFAR) as web:
            open_: set[str] = set()
            shut: set[str] = set()
            for method, path in routes(create_web(doors.app)):
                answer, _ = await ask(web, method, path, fact_ids["hana"])
                (open_ if answer.status_code < 400 else shut).add(path)
                if answer.status_code >= 400:
                    assert answer.status_code == 401 or path in OPEN, (method, path)
                assert not any(mark in answer.text for mark in MARKS.values()), (method, path)
                assert set(SECURITY_HEADERS.items()) <= {
                    (name, answer.headers.get(name.lower())) for name in SECURITY_HEADERS
                }, (method, path)
            assert open_ == OPEN
            assert len(shut - OPEN) >= 15, "the routes were really found"
            for path in (
                "/",
                "/console",
                "/api",
                "/static/x.js",
                "/..%2fapi-token",
                "/xiaozhi/ota/../../api/turns",
            ):
                assert (await web.get(path)).status_code == 401, path
            health = (await web.get("/health")).json()
            assert health.keys() == {"ok", "state", "version"}


@pytest.mark.parametrize("mode", ["open", "approve"])
async def test_no_websocket_gives_a_stranger_what_is_of_a_known_robot(
    tmp_path: Path, mode: str
) -> None:
    async with open_doors(tmp_path, http=True, access={"mode": mode}) as doors:
        await register(doors)
        for path in WEBSOCKETS:
            if not is_protocol(path):
                status, _ = await doors.refusal(
                    path, FROM_AFAR | {"Device-Id": "new", "Client-Id": "x"}
                )
                assert status == 404, path
                continue
            for claim in ({"Client-Id": "first"}, {"Client-Id": "second"}, {}):
                status, error = await doors.refusal(
                    path, {"Device-Id": ROBOT, **claim, **FROM_AFAR}
                )
                assert (status, error["code"]) == (401, "token-missing"), (path, claim)
            if mode == "approve":
                status, _ = await doors.refusal(
                    path, FROM_AFAR | {"Device-Id": "new", "Client-Id": "x"}
                )
                assert status == 403
        assert not doors.app.devices


async def test_where_robots_are_welcome_a_stranger_is_a_new_person(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors:
        await register(doors)
        stranger = FROM_AFAR | {"Device-Id": "new", "Client-Id": "x", "Omoide-Person": "hana"}
        async with doors.robot("/pcm", stranger) as line:
            await greet(line)
        assert [device.person for device in doors.app.devices] == ["person-new"]


async def test_refusals_of_the_robots_door_carry_the_same_headers(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        request = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = (await doors.exchange(request)).decode().lower()
    for name, value in SECURITY_HEADERS.items():
        assert f"{name}: {value}\r\n".lower() in answer


def is_protocol(path: str) -> bool:
    try:
        negotiate(path, {}, {})
    except ProtocolError:
        return False
    return True


async def register(doors: Doors) -> Mapping[str, Any]:
    """Let a robot ask OTA for its token, as its owner's does."""
    headers = FROM_AFAR | {"Device-Id": ROBOT, "Client-Id": "first"}
    async with doors.web(headers=headers) as web:
        answer = await web.post("/xiaozhi/ota/", content=json.dumps({}))
    told: Mapping[str, Any] = answer.json()
    return told
