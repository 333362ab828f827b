import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from server.commands.backup import DATABASE
from server.memory.cipher import Cipher, is_plain
from server.memory.store import Store
from tests.memory.remembering import fact

Omoide = Callable[..., Result]

KEY = "correct horse battery staple"
SECRET = "あなたは zqalphaqz を飼っている。"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_MEMORY_KEY", KEY)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data folder with a plain memory."""
    folder = tmp_path / "state"
    with closing(Store(folder / DATABASE)) as store:
        store.add_facts([fact(SECRET)], fact("").said_at)
    return folder


def facts(omoide: Omoide, data: Path) -> list[str]:
    result = omoide("memory", "list", "--json", "--data", data)
    return [row["text"] for row in json.loads(result.stdout)["facts"]]


def turn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMOIDE_STORE__ENCRYPTION", "sqlcipher")


def test_a_memory_is_encrypted_used_and_decrypted(
    omoide: Omoide, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypted = omoide("memory", "encrypt", "--data", data)
    assert (encrypted.exit_code, "store.encryption" in encrypted.stdout) == (0, True)
    assert b"zqalphaqz" not in (data / DATABASE).read_bytes()
    assert "error[store-encrypted]" in omoide("memory", "list", "--data", data).stderr

    turn_on(monkeypatch)
    assert facts(omoide, data) == [SECRET]
    assert "error[store-encrypted]" in omoide("memory", "encrypt", "--data", data).stderr

    decrypted = omoide("memory", "decrypt", "--json", "--data", data)
    assert json.loads(decrypted.stdout)["encryption"] == "off"
    assert is_plain(data / DATABASE)
    assert "error[store-not-encrypted]" in omoide("memory", "list", "--data", data).stderr


def test_a_backup_of_an_encrypted_memory_is_encrypted_and_can_be_restored(
    omoide: Omoide, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    omoide("memory", "encrypt", "--data", data)
    turn_on(monkeypatch)
    file = tmp_path / "backup.tar.gz"
    assert omoide("backup", file, "--data", data).exit_code == 0

    elsewhere = tmp_path / "elsewhere"
    assert omoide("restore", file, "--data", elsewhere).exit_code == 0
    assert not is_plain(elsewhere / DATABASE)
    assert facts(omoide, elsewhere) == [SECRET]

    monkeypatch.setenv("OMOIDE_MEMORY_KEY", "not that key at all")
    for arguments in (
        ("restore", file, "--data", tmp_path / "third"),
        ("backup", tmp_path / "b2.tar.gz", "--data", data),
    ):
        refused = omoide(*arguments)
        assert (refused.exit_code, "error[store-key-wrong]" in refused.stderr) == (1, True)
    assert not (tmp_path / "third").exists()


def test_the_key_is_told_nowhere(
    omoide: Omoide, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_on(monkeypatch)
    outputs = [
        omoide("memory", command, "--data", data)
        for command in ("list", "encrypt", "list", "decrypt", "list")
    ]
    outputs.append(omoide("backup", data.parent / "b.tar.gz", "--data", data))
    assert not any(KEY in result.stdout + result.stderr for result in outputs)
    assert KEY not in repr(Cipher(KEY))


def test_what_is_missing_is_said(
    omoide: Omoide, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = omoide("memory", "encrypt", "--data", tmp_path / "nowhere")
    assert "error[memory-missing]" in nowhere.stderr
    monkeypatch.delenv("OMOIDE_MEMORY_KEY")
    for command in ("encrypt", "decrypt"):
        keyless = omoide("memory", command, "--data", data)
        assert (keyless.exit_code, "error[store-key-missing]" in keyless.stderr) == (2, True)


def test_the_doctor_tries_the_key_and_the_certificate(
    omoide: Omoide, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def examined() -> dict[str, str]:
        report = json.loads(omoide("doctor", "--quick", "--json", "--data", data).stdout)
        return {one["name"]: one["state"] for one in report["checks"]}

    assert not {"encryption", "tls"} & examined().keys()
    turn_on(monkeypatch)
    assert examined()["encryption"] == "fail"  # it is plain yet
    omoide("memory", "encrypt", "--data", data)
    found = examined()
    assert (found["encryption"], found["clear-index"]) == ("ok", "warn")
    monkeypatch.setenv("OMOIDE_MEMORY_KEY", "not that key at all")
    monkeypatch.setenv("OMOIDE_SERVER__TLS__CERTIFICATE", str(tmp_path / "nowhere.pem"))
    found = examined()
    assert (found["encryption"], found["tls"]) == ("fail", "fail")
