"""`omoide memory encrypt` and `decrypt`: change how the store lies on the disk. Nobody may work in the data folder meanwhile."""

from collections.abc import Mapping
from pathlib import Path

from server.commands.backup import DATABASE
from server.commands.report import Report, Tell
from server.config import Config
from server.errors import OmoideError
from server.folder_lock import lock_data
from server.memory import converting
from server.memory.cipher import read_cipher

NOTHING: Mapping[str, object] = {"file": "", "encryption": "", "error": None}


def encrypt(config: Config, data: Path, tell: Tell) -> Report:
    """Encrypt the store with the key of the configuration.

    Raises:
        OmoideError: ``memory-missing``; there is no key; a server runs; or the file can't be converted.
    """
    file = _find(data)
    cipher = read_cipher(config.store)
    with lock_data(data):
        converting.encrypt(file, cipher)
    tell(f"{file} is encrypted. Keep the key apart from it: without it, nobody can read it again.")
    tell("Backups that were made before, and what the disk keeps of deleted files, are not.")
    _tell_setting(config, "sqlcipher", tell)
    return Report({**NOTHING, "file": str(file), "encryption": "sqlcipher"})


def decrypt(config: Config, data: Path, tell: Tell) -> Report:
    """Write the store as a plain file.

    Raises:
        OmoideError: As in `encrypt`; or the key is not the right one.
    """
    file = _find(data)
    cipher = read_cipher(config.store)
    with lock_data(data):
        converting.decrypt(file, cipher)
    tell(f"{file} is not encrypted any more.")
    _tell_setting(config, "off", tell)
    return Report({**NOTHING, "file": str(file), "encryption": "off"})


def _find(data: Path) -> Path:
    file = data / DATABASE
    if not file.exists():
        raise OmoideError(
            "memory-missing", f"There is no memory in {data}. Name its data folder with --data."
        )
    return file


def _tell_setting(config: Config, wanted: str, tell: Tell) -> None:
    if config.store.encryption != wanted:
        tell(f"Set store.encryption to {wanted} before the next start.")
