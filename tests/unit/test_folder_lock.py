"""One data folder belongs to one server at a time, whatever the server keeps its index in."""

import stat
from pathlib import Path

import pytest

from server.app import open_app
from server.commands.restore import restore
from server.config import Config
from server.conversation import Engines
from server.errors import OmoideError, StoreError
from server.folder_lock import DRAFT, lock_data
from tests.fakes import FakeAsr, FakeEmbedder, FakeLlm, FakeTts, FakeVad


def engines() -> Engines:
    return Engines(FakeVad(), FakeAsr(), FakeLlm(["x"]), FakeTts())


@pytest.mark.parametrize("index", [{"engine": "qdrant", "url": ":memory:"}, {"engine": "edge"}])
async def test_a_second_server_is_refused_whatever_index_it_has(
    tmp_path: Path, index: dict[str, str]
) -> None:
    second = Config.model_validate({"index": index})
    async with open_app(Config(), tmp_path, engines(), FakeEmbedder()) as app:
        with pytest.raises(StoreError) as caught:
            async with open_app(second, tmp_path, engines(), FakeEmbedder()):
                pass
        assert caught.value.code == "data-locked"
        assert str(tmp_path) in str(caught.value)
        assert "--url" in str(caught.value)
        assert await app.memory.archive.persons() == []
    async with open_app(second, tmp_path, engines(), FakeEmbedder()):
        pass


def test_a_lock_holds_until_it_is_released(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    with lock_data(data):
        with pytest.raises(StoreError) as caught:
            lock_data(data)
        with pytest.raises(OmoideError) as refused:
            restore(tmp_path / "none", Config(), data, print)
    assert caught.value.code == "data-locked"
    assert refused.value.code == "data-in-use"
    lock_data(data).release()
    [file] = data.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0


def test_a_place_that_can_not_be_a_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for data in (tmp_path / "file", tmp_path / "file" / "data"):
        with pytest.raises(StoreError) as caught:
            lock_data(data)
        assert caught.value.code == "data-unwritable"
        assert str(data) in str(caught.value)


def test_what_a_killed_conversion_left_is_gone_once_somebody_holds_the_folder(
    tmp_path: Path,
) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    left = [memory / f"memory.db{DRAFT}{end}" for end in ("", "-journal", "-wal")]
    kept = memory / "memory.db"
    for file in (*left, kept):
        file.write_text("what somebody said")
    with lock_data(tmp_path):
        assert [file for file in left if file.exists()] == []
        left[0].write_text("being written")
        with pytest.raises(StoreError):
            lock_data(tmp_path)
        assert left[0].exists(), "somebody works on it"
    assert kept.read_text() == "what somebody said"
