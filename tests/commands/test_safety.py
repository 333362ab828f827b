"""`omoide safety`, on a data folder and on a running server."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from server.commands import safety
from server.commands.reach import Place
from server.errors import OmoideError
from server.memory.safety.models import State
from server.memory.safety.noticing import notice
from server.memory.store import Store
from tests.commands.test_memory import RULES, quietly, remote
from tests.memory.remembering import page

Omoide = Callable[..., Result]


def seeded(data: Path) -> Path:
    store = Store(data / "memory" / "memory.db")
    told = page("My chest hurts. I fell in the bath.", language="en", id_="p1", person="Rose")
    store.safety.add(notice(told))
    store.close()
    return data


def listed(omoide: Omoide, data: Path, *options: str) -> list[dict[str, str]]:
    result = omoide("safety", "list", *options, "--json", "--data", data)
    events: list[dict[str, str]] = json.loads(result.stdout)["events"]
    return events


def test_events_are_listed_acknowledged_and_closed(omoide: Omoide, tmp_path: Path) -> None:
    data = seeded(tmp_path)
    first, second = listed(omoide, data)
    table = omoide("safety", "list", "--data", data).stdout
    assert "My chest hurts." in table
    assert "urgent" in table
    assert omoide("safety", "ack", first["id"], "--by", "Ito", "--data", data).exit_code == 0
    result = omoide("safety", "close", second["id"], "--by", "Sato", "--data", data)
    assert "closed by Sato" in result.stdout
    assert listed(omoide, data) == []
    assert [one["state"] for one in listed(omoide, data, "--state", "all")] in (
        ["acknowledged", "closed"],
        ["closed", "acknowledged"],
    )
    assert omoide("safety", "close", "nothing", "--by", "x", "--data", data).exit_code == 1


def test_the_note_is_written_into_a_file_that_nobody_else_may_read(
    omoide: Omoide, tmp_path: Path
) -> None:
    out = tmp_path / "note.txt"
    result = omoide(
        "safety", "export", "--person", "Rose", "--out", out, "--data", seeded(tmp_path)
    )
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert out.stat().st_mode & 0o077 == 0
    assert "Not a clinical record" in text
    assert "“My chest hurts.”" in text
    assert text.index("S (") < text.index("O (") < text.index("\nA\n") < text.index("\nP\n")


async def test_what_was_said_before_is_left_out_of_a_note(tmp_path: Path) -> None:
    place = Place(RULES, seeded(tmp_path))
    everything = await safety.export("Rose", "", None, place, quietly)
    nothing = await safety.export("Rose", "2026-12-01T00:00", None, place, quietly)
    assert len(everything.data["note"]["subjective"]) == 2  # type: ignore[index]
    assert nothing.data["note"]["subjective"] == []  # type: ignore[index]


async def test_a_running_server_is_asked_over_its_api(tmp_path: Path) -> None:
    async with remote(seeded(tmp_path), ()) as place:
        events = (await safety.list_events("Rose", None, place, quietly)).data["events"]
        assert isinstance(events, list)
        one = await safety.review(events[0]["id"], State.CLOSED, "Ito", "", place, quietly)
        note = await safety.export("Rose", "", None, place, quietly)
        with pytest.raises(OmoideError) as caught:
            await safety.review("nothing", State.CLOSED, "Ito", "", place, quietly)
    assert one.data["event"]["state"] == "closed"  # type: ignore[index]
    assert len(note.data["note"]["subjective"]) == 2  # type: ignore[index]
    assert caught.value.code == "event-unknown"


async def test_a_folder_without_a_memory_is_named(tmp_path: Path) -> None:
    with pytest.raises(OmoideError) as caught:
        await safety.list_events("", None, Place(RULES, tmp_path), quietly)
    assert caught.value.code == "memory-missing"
