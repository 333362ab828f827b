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
from tests.memory.remembering import NOON, page

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


def waiting(data: Path) -> Path:
    """Let a webhook be away, and return the configuration that names it."""
    seeded(data)
    store = Store(data / "memory" / "memory.db")
    store.deliveries.post(lambda _: ["nurse"], NOON)
    for delivery in store.deliveries.due("nurse", NOON, 9):
        store.deliveries.put_off(delivery, NOON, "failed-503")
    store.close()
    config = data / "config.yaml"
    config.write_text("safety: {webhooks: {nurse: {url: 'http://127.0.0.1:9/secret-path'}}}")
    return config


def test_the_list_and_the_doctor_say_what_a_webhook_has_still_to_be_told(
    omoide: Omoide, tmp_path: Path
) -> None:
    config = waiting(tmp_path)
    options = ("--config", config, "--data", tmp_path)
    told = "2 wait since 2026-09-27 03:00; tried 1 times, last: failed-503"
    for command in (("safety", "list"), ("safety", "webhooks"), ("doctor", "--quick")):
        printed = omoide(*command, *options).stdout
        assert told in printed, command
        assert "secret-path" not in printed
    assert "safety webhook-test nurse" in printed


def test_a_test_of_a_webhook_says_what_came_of_it(omoide: Omoide, tmp_path: Path) -> None:
    options = ("--config", waiting(tmp_path), "--data", tmp_path)
    result = omoide("safety", "webhook-test", "nurse", *options)
    assert result.exit_code == 1
    assert "unreachable" in result.stdout
    assert "webhook-unknown" in omoide("safety", "webhook-test", "son", *options).stderr


def test_one_event_is_shown_with_the_note_that_the_list_and_the_soap_note_have(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = seeded(tmp_path)
    id_ = listed(omoide, data)[0]["id"]
    options = ("--by", "Ito", "--note", "ECG was fine", "--data", data)
    assert omoide("safety", "ack", id_[:12], *options).exit_code == 0
    for command in (
        ("show", id_[:12]),
        ("list", "--state", "acknowledged"),
        ("export", "--person", "Rose"),
    ):
        assert "by Ito: ECG was fine" in omoide("safety", *command, "--data", data).stdout


def test_the_preview_of_a_forget_says_that_nobody_has_looked_at_a_danger_sign(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = seeded(tmp_path)
    store = Store(data / "memory" / "memory.db")
    told = page("My chest hurts. I fell in the bath.", language="en", id_="p1", person="Rose")
    store.pages.add(told)
    store.close()
    shown = omoide("memory", "forget", "--person", "Rose", "--data", data)
    assert "Nobody has looked yet at 2 of the danger signs" in shown.stdout
    assert listed(omoide, data)
