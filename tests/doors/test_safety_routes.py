"""Safety events over HTTP: listed, reviewed, put into a note; and only for those who may use the API."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.premises import FROM_AFAR, Doors, open_doors
from tests.memory.remembering import NOON, turn


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
    status, _ = await ask(doors, "POST", "/api/safety/events/nothing/close", json={"by": ""})
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
