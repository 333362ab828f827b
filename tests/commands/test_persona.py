"""`omoide persona`, on a data folder and on a running server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands import persona
from server.commands.reach import Place
from server.config import Config
from server.config_persona import Lock
from server.conversation import Engines
from server.errors import OmoideError
from server.folder_lock import lock_data
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad

Omoide = Callable[..., Result]


def asked(omoide: Omoide, data: Path, *arguments: str) -> Any:
    return json.loads(omoide("persona", *arguments, "--json", "--data", data).stdout)


def test_a_persona_is_shown_changed_and_shown_again(omoide: Omoide, tmp_path: Path) -> None:
    data = tmp_path / "state"
    table = omoide("persona", "show", "--data", data).stdout
    assert "identity.name        locked    file  Omo (オモ)" in table
    refused = asked(omoide, data, "set", "identity.name", "Momo")
    assert refused["error"]["code"] == "layer-locked"
    assert asked(omoide, data, "unlock", "identity.name")["lock"] == "proposed"
    assert asked(omoide, data, "set", "identity.name", "Momo")["outcome"] == "written"
    assert asked(omoide, data, "lock", "identity.name")["lock"] == "locked"
    held = asked(omoide, data, "show")["layers"]["identity"]["fields"]["name"]
    assert held == {"lines": ["Momo"], "lock": "locked", "origin": "hand"}


@pytest.mark.parametrize(
    ("command", "who"),
    [
        (["lock"], "nobody changes it"),
        (["unlock"], "what is asked for in a talk waits for your yes"),
        (["unlock", "--open"], "so can whoever asks for it in a talk"),
    ],
)
def test_a_lock_says_who_may_change_the_field(
    command: list[str], who: str, omoide: Omoide, tmp_path: Path
) -> None:
    line = omoide("persona", *command, "identity.name", "--data", tmp_path / "state").stdout
    assert who in line


def test_a_list_takes_several_lines_and_nothing_brings_the_file_back(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = tmp_path / "state"
    assert asked(omoide, data, "set", "identity.rules", "Knock.", "Wait.")["outcome"] == "written"
    fields = asked(omoide, data, "show")["layers"]["identity"]["fields"]
    assert fields["rules"]["lines"] == ["Knock.", "Wait."]
    assert asked(omoide, data, "set", "identity.rules")["error"] is None
    fields = asked(omoide, data, "show")["layers"]["identity"]["fields"]
    assert fields["rules"]["origin"] == "file"


def test_a_proposal_is_decided(omoide: Omoide, tmp_path: Path) -> None:
    data = tmp_path / "state"
    for line in ("You whisper.", "You shout."):
        assert asked(omoide, data, "propose", "identity.voice", line)["outcome"] == "proposed"
    first, second = asked(omoide, data, "show")["proposals"]
    assert "You whisper." in omoide("persona", "show", "--data", data).stdout
    voice = asked(omoide, data, "show")["layers"]["identity"]["fields"]["voice"]["lines"]
    accepted = asked(omoide, data, "accept", first["id"][:12])
    assert accepted["proposal"]["field"] == "identity.voice"
    assert (accepted["before"], accepted["after"]) == (voice, [f"{voice[0]} You whisper."])
    assert asked(omoide, data, "reject", second["id"])["error"] is None
    assert asked(omoide, data, "reject", second["id"])["error"]["code"] == "proposal-unknown"
    shown = asked(omoide, data, "show")
    assert shown["layers"]["identity"]["fields"]["voice"]["lines"] == [f"{voice[0]} You whisper."]


def test_a_persona_moves_to_another_folder_past_its_locks(omoide: Omoide, tmp_path: Path) -> None:
    one, other, file = tmp_path / "one", tmp_path / "other", tmp_path / "persona.json"
    asked(omoide, one, "unlock", "identity.name")
    asked(omoide, one, "set", "identity.name", "Momo")
    asked(omoide, one, "set", "identity.voice", "You whisper.")
    asked(omoide, one, "export", "--out", str(file))
    assert asked(omoide, other, "import", str(file))["fields"] == {
        "identity.name": "layer-locked",
        "identity.voice": "written",
    }
    missing = asked(omoide, other, "import", str(tmp_path / "none.json"))
    assert missing["error"]["code"] == "file-unreadable"
    file.write_text('{"version": 7}')
    assert asked(omoide, other, "import", str(file))["error"]["code"] == "layers-newer"


def test_a_field_without_its_layer_is_named(omoide: Omoide, tmp_path: Path) -> None:
    assert asked(omoide, tmp_path, "set", "name", "Momo")["error"]["code"] == "usage-invalid"
    unknown = asked(omoide, tmp_path, "lock", "identity.nickname")["error"]
    assert unknown["code"] == "layer-unknown"
    assert "identity.name" in unknown["message"]


async def test_a_folder_in_which_a_server_works_is_left_alone(tmp_path: Path) -> None:
    with lock_data(tmp_path), pytest.raises(OmoideError) as raised:
        await persona.show(Place(Config(), tmp_path), print)
    assert raised.value.code == "data-locked"


async def test_a_running_server_is_asked_over_its_api(tmp_path: Path) -> None:
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["Yes."]), FakeTts())
    told: list[str] = []
    async with running(tmp_path, engines) as server:
        place = Place(Config(), tmp_path, server.http_url)
        await persona.set_lock("identity.name", Lock.OPEN, place, told.append)
        report = await persona.set_field("identity.name", ["Momo"], place, told.append)
        assert report.data["outcome"] == "written"
        await persona.propose("identity.voice", ["You whisper."], place, told.append)
        shown = await persona.show(place, told.append)
        proposals: Any = shown.data["proposals"]
        [proposal] = proposals
        await persona.decide(proposal["id"], place, told.append, accept=True)
        await persona.export(tmp_path / "out.json", place, told.append)
        report = await persona.take_over(tmp_path / "out.json", place, told.append)
        assert report.data["fields"] == {
            "identity.name": "unchanged",
            "identity.voice": "unchanged",
        }


def test_what_a_proposal_takes_the_place_of_is_said(omoide: Omoide, tmp_path: Path) -> None:
    data = tmp_path / "state"
    omoide("persona", "unlock", "identity.name", "--data", data)
    asked(omoide, data, "propose", "identity.name", "Momo")
    [proposal] = asked(omoide, data, "show")["proposals"]
    printed = omoide("persona", "accept", proposal["id"], "--data", data).stdout
    assert "before: Omo" in printed
    assert "now:    Momo" in printed
