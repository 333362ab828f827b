import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from server.access import Access
from server.callers import Caller
from server.clock import SystemClock
from server.config import Config
from server.errors import AccessError

Omoide = Callable[..., Result]
AFAR = Caller("192.168.1.7", is_local=False)


def listed(omoide: Omoide, data: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(
        omoide("access", "keys", "list", "--json", "--data", data).stdout
    )["keys"]
    return rows


def test_a_key_is_made_shown_once_used_and_revoked(omoide: Omoide, tmp_path: Path) -> None:
    data = tmp_path / "state"
    made = omoide("access", "keys", "new", "phone", "--person", "hana", "--data", data)
    key = made.stdout.splitlines()[0]
    running = Access(Config(), data, SystemClock("UTC"))
    assert running.check_api(AFAR, key).persons == {"hana"}

    [row] = listed(omoide, data)
    assert (row["name"], row["scope"], row["persons"]) == ("phone", "read", ["hana"])
    shown = omoide("access", "keys", "list", "--data", data).stdout
    assert "phone" in shown
    files = [file.read_text() for file in data.iterdir() if file.suffix == ".json"]
    assert not any(key in text for text in (shown, json.dumps(row), *files))

    assert omoide("access", "keys", "revoke", "phone", "--data", data).exit_code == 0
    with pytest.raises(AccessError):
        running.check_api(AFAR, key)
    assert listed(omoide, data) == []


def test_a_key_can_stand_in_the_configuration_as_its_hash(omoide: Omoide, tmp_path: Path) -> None:
    arguments = ("access", "keys", "new", "panel", "--person", "*", "--scope", "admin", "--json")
    made = json.loads(omoide(*arguments, "--data", tmp_path / "elsewhere").stdout)
    config = tmp_path / "config.yaml"
    config.write_text(
        f"access:\n  keys:\n    panel: {{sha256: {made['sha256']}, persons: ['*'], scope: admin}}\n"
    )
    data = tmp_path / "state"
    assert listed(omoide, data)[0]["configured"] is True
    refused = omoide("access", "keys", "revoke", "panel", "--data", data)
    assert (refused.exit_code, "key-configured" in refused.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("new", "phone"), "key-empty"),
        (("new", "Phone Two", "--person", "hana"), "key-name-invalid"),
        (("revoke", "phone"), "key-unknown"),
    ],
)
def test_what_can_not_be_done_is_said(
    omoide: Omoide, tmp_path: Path, arguments: tuple[str, ...], code: str
) -> None:
    result = omoide("access", "keys", *arguments, "--data", tmp_path)
    assert (result.exit_code, f"error[{code}]" in result.stderr) == (1, True)
