"""The persona over HTTP: showing it, changing what is not locked, and deciding about what is proposed."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from server.memory.layers.fields import FieldKey
from tests.doors.premises import FROM_AFAR, Doors, open_doors
from tests.doors.test_memory_routes import ask
from tests.memory.remembering import turn

NAMED = "From now on your name is Momo."


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with open_doors(tmp_path, http=True) as opened:
        yield opened


def name_of(doors: Doors) -> str:
    return doors.app.layers.persona().fields[FieldKey.NAME].text


async def test_every_field_is_shown_with_its_lock(doors: Doors) -> None:
    status, shown = await ask(doors, "GET", "/api/persona")
    assert (status, shown["agent"], shown["proposals"]) == (200, "Omo", [])
    assert list(shown["layers"]) == ["soul", "identity"]
    assert shown["layers"]["identity"]["fields"]["name"] == {
        "lines": ["Omo (オモ)"],
        "lock": "locked",
        "origin": "file",
    }


async def test_a_field_is_unlocked_changed_and_locked_again(doors: Doors) -> None:
    path = "/api/persona/identity/name"
    status, refused = await ask(doors, "PUT", path, json={"value": "Momo"})
    assert (status, refused["error"]["code"]) == (409, "layer-locked")
    assert (await ask(doors, "PUT", f"{path}/lock", json={"lock": "open"}))[0] == 200
    assert await ask(doors, "PUT", path, json={"value": "Momo"}) == (200, {"outcome": "written"})
    assert name_of(doors) == "Momo"
    assert (await ask(doors, "PUT", f"{path}/lock", json={"lock": "locked"}))[0] == 200
    assert (await ask(doors, "PUT", path, json={"value": "Evil"}))[0] == 409
    assert name_of(doors) == "Momo"


async def test_a_proposal_is_accepted_or_rejected(doors: Doors) -> None:
    path = "/api/persona/identity/voice/propose"
    for value in ("You whisper.", "You shout."):
        assert await ask(doors, "POST", path, json={"value": value}) == (
            200,
            {"outcome": "proposed"},
        )
    _, shown = await ask(doors, "GET", "/api/persona")
    first, second = (f"/api/persona/proposals/{proposal['id']}" for proposal in shown["proposals"])
    assert (await ask(doors, "POST", f"{first}/accept", json={}))[0] == 200
    assert (await ask(doors, "POST", f"{second}/reject", json={}))[0] == 200
    status, refused = await ask(doors, "POST", f"{first}/accept", json={})
    assert (status, refused["error"]["code"]) == (404, "proposal-unknown")
    _, shown = await ask(doors, "GET", "/api/persona")
    assert shown["layers"]["identity"]["fields"]["voice"]["lines"][0].endswith("ぼく. You whisper.")
    assert shown["proposals"] == []


@pytest.mark.parametrize(
    ("path", "value", "status", "code"),
    [
        ("user/name", "Momo", 422, "layer-view"),
        ("soul/name", "Momo", 404, "layer-unknown"),
        ("identity/na%2Fme", "Momo", 404, "layer-unknown"),
        ("identity/voice", "x" * 241, 422, "layer-too-long"),
        ("identity/voice", ["a", "b"], 422, "layer-too-many"),
        ("identity/voice", "Soft. Name: Momo", 422, "layer-misfiled"),
        ("identity/voice", 3, 422, "request-invalid"),
        ("identity/voice", "\u200b\n", 422, "layer-empty"),
    ],
)
async def test_what_can_not_be_written_is_named(
    doors: Doors, path: str, value: Any, status: int, code: str
) -> None:
    answered, refused = await ask(doors, "PUT", f"/api/persona/{path}", json={"value": value})
    assert (answered, refused["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PUT", "", {"fields": {"identity.voice": ["x"]}, "version": 1}),
        ("GET", "/container", None),
        ("PUT", "/identity/voice", {"value": "You hiss."}),
        ("PUT", "/identity/name/lock", {"lock": "open"}),
        ("POST", "/identity/voice/propose", {"value": "You hiss."}),
        ("POST", "/proposals/x/accept", {}),
        ("POST", "/proposals/x/reject", {}),
        ("POST", "/draw", {"layer": "identity", "person": "hana"}),
    ],
)
async def test_whoever_has_no_token_learns_and_changes_nothing(
    doors: Doors, method: str, path: str, body: Any
) -> None:
    before = doors.app.layers.persona()
    options = {"headers": FROM_AFAR, **({"json": body} if body is not None else {})}
    status, refused = await ask(doors, method, f"/api/persona{path}", **options)
    assert (status, list(refused)) == (401, ["error"])
    assert doors.app.layers.persona() == before
    assert not doors.app.layers.proposals(None)


async def test_a_persona_is_exported_and_taken_over(doors: Doors) -> None:
    await ask(doors, "PUT", "/api/persona/identity/voice", json={"value": "You whisper."})
    status, container = await ask(doors, "GET", "/api/persona/container")
    assert (status, container["version"]) == (200, 1)
    container["fields"] |= {"identity.name": ["Evil"], "identity.voice": ["You sing."]}
    _, became = await ask(doors, "PUT", "/api/persona", json=container)
    assert became == {"fields": {"identity.name": "layer-locked", "identity.voice": "written"}}
    status, refused = await ask(doors, "PUT", "/api/persona", json={"version": 99})
    assert (status, refused["error"]["code"]) == (422, "layers-newer")
    assert name_of(doors) == "Omo (オモ)"


async def test_one_layer_is_drawn_from_the_last_talk(doors: Doors) -> None:
    await ask(doors, "PUT", "/api/persona/identity/name/lock", json={"lock": "proposed"})
    doors.app.memory.turn_finished(turn(NAMED, language="en"))
    entry = {"field": "identity.name", "value": "Momo", "turn": 1, "quote": NAMED}
    doors.app.llm.background_scripts = [[json.dumps({"persona": [entry]})]]
    status, drawn = await ask(
        doors, "POST", "/api/persona/draw", json={"layer": "identity", "person": "hana"}
    )
    assert (status, drawn) == (
        200,
        {"asked": [{"field": "identity.name", "value": "Momo", "outcome": "proposed"}]},
    )


async def test_the_user_layer_is_a_view_of_what_is_known(doors: Doors) -> None:
    said = [
        "私の名前はハナです。",
        "私はコーヒーが大好きだよ。",
        "来週、京都に行く予定だよ。",
    ]
    for minutes, text in enumerate(said):
        at = doors.app.clock.now() + timedelta(minutes=20 * minutes)
        doors.app.memory.turn_finished(turn(text, at))
    await ask(doors, "POST", "/api/debug/extract", json={"person": "hana"})
    status, user = await ask(doors, "GET", "/api/memory/hana/user?language=ja")
    assert (status, user["person"], user["name"]) == (200, "hana", "ハナ")
    assert any("コーヒー" in line for line in user["preferences"])
    assert any("京都" in line for line in user["goals"])
    await ask(doors, "DELETE", "/api/memory/hana")
    _, user = await ask(doors, "GET", "/api/memory/hana/user")
    assert user == {
        "person": "hana", "name": "", "traits": [], "preferences": [], "goals": [], "facts": []
    }  # fmt: skip


async def test_attempts_are_counted(doors: Doors) -> None:
    await ask(doors, "PUT", "/api/persona/identity/name", json={"value": "secret words"})
    async with doors.web() as web:
        counted = (await web.get("/metrics")).text
    wanted = (
        'omoide_layer_writes_total{by="owner",field="identity.name",outcome="layer-locked"} 1.0'
    )
    assert wanted in counted
    assert "secret" not in counted
