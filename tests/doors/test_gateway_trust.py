"""Whom the robots' door trusts with what: pages, guests, strangers, and robots that were here before."""

from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from server.gateway import read_claim
from server.registry import Registry
from tests.doors.premises import (
    FROM_AFAR,
    ROBOT,
    end_of,
    greet,
    open_doors,
    say,
)
from tests.doors.test_gateway import OWN, afar, person_of
from tests.patience import until


@pytest.mark.parametrize("host", ["evil.example", "localhost"])
async def test_the_token_of_a_device_opens_no_memory_but_its_own_to_a_page_from_elsewhere(
    tmp_path: Path, host: str
) -> None:
    async with open_doors(tmp_path) as doors:
        access = doors.app.access
        stranger = access.callers.identify("192.168.1.66", {})
        token = access.visit(read_claim({"device-id": "x", "client-id": "x"}, {}), stranger)
        page = {"Host": host, "Origin": "http://evil.example", "Omoide-Person": "hanako"}
        query = f"/pcm?device-id=x&client-id=x&token={token}&person=hanako"
        assert await person_of(doors, query, headers=page) == "person-x"
        own = {"Device-Id": "x", "Client-Id": "x", "Authorization": f"Bearer {token}"}
        assert await person_of(doors, headers=own | {"Omoide-Person": "hanako"}) == "hanako"
        status, error = await doors.refusal("/pcm?device-id=y&person=hanako", page)
        assert (status, error["code"][-8:]) == (403, "-foreign")


async def test_the_api_token_lets_a_page_from_elsewhere_choose_a_person(tmp_path: Path) -> None:
    async with open_doors(tmp_path, access={"api_token": "open sesame"}) as doors:
        page = {"Origin": "http://app.example", "Authorization": "Bearer open sesame"}
        assert await person_of(doors, "/pcm?person=hanako", headers=page) == "hanako"


async def test_programs_here_are_strangers_if_the_configuration_says_so(tmp_path: Path) -> None:
    async with open_doors(tmp_path, access={"trust_loopback": False}) as doors:
        status, error = await doors.refusal(headers={"Omoide-Person": "hanako"})
        assert (status, error["code"]) == (400, "device-id-missing")
        here = {"Device-Id": ROBOT, "Client-Id": "first", "Omoide-Person": "hanako"}
        assert await person_of(doors, headers=here) == OWN


async def test_a_full_house_of_strangers_has_a_place_for_a_robot_that_was_here_before(
    tmp_path: Path,
) -> None:
    def visitor(name: str) -> dict[str, str]:
        return {"Device-Id": name, "Client-Id": "x", **FROM_AFAR}

    limits = {"connections": 2, "hello_timeout_seconds": 60}
    async with open_doors(tmp_path, limits=limits) as doors:
        assert await person_of(doors, headers=visitor("friend")) == "person-friend"
        await until(lambda: "friend" not in doors.app.access.presence)
        async with (
            doors.robot(headers=visitor("talks")) as talks,
            doors.robot(headers=visitor("silent")) as silent,
        ):
            await greet(talks)
            assert (await doors.refusal(headers=visitor("new")))[0] == 503
            async with doors.robot(headers=visitor("friend")) as friend:
                await greet(friend)
                assert await end_of(silent) == (1013, "too-many-connections")
                assert await say(friend, "hi") == "hi"
                assert await say(talks, "hi") == "hi"


async def test_one_address_does_not_get_every_place(tmp_path: Path) -> None:
    def visitor(name: str, address: str) -> dict[str, str]:
        return {"Device-Id": name, "Client-Id": "x", "X-Forwarded-For": address}

    async with (
        open_doors(
            tmp_path,
            access={"trusted_proxies": ["127.0.0.1"]},
            limits={"connections_per_address": 1},
        ) as doors,
        doors.robot(headers=visitor("one", "203.0.113.9")) as one,
    ):
        status, error = await doors.refusal(headers=visitor("two", "203.0.113.9"))
        assert (status, error["code"]) == (503, "too-many-connections")
        assert "limits.connections_per_address" in error["message"]
        async with doors.robot(headers=visitor("two", "203.0.113.10")) as two:
            await greet(one)
            await greet(two)


async def test_an_accepted_guest_that_is_forgotten_is_hung_up_on(tmp_path: Path) -> None:
    async with open_doors(tmp_path, http=True) as doors, doors.web() as web:
        assert await person_of(doors, headers=afar()) == OWN
        await person_of(doors, headers=afar("second"))
        guest = doors.app.devices[-1].id
        doors.app.access.accept(guest)
        async with doors.robot(headers=afar("second")) as line:
            await greet(line)
            assert guest in doors.app.access.presence
            assert ROBOT not in doors.app.access.presence
            assert (await web.delete(f"/api/devices/{guest}")).json() == {"forgotten": [guest]}
            assert (await end_of(line))[0] == 4001


async def test_an_accepted_guest_and_the_owner_are_one_device(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        assert await person_of(doors, headers=afar()) == OWN
        await person_of(doors, headers=afar("second"))
        doors.app.access.accept(doors.app.devices[-1].id)
        async with doors.robot(headers=afar()) as before:
            await greet(before)
            async with doors.robot(headers=afar("second")) as after:
                await greet(after)
                assert (await end_of(before))[0] == 4000
                assert await say(after, "hi") == "hi"


async def test_guests_are_announced_with_what_to_do_about_them(tmp_path: Path) -> None:
    async with open_doors(tmp_path) as doors:
        await person_of(doors, headers=afar())
        with capture_logs() as logs:
            await person_of(doors, headers=afar("second"))
            await person_of(doors, headers=afar(""))
    hints = [entry["hint"] for entry in logs if entry["event"] == "device-arrived"]
    assert f"omoide devices accept {ROBOT}~" in hints[0]
    assert "no Client-Id" in hints[1]


async def test_when_a_robot_was_last_seen_is_on_the_disk_once_the_server_has_stopped(
    tmp_path: Path,
) -> None:
    async with open_doors(tmp_path) as doors:
        await person_of(doors, headers=afar())
        doors.app.clock.moment += timedelta(hours=1)
        await person_of(doors, headers=afar())
    (device,) = Registry(tmp_path / "devices.json").devices()
    assert device.last_seen == doors.app.clock.moment
