"""Consent over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

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
