"""Everything in the data folder belongs to the server's user alone, however the server was started."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from server.conversation import Engines
from server.private_folder import close_to_others
from server.simulator import Habits, Identity, open_robot
from tests.end_to_end.running import running
from tests.fakes import FakeAsr, FakeLlm, FakeTts, FakeVad

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")


@pytest.fixture(autouse=True)
def open_mask() -> Iterator[None]:
    """Let files be everybody's, unless somebody sees to it."""
    before = os.umask(0)
    yield
    os.umask(before)


def rights(folder: Path) -> dict[str, str]:
    """Return the rights of a folder and all in it, where they are not the owner's alone."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode != (0o700 if path.is_dir() else 0o600):
            found[str(path)] = oct(mode)
    return found


async def test_a_session_leaves_nothing_that_others_may_read(tmp_path: Path) -> None:
    data = tmp_path / "state"
    engines = Engines(
        FakeVad(), FakeAsr("猫を飼い始めたんだ。"), FakeLlm(["はい。"]), FakeTts(0.01, 0.01)
    )
    recording = {"keep_turns": True, "keep_audio": True}
    async with (
        running(data, engines, recording=recording) as server,
        open_robot(server.http_url, Identity("aa:bb:cc:00:11:22"), Habits()) as robot,
    ):
        await robot.write("猫を飼い始めたんだ。")
        await server.app.memory.extract()
        assert rights(data) == {}
    assert rights(data) == {}
    kept = {path.name for path in data.rglob("*")}
    assert {"memory.db", "devices.json", "secret", "api-token", "recordings"} <= kept
    assert any("index" in path.parts for path in data.rglob("*") if path.is_file())


async def test_what_others_could_read_before_is_closed_at_the_start_and_said(
    tmp_path: Path,
) -> None:
    async with running(tmp_path / "state", Engines(FakeVad(), FakeAsr(), FakeLlm(), FakeTts())):
        pass
    for path in (tmp_path / "state", *(tmp_path / "state").rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    with capture_logs() as logs:
        async with running(tmp_path / "state", Engines(FakeVad(), FakeAsr(), FakeLlm(), FakeTts())):
            pass
    assert rights(tmp_path / "state") == {}
    [said] = [line for line in logs if line["event"] == "data-closed-to-others"]
    assert said["count"] > 4


def test_what_is_not_ours_keeps_its_rights(tmp_path: Path) -> None:
    ours, other, outside = tmp_path / "secret", tmp_path / "thesis.txt", tmp_path / "outside"
    for file in (ours, other, outside):
        file.touch()
        file.chmod(0o644)
    (tmp_path / "firmware").mkdir(0o700)
    (tmp_path / "firmware" / "link.bin").symlink_to(outside)
    tmp_path.chmod(0o755)
    assert close_to_others(tmp_path) == 1
    found = [stat.S_IMODE(path.stat().st_mode) for path in (ours, other, outside, tmp_path)]
    assert found == [0o600, 0o644, 0o644, 0o755]
    assert close_to_others(tmp_path) == 0
