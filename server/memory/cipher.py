"""Encryption of the store at rest, by SQLCipher (AES-256, each page with a checksum of its own). Nothing of it is made here."""

import os
import re
import sqlite3
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from server.config import StoreSection
from server.errors import ConfigError, StoreError

PLAIN_HEADER: Final = b"SQLite format 3\x00"
_RAW_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
_LEAST_CHARACTERS: Final = 12
_NOT_OURS: Final = ("not a database", "file is encrypted", "malformed")
"""What the library says where a page can't be deciphered: it can't tell a wrong key from a damaged file."""


@dataclass(frozen=True, slots=True)
class Cipher:
    """The key of a store."""

    key: str = field(repr=False)
    """64 hexadecimal digits are the key itself; anything else is a passphrase, from which SQLCipher derives it anew for each
    connection (a third of a second)."""

    @property
    def literal(self) -> str:
        """The key as SQLCipher takes it."""
        return f"x'{self.key}'" if _RAW_KEY.fullmatch(self.key) else self.key


def cipher_of(section: StoreSection) -> Cipher | None:
    """Return what the store is to be encrypted with; None if it is not.

    Raises:
        ConfigError: As `read_cipher`.
    """
    return read_cipher(section) if section.encryption == "sqlcipher" else None


def read_cipher(section: StoreSection) -> Cipher:
    """Read the key from its file or, without one, from the environment.

    Raises:
        ConfigError: ``store-key-missing``, ``store-key-weak``, ``store-cipher-missing``.
    """
    key = _read_key(section)
    if not key:
        raise ConfigError(
            f"The store is encrypted, and there is no key: put it into the environment variable {section.key_env}, or into a "
            "file that store.key_file names. Without it nobody reads what is remembered.",
            code="store-key-missing",
        )
    if len(key) < _LEAST_CHARACTERS:
        raise ConfigError(
            f"The key of the store has to have {_LEAST_CHARACTERS} characters or more; the best is what `openssl rand -hex 32` "
            "prints.",
            code="store-key-weak",
        )
    _driver(is_encrypted=True)
    return Cipher(key)


def connect(file: Path, cipher: Cipher | None, seconds: float, *, is_keyed: bool = True) -> Any:
    """Open a database file, as `sqlite3.connect` does, for use by one thread at a time.

    Args:
        file: Made if it is not there.
        cipher: None for a plain one. That the key is right shows at the first look into the file.
        seconds: How long to wait for others.
        is_keyed: Whether the file is encrypted with it; else it is a plain one that the same library opens.
    """
    connection = driver_of(cipher).connect(str(file), timeout=seconds, check_same_thread=False)
    if cipher is not None:
        connection.execute("PRAGMA cipher_log_level = NONE")
    if cipher is not None and is_keyed:
        quoted = cipher.literal.replace('"', '""')
        connection.execute(f'PRAGMA key = "{quoted}"')
    return connection


def driver_of(cipher: Cipher | None) -> Any:
    """Return the DB-API module behind such a connection."""
    return _driver(is_encrypted=cipher is not None)


def errors_of(cipher: Cipher | None) -> type[Exception]:
    """Return what is raised on such a connection."""
    error: type[Exception] = driver_of(cipher).Error
    return error


def check_form(file: Path, cipher: Cipher | None) -> None:
    """Refuse a plain file where an encrypted one is wanted, and the other way round. One that is not there, or is empty, fits.

    Raises:
        StoreError: ``store-not-encrypted`` or ``store-encrypted``.
    """
    if cipher is None and file.is_file() and file.stat().st_size and not is_plain(file):
        raise StoreError(
            "store-encrypted",
            f"{file} does not begin as a plain database does. Most likely it is encrypted: set store.encryption to sqlcipher, with "
            "the key that it was encrypted with. If it never was, it is damaged: run `omoide restore` with your last backup. "
            "Nothing was changed.",
        )
    if cipher is not None and is_plain(file):
        raise StoreError(
            "store-not-encrypted",
            f"{file} is not encrypted, and the configuration wants it to be. Stop the server and run `omoide memory encrypt`, or "
            "set store.encryption to off.",
        )


def is_plain(file: Path) -> bool:
    """Whether a file is a database that anybody can read."""
    try:
        with file.open("rb") as opened:
            return opened.read(len(PLAIN_HEADER)) == PLAIN_HEADER
    except OSError:
        return False


def is_undecipherable(error: Exception) -> bool:
    """Whether an error says that a page could not be deciphered."""
    return any(sign in str(error) for sign in _NOT_OURS)


def wrong_key(file: Path) -> StoreError:
    """Return the error for a file that its key does not open."""
    return StoreError(
        "store-key-wrong",
        f"{file} can't be read with this key. Nothing was changed. Either it is not the key that it was encrypted with, or the "
        "file is damaged; then run `omoide restore` with your last backup.",
    )


def _read_key(section: StoreSection) -> str:
    if not section.key_file:
        return os.environ.get(section.key_env, "").strip()
    try:
        return Path(section.key_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"store.key_file: {section.key_file} can't be read ({type(error).__name__}).",
            code="store-key-missing",
        ) from error


def _driver(*, is_encrypted: bool) -> Any:
    if not is_encrypted:
        return sqlite3
    try:
        return import_module("sqlcipher3.dbapi2")
    except ImportError as error:
        raise ConfigError(
            "The store is to be encrypted, and SQLCipher is not installed: pip install 'omoide[encrypted]'.",
            code="store-cipher-missing",
        ) from error
