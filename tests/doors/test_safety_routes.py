"""Safety events over HTTP: listed, reviewed, put into a note; and only for those who may use the API."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from server.api_keys import ApiKeys
from server.grants import Grant, Scope
from server.memory.safety.noticing import notice
from tests.doors.premises import FROM_AFAR, Doors, open_doors
from tests.memory.remembering import NOON, page, turn


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with open_doors(tmp_path, http=True) as opened:
        yield opened


async def ask(doors: Doors, method: str, path: str, **options: Any) -> tuple[int, Any]:
    async with doors.web() as web:
        answer = await web.request(method, path, **options)
    return answer.status_code, answer.json()


async def told(doors: Doors, said: str, person: str = "hana") -> dict[str, Any]:
    doors.app.memory.safety.heed(turn(said, NOON, person))
    _, answer = await ask(doors, "GET", "/api/safety/events", params={"person": person})
    event: dict[str, Any] = answer["events"][-1]
    return event


async def test_an_event_is_listed_acknowledged_and_closed(doors: Doors) -> None:
    event = await told(doors, "今朝から胸が痛いの。")
    await told(doors, "転んじゃった。", "ken")
    assert (event["quote"], event["kind"], event["state"]) == (
        "今朝から胸が痛いの。",
        "symptom",
        "open",
    )
    path = f"/api/safety/events/{event['id']}"
    status, seen = await ask(doors, "POST", f"{path}/acknowledge", json={"by": "Ito"})
    assert (status, seen["state"], seen["reviews"][0]["by"]) == (200, "acknowledged", "Ito")
    _, closed = await ask(doors, "POST", f"{path}/close", json={"by": "Sato", "note": "ECG fine"})
    assert [review["by"] for review in closed["reviews"]] == ["Ito", "Sato"]
    assert await ask(doors, "GET", path) == (200, closed)
    _, still_open = await ask(doors, "GET", "/api/safety/events", params={"state": "open"})
    assert [one["person"] for one in still_open["events"]] == ["ken"]


async def test_a_note_holds_the_very_words_and_leaves_the_rest_to_a_human(doors: Doors) -> None:
    await told(doors, "今朝から胸が痛いの。")
    await told(doors, "頭が痛い。", "ken")
    _, note = await ask(doors, "GET", "/api/safety/hana/soap")
    assert [one["quote"] for one in note["subjective"]] == ["今朝から胸が痛いの。"]
    assert note["subjective"][0]["at"] == NOON.isoformat()
    assert (note["objective"], note["assessment"], note["plan"]) == ([], "", "")
    assert "Not a clinical record" in note["notice"]
    later = {"since": "2027-01-01T00:00:00+00:00"}
    _, empty = await ask(doors, "GET", "/api/safety/hana/soap", params=later)
    assert empty["subjective"] == []


async def test_an_unknown_event_and_a_review_by_nobody_are_refused(doors: Doors) -> None:
    status, answer = await ask(
        doors, "POST", "/api/safety/events/nothing/close", json={"by": "Ito"}
    )
    assert (status, answer["error"]["code"]) == (404, "event-unknown")
    event = await told(doors, "胸が痛いの。")
    path = f"/api/safety/events/{event['id']}/close"
    status, _ = await ask(doors, "POST", path, json={"by": ""})
    assert status == 422
    status, _ = await ask(doors, "GET", "/api/safety/events", params={"state": "lost"})
    assert status == 422


async def test_from_afar_events_are_told_to_nobody_without_the_token(doors: Doors) -> None:
    event = await told(doors, "胸が痛いの。")
    async with doors.web() as web:
        for path in ("events", f"events/{event['id']}", "hana/soap"):
            answer = await web.get(f"/api/safety/{path}", headers=FROM_AFAR)
            assert answer.status_code == 401
            assert "胸" not in answer.text


async def test_who_is_forgotten_has_no_events_and_who_asks_gets_all(doors: Doors) -> None:
    event = await told(doors, "胸が痛いの。")
    _, everything = await ask(doors, "GET", "/api/memory/hana/export")
    assert everything["safety"] == [event]
    await ask(doors, "DELETE", "/api/memory/hana")
    assert await ask(doors, "GET", "/api/safety/events") == (200, {"events": []})


async def two_alike(doors: Doors) -> None:
    """Keep an event of each of two persons, with ids that begin alike."""
    memory = doors.app.memory
    [event] = notice(page("I fell in the bath.", language="en", id_="p1"))
    alike = [replace(event, id=f"abc{person}", person=person) for person in ("hana", "ken")]
    await memory._writer.run(lambda: memory._store.safety.add(alike))


async def test_an_event_is_named_by_as_much_of_its_id_as_no_other_has(doors: Doors) -> None:
    await two_alike(doors)
    status, event = await ask(doors, "GET", "/api/safety/events/abch")
    assert (status, event["id"]) == (200, "abchana")
    status, event = await ask(doors, "POST", "/api/safety/events/abcke/close", json={"by": "Ito"})
    assert (status, event["person"], event["state"]) == (200, "ken", "closed")
    status, answer = await ask(doors, "GET", "/api/safety/events/abc")
    assert (status, answer["error"]["code"]) == (409, "id-ambiguous")
    assert "abchana, abcken" in answer["error"]["message"]
    status, answer = await ask(doors, "GET", "/api/safety/events/%25")  # no pattern is meant
    assert status == 404


async def test_what_begins_alike_and_is_out_of_reach_is_neither_meant_nor_told(
    doors: Doors, tmp_path: Path
) -> None:
    await two_alike(doors)
    grant = Grant(Scope.ADMIN, frozenset({"ken"}))
    key = ApiKeys({}, tmp_path).make("ken", grant, NOON)
    headers = {"Authorization": f"Bearer {key}"}
    status, event = await ask(doors, "GET", "/api/safety/events/abc", headers=headers)
    assert (status, event["person"]) == (200, "ken")
    status, _ = await ask(doors, "GET", "/api/safety/events/abch", headers=headers)
    assert status == 404
    status, _ = await ask(doors, "GET", "/api/safety/webhooks", headers=headers)
    assert status == 403


async def test_the_webhooks_say_how_they_stand_and_no_address_that_opens_them(
    tmp_path: Path,
) -> None:
    hook = {"url": "https://u:pw@chat.example/services/T0/secret-path", "persons": ["hana"]}
    config: dict[str, Any] = {"safety": {"webhooks": {"nurse": hook}}}
    async with open_doors(tmp_path, http=True, **config) as doors:
        await told(doors, "転んじゃった。")
        await doors.app.memory.outbox.take_up()
        _, answer = await ask(doors, "GET", "/api/safety/webhooks")
        [webhook] = answer["webhooks"]
        assert (webhook["waiting"], webhook["persons"]) == (1, ["hana"])
        _, shown = await ask(doors, "GET", "/api/config")
        for text in (str(answer), str(shown)):
            assert "https://chat.example" in text
            assert "secret-path" not in text
            assert "pw@" not in text


async def test_a_webhook_is_tried_out(tmp_path: Path) -> None:
    taken: list[bytes] = []

    async def take(stream: SocketStream) -> None:
        async with stream:
            taken.append(await stream.receive())
            await stream.send(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    port = listener.extra(SocketAttribute.local_port)
    config: dict[str, Any] = {
        "safety": {"webhooks": {"nurse": {"url": f"http://127.0.0.1:{port}/hook"}}}
    }
    async with (
        open_doors(tmp_path, http=True, **config) as doors,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, take)
        came = await ask(doors, "POST", "/api/safety/webhooks/nurse/test", json={})
        tasks.cancel_scope.cancel()
    await listener.aclose()
    assert came == (200, {"webhook": "nurse", "ok": True, "code": ""})
    assert taken[0].startswith(b"POST /hook ")
    async with open_doors(tmp_path / "other", http=True, **config) as doors:
        status, answer = await ask(doors, "POST", "/api/safety/webhooks/son/test", json={})
        assert (status, answer["error"]["code"]) == (404, "webhook-unknown")
        _, answer = await ask(doors, "POST", "/api/safety/webhooks/nurse/test", json={})
        assert answer == {"webhook": "nurse", "ok": False, "code": "unreachable"}
