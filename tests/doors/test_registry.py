import json
import stat
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from server.registry import KnownDevice, Registry

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
ROBOT = KnownDevice("aa:bb", "client", "person-aa-bb", True, NOON, NOON, "s/n", "board", 3, True)
GUEST = KnownDevice("aa:bb~1234", None, "guest-1", False, NOON, NOON)


def registry_with(path: Path, *devices: KnownDevice) -> Registry:
    registry = Registry(path)
    with registry.edit() as roll:
        roll.devices.update({device.id: device for device in devices})
    return registry


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    registry_with(tmp_path / "devices.json", ROBOT, GUEST, replace(ROBOT, id="cc", forgotten=True))
    again = Registry(tmp_path / "devices.json")
    assert again.devices() == [ROBOT, GUEST, replace(ROBOT, id="cc", forgotten=True)]


def test_a_guest_knows_which_device_it_claims() -> None:
    assert (GUEST.device, GUEST.is_guest) == ("aa:bb", True)
    assert (ROBOT.device, ROBOT.is_guest) == ("aa:bb", False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such bits")
def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    registry_with(tmp_path / "devices.json", ROBOT)
    assert stat.S_IMODE((tmp_path / "devices.json").stat().st_mode) == 0o600


def test_an_edit_that_fails_changes_nothing(tmp_path: Path) -> None:
    registry = registry_with(tmp_path / "devices.json", ROBOT)
    with suppress(KeyError), registry.edit() as roll:
        roll.devices["dd"] = replace(ROBOT, id="dd")
        raise KeyError
    assert registry.devices() == Registry(tmp_path / "devices.json").devices() == [ROBOT]


def test_a_robot_that_was_merely_seen_again_is_written_down_later(tmp_path: Path) -> None:
    path = tmp_path / "devices.json"
    registry = registry_with(path, ROBOT)
    before = path.stat().st_ino
    seen = replace(ROBOT, last_seen=NOON + timedelta(hours=1), board="board/2")
    with registry.edit() as roll:
        roll.devices[ROBOT.id] = seen
    assert (registry.devices(), path.stat().st_ino) == ([seen], before)
    registry.save()
    assert Registry(path).devices() == [seen]
    before = path.stat().st_ino
    registry.save()
    assert path.stat().st_ino == before


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "x"},
        {"person": "x"},
        {"accepted": False},
        {"serial": "x"},
        {"token_generation": 4},
        {"issued": False},
        {"established": True},
        {"forgotten": True},
    ],
)
def test_every_other_change_is_on_the_disk_at_once(
    tmp_path: Path, change: Mapping[str, Any]
) -> None:
    registry = registry_with(tmp_path / "devices.json", GUEST, ROBOT)
    with registry.edit() as roll:
        roll.devices[ROBOT.id] = replace(ROBOT, **change)
    assert replace(ROBOT, **change) in Registry(tmp_path / "devices.json").devices()


def test_what_was_struck_out_leaves_a_generation_that_survives_restarts_and_accidents(
    tmp_path: Path,
) -> None:
    path = tmp_path / "devices.json"
    registry = registry_with(path, replace(ROBOT, established=True), GUEST)
    with registry.edit() as roll:
        assert (roll.generation_of(ROBOT.id), roll.generation_of("new")) == (3, 0)
        roll.strike(roll.devices[ROBOT.id])
        assert roll.devices == {}
    for again in (Registry(path), registry):
        with again.edit() as roll:
            assert {roll.generation_of(name) for name in (ROBOT.id, GUEST.id, "new")} == {4}
    path.write_text("{")
    with registry.edit() as roll:
        assert roll.floor == 4


@pytest.mark.parametrize(
    ("device", "floor"),
    [
        (ROBOT, 3),
        (replace(ROBOT, established=True), 4),
        (replace(ROBOT, established=True, forgotten=True), 3),
        (replace(GUEST, established=True), 0),
        (replace(GUEST, token_generation=2), 2),
    ],
)
def test_a_generation_is_never_used_twice_for_what_somebody_could_claim(
    tmp_path: Path, device: KnownDevice, floor: int
) -> None:
    with registry_with(tmp_path / "devices.json", device).edit() as roll:
        roll.strike(device)
        assert roll.floor == floor


