"""What a killed backup or restore has left goes with the next one; what somebody works in stays."""

from pathlib import Path

from server.folder_lock import lock_data
from server.scratch import scratch


def test_what_was_left_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    left = tmp_path / ".work-dead"
    left.mkdir()
    (left / "memory.db").write_text("everything that was said")
    elsewhere = tmp_path / "work-of-somebody-else"
    elsewhere.mkdir()
    with scratch(tmp_path, ".work-") as mine:
        assert not left.exists()
        with scratch(tmp_path, ".work-") as other:
            assert mine.is_dir()
            assert other != mine
            assert mine.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == [elsewhere.name]


def test_a_folder_that_was_moved_away_stays(tmp_path: Path) -> None:
    with scratch(tmp_path, ".work-") as mine:
        mine.rename(tmp_path / "data")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_a_killed_restore_has_left_goes_when_the_data_folder_is_next_taken(
    tmp_path: Path,
) -> None:
    data, left = tmp_path / "data", tmp_path / ".data.restoring-abc"
    left.mkdir()
    with scratch(tmp_path, ".data.restoring-") as running:
        left.mkdir()
        lock_data(data).release()
        assert not left.exists()
        assert running.is_dir()
