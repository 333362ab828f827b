"""Forgetting, its record, and import over HTTP: the same as on the command line."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.premises import Doors, open_doors
from tests.doors.test_memory_routes import CAT, NOON, ask, told

FORGET = "/api/memory/forget"


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    async with open_doors(tmp_path, http=True, retrieval={"gate": 0.0}) as opened:
        yield opened


async def said(doors: Doors, person: str = "hana") -> list[str]:
    _, everything = await ask(doors, "GET", f"/api/memory/{person}/export")
    return [page["said"] for page in everything["pages"]]


async def test_what_would_go_is_shown_before_it_goes(doors: Doors) -> None:
    [stored, _] = await told(doors, CAT, "母は胃がんなんだ。")
    wanted: dict[str, Any] = {"person": "hana", "words": "胃がん"}
    status, would = await ask(doors, "POST", FORGET, json={**wanted, "dry_run": True})
    assert status == 200
    assert (would["dry_run"], would["kind"], would["persons"]) == (True, "words", ["hana"])
    assert would["counts"]["facts"] == 1
    assert any("胃がん" in example for example in would["examples"])
    assert len(await said(doors)) == 2
    status, went = await ask(doors, "POST", FORGET, json=wanted)
    assert (status, went["counts"], went["examples"]) == (200, would["counts"], [])
    assert await said(doors) == [CAT]
    _, listed = await ask(doors, "GET", "/api/memory/hana/facts")
    assert [one["id"] for one in listed["facts"]] == [stored["id"]]
    _, record = await ask(doors, "GET", "/api/memory/audit")
    [entry] = record["entries"]
    assert (entry["actor"], entry["kind"], entry["count"]) == ("api", "words", went["total"])
    assert entry.keys() == {"at", "actor", "kind", "count"}


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({}, "usage-invalid"),
        ({"page": "p", "words": "x"}, "usage-invalid"),
        ({"person": "nobody"}, "person-unknown"),
        ({"facts": ["f9"]}, "fact-unknown"),
        ({"page": "p9"}, "page-unknown"),
        ({"day": "2026-13-40"}, None),
        ({"words": "x" * 2000}, None),
        ({"everything": True}, None),
    ],
)
async def test_what_is_named_wrongly_is_refused(
    doors: Doors, wanted: dict[str, Any], code: str | None
) -> None:
    await told(doors, CAT)
    status, refused = await ask(doors, "POST", FORGET, json=wanted)
    assert status >= 400
    assert code is None or refused["error"]["code"] == code
    assert await said(doors) == [CAT]


async def test_a_day_and_an_exchange_are_forgotten(doors: Doors) -> None:
    await told(doors, CAT, "犬も飼っているよ。")
    _, everything = await ask(doors, "GET", "/api/memory/hana/export")
    first = everything["pages"][0]["id"]
    assert (await ask(doors, "POST", FORGET, json={"page": first}))[1]["counts"]["exchanges"] == 1
    assert await said(doors) == ["犬も飼っているよ。"]
    day = {"person": "hana", "day": NOON.date().isoformat()}
    assert (await ask(doors, "POST", FORGET, json=day))[1]["counts"]["exchanges"] == 1
    assert await said(doors) == []


async def test_an_export_is_read_back_without_what_was_forgotten(doors: Doors) -> None:
    await told(doors, CAT, "犬も飼っているよ。")
    _, everything = await ask(doors, "GET", "/api/memory/hana/export")
    await ask(doors, "POST", FORGET, json={"page": everything["pages"][0]["id"]})
    way = "/api/memory/hana/import"
    status, imported = await ask(doors, "POST", way, json=everything)
    assert (status, imported["counts"].get("facts"), imported["known"]) == (200, None, 2)
    assert imported["forgotten"] >= 2
    status, imported = await ask(doors, "POST", f"{way}?forgotten=true", json=everything)
    assert (status, imported["counts"]["facts"], imported["forgotten"]) == (200, 1, 0)
    assert sorted(await said(doors)) == sorted([CAT, "犬も飼っているよ。"])
    broken = {**everything, "facts": [{"id": "x"}]}
    status, refused = await ask(doors, "POST", way, json=broken)
    assert (status, refused["error"]["code"]) == (422, "import-invalid")
    assert "facts[0].text" in refused["error"]["message"]
