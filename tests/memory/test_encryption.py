"""A memory that is encrypted on the disk works as a plain one, and nobody reads it without its key."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from server.config import Config
from server.errors import ConfigError, OmoideError, StoreError
from server.memory import converting
from server.memory.cipher import Cipher, cipher_of, is_plain
from server.memory.store import Store
from tests.memory.remembering import CAT, NOON, opened, page
from tests.on_disk import bytes_of

KEY = "correct horse battery staple"
OTHER = Cipher("another long enough passphrase")
RAW = "5f" * 32
SECRET = "zqalphaqz"
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=[KEY, RAW], ids=["passphrase", "raw key"])
def section(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Return a section of the configuration, with its key in a file."""
    key_file = tmp_path / "key"
    key_file.write_text(f"{request.param}\n")
    return {"encryption": "sqlcipher", "key_file": str(key_file)}


def cipher(section: dict[str, Any]) -> Cipher:
    found = cipher_of(Config.model_validate({"store": section}).store)
    assert found is not None
    return found


def code_of(raises: Callable[[], object], kind: type[OmoideError] = StoreError) -> str:
    with pytest.raises(kind) as caught:
        raises()
    return caught.value.code


def assert_unreadable(folder: Path) -> None:
    """Look for what was said, and for signs of a plain database, in every file."""
    content = bytes_of(folder)
    assert len(content) > 10_000
    for text in (SECRET, CAT, "飼い始めた", "CREATE TABLE", "SQLite format"):
        assert text.encode() not in content, text


async def test_what_is_remembered_is_found_again_and_stands_in_no_file(
    tmp_path: Path, section: dict[str, Any]
) -> None:
    folder = tmp_path / "memory"
    with opened(folder, store=section, retrieval={"gate": 0.0}) as room:
        room.tell(CAT, f"猫の名前は{SECRET}だよ。")
        await room.memory.extract()
        assert len(await room.known()) == 2
        assert_unreadable(folder)
    assert_unreadable(folder)
    assert not is_plain(folder / "memory.db")
    with opened(folder, store=section, retrieval={"gate": 0.0}) as room:
        assert any("飼い始めた" in text for text in await room.recalled("猫を飼っていた？"))


async def test_the_index_holds_no_text(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with opened(folder) as room:
        room.tell(f"My cat is called {SECRET}.", language="en")
        await room.memory.extract()
        await room.memory.recall("hana", f"What is {SECRET}?", "en")
        assert any(SECRET in text for text in await room.known())
    files = [path for path in (folder / "index").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) > 0
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


async def test_forgetting_reaches_into_an_encrypted_store(
    tmp_path: Path, section: dict[str, Any]
) -> None:
    with opened(tmp_path / "memory", store=section) as room:
        room.tell(CAT)
        [fact] = await room.memory.extract()
        await room.memory.archive.forget([fact.id])
        assert await room.known() == []
        assert not room.memory._store._database.is_unscrubbed


def test_with_another_key_it_is_not_opened_and_not_changed(
    tmp_path: Path, section: dict[str, Any]
) -> None:
    file = tmp_path / "memory.db"
    with closing(Store(file, cipher(section))) as store:
        store.pages.add(page(SECRET))
    before = file.read_bytes()
    assert code_of(lambda: Store(file, OTHER)) == "store-key-wrong"
    assert code_of(lambda: Store(file)) == "store-encrypted"
    with pytest.raises(StoreError, match=r"store\.encryption"):
        Store(file)
    assert file.read_bytes() == before
    with closing(sqlite3.connect(file)) as plain, pytest.raises(sqlite3.DatabaseError):
        plain.execute("SELECT * FROM pages")


def test_a_plain_store_is_not_taken_for_an_encrypted_one(
    tmp_path: Path, section: dict[str, Any]
) -> None:
    file = tmp_path / "memory.db"
    Store(file).close()
    assert code_of(lambda: Store(file, cipher(section))) == "store-not-encrypted"


def test_without_a_key_nothing_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMOIDE_MEMORY_KEY", raising=False)
    missing = {"encryption": "sqlcipher", "key_file": str(tmp_path / "nowhere")}
    assert code_of(lambda: cipher(missing), ConfigError) == "store-key-missing"
    assert code_of(lambda: cipher({"encryption": "sqlcipher"}), ConfigError) == "store-key-missing"
    monkeypatch.setenv("OMOIDE_MEMORY_KEY", "short")
    assert code_of(lambda: cipher({"encryption": "sqlcipher"}), ConfigError) == "store-key-weak"
    monkeypatch.setenv("OMOIDE_MEMORY_KEY", KEY)
    assert cipher({"encryption": "sqlcipher"}) == Cipher(KEY)
    assert cipher_of(Config().store) is None
    assert KEY not in repr(Cipher(KEY))


@pytest.mark.parametrize(
    "key", ['it\'s "quoted"; --', "日本語の鍵はとても長い鍵です", 'x" OR 1=1 --']
)
def test_a_passphrase_may_hold_any_sign(tmp_path: Path, key: str) -> None:
    file = tmp_path / "memory.db"
    with closing(Store(file, Cipher(key))) as store:
        store.pages.add(page(SECRET))
    with closing(Store(file, Cipher(key))) as store:
        assert [one.said for one in store.pages.of("hana")] == [SECRET]
    assert code_of(lambda: Store(file, Cipher(f"{key}!"))) == "store-key-wrong"


def test_a_store_is_encrypted_and_decrypted_whole(tmp_path: Path, section: dict[str, Any]) -> None:
    file, key = tmp_path / "memory.db", cipher(section)
    with closing(Store(file)) as store:
        for number in range(50):
            store.pages.add(page(f"{SECRET} {number}", id_=str(number)))
        said = [one.said for one in store.pages.of("hana")]

    converting.encrypt(file, key)
    assert SECRET.encode() not in bytes_of(tmp_path)
    with closing(Store(file, key)) as store:
        assert [one.said for one in store.pages.of("hana")] == said
        store.pages.add(page(f"{SECRET} later", NOON.replace(hour=13), id_="later"))
    assert code_of(lambda: converting.encrypt(file, key)) == "store-encrypted"

    assert code_of(lambda: converting.decrypt(file, OTHER)) == "store-key-wrong"
    converting.decrypt(file, key)
    with closing(Store(file)) as store:
        assert [one.said for one in store.pages.of("hana")] == [*said, f"{SECRET} later"]
    assert code_of(lambda: converting.decrypt(file, key)) == "store-not-encrypted"
    assert {path.name for path in tmp_path.iterdir()} <= {"memory.db", "key"}


def test_what_somebody_is_using_is_not_converted(tmp_path: Path, section: dict[str, Any]) -> None:
    file = tmp_path / "memory.db"
    Store(file).close()
    # Locks are the process's: another one has to hold it.
    with subprocess.Popen([sys.executable, "-c", HOLDER, file], stdin=PIPE, stdout=PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        assert code_of(lambda: converting.encrypt(file, cipher(section))) == "store-locked"
        holder.communicate()
    assert is_plain(file)
