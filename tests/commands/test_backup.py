"""`omoide backup` and `omoide restore`: everything comes back, and nothing is lost on the way."""

import io
import json
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from server.commands.backup import DATABASE, MANIFEST
from server.memory.index_folder import IndexFolder
from server.memory.models import Fact
from server.memory.store import Store

Omoide = Callable[..., Result]

NOW = datetime.fromisoformat("2026-09-27T18:00:00+09:00")


def fill(data: Path, *texts: str) -> Path:
    """Make a data folder as a server leaves it behind, with a fact for each text."""
    store = Store(data / DATABASE)
    for text in texts:
        store.add_facts([Fact(text, "Mio", text, "en", NOW)], NOW)
    store.close()
    for name in ("devices.json", "secret", "recordings/a.wav", "memory/index/x/shard", "models/m"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(name)
    return data


def facts(data: Path) -> list[str]:
    store = Store(data / DATABASE)
    try:
        return [fact.text for fact in store.facts_of("Mio")]
    finally:
        store.close()


def names(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        return tar.getnames()


def error_of(result: Result) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    return error


def archive_of(path: Path, *members: tarfile.TarInfo, manifest: object = None) -> Path:
    first = json.dumps({"format": 1} if manifest is None else manifest).encode()
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(first)
        tar.addfile(info, io.BytesIO(first))
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return path


def plain(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = 2000
    return info


def linked(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_all_that_is_kept_comes_back_and_what_was_there_is_kept_aside(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = fill(tmp_path / "state", "one", "two")
    saved = omoide("backup", tmp_path / "b.tar.gz", "--json", "--data", data)
    store = Store(data / DATABASE)
    store.add_facts([Fact("three", "Mio", "three", "en", NOW)], NOW)
    store.close()
    (data / "secret").write_text("another")

    report = json.loads(omoide("restore", "b.tar.gz", "--json", "--data", data).stdout)

    assert saved.exit_code == 0, saved.output
    assert report["error"] is None
    assert facts(data) == ["one", "two"]
    assert (data / "secret").read_text() == "secret"
    assert (data / "recordings/a.wav").read_text() == "recordings/a.wav"
    assert (data / "models/m").exists()
    aside = Path(report["kept_aside"])
    assert sorted(facts(aside)) == ["one", "three", "two"]
    assert (aside / "secret").read_text() == "another"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["b.tar.gz", aside.name, "state"]
    )


def test_what_can_be_made_anew_is_left_out_and_only_the_owner_may_read_the_rest(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = fill(tmp_path / "state", "one")
    archive = tmp_path / "b.tar.gz"
    omoide("backup", archive, "--data", data)
    assert names(archive) == [
        MANIFEST,
        str(DATABASE),
        "devices.json",
        "recordings/a.wav",
        "secret",
    ]
    assert archive.stat().st_mode & 0o077 == 0


def test_beside_a_server_that_is_writing_the_copy_is_whole(omoide: Omoide, tmp_path: Path) -> None:
    data = fill(tmp_path / "state", "one")
    busy = Store(data / DATABASE)
    with closing(sqlite3.connect(data / DATABASE, isolation_level=None)) as writer:
        busy.add_facts([Fact("two", "Mio", "two", "en", NOW)], NOW)  # only in the journal so far
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE facts SET text = 'half'")
        result = omoide("backup", tmp_path / "b.tar.gz", "--data", data)
        writer.execute("ROLLBACK")
    busy.close()
    assert result.exit_code == 0, result.output
    omoide("restore", "b.tar.gz", "--data", tmp_path / "copy")
    assert facts(tmp_path / "copy") == ["one", "two"]


def test_a_backup_inside_the_folder_does_not_hold_itself(omoide: Omoide, tmp_path: Path) -> None:
    data = fill(tmp_path / "state")
    archive = data / "b.tar.gz"
    for _ in range(2):
        assert omoide("backup", archive, "--data", data).exit_code == 0
    assert "b.tar.gz" not in names(archive)


def test_a_file_that_is_no_backup_is_not_overwritten(omoide: Omoide, tmp_path: Path) -> None:
    data = fill(tmp_path / "state")
    (tmp_path / "thesis.txt").write_text("three years of work")
    result = omoide("backup", "thesis.txt", "--json", "--data", data)
    assert error_of(result)["code"] == "backup-exists"
    assert (tmp_path / "thesis.txt").read_text() == "three years of work"


def test_a_folder_that_is_not_there_is_no_empty_backup(omoide: Omoide, tmp_path: Path) -> None:
    result = omoide("backup", "b.tar.gz", "--json", "--data", tmp_path / "elsewhere")
    assert error_of(result)["code"] == "data-missing"
    assert not (tmp_path / "b.tar.gz").exists()


def test_a_backup_that_can_not_be_written_says_so(omoide: Omoide, tmp_path: Path) -> None:
    data = fill(tmp_path / "state")
    (tmp_path / "file").write_text("")
    result = omoide("backup", "file/b.tar.gz", "--json", "--data", data)
    assert error_of(result)["code"] == "backup-unwritable"


def test_a_damaged_database_is_not_backed_up_over_a_good_copy(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = fill(tmp_path / "state", "one")
    omoide("backup", "b.tar.gz", "--data", data)
    (data / DATABASE).write_bytes(b"not a database at all" * 100)
    result = omoide("backup", "b.tar.gz", "--json", "--data", data)
    assert error_of(result)["code"] == "store-encrypted"
    assert omoide("restore", "b.tar.gz", "--data", data).exit_code == 0
    assert facts(data) == ["one"]


@pytest.mark.parametrize(
    "member",
    [
        plain("../outside"),
        plain("memory/../../outside"),
        plain("/tmp/outside"),
        plain("C:/outside"),
        plain("..\\outside"),
        linked("secret", "/etc/passwd"),
        linked("secret", "../outside", tarfile.LNKTYPE),
        linked("secret", "", tarfile.FIFOTYPE),
        linked("secret", "", tarfile.CHRTYPE),
    ],
    ids=lambda member: f"{member.name} {member.type!r}",
)
def test_an_archive_that_reaches_out_of_the_folder_is_refused_whole(
    member: tarfile.TarInfo, omoide: Omoide, tmp_path: Path
) -> None:
    data = fill(tmp_path / "state", "one")
    archive = archive_of(tmp_path / "b.tar.gz", plain("devices.json"), member)
    result = omoide("restore", archive, "--json", "--data", data)
    assert error_of(result)["code"] == "backup-invalid"
    assert repr(member.name) in error_of(result)["message"]
    assert (data / "devices.json").read_text() == "devices.json"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tar.gz", "state"]


def test_what_is_no_whole_backup_is_refused_and_changes_nothing(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = fill(tmp_path / "state", "one")
    omoide("backup", "good.tar.gz", "--data", data)
    whole = (tmp_path / "good.tar.gz").read_bytes()
    (tmp_path / "torn.tar.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tar.gz").write_text("hello")
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as tar:
        tar.addfile(plain("a"), io.BytesIO(b"x" * 2000))
    archive_of(tmp_path / "newer.tar.gz", manifest={"format": 99})
    archive_of(tmp_path / "strange.tar.gz", manifest=["format"])
    for name in ("torn", "text", "other", "newer", "strange", "missing"):
        result = omoide("restore", f"{name}.tar.gz", "--json", "--data", data)
        assert error_of(result)["code"] == "backup-invalid", name
    assert facts(data) == ["one"]
    assert not list(tmp_path.glob(".state*"))


def test_a_database_that_can_not_be_used_is_found_before_anything_is_moved(
    omoide: Omoide, tmp_path: Path
) -> None:
    data = fill(tmp_path / "state", "one")
    archive = archive_of(tmp_path / "b.tar.gz", plain(str(DATABASE)))
    result = omoide("restore", archive, "--json", "--data", data)
    assert error_of(result)["code"] == "store-encrypted"
    assert facts(data) == ["one"]
    assert not list(tmp_path.glob("*before*"))


def test_a_folder_that_a_server_works_in_is_left_alone(omoide: Omoide, tmp_path: Path) -> None:
    data = fill(tmp_path / "state", "one")
    omoide("backup", "b.tar.gz", "--data", data)
    server = IndexFolder(data / "memory" / "index")
    locked = omoide("restore", "b.tar.gz", "--json", "--data", data)
    server.release()
    store = Store(data / DATABASE)  # as with a Qdrant server, where no folder is locked
    store.persons()
    opened = omoide("restore", "b.tar.gz", "--json", "--data", data)
    store.close()
    assert [error_of(result)["code"] for result in (locked, opened)] == ["data-in-use"] * 2
    assert "--data" in error_of(locked)["message"]
    assert omoide("restore", "b.tar.gz", "--data", data).exit_code == 0
