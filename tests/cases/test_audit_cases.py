"""Public faults of records of what was erased: entries without a time, in no order, that can be changed."""

from pathlib import Path

import pytest
from sqlalchemy.exc import DatabaseError

from server.forgetting import Forgetting
from server.memory.audit import Actor
from server.memory.selecting import Selector
from server.recording import RecentTurns
from server.trace import Turns
from tests.memory.remembering import opened


async def test_every_entry_of_the_audit_has_a_time_and_a_way_in_the_order_of_what_was_done(
    tmp_path: Path,
) -> None:
    """Row 67, mem0ai/mem0#4467: deletions without a time sorted first."""
    with opened(tmp_path / "memory") as room:
        forgetting = Forgetting(room.memory.archive, tmp_path, RecentTurns(5), Turns(room.clock))
        times = []
        for number, actor in enumerate((Actor.API, Actor.VOICE, Actor.COMMAND)):
            room.tell(f"My boat number {number} is called Kumquat.", language="en")
            await room.memory.extract()
            room.clock.pass_time(hours=1)
            times.append(room.clock.now())
            await forgetting.forget(Selector("hana", words="Kumquat"), actor)
        entries = await room.memory.archive.audit()
        assert [entry.actor for entry in entries] == ["api", "voice", "command"]
        assert [entry.at for entry in entries] == times
        assert all(entry.count > 0 and entry.kind == "words" for entry in entries)
        assert "Kumquat" not in repr(entries)
        database = room.memory._store._database
        for change in ("UPDATE audit SET at = NULL", "DELETE FROM audit"):
            with pytest.raises(DatabaseError), database.engine.begin() as connection:
                connection.exec_driver_sql(change)
        assert await room.memory.archive.audit() == entries
