from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from server.access import Access
from server.callers import Caller
from server.claims import Claim
from server.errors import AccessError
from server.newcomers import make_room
from server.registry import KnownDevice, Roll
from tests.doors.premises import ROBOT, FixedClock
from tests.doors.visitors import AFAR, HERE, OWN, Open, refusal, robot, who

NEXT_DOOR = Caller("192.168.1.10", is_local=False)
ROOM = 3


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the registry room for `ROOM` entries."""
    monkeypatch.setattr("server.newcomers.ENTRIES", ROOM)


def flood(access: Access, count: int, start: int = 0) -> None:
    """Come again and again under new names, and talk."""
    for number in range(start, start + count):
        access.admit(Claim(f"flood-{number}", "x"), HERE)


def ids(access: Access) -> list[str]:
    return [device.id for device in access.devices()]


def test_one_address_brings_so_many_new_devices_an_hour_and_no_more(
    open_access: Open, clock: FixedClock
) -> None:
    access = open_access(limits={"new_devices_per_hour": 2})
    access.visit(robot(), AFAR)
    access.admit(robot("second", access.visit(robot("second"), AFAR)), AFAR)
    for come in (access.visit, access.admit):
        with pytest.raises(AccessError, match=r"limits\.new_devices_per_hour") as caught:
            come(Claim("third", "x"), AFAR)
        assert caught.value.code == "too-many-new-devices"
    assert len(access.devices()) == 2
    access.visit(robot(), AFAR)
    access.admit(Claim("third", "x"), NEXT_DOOR)
    access.admit(Claim("fourth", "x"), HERE)
    access.admit(Claim("fifth-here", "x"), HERE)
    access.visit(Claim("sixth-here", "x"), HERE)
    access.visit(Claim("last-here", "x"), HERE)
    clock.moment += timedelta(minutes=59)
    assert refusal(access, Claim("fifth", "x")) == "too-many-new-devices"
    clock.moment += timedelta(minutes=1)
    access.admit(Claim("fifth", "x"), AFAR)


def test_a_clock_that_is_set_back_shuts_nobody_out(open_access: Open, clock: FixedClock) -> None:
    access = open_access(limits={"new_devices_per_hour": 1})
    access.admit(robot(), AFAR)
    clock.moment -= timedelta(days=365)
    access.admit(Claim("other", "x"), AFAR)


@pytest.mark.usefixtures("small")
def test_a_flood_of_names_shuts_no_new_robot_out(access: Access) -> None:
    flood(access, 20)
    assert who(access.admit(robot(), AFAR))[1] is False
    assert len(ids(access)) == ROOM


@pytest.mark.usefixtures("small")
def test_a_flood_of_guests_counts_too(access: Access) -> None:
    access.admit(robot(), AFAR)
    for number in range(20):
        access.admit(robot(f"guest {number}"), AFAR)
    assert len(ids(access)) == ROOM
    assert ROBOT in ids(access)


def test_those_make_room_first_who_lose_the_least(clock: FixedClock) -> None:
    def entry(name: str, age_days: int, **more: bool) -> KnownDevice:
        seen = clock.now() - timedelta(days=age_days)
        return KnownDevice(name, "x", f"person-{name}", last_seen=seen, first_seen=seen, **more)  # type: ignore[arg-type]

    full = {"accepted": True, "established": True}
    order = [
        entry("forgotten", 0, accepted=False, forgotten=True),
        entry("silent for long", 9, accepted=True),
        entry("silent", 1, accepted=True),
        entry("waiting", 8, accepted=False, established=True),
        entry("talked long ago", 99, **full),
        entry("talked", 0, **full),
    ]
    roll = Roll({one.id: one for one in (*reversed(order), entry("kept", 999, accepted=False))})
    lost: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for room in range(len(roll.devices), 1, -1):
            patch.setattr("server.newcomers.ENTRIES", room)
            before = set(roll.devices)
            make_room(roll, kept=["kept"])
            lost += before - set(roll.devices)
        patch.setattr("server.newcomers.ENTRIES", 1)
        with pytest.raises(AccessError) as caught:
            make_room(roll, kept=["kept"])
    assert lost == [one.id for one in order]
    assert caught.value.code == "registry-full"


@pytest.mark.usefixtures("small")
def test_a_registry_that_is_far_too_long_shrinks(access: Access) -> None:
    with access._registry.edit() as roll:
        for number in range(50):
            now = access._clock.now()
            stone = KnownDevice(f"old-{number}", "x", "p", False, now, now, forgotten=True)
            roll.devices[stone.id] = stone
    access.admit(robot(), AFAR)
    assert len(access._registry.devices()) == ROOM


@pytest.mark.usefixtures("small")
def test_whoever_takes_the_name_of_a_lost_device_gets_neither_its_person_nor_its_rights(
    access: Access, clock: FixedClock
) -> None:
    old = access.visit(robot(), AFAR)
    assert who(access.admit(robot(token=old), AFAR)) == (OWN, False)
    guest = access.visit(robot("second"), AFAR)
    access.accept(next(name for name in ids(access) if "~" in name))
    clock.moment += timedelta(days=1)
    flood(access, ROOM)
    assert not any(name.startswith(ROBOT) for name in ids(access))
    thief = access.visit(robot("thief"), AFAR)
    person = access.admit(robot("thief", thief), AFAR).person
    assert person != OWN
    for claim in (robot(token=old), robot("second", guest), robot(token=guest)):
        assert refusal(access, claim) == "token-wrong"


@pytest.mark.usefixtures("small")
def test_what_was_forgotten_stays_void_when_its_tombstone_makes_room(
    open_access: Open, clock: FixedClock
) -> None:
    access = open_access()
    old = access.visit(robot(), AFAR)
    access.admit(robot(token=old), AFAR)
    access.forget(ROBOT)
    flood(access, ROOM)
    assert ROBOT not in {device.id for device in access._registry.devices()}
    again = open_access()
    again.visit(robot(), AFAR)
    assert refusal(again, robot(token=old)) == "token-wrong"
    assert again.devices()[0].person != OWN


@pytest.mark.usefixtures("small")
def test_a_device_that_never_talked_comes_back_as_it_was(access: Access) -> None:
    access.visit(robot(), AFAR)
    flood(access, ROOM)
    assert ROBOT not in ids(access)
    assert who(access.admit(robot(), AFAR)) == (OWN, False)


@pytest.mark.usefixtures("small")
def test_devices_of_the_configuration_are_never_lost(open_access: Open, clock: FixedClock) -> None:
    access = open_access(devices={ROBOT.upper(): {"person": "hanako"}})
    access.admit(robot(), AFAR)
    clock.moment += timedelta(days=1)
    flood(access, 10)
    assert access.admit(robot("thief"), AFAR).is_guest
    assert access.admit(robot(), AFAR).person == "hanako"


def test_only_who_was_here_before_or_was_accepted_is_known(open_access: Open) -> None:
    access = open_access(access={"api_token": "master"})
    access.visit(robot(), AFAR)
    assert access.admit(robot("first", access.visit(robot(), AFAR)), AFAR).is_known is False
    assert access.admit(robot("first", access.visit(robot(), AFAR)), AFAR).is_known is True
    assert access.admit(Claim("other", "x", "master"), AFAR).is_known
    assert access.admit(Claim("third", "x"), HERE).is_known
    guest = access.admit(Claim("third", "y"), AFAR)
    assert not access.admit(Claim("third", "y"), AFAR).is_known
    access.accept(guest.entry)
    assert access.admit(Claim("third", "y"), AFAR).is_known
    token = access.visit(Claim("fourth", "x"), AFAR)
    access.accept("fourth")
    assert access.admit(Claim("fourth", "x", token), AFAR).is_known


def test_the_list_tells_of_each_device_what_it_would_come_in_as(open_access: Open) -> None:
    access = open_access(devices={ROBOT: {"person": "hanako"}})
    access.admit(robot(), AFAR)
    access.admit(robot("second"), AFAR)
    access.admit(Claim("other", "x"), AFAR)
    access.forget("other")
    listed = access.snapshot()
    assert [device for device, _ in listed] == access.devices()
    assert [admission for _, admission in listed] == [
        access.admission_of(device) for device in access.devices()
    ]
    assert next(admission.person for _, admission in listed) == "hanako"


def test_a_list_of_two_thousand_devices_reads_the_file_once(
    open_access: Open, tmp_path: Path, clock: FixedClock
) -> None:
    access = open_access()
    now = clock.now()
    with access._registry.edit() as roll:
        for number in range(2000):
            device = KnownDevice(f"d{number}", "x", f"p{number}", True, now, now)
            roll.devices[device.id] = device
    looked: list[None] = []
    refresh = access._registry._refresh

    def count() -> None:
        looked.append(None)
        refresh()

    access._registry._refresh = count  # type: ignore[method-assign]
    assert len(access.snapshot()) == 2000
    assert len(looked) == 1
    assert replace(access.snapshot()[0][0]) == access.devices()[0]
