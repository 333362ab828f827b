"""What is kept for a time only goes by itself: the words of exchanges, summaries, notes, recordings, each after its own days."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from server.config import RecordingSection
from server.forgetting import Forgetting
from server.memory.models import Fact, NoteKind
from server.recording import RECORDINGS, RecentTurns, Recorder
from server.trace import Turns
from tests.memory.remembering import NOON, Room, fact, opened, page, turn
from tests.memory.tiers import note, summary
from tests.on_disk import bytes_of

CODE = "My locker code word is kumquat."
DAYS = 40


def drawn(*sources: str) -> Fact:
    return replace(fact("You gave a code word.", sources=sources, language="en"), quote="a quote")


def fill(room: Room) -> None:
    """Say something on a day long ago and on one lately; make of each what is made of a day."""
    store = room.memory._store
    for id_, at in (("old", NOON), ("new", NOON + timedelta(days=DAYS - 5))):
        store.pages.add(page(CODE, at, id_=id_, language="en"))
        moods = [replace(note(id_, f"mood of {id_}"), kind=NoteKind.MOOD, at=at)]
        dangers = [replace(note(id_, f"danger of {id_}"), kind=NoteKind.SAFETY, at=at)]
        made = replace(drawn(id_), id=id_, said_at=at)
        store.add_facts([made], NOON, drawn_from=[id_], notes=[*moods, *dangers])
        store.portrait.put_summary(summary(at, id_, text=f"day of {id_}"))
    store.pages.add(page(CODE, NOON + timedelta(hours=1), id_="waits", language="en"))
    room.clock.pass_time(days=DAYS)


@pytest.mark.parametrize("kind", ["", "exchanges", "summaries", "notes"])
async def test_each_kind_goes_after_its_own_days_and_nothing_else_with_it(
    tmp_path: Path, kind: str
) -> None:
    kept = {f"{kind}_days": 30.0} if kind else {}
    with opened(tmp_path, retention=kept) as room:
        fill(room)
        await room.memory.retention.keep_up()
        store = room.memory._store
        said = {one.id: (one.said, one.heard) for one in store.pages.of("hana")}
        words = ("", "") if kind == "exchanges" else (CODE, "はい。")
        assert said == {"old": words, "new": (CODE, "はい。"), "waits": (CODE, "はい。")}
        days = [one.text for one in store.portrait.summaries_of("hana")]
        assert days == ["day of old", "day of new"][kind == "summaries" :]
        notes = {one.text for one in store.portrait.notes_of("hana")}
        everything = {f"{what} of {one}" for what in ("mood", "danger") for one in ("old", "new")}
        assert notes == everything - ({"mood of old"} if kind == "notes" else set())
        assert {one.id for one in store.facts_of("hana")} == {"old", "new"}
        record = [(one.actor, one.kind, one.count) for one in store.audit.entries()]
        assert record == ([("schedule", f"retention-{kind}", 1)] if kind else [])
        await room.memory.retention.keep_up()
        assert len(store.audit.entries()) == len(record), "once"


async def test_the_words_are_in_no_file_any_more_and_a_fact_without_them_is_forgotten_wholly(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, retention={"exchanges_days": 30.0}) as room:
        room.memory._store.pages.add(page(CODE, id_="old", language="en"))
        room.memory._store.add_facts([drawn("old")], NOON, drawn_from=["old"])
        await room.memory.keep_up()
        assert b"kumquat" in bytes_of(tmp_path)
        room.clock.pass_time(days=DAYS)
        await room.memory.retention.keep_up()
        assert b"kumquat" not in bytes_of(tmp_path)
        assert (await room.memory.archive.forget(["You gave a code word."])).facts == 1
        assert await room.memory.archive.pages("hana") == []


async def test_a_summary_is_kept_as_long_as_it_would_be_made_anew(tmp_path: Path) -> None:
    with opened(tmp_path, retention={"summaries_days": 1.0}) as room:
        fill(room)
        await room.memory.retention.keep_up()
        assert [one.text for one in room.memory._store.portrait.summaries_of("hana")] == [
            "day of new"
        ]


async def test_recordings_of_days_long_ago_go(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as room:
        recorder = Recorder(tmp_path / RECORDINGS, RecordingSection(keep_turns=True))
        for days in (0, 20):
            recorder.turn_finished(turn(CODE, NOON + timedelta(days=days), id_=f"t{days}"))
        (tmp_path / RECORDINGS / "hana" / "0000-00-00").mkdir(parents=True)
        forgetting = Forgetting(room.memory.archive, tmp_path, RecentTurns(0), Turns(room.clock))
        now = NOON + timedelta(days=30)
        assert await forgetting.end_recordings(now, 0) == 0
        assert await forgetting.end_recordings(now, 15) == 1
        assert await forgetting.end_recordings(now, 15) == 0
    left = [file.parent.name for file in (tmp_path / RECORDINGS).rglob("*.json")]
    assert left == [date(2026, 10, 17).isoformat()]
