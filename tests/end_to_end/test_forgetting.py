"""A whole server forgets what it is asked to forget, and at the start finishes what the one before could not."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from server.config import RecordingSection
from server.conversation import Engines
from server.memory.erasing import Erasing, Order
from server.memory.store import Store
from server.recording import RECORDINGS, Recorder
from server.simulator import Habits, Identity, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad
from tests.memory.remembering import page, turn
from tests.on_disk import bytes_of

NOW = datetime(2026, 9, 27, tzinfo=UTC)
RECORDED = {"recording": {"keep_turns": True}}


async def test_what_was_begun_before_a_crash_is_finished_at_the_start(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / RECORDINGS, RecordingSection(keep_turns=True))
    recorder.turn_finished(turn("My code word is kumquat.", language="en", id_="t1"))
    with closing(Store(tmp_path / "memory" / "memory.db")) as store:
        store.pages.add(page("My code word is kumquat.", id_="t1", language="en"))
        order = Order("api", "person", NOW, {"hana": frozenset()}, is_whole=True)
        store.erasures.erase(Erasing(person="hana"), order)
    assert b"kumquat" in bytes_of(tmp_path)
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["x"]), FakeTts())
    async with running(tmp_path, engines, **RECORDED) as server:
        assert b"kumquat" not in bytes_of(tmp_path)
        assert server.app.memory._store.erasures.unfinished() == []


async def test_a_robot_forgets_what_it_was_just_told(tmp_path: Path) -> None:
    engines = Engines(FakeVad(), FakeAsr(), FakeLlm(["Oh, kumquat!"]), FakeTts(0.01, 0.01))
    identity = Identity("aa:bb:cc:00:11:22")
    persona = {"persona": {"language": "en"}, "asr": {"language": "en"}}
    async with (
        running(tmp_path, engines, **RECORDED, **persona) as server,
        open_robot(server.http_url, identity, Habits()) as robot,
    ):
        await robot.write("My code word is kumquat.")
        answer = await robot.write("Please forget that.")
        assert "forgotten" in answer.reply
        assert b"kumquat" not in bytes_of(tmp_path)
        assert server.app.recent.list() == []