def test_devices_of_an_older_file_count_as_established(tmp_path: Path) -> None:
    path = tmp_path / "devices.json"
    registry_with(path, ROBOT)
    path.write_text(path.read_text().replace('"established": false, ', ""))
    assert Registry(path).devices() == [replace(ROBOT, established=True)]


def test_a_snapshot_does_not_change_afterwards(tmp_path: Path) -> None:
    registry = registry_with(tmp_path / "devices.json", ROBOT)
    before = registry.snapshot()
    with registry.edit() as roll:
        del roll.devices[ROBOT.id]
    assert (dict(before), registry.devices()) == ({ROBOT.id: ROBOT}, [])


def test_an_edit_without_change_leaves_the_file_alone(tmp_path: Path) -> None:
    registry = registry_with(tmp_path / "devices.json", ROBOT)
    before = (tmp_path / "devices.json").stat().st_ino
    with registry.edit() as roll:
        roll.devices[ROBOT.id] = replace(ROBOT)
    assert (tmp_path / "devices.json").stat().st_ino == before


def test_a_truncated_file_is_moved_aside_and_said_so(tmp_path: Path) -> None:
    path = tmp_path / "devices.json"
    registry_with(path, ROBOT)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with capture_logs() as logs:
        registry = Registry(path)
    assert registry.devices() == []
    assert (tmp_path / "devices.json.broken").read_bytes() == whole[: len(whole) // 2]
    assert [entry["event"] for entry in logs] == ["registry-broken"]
    with registry.edit() as roll:
        roll.devices[GUEST.id] = GUEST
    assert Registry(path).devices() == [GUEST]


def test_a_running_server_keeps_its_devices_when_the_file_breaks(tmp_path: Path) -> None:
    path = tmp_path / "devices.json"
    registry = registry_with(path, ROBOT)
    path.write_text("")
    assert registry.devices() == [ROBOT]
    assert Registry(path).devices() == [ROBOT]


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": 5},
        {"first_seen": "yesterday"},
        {"last_seen": "2026-05-03T12:00:00"},
        {"token_generation": "many"},
        {"token_generation": 1e999},
        {"person": None},
    ],
)
def test_a_broken_entry_does_not_take_the_others_along(
    tmp_path: Path, change: Mapping[str, Any]
) -> None:
    path = tmp_path / "devices.json"
    registry_with(path, ROBOT, GUEST)
    root = json.loads(path.read_text())
    root["devices"][0].update(change)
    path.write_text(json.dumps(root))
    assert Registry(path).devices() == [GUEST]
    assert (tmp_path / "devices.json.broken").exists()


@given(st.binary(max_size=200) | st.sampled_from([b"[]", b"{}", b"[" * 5000, b'{"devices":{}}']))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_content_of_the_file_stops_the_server(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "devices.json"
    path.write_bytes(content)
    with capture_logs():
        assert Registry(path).devices() == []


def test_another_process_on_the_same_file_loses_nothing(tmp_path: Path) -> None:
    one, other = Registry(tmp_path / "devices.json"), Registry(tmp_path / "devices.json")
    with one.edit() as roll:
        roll.devices[ROBOT.id] = ROBOT
    with other.edit() as roll:
        roll.devices[GUEST.id] = GUEST
    assert one.devices() == other.devices() == [ROBOT, GUEST]


def test_threads_do_not_overwrite_each_other(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "devices.json")

    def add(number: int) -> None:
        with registry.edit() as roll:
            roll.devices[str(number)] = replace(ROBOT, id=str(number))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Registry(tmp_path / "devices.json").devices()) == 20


def test_a_folder_that_cannot_be_written_is_logged_and_worked_around(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    with capture_logs() as logs:
        registry = registry_with(tmp_path / "data" / "devices.json", ROBOT)
    assert registry.devices() == [ROBOT]
    assert [entry["event"] for entry in logs] == ["registry-unwritten"]
    assert not list(tmp_path.glob("*.new"))


def test_a_write_that_fails_halfway_leaves_no_litter(tmp_path: Path) -> None:
    (tmp_path / "devices.json").mkdir()
    with capture_logs() as logs:
        registry = registry_with(tmp_path / "devices.json", ROBOT)
    assert registry.devices() == [ROBOT]
    assert logs[-1]["event"] == "registry-unwritten"
    assert [path.name for path in tmp_path.iterdir()] == ["devices.json"]
