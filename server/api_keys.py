"""The named keys of the API: who may do what with whose memory. Of a key only its hash is kept."""

import hashlib
import hmac
import json
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog

from server.config import ApiKeySection
from server.errors import AccessError
from server.grants import EVERYBODY, Grant, Scope
from server.registry import sign_file, write_private
from server.short_ids import whole_id

log = structlog.get_logger(__name__)

FILE = "api-keys.json"
_PREFIX = "omo_"
"""Tells people, and programs that look for leaked secrets, what such a text is."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class NamedKey:
    """One key, without what opens the door."""

    name: str
    grant: Grant
    digest: str
    """SHA-256 in hexadecimal. A key has 256 random bits: there is nothing to be guessed from it."""
    made_at: datetime | None = None
    """None for one of the configuration."""


class ApiKeys:
    """The keys of ``api-keys.json`` in the data folder, and those of the configuration, which go before.

    Safe to use from several threads, and beside a command that changes the file: it is read again when it has changed.
    """

    def __init__(self, configured: Mapping[str, ApiKeySection], folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._configured = {
            name: NamedKey(
                name, Grant(Scope[part.scope.upper()], frozenset(part.persons)), part.sha256
            )
            for name, part in configured.items()
        }
        self._kept: dict[str, NamedKey] = {}
        self._signature: object = None

    def list(self) -> Sequence[NamedKey]:
        """Return all keys, by name."""
        with self._lock:
            return [known for _, known in sorted(self._read().items())]

    def grant_of(self, key: str) -> Grant | None:
        """Return what a key allows; None if it is none. Takes the same time for every key that is none."""
        digest = digest_of(key)
        with self._lock:
            known = list(self._read().values())
        fitting = [one for one in known if hmac.compare_digest(one.digest, digest)]
        return fitting[0].grant if fitting else None

    def make(self, name: str, grant: Grant, now: datetime) -> str:
        """Make a key, and return it: it can't be shown again.

        Raises:
            AccessError: `key-name-invalid` or `key-exists`.
        """
        if not _NAME.fullmatch(name):
            raise AccessError(
                "key-name-invalid",
                "The name of a key has 1 to 40 characters: a to z, digits, and . _ - but not in front.",
            )
        key = _PREFIX + secrets.token_urlsafe(32)
        with self._lock:
            if name in self._read():
                raise AccessError(
                    "key-exists",
                    f"There is a key {name!r} already. Revoke it first, or name another.",
                )
            made = NamedKey(name, grant, digest_of(key), now)
            self._write({**self._kept, name: made})
        return key

    def revoke(self, name: str) -> str:
        """Make a key void, at once and for good; return its whole name.

        Raises:
            AccessError: `key-unknown`, `key-configured`.
        """
        with self._lock:
            name = whole_id(name, self._read()) or name
            if name in self._configured:
                raise AccessError(
                    "key-configured",
                    f"The key {name!r} stands in the configuration. Remove it under access.keys and start the server anew.",
                )
            if name not in self._kept:
                raise AccessError("key-unknown", f"There is no key {name!r}.")
            self._write({other: key for other, key in self._kept.items() if other != name})
        return name

    def _read(self) -> dict[str, NamedKey]:
        signature = sign_file(self._file)
        if signature != self._signature:
            self._signature = signature
            self._kept = _load(self._file)
        return {**self._kept, **self._configured}

    def _write(self, keys: Mapping[str, NamedKey]) -> None:
        rows = [
            {
                "name": key.name,
                "scope": key.grant.scope.name.lower(),
                "persons": sorted(key.grant.persons),
                "sha256": key.digest,
                "made_at": key.made_at.isoformat() if key.made_at else "",
            }
            for _, key in sorted(keys.items())
        ]
        text = json.dumps({"keys": rows}, ensure_ascii=False, indent=1)
        write_private(self._file, f"{text}\n".encode())
        self._kept, self._signature = dict(keys), sign_file(self._file)


def digest_of(key: str) -> str:
    """Return the hash by which a key is kept."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read_grant(scope: str, persons: Sequence[str]) -> Grant:
    """Return what a key is to allow, as people write it.

    Raises:
        AccessError: `key-empty`: nobody is named.
    """
    if not persons:
        raise AccessError(
            "key-empty", f"Name the persons whose memory the key reaches, or {EVERYBODY!r} for all."
        )
    return Grant(Scope[scope.upper()], frozenset(persons))


def _load(file: Path) -> dict[str, NamedKey]:
    """Return the keys in the file; one that can't be read is none: a broken file opens nothing."""
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))["keys"]
        keys = [_key(row) for row in rows]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.warning("api-keys-broken", file=str(file), why=type(error).__name__)
        return {}
    return {key.name: key for key in keys}


def _key(row: Mapping[str, str]) -> NamedKey:
    persons, digest = row["persons"], row["sha256"]
    if not _HASH.fullmatch(digest) or not all(isinstance(one, str) for one in persons):
        raise ValueError("sha256")
    grant = Grant(Scope[row["scope"].upper()], frozenset(persons))
    return NamedKey(row["name"], grant, digest, datetime.fromisoformat(row["made_at"]))
