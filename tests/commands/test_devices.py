import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from typer.testing import Result

from server.access import Access
from server.callers import Caller
from server.claims import Claim
from server.clock import SystemClock
from server.config import Config

Omoide = Callable[..., Result]

STRANGER = Caller("192.168.1.7", is_local=False)


def visit(data: Path, device: str, client: str) -> None:
    access = Access(Config(), data, SystemClock("UTC"))
    access.visit(Claim(device, client_id=client, board="stackchan/1.0"), STRANGER)


def test_robots_are_listed_accepted_and_forgotten(omoide: Omoide, tmp_path: Path) -> None:
    data = tmp_path / "state"
    visit(data, "aa:bb:cc:00:00:01", "one")
    visit(data, "aa:bb:cc:00:00:01", "another")

    listed = json.loads(omoide("devices", "list", "--json", "--data", data).stdout)["devices"]
    assert [device["guest"] for device in listed] == [False, True]
    assert listed[0]["board"] == "stackchan/1.0"

    guest = listed[1]["id"]
    accepted = omoide("devices", "accept", guest, "--person", "Mio", "--data", data)
    assert accepted.exit_code == 0
    assert "Mio" in accepted.stdout

    forgotten = json.loads(
        omoide("devices", "forget", "aa:bb:cc:00:00:01", "--json", "--data", data).stdout
    )
    assert set(forgotten["forgotten"]) == {device["id"] for device in listed}
    assert json.loads(omoide("devices", "list", "--json", "--data", data).stdout)["devices"] == []


def test_the_list_has_headings_and_says_when_a_robot_was_last_seen(
    omoide: Omoide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMOIDE_SERVER__TIMEZONE", "Asia/Tokyo")
    visit(tmp_path, "aa:bb:cc:00:00:01", "one")
    seen = json.loads(omoide("devices", "list", "--json", "--data", tmp_path).stdout)["devices"][0]
    last_seen = datetime.fromisoformat(seen["last_seen"]).astimezone(ZoneInfo("Asia/Tokyo"))

    heading, row = omoide("devices", "list", "--data", tmp_path).stdout.splitlines()

    at = heading.index("LAST SEEN")
    assert row[at:].startswith(f"{last_seen:%Y-%m-%d %H:%M}")
    assert heading.index("BOARD") == row.index("stackchan/1.0")
    assert heading.index("STATE") == row.index("known")


def test_a_robot_that_is_not_known_is_an_error(omoide: Omoide, tmp_path: Path) -> None:
    result = omoide("devices", "forget", "nobody", "--json", "--data", tmp_path / "state")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "device-unknown"


def test_a_robot_whose_token_is_revoked_stays_known(omoide: Omoide, tmp_path: Path) -> None:
    visit(tmp_path, "aa:bb:cc:00:00:01", "one")
    revoked = omoide("devices", "revoke", "aa:bb:cc:00:00:01", "--json", "--data", tmp_path)
    [device] = json.loads(revoked.stdout)["devices"]
    assert (device["id"], device["accepted"]) == ("aa:bb:cc:00:00:01", True)


def test_nobody_there_is_said(omoide: Omoide, tmp_path: Path) -> None:
    result = omoide("devices", "list", "--data", tmp_path / "state")
    assert result.exit_code == 0
    assert "No robot" in result.stdout
