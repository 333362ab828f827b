"""Setting up: what it says when the machine is not ready for it."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

NO_NETWORK = """\
WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('Failed to establish a new connection:
[Errno -3] Temporary failure in name resolution')': /simple/anyio/
ERROR: Could not find a version that satisfies the requirement anyio (from versions: none)
ERROR: No matching distribution found for anyio
"""


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("builder", SCRIPTS / "build_environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_with_pythons(folder: Path, pythons: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run scripts/run of a copy where no other Python than these shell scripts can be found."""
    scripts = folder / "a clone" / "scripts"
    shutil.copytree(SCRIPTS, scripts)
    tools = folder / "bin"
    tools.mkdir()
    for name in ("dirname", "cat", "sh"):
        (tools / name).symlink_to(shutil.which(name) or name)
    for name, script in pythons.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    return subprocess.run(
        ["/bin/sh", scripts / "run", "--json"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
def test_an_old_python_is_named_with_what_to_do(tmp_path: Path) -> None:
    old = "case $2 in *print*) echo 3.9 ;; *) exit 1 ;; esac"

    ended = run_with_pythons(tmp_path, {"python3": old})

    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "needs Python 3.11 or newer. On this machine: python3 is 3.9;" in ended.stderr
    assert "PYTHON=" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
def test_a_python_without_venv_is_named_with_the_package(tmp_path: Path) -> None:
    without_venv = "case $2 in *print*) echo 3.11 ;; *ensurepip*) exit 1 ;; esac"

    ended = run_with_pythons(tmp_path, {"python3.11": without_venv})

    assert ended.returncode == 1
    assert "apt install python3.11-venv" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
def test_no_python_at_all_is_said(tmp_path: Path) -> None:
    ended = run_with_pythons(tmp_path, {"python3": "exit 127"})

    assert ended.returncode == 1
    assert "there is no Python" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="runs a shell script")
@pytest.mark.parametrize("name", ["run", "test"])
def test_a_link_to_a_script_finds_the_project(name: str, tmp_path: Path) -> None:
    project = tmp_path / "a clone"
    (project / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPTS / name, project / "scripts")
    setup = project / "scripts" / "setup"
    setup.write_text('#!/bin/sh\necho "set up in $(dirname "$0")"\nexit 7\n')
    setup.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "second").symlink_to(project / "scripts" / name)
    (tmp_path / "bin" / "first").symlink_to("second")

    ended = subprocess.run(
        [tmp_path / "bin" / "first"], capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stderr) == (7, f"set up in {project}/scripts\n")


def test_without_a_network_it_says_what_could_not_be_fetched(builder: ModuleType) -> None:
    message = builder.diagnose(NO_NETWORK)

    assert "the package anyio could not be fetched" in message
    assert "network" in message


def test_any_other_failure_of_pip_is_not_blamed_on_the_network(builder: ModuleType) -> None:
    message = builder.diagnose("ERROR: Could not install packages: No space left on device\n")

    assert "network" not in message


def test_an_environment_that_is_not_there_is_not_ready(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "STAMP", tmp_path / "stamp")

    assert not builder.is_ready()


def test_an_environment_is_ready_until_something_changes(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyproject.toml", "constraints.txt", "pyvenv.cfg"):
        (tmp_path / name).write_text("as it was")
    monkeypatch.setattr(builder, "ROOT", tmp_path)
    monkeypatch.setattr(builder, "VENV", tmp_path)
    monkeypatch.setattr(builder, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(builder, "UNFINISHED", tmp_path / "unfinished")
    monkeypatch.delenv("NO_VOICE_EN", raising=False)
    (tmp_path / "stamp").write_text(builder.fingerprint())
    assert builder.is_ready()

    (tmp_path / "unfinished").touch()
    assert not builder.is_ready()
    (tmp_path / "unfinished").unlink()

    monkeypatch.setenv("NO_VOICE_EN", "1")
    assert not builder.is_ready()
    monkeypatch.delenv("NO_VOICE_EN")

    (tmp_path / "constraints.txt").write_text("changed")
    assert not builder.is_ready()
