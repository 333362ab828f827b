"""`omoide memory` and `omoide extract`, on a data folder and on a running server."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from typer.testing import Result

from server.commands import memory
from server.commands.forget import forget
from server.commands.reach import Place
from server.commands.report import Report
from server.config import Config
from server.conversation import Engines
from server.embedding.absent import AbsentEmbedder
from server.errors import EngineMissing, OmoideError
from server.folder_lock import lock_data
from server.memory import Memory, Page
from server.memory.extract import RulesExtractor
from server.memory.models import Fact, Importance
from server.memory.opening import open_memory
from server.memory.selecting import Selector
from server.memory.store import Store
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeClock, FakeEmbedder, FakeLlm, FakeTts, FakeVad

Omoide = Callable[..., Result]

SUNDAY = datetime.fromisoformat("2026-09-27T18:00:00+09:00")
RAMEN = Fact("f1", "Mio", "あなたは駅前の味噌ラーメンが好きだ。", "ja", SUNDAY)
GUITAR = Fact("f2", "Mio", "あなたはギターを練習している。", "ja", SUNDAY)
CAT = Fact("f3", "Ken", "You have a cat called Tama.", "en", SUNDAY)
RULES = Config.model_validate({"extraction": {"engine": "rules"}})
MODEL = Config.model_validate({"extraction": {"engine": "llm"}})


@asynccontextmanager
async def opened(data: Path) -> AsyncIterator[Memory]:
    folder = data / "memory"
    whole = open_memory(RULES, folder, FakeEmbedder(), RulesExtractor(), FakeClock(SUNDAY))
    try:
        yield whole
    finally:
        whole.close()


async def seed(data: Path, *facts: Fact) -> Path:
    async with opened(data) as whole:
        for fact in facts or (RAMEN, GUITAR, CAT):
            await whole.add([fact])
    return data


def seeded(data: Path, *facts: Fact) -> Path:
    """Seed for a command that runs a loop of its own."""
    return anyio.run(seed, data, *facts)


def place_of(data: Path) -> Place:
    return Place(RULES, data, embedder=FakeEmbedder(), clock=FakeClock(SUNDAY))


def rows(report: Report, key: str) -> list[dict[str, Any]]:
    found = report.data[key]
    assert isinstance(found, list)
    return found


def quietly(line: str) -> None:
    pass


def test_facts_are_listed_with_what_is_needed_to_name_them(omoide: Omoide, tmp_path: Path) -> None:
    data = seeded(tmp_path / "state")
    table = omoide("memory", "list", "--data", data).stdout
    everybody = json.loads(omoide("memory", "list", "--json", "--data", data).stdout)
    one = json.loads(omoide("memory", "list", "--person", "Ken", "--json", "--data", data).stdout)
    assert "f1" in table
    assert RAMEN.text in table
    assert {fact["id"] for fact in everybody["facts"]} == {"f1", "f2", "f3"}
    assert [fact["text"] for fact in one["facts"]] == [CAT.text]


def test_where_nobody_has_talked_the_list_is_empty_and_nothing_is_made(
    omoide: Omoide, tmp_path: Path
) -> None:
    result = omoide("memory", "list", "--data", tmp_path / "state")
    assert result.exit_code == 0
    assert "Nothing is known" in result.stdout
    assert not (tmp_path / "state").exists()


def test_replaced_facts_are_listed_when_asked_for(omoide: Omoide, tmp_path: Path) -> None:
    old = Fact("old", "Mio", "あなたは東京に住んでいる。", "ja", SUNDAY, superseded_by="f1")
    data = seeded(tmp_path, old, RAMEN)
    usual = json.loads(omoide("memory", "list", "--json", "--data", data).stdout)["facts"]
    result = omoide("memory", "list", "--superseded", "--json", "--data", data)
    assert [fact["id"] for fact in usual] == ["f1"]
    assert {fact["id"] for fact in json.loads(result.stdout)["facts"]} == {"f1", "old"}


@pytest.mark.parametrize(("days", "marked"), [(33, []), (35, ["tv"])])
async def test_what_has_faded_is_listed_and_marked(
    tmp_path: Path, days: float, marked: list[str]
) -> None:
    small = Fact(
        "tv", "Mio", "あなたはテレビを見た。", "ja", SUNDAY, importance=Importance.FLEETING
    )
    data = await seed(tmp_path, small, GUITAR)
    lines: list[str] = []
    later = replace(place_of(data), clock=FakeClock(SUNDAY + timedelta(days=days)))
    report = await memory.list_facts("Mio", False, later, lines.append)
    listed = {row["id"]: row["fades_at"] for row in rows(report, "facts")}
    assert listed["f2"] is None
    assert listed["tv"].startswith("2026-10-31T")
    assert [id_ for id_ in listed for line in lines if id_ in line and "(faded)" in line] == marked


@pytest.mark.parametrize(
    ("line", "code", "hint"),
    [
        (["memory", "list", "--person", "Nobody"], "person-unknown", "Ken, Mio"),
        (["memory", "show", "f9"], "fact-unknown", "f9"),
        (["memory", "forget", "f1", "f9"], "fact-unknown", "f9"),
        (["memory", "forget", "--person", "Nobody"], "person-unknown", "Nobody"),
        (["memory", "forget", "--person", "Mio"], "confirmation-missing", "--yes"),
        (["memory", "forget"], "usage-invalid", "--person"),
        (["memory", "forget", "f1"], "confirmation-missing", "--yes"),
        (["memory", "forget", "f3", "--person", "Mio", "--yes"], "fact-unknown", "f3"),
        (["memory", "forget", "--page", "p9", "--yes"], "page-unknown", "p9"),
        (["memory", "forget", "f1", "--words", "cat"], "usage-invalid", "--words"),
        (["memory", "forget", "--day", "2026-09-27", "--topic", "cat"], "usage-invalid", "--day"),
        (["memory", "forget", "--words", "cat", "--yes"], "person-missing", "Ken, Mio"),
        (["memory", "search", "ラーメンは？"], "person-missing", "Ken, Mio"),
        (["memory", "search", " "], "text-empty", "question"),
        (["memory", "correct", "f1", " "], "text-empty", "sentence"),
        (["memory", "search", "ラーメンは？", "--at", "soon"], "time-invalid", "'soon'"),
    ],
)
def test_what_can_not_be_done_is_said_with_a_code_and_changes_nothing(
    line: list[str], code: str, hint: str, omoide: Omoide, tmp_path: Path
) -> None:
    data = seeded(tmp_path / "state")
    result = omoide(*line, "--json", "--data", data)
    error = json.loads(result.stdout)["error"]
    assert result.exit_code in (1, 2)
    assert error["code"] == code
    assert hint in error["message"]
    left = json.loads(omoide("memory", "list", "--json", "--data", data).stdout)["facts"]
    assert len(left) == 3


def test_a_folder_without_memory_is_not_taken_for_an_empty_one(
    omoide: Omoide, tmp_path: Path
) -> None:
    for line in (["show", "f1"], ["forget", "f1"]):
        result = omoide("memory", *line, "--json", "--data", tmp_path / "state")
        error = json.loads(result.stdout)["error"]
        assert error["code"] == "memory-missing"
        assert "--data" in error["message"]


def test_one_fact_is_shown_whole(omoide: Omoide, tmp_path: Path) -> None:
    data = seeded(tmp_path)
    shown = json.loads(omoide("memory", "show", "f3", "--json", "--data", data).stdout)["fact"]
    assert (shown["person"], shown["text"], shown["said_at"]) == (
        "Ken",
        CAT.text,
        SUNDAY.isoformat(),
    )
    assert CAT.text in omoide("memory", "show", "f3", "--data", data).stdout


async def test_a_search_shows_every_score_of_every_candidate(tmp_path: Path) -> None:
    data = await seed(tmp_path)
    lines: list[str] = []
    question = memory.Question("好きなラーメンは何？", "Mio")
    report = await memory.search(question, place_of(data), lines.append)
    found = rows(report, "candidates")
    assert found[0]["id"] == "f1"
    for row in found:
        assert row["scores"].keys() >= {"dense", "lexical", "recency", "date", "final"}
        assert isinstance(row["passed"], bool)
    assert all(name in lines[0] for name in ("PASSED", "DENSE", "LEXICAL", "RECENCY", "DATE"))
    assert any(RAMEN.text in line for line in lines)
    assert "would be recalled" in lines[-1]
    assert "stands in every prompt" in lines[-1]


async def test_the_only_person_there_is_need_not_be_named(tmp_path: Path) -> None:
    data = await seed(tmp_path, CAT)
    report = await memory.search(memory.Question("What is my cat called?"), place_of(data), quietly)
    assert report.data["person"] == "Ken"
    assert report.data["language"] == "en"


def test_facts_and_persons_are_forgotten(omoide: Omoide, tmp_path: Path) -> None:
    data = seeded(tmp_path)
    one = json.loads(omoide("memory", "forget", "f1", "--yes", "--json", "--data", data).stdout)
    whole = omoide("memory", "forget", "--person", "Ken", "--yes", "--data", data)
    left = json.loads(omoide("memory", "list", "--json", "--data", data).stdout)["facts"]
    assert one["forgotten"] == 1
    assert whole.exit_code == 0
    assert [fact["id"] for fact in left] == ["f2"]


def test_a_fact_is_corrected_and_its_correction_can_be_forgotten(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = seeded(tmp_path)
    args = ("memory", "correct", "f1", "あなたは大阪に住んでいる。", "--json", "--data", data)
    corrected = json.loads(omoide(*args).stdout)["fact"]
    assert corrected["origin"] == "hand"
    listed = json.loads(omoide("memory", "list", "--json", "--data", data).stdout)["facts"]
    assert "f1" not in [fact["id"] for fact in listed]
    back = omoide("memory", "forget", corrected["id"], "--yes", "--data", data)
    assert "Holds again: f1" in back.stdout
    assert (
        "fact-unknown" in omoide("memory", "correct", "f9", "猫。", "--json", "--data", data).stdout
    )


async def test_what_holds_again_when_its_correction_is_forgotten_is_named(tmp_path: Path) -> None:
    data = await seed(tmp_path, CAT)
    store = Store(data / "memory" / "memory.db")
    (cat,) = store.facts_of("Ken")
    store.add_facts(
        [replace(CAT, id="f9", text="You have no cat.")], CAT.said_at, superseded={cat.id: "f9"}
    )
    store.close()
    told: list[str] = []
    await forget(Selector(facts=("f9",)), place_of(data), told.append)
    assert told == [
        "This goes: 1 facts. Only a backup brings it back.",
        "    f9  You have no cat.",
        "Forgotten: 1 facts.",
        f"Holds again: {cat.id}  {CAT.text}",
    ]


def test_beside_a_running_server_the_list_works_and_forgetting_says_how(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = seeded(tmp_path)
    with lock_data(data):
        listed = omoide("memory", "list", "--json", "--data", data)
        forgotten = omoide("memory", "forget", "f1", "--json", "--data", data)
    assert len(json.loads(listed.stdout)["facts"]) == 3
    error = json.loads(forgotten.stdout)["error"]
    assert error["code"] == "data-locked"
    assert "--url" in error["message"]


def test_everything_of_a_person_is_exported_for_their_eyes_only(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = seeded(tmp_path / "state")
    out = tmp_path / "mio.json"
    result = omoide("memory", "export", "--person", "Mio", "--out", out, "--data", data)
    printed = omoide("memory", "export", "--person", "Mio", "--data", data)
    (person,) = json.loads(out.read_text(encoding="utf-8"))["persons"]
    assert result.exit_code == 0
    assert out.stat().st_mode & 0o077 == 0
    assert person["person"] == "Mio"
    assert {fact["id"] for fact in person["facts"]} == {"f1", "f2"}
    assert person["pages"] == []
    assert json.loads(printed.stdout) == person


def test_an_export_that_can_not_be_written_says_so(omoide: Omoide, tmp_path: Path) -> None:
    data = seeded(tmp_path / "state")
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "mio.json"
    result = omoide("memory", "export", "--out", out, "--json", "--data", data)
    assert json.loads(result.stdout)["error"]["code"] == "file-unwritable"


async def test_an_index_is_filled_again_from_the_store(tmp_path: Path) -> None:
    data = await seed(tmp_path)
    other = FakeEmbedder("fake-2")
    place = Place(RULES, data, embedder=other, clock=FakeClock(SUNDAY))
    report = await memory.reindex("", place, quietly)
    assert report.data["persons"] == ["Ken", "Mio"]
    assert len([text for text, kind in other.embedded if kind == "passage"]) >= 3


async def test_facts_are_drawn_from_what_waits_in_the_folder(tmp_path: Path) -> None:
    page = Page("私は犬を飼っています。", "いいね。", SUNDAY, id="turn1", person="Mio")
    async with opened(tmp_path) as whole:
        whole._writer.add_page(page)
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["x"]), FakeTts())
    place = Place(RULES, tmp_path, engines=engines, embedder=FakeEmbedder())
    lines: list[str] = []
    listed = await memory.list_facts("", False, place, lines.append)
    assert listed.data["waiting"] == 1
    assert lines[-1].startswith("1 exchange waits for facts")
    first = rows(await memory.extract("", place, lines.append), "stored")
    assert "1 fact was drawn." in lines
    again = rows(await memory.extract("Mio", place, lines.append), "stored")
    assert [fact["quote"] for fact in first] == ["私は犬を飼っています。"]
    assert again == []
    assert lines[-1] == "No facts were drawn."


@asynccontextmanager
async def remote(data: Path, facts: Sequence[Fact] = (RAMEN, GUITAR, CAT)) -> AsyncIterator[Place]:
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["x"]), FakeTts())
    async with running(data, engines, extraction={"engine": "rules"}) as server:
        for fact in facts:
            await server.app.memory.add([fact])
        yield Place(RULES, data / "elsewhere", server.http_url)


async def test_a_running_server_is_asked_over_its_api(tmp_path: Path) -> None:
    async with remote(tmp_path) as place:
        listed = rows(await memory.list_facts("", False, place, quietly), "facts")
        question = memory.Question("好きなラーメンは何？", "Mio", at="2026-09-28T12:00")
        found = rows(await memory.search(question, place, quietly), "candidates")
        shown = await memory.show("f3", place, quietly)
        exported = rows(await memory.export("Mio", None, place, quietly), "persons")
        indexed = await memory.reindex("Mio", place, quietly)
        drawn = await memory.extract("", place, quietly)
        one = await forget(Selector(facts=("f1",)), place, quietly)
        person = await forget(Selector("Ken"), place, quietly)
        left = rows(await memory.list_facts("", False, place, quietly), "facts")
    assert {fact["id"] for fact in listed} == {"f1", "f2", "f3"}
    assert found[0]["id"] == "f1"
    assert shown.data["fact"]["text"] == CAT.text  # type: ignore[index]
    assert len(exported[0]["facts"]) == 2
    assert indexed.data["persons"] == ["Mio"]
    assert drawn.data["stored"] == []
    assert (one.data["forgotten"], person.data["forgotten"]) == (1, 1)
    assert [fact["id"] for fact in left] == ["f2"]


async def test_what_a_server_refuses_comes_with_its_own_code(tmp_path: Path) -> None:
    async with remote(tmp_path) as place:
        with pytest.raises(OmoideError) as caught:
            await memory.show("f9", place, quietly)
    assert caught.value.code == "fact-unknown"


@pytest.mark.parametrize(
    ("url", "code"),
    [("http://127.0.0.1:1", "server-unreachable"), ("ws://127.0.0.1:8000", "url-invalid")],
)
async def test_a_server_that_is_not_there_is_named(url: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(OmoideError) as caught:
        await memory.list_facts("", False, Place(RULES, tmp_path, url), quietly)
    assert caught.value.code == code
    assert url in str(caught.value)


@pytest.mark.parametrize("name", ["..", ".", "facts/f1", "a%2Fb", "J. R."])
async def test_a_server_is_asked_about_a_person_whatever_the_name(
    name: str, tmp_path: Path
) -> None:
    async with remote(tmp_path, [Fact("f9", name, CAT.text, "en", SUNDAY), RAMEN]) as place:
        assert len(rows(await memory.list_facts(name, False, place, quietly), "facts")) == 1
        assert (await forget(Selector(name), place, quietly)).data["forgotten"] == 1
        left = rows(await memory.list_facts("", False, place, quietly), "facts")
    assert [fact["id"] for fact in left] == ["f1"]


async def test_that_somebody_began_to_talk_is_not_told_as_if_there_were_nothing(
    tmp_path: Path,
) -> None:
    said = ["私は犬を飼っています。", "私は猫も飼っています。"]
    slow = FakeLlm(["x"], draws=[["...", 30.0]])
    engines = Engines(FakeVad(), FakeAsr(), slow, FakeTts())
    lines: list[str] = []
    async with running(tmp_path, engines, extraction={"engine": "llm"}) as server:
        memory_there = server.app.memory
        for number, text in enumerate(said):
            page = Page(text, "いいね。", SUNDAY, id=f"t{number}", person="Mio")
            memory_there._writer.add_page(page)

        async def talk() -> None:
            while not slow.background_prompts:
                await anyio.sleep(0.01)
            memory_there.make_way()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            place = Place(MODEL, tmp_path / "elsewhere", server.http_url)
            report = await memory.extract("", place, lines.append)
    assert (report.data["stored"], report.data["waiting"]) == ([], 2)
    assert report.data["interrupted"] is True
    assert any("began to talk" in line for line in lines)
    assert lines[-1].startswith("2 exchanges still wait")


def test_without_a_yes_what_would_go_is_listed_and_stays(omoide: Omoide, tmp_path: Path) -> None:
    data = seeded(tmp_path)
    line = ("memory", "forget", "--person", "Mio", "--words", "ラーメン", "--data", data)
    asked = omoide(*line, "--json")
    report = json.loads(asked.stdout)
    assert asked.exit_code == 1
    assert report["error"]["code"] == "confirmation-missing"
    assert (report["forgotten"], report["counts"], report["kind"]) == (0, {"facts": 1}, "words")
    assert report["examples"] == [f"f1  {RAMEN.text}"]
    assert RAMEN.text in omoide(*line).stdout
    assert json.loads(omoide(*line, "--yes", "--json").stdout)["forgotten"] == 1
    record = json.loads(omoide("memory", "audit", "--json", "--data", data).stdout)["entries"]
    assert [(one["actor"], one["kind"], one["count"]) for one in record] == [
        ("command", "words", 1)
    ]
    assert "words" in omoide("memory", "audit", "--data", data).stdout
    nothing = json.loads(omoide(*line, "--yes", "--json").stdout)
    assert (nothing["total"], nothing["error"]) == (0, None)


async def test_words_are_found_where_the_embedder_is_missing_or_another_one(
    tmp_path: Path,
) -> None:
    """Row 70: "forget X" found nothing, as the embedding had drifted."""
    data = await seed(tmp_path)
    gone = EngineMissing("It is not installed.")
    for embedder, words, left in (
        (AbsentEmbedder(gone), "the cat called Tama", {"f1", "f2"}),
        (FakeEmbedder(model="another"), "味噌ラーメンが好き", {"f2"}),
    ):
        place = Place(RULES, data, embedder=embedder, clock=FakeClock(SUNDAY))
        person = "Ken" if "f1" in left else "Mio"
        await forget(Selector(person, words=words), place, quietly)
        listed = rows(await memory.list_facts("", False, place, quietly), "facts")
        assert {fact["id"] for fact in listed} == left


def test_an_export_is_imported_into_an_empty_folder_and_once(
    omoide: Omoide, tmp_path: Path
) -> None:
    data, out, new = seeded(tmp_path / "state"), tmp_path / "all.json", tmp_path / "new"
    omoide("memory", "export", "--out", out, "--data", data)
    line = ("memory", "import", out, "--person", "Mio", "--data", new)
    first = json.loads(omoide(*line, "--json").stdout)
    assert (first["counts"], first["known"], first["error"]) == ({"facts": 2}, 0, None)
    assert json.loads(omoide(*line, "--json").stdout)["known"] == 2
    was, now = (
        json.loads(omoide("memory", "export", "--person", "Mio", "--data", each).stdout)
        for each in (data, new)
    )
    assert was == now
    omoide("memory", "forget", "f1", "--yes", "--data", new)
    assert "had been forgotten here" in omoide(*line).stdout
    assert json.loads(omoide(*line, "--forgotten", "--json").stdout)["counts"] == {"facts": 1}
    out.write_text('{"person": "Mio"')
    error = json.loads(omoide(*line, "--json").stdout)["error"]
    assert (error["code"], "line 1" in error["message"]) == ("import-invalid", True)
    gone = ("memory", "import", tmp_path / "none.json", "--person", "Mio", "--data", new)
    assert json.loads(omoide(*gone, "--json").stdout)["error"]["code"] == "file-unreadable"
