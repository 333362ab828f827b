"""Memory over HTTP: listing, searching, showing, exporting, drawing and forgetting."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from server.config import RecordingSection
from server.errors import OmoideError
from server.memory.models import Fact
from server.recording import RECORDINGS, Recorder, recordings_of
from server.turn import Kept, Recalled, Recollection
from tests.doors.premises import FROM_AFAR, Doors, open_doors
from tests.memory.remembering import fact, turn

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
CAT = "猫のタマを飼ってるよ。"
NOTHING_DRAWN = {"stored": [], "waiting": 0, "interrupted": False}


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with open_doors(tmp_path, http=True, retrieval={"gate": 0.0}) as opened:
        yield opened


async def ask(doors: Doors, method: str, path: str, **options: Any) -> tuple[int, Any]:
    async with doors.web() as web:
        answer = await web.request(method, path, **options)
    return answer.status_code, answer.json()


async def told(doors: Doors, *said: str, person: str = "hana") -> list[dict[str, Any]]:
    for number, text in enumerate(said):
        doors.app.memory.turn_finished(turn(text, NOON + timedelta(minutes=number), person))
    status, answer = await ask(doors, "POST", "/api/debug/extract", json={"person": person})
    assert status == 200
    stored: list[dict[str, Any]] = answer["stored"]
    return stored


async def test_facts_are_drawn_at_once_and_returned(doors: Doors) -> None:
    [stored] = await told(doors, CAT, "おはよう。")
    assert (stored["quote"], stored["person"], stored["origin"]) == (CAT, "hana", "rules")
    assert await ask(doors, "POST", "/api/debug/extract", json={}) == (200, NOTHING_DRAWN)


async def test_what_is_known_can_be_listed_shown_and_exported(doors: Doors) -> None:
    [stored] = await told(doors, CAT)
    assert await ask(doors, "GET", "/api/memory/persons") == (200, {"persons": ["hana"]})
    assert await ask(doors, "GET", "/api/memory/hana/facts") == (
        200,
        {"facts": [stored], "waiting": 0},
    )
    assert await ask(doors, "GET", f"/api/memory/facts/{stored['id']}") == (200, stored)
    _, everything = await ask(doors, "GET", "/api/memory/hana/export")
    assert everything["facts"] == [stored]
    assert [page["said"] for page in everything["pages"]] == [CAT]
    assert everything["pages"][0]["at"] == NOON.isoformat()


async def test_a_fact_can_be_corrected_by_hand(doors: Doors) -> None:
    [stored] = await told(doors, CAT)
    path = f"/api/memory/facts/{stored['id']}"
    status, right = await ask(doors, "PUT", path, json={"text": "ポチという犬を飼ってるよ。"})
    assert status == 200
    assert (right["origin"], right["person"], right["sources"]) == ("hand", "hana", [])
    assert "ポチという犬" in right["text"]
    _, listed = await ask(doors, "GET", "/api/memory/hana/facts")
    assert listed["facts"] == [right]
    status, refused = await ask(doors, "PUT", path, json={"text": "鳥を飼ってるよ。"})
    assert (status, refused["error"]["code"]) == (409, "fact-replaced")
    status, refused = await ask(
        doors, "PUT", "/api/memory/facts/nothing", json={"text": "鳥を飼ってるよ。"}
    )
    assert (status, refused["error"]["code"]) == (404, "fact-unknown")
    status, _ = await ask(doors, "PUT", f"/api/memory/facts/{right['id']}", json={"text": "  "})
    assert status == 422
    status, _ = await ask(
        doors, "PUT", f"/api/memory/facts/{right['id']}", json={"text": "体重 < 50 kg"}
    )
    assert status == 422
    found = await doors.app.memory.recall("hana", "犬の名前は？", "ja")
    assert [line.id for line in found.lines] == [right["id"]]


async def test_replaced_facts_are_listed_only_on_request(doors: Doors) -> None:
    old, new = fact("あなたは東京に住んでいる。", NOON), fact("あなたは大阪に住んでいる。", NOON)
    doors.app.memory._store.add_facts([old, new], NOON, superseded={old.id: new.id})
    _, current = await ask(doors, "GET", "/api/memory/hana/facts")
    _, everything = await ask(doors, "GET", "/api/memory/hana/facts?superseded=true")
    assert [each["text"] for each in current["facts"]] == [new.text]
    assert {each["text"]: each["superseded_by"] for each in everything["facts"]} == {
        old.text: new.id,
        new.text: None,
    }


async def test_a_search_shows_every_score_and_why_something_was_left_out(doors: Doors) -> None:
    await told(doors, CAT, "明日は箱根に行くんだ。")
    status, found = await ask(
        doors, "GET", "/api/memory/hana/search", params={"q": "猫の名前は？", "limit": 5}
    )
    assert status == 200
    assert len(found["candidates"]) == 2
    for candidate in found["candidates"]:
        assert {"dense", "lexical", "recency", "date", "final"} <= candidate["scores"].keys()
        assert isinstance(candidate["passed"], bool)
        assert {"dense", "paired"} <= candidate["signs"].keys()
    assert "タマ" in found["candidates"][0]["text"]
    _, nothing = await ask(doors, "GET", "/api/memory/taro/search", params={"q": "猫"})
    assert nothing == {"candidates": []}


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"q": ""},
        {"q": "猫" * 1001},
        {"q": "猫", "language": "japanese"},
        {"q": "猫", "limit": "0"},
        {"q": "猫", "at": "tomorrow"},
        {"q": "猫", "at": "2026-09-27T12:00:00"},
        {"q": "猫", "at": "2026"},
        {"q": "猫", "at": "0001-01-01T00:00:00+14:00"},
        {"q": "猫", "at": "9999-12-31T23:59:59-14:00"},
    ],
)
async def test_a_search_that_makes_no_sense_is_refused(doors: Doors, query: dict[str, str]) -> None:
    status, answer = await ask(doors, "GET", "/api/memory/hana/search", params=query)
    assert 400 <= status < 500
    assert answer["error"]["message"]


async def test_a_question_can_be_put_as_at_another_time(doors: Doors) -> None:
    await told(doors, CAT)
    later = {"q": "猫", "at": (NOON + timedelta(days=14)).isoformat()}
    _, found = await ask(doors, "GET", "/api/memory/hana/search", params=later)
    assert found["candidates"][0]["scores"]["recency"] == pytest.approx(0.05 / 2.71828, abs=0.001)


async def test_a_forgotten_fact_is_gone(doors: Doors) -> None:
    [stored] = await told(doors, CAT)
    path = f"/api/memory/facts/{stored['id']}"
    assert await ask(doors, "DELETE", path) == (200, {"forgotten": 1})
    for method in ("GET", "DELETE"):
        status, answer = await ask(doors, method, path)
        assert (status, answer["error"]["code"]) == (404, "fact-unknown")


async def test_a_forgotten_person_is_gone(doors: Doors) -> None:
    await told(doors, CAT)
    await told(doors, "犬を飼ってるよ。", person="taro")
    assert await ask(doors, "DELETE", "/api/memory/hana") == (200, {"forgotten": 1})
    assert await ask(doors, "GET", "/api/memory/persons") == (200, {"persons": ["taro"]})


async def test_the_index_can_be_made_anew(doors: Doors) -> None:
    await told(doors, CAT)
    assert await ask(doors, "POST", "/api/memory/hana/reindex", json={}) == (200, {"embedded": 0})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/memory/persons"),
        ("GET", "/api/memory/hana/facts"),
        ("GET", "/api/memory/hana/search?q=x"),
        ("GET", "/api/memory/hana/export"),
        ("DELETE", "/api/memory/hana"),
        ("POST", "/api/debug/extract"),
    ],
)
async def test_strangers_see_nothing_of_it(doors: Doors, method: str, path: str) -> None:
    await told(doors, CAT)
    status, answer = await ask(doors, method, path, headers=FROM_AFAR)
    assert status in (401, 403)
    assert "タマ" not in str(answer)
    assert len((await ask(doors, "GET", "/api/memory/hana/facts"))[1]["facts"]) == 1


async def test_a_body_that_is_not_understood_is_refused(doors: Doors) -> None:
    bodies: tuple[object, ...] = ({"who": "hana"}, {"person": 7}, [])
    for body in bodies:
        status, _ = await ask(doors, "POST", "/api/debug/extract", json=body)
        assert status in (400, 422)
    as_json = {"content-type": "application/json"}
    half = b'{"person": "\\ud800"}'
    answer = await ask(doors, "POST", "/api/debug/extract", content=half, headers=as_json)
    assert answer == (200, NOTHING_DRAWN)


@pytest.mark.parametrize(
    "name",
    ["はな 子?&#", "Mum/Dad", "facts", "a/facts", "persons", "facts/x", "/", "a%2Fb", "x/search"],
)
async def test_names_with_signs_in_them_are_names(doors: Doors, name: str) -> None:
    await told(doors, CAT, person=name)
    way = f"/api/memory/{quote(name, safe='')}"
    _, answer = await ask(doors, "GET", f"{way}/facts")
    assert [each["quote"] for each in answer["facts"]] == [CAT]
    assert await ask(doors, "DELETE", way) == (200, {"forgotten": 1})


async def test_a_forgotten_persons_recordings_and_last_turns_are_gone_too(doors: Doors) -> None:
    await told(doors, CAT)
    own = recordings_of(doors.app.data / RECORDINGS, "hana")
    (own / "2026-05-03").mkdir(parents=True)
    (own / "2026-05-03" / "120000-abc.said.wav").write_text("sound")
    doors.app.recent.turn_finished(turn(CAT, NOON, "hana"))
    assert (await ask(doors, "DELETE", "/api/memory/hana"))[0] == 200
    assert not own.exists()
    assert doors.app.recent.list() == []


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("store-full", 507),
        ("store-locked", 503),
        ("recordings-undeletable", 503),
        ("llm-timeout", 504),
        ("llm-refused", 502),
        ("extraction-failed", 502),
    ],
)
async def test_what_the_store_or_a_model_can_not_do_is_no_fault_of_the_caller(
    doors: Doors, monkeypatch: pytest.MonkeyPatch, code: str, status: int
) -> None:
    async def fails(person: str | None = None, *, put_off: bool = False) -> list[Fact]:
        raise OmoideError(code, "Say what to do.")

    monkeypatch.setattr(doors.app.memory, "extract", fails)
    answered, answer = await ask(doors, "POST", "/api/debug/extract", json={})
    assert (answered, answer["error"]["code"]) == (status, code)


async def test_a_forgotten_fact_is_in_no_turn_and_no_recording(doors: Doors) -> None:
    recorder = Recorder(doors.app.data / RECORDINGS, RecordingSection(keep_turns=True))
    said, before = turn(CAT, NOON, id_="said"), turn("前の話", id_="before")
    asked, later = turn("名前は何だっけ？", id_="asked"), turn("元気？", id_="later")
    doors.app.memory.turn_finished(said)
    [stored] = await told(doors)
    asked.recalled = Recollection((Recalled(stored["text"], NOON, 0.9, id=stored["id"]),))
    for each in (said, asked, later, before):
        recorder.turn_finished(each)
        doors.app.recent.turn_finished(each)
    sound = next((doors.app.data / RECORDINGS).rglob("*-said.json")).with_suffix(".said.wav")
    sound.write_text("sound")
    with doors.app.turns.record("robot", "hana") as running:
        running.recalled = asked.recalled
        await ask(doors, "DELETE", f"/api/memory/facts/{stored['id']}")
        assert running.kept is Kept.WORDS
    assert [each.id for each in doors.app.recent.list()] == ["later", "before"]
    left = [file.stem for file in (doors.app.data / RECORDINGS).rglob("*") if file.is_file()]
    assert sorted(one.partition("-")[2] for one in left) == ["before", "later"]


async def test_a_person_whose_name_looks_like_the_way_to_a_fact_is_no_way_to_it(
    doors: Doors,
) -> None:
    [stored] = await told(doors, CAT)
    name = f"facts/{stored['id']}"
    await told(doors, "犬を飼ってるよ。", person=name)
    way = f"/api/memory/{quote(name, safe='')}"
    _, theirs = await ask(doors, "GET", f"{way}/facts")
    assert [each["person"] for each in theirs["facts"]] == [name]
    assert (await ask(doors, "GET", way))[0] == 405
    assert await ask(doors, "DELETE", way) == (200, {"forgotten": 1})
    assert await ask(doors, "GET", f"/api/memory/facts/{stored['id']}") == (200, stored)


async def test_what_waits_for_facts_to_be_drawn_can_be_seen(doors: Doors) -> None:
    memory = doors.app.memory
    for number, person in enumerate(("hana", "hana", "taro")):
        memory.turn_finished(turn(f"{number}番目の猫を飼ってるよ。", NOON, person))
    await memory._writer.settle()
    _, listed = await ask(doors, "GET", "/api/memory/hana/facts")
    assert listed == {"facts": [], "waiting": 2}
    _, drawn = await ask(doors, "POST", "/api/debug/extract", json={"person": "hana"})
    assert (len(drawn["stored"]), drawn["waiting"]) == (2, 0)
    assert await memory.archive.waiting() == 1
