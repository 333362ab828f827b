"""Consent over HTTP."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.doors.premises import Doors, open_doors
from tests.memory.remembering import turn

PENSION = "My pension is too small."


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with open_doors(tmp_path, http=True) as opened:
        yield opened


async def ask(doors: Doors, method: str, path: str, **options: Any) -> tuple[int, Any]:
    async with doors.web() as web:
        answer = await web.request(method, path, **options)
    return answer.status_code, answer.json()


async def test_a_person_can_be_taken_off_the_record_and_put_back(doors: Doors) -> None:
    path = "/api/memory/hana/consent"
    assert (await ask(doors, "GET", path))[1]["memory"] == "on"
    status, answer = await ask(doors, "PUT", path, json={"memory": "off"})
    assert (status, answer["memory"]) == (200, "off")
    assert doors.app.memory.consenting.withholds("hana")
    assert not (await doors.app.memory.recall("hana", "Hello?", "en")).is_allowed
    await ask(doors, "PUT", path, json={"memory": "on"})
    assert not doors.app.memory.consenting.withholds("hana")


async def test_what_waits_is_shown_and_settled(doors: Doors) -> None:
    memory, path = doors.app.memory, "/api/memory/hana/consent"
    for number in range(2):
        said = turn(PENSION, language="en", id_=f"t{number}")
        memory.consenting.judge(said)
        assert said.withheld == (PENSION,)
    await memory.extract()
    _, answer = await ask(doors, "GET", path)
    first, second = answer["pending"]
    assert (first["text"], first["category"]) == (PENSION, "money")
    change = {"accept": [first["id"]], "reject": [second["id"]], "policies": {"money": "keep"}}
    _, after = await ask(doors, "PUT", path, json=change)
    assert (after["pending"], after["policies"]["money"]) == ([], "keep")


@pytest.mark.parametrize(
    "body",
    [
        {"memory": "maybe"},
        {"policies": {"weather": "keep"}},
        {"policies": {"money": "x"}},
        {"x": 1},
    ],
)
async def test_a_decision_that_makes_no_sense_changes_nothing(
    body: dict[str, object], doors: Doors
) -> None:
    status, _ = await ask(doors, "PUT", "/api/memory/hana/consent", json=body)
    assert status == 422
    assert (await ask(doors, "GET", "/api/memory/hana/consent"))[1]["memory"] == "on"


@pytest.mark.parametrize("person", ["a%2Fb", "..%2F..%2Fetc", "%00", "%20", "x" * 3000, "花子"])
async def test_a_name_of_whatever_letters_stands_for_one_person_only(
    person: str, doors: Doors
) -> None:
    status, answer = await ask(
        doors, "PUT", f"/api/memory/{person}/consent", json={"memory": "off"}
    )
    assert status in {200, 404, 414, 422}
    if status == 200:
        assert answer["memory"] == "off"
    assert (await ask(doors, "GET", "/api/memory/hana/consent"))[1]["memory"] == "on"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        '{"memory": 1}',
        '{"accept": "p1"}',
        '{"accept": [1]}',
        '{"policies": []}',
        "{",
    ],
)
async def test_a_body_that_is_no_decision_is_refused(body: str, doors: Doors) -> None:
    headers = {"content-type": "application/json"}
    path = "/api/memory/hana/consent"
    status, _ = await ask(doors, "PUT", path, content=body, headers=headers)
    assert status in {400, 422}
    assert (await ask(doors, "GET", path))[1]["memory"] == "on"


async def test_what_waits_is_stored_once_however_many_accept_it_and_by_its_owner_only(
    doors: Doors,
) -> None:
    memory, path = doors.app.memory, "/api/memory/hana/consent"
    memory.consenting.judge(turn(PENSION, language="en", id_="t0"))
    [waiting] = (await memory.consenting.standing("hana")).pending
    change = {"accept": [waiting.id, waiting.id, "no-such", "' OR 1=1 --"]}
    await ask(doors, "PUT", "/api/memory/taro/consent", json=change)
    assert len((await memory.consenting.standing("hana")).pending) == 1
    async with anyio.create_task_group() as tasks:
        for number in range(8):
            decision = change if number % 2 else {"reject": change["accept"]}
            tasks.start_soon(partial(ask, doors, "PUT", path, json=decision))
    pages = await memory.archive.pages("hana")
    assert [page.said for page in pages] in ([], [PENSION])
    assert (await ask(doors, "GET", path))[1]["pending"] == []


async def test_the_last_of_many_decisions_at_once_holds_in_the_store_as_in_mind(
    doors: Doors,
) -> None:
    consenting = doors.app.memory.consenting
    path = "/api/memory/hana/consent"
    async with anyio.create_task_group() as tasks:
        for number in range(12):
            state = ("on", "off", "talk")[number % 3]
            tasks.start_soon(partial(ask, doors, "PUT", path, json={"memory": state}))
    in_mind = (await consenting.standing("hana")).state
    consenting.load()
    assert (await consenting.standing("hana")).state is in_mind
