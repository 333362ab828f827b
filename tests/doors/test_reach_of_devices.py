"""Over the API a key reaches the robots of its persons, and those that nobody has talked with: nobody else's."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.claims import Claim
from tests.doors.premises import ROBOT, Doors, open_doors
from tests.doors.test_grants import KEYS, bearer
from tests.doors.visitors import AFAR

NEW, OWN = "11:11:11:11:11:11", "22:22:22:22:22:22"


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    """Return doors at which the robots of two persons talk, a guest claims one of them, and a new robot waits."""
    devices = {ROBOT: {"person": "taro"}, OWN: {"person": "hana"}}
    async with open_doors(tmp_path, http=True, access={"keys": KEYS}, devices=devices) as opened:
        access = opened.app.access
        for device, client in ((ROBOT, "first"), (OWN, "first"), (ROBOT, "second")):
            token = access.visit(Claim(device, client), AFAR)
            access.admit(Claim(device, client, token), AFAR)
        access.visit(Claim(NEW, "first"), AFAR)
        yield opened


def guest_of(doors: Doors) -> str:
    [guest] = [one.id for one in doors.app.access.devices() if one.is_guest]
    return guest


@pytest.mark.parametrize("body", [None, {"person": "hana"}])
async def test_a_key_gives_nobody_the_robot_of_another(
    doors: Doors, body: dict[str, str] | None
) -> None:
    before = doors.app.access.snapshot()
    async with doors.web() as web:
        for entry in (ROBOT, ROBOT.upper(), ROBOT.replace(":", "-"), guest_of(doors)):
            for method, end in (("POST", "/accept"), ("POST", "/revoke"), ("DELETE", "")):
                answer = await web.request(
                    method,
                    f"/api/devices/{entry}{end}",
                    json=body if end == "/accept" else None,
                    headers=bearer("admin"),
                )
                assert answer.json()["error"]["code"] == "device-unknown", (method, entry)
    assert doors.app.access.snapshot() == before


async def test_it_sees_and_gives_those_of_its_persons_and_new_ones(doors: Doors) -> None:
    async with doors.web() as web:
        seen = (await web.get("/api/devices", headers=bearer("admin"))).json()["devices"]
        assert {row["id"] for row in seen} == {OWN, NEW}
        for entry in (OWN, NEW):
            answer = await web.post(
                f"/api/devices/{entry}/accept", json={"person": "hana"}, headers=bearer("admin")
            )
            assert answer.json()["person"] == "hana"
        unknown = await web.post("/api/devices/zz/accept", headers=bearer("admin"))
        assert unknown.json()["error"]["code"] == "device-unknown"
        everything = (await web.get("/api/devices", headers=bearer("all"))).json()["devices"]
        assert len(everything) == 4
        answer = await web.post(f"/api/devices/{guest_of(doors)}/accept", headers=bearer("all"))
        assert answer.json()["person"] == "taro"
