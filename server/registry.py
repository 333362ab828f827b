"""The devices that this server knows, in one small JSON file that survives crashes and clumsy hands."""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import structlog

log = structlog.get_logger(__name__)

GUEST_MARK = "~"
"""Stands between the Device-Id and the rest of a guest's id. No Device-Id may contain it."""

_FORMAT = 1

_Signature: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """One claim on a Device-Id: the first one owns it, every later one with another Client-Id is a guest."""

    id: str
    """The Device-Id in lower case; for a guest followed by `GUEST_MARK` and a hash of who it says it is."""
    client_id: str | None
    """What it is bound to; None if only programs on this machine have used the id so far."""
    person: str
    accepted: bool
    first_seen: datetime
    last_seen: datetime
    """Exact to some minutes: not worth a write at every connection."""
    serial: str = ""
    board: str = ""
    """Name and version of the firmware, as the OTA request gave it."""
    token_generation: int = 0
    """Part of every token: raising it makes all earlier ones void."""
    issued: bool = False
    """Whether OTA handed out a token: from then on the Client-Id alone opens nothing."""
    forgotten: bool = False
    """A tombstone. It keeps the generation, so that old tokens stay void, and the name of the person taken."""

    @property
    def device(self) -> str:
        """The Device-Id that is claimed."""
        return self.id.partition(GUEST_MARK)[0]

    @property
    def is_guest(self) -> bool:
        """Whether somebody else claimed the Device-Id before."""
        return GUEST_MARK in self.id


class Registry:
    """Reads and writes the file. Safe to use from several threads, and beside another process on the same file.

    A file that can't be parsed is moved aside as ``….broken`` and the devices known so far (none, at the start) stay; a
    file that can't be written is logged, and what changed is kept in memory until the next change.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._devices: dict[str, KnownDevice] = {}
        self._signature: _Signature | None = None
        with self._lock:
            self._refresh()

    def devices(self) -> list[KnownDevice]:
        """Return all devices, tombstones included, by id."""
        with self._lock:
            self._refresh()
            return sorted(self._devices.values(), key=lambda device: device.id)

    @contextmanager
    def edit(self) -> Iterator[dict[str, KnownDevice]]:
        """Look at the devices by id and change them; leaving the block without an error writes what changed.

        One block at a time; do nothing slow in it.
        """
        with self._lock:
            self._refresh()
            draft = dict(self._devices)
            yield draft
            if draft != self._devices:
                self._devices = draft
                self._write()

    def _refresh(self) -> None:
        signature = _sign(self._path)
        if signature == self._signature:
            return
        self._signature = signature
        if signature is None:
            self._devices = {}
            return
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError as error:
            log.warning("registry-unreadable", file=str(self._path), why=str(error))
            return
        except UnicodeDecodeError:
            text = ""
        devices, is_whole = _parse(text)
        if not is_whole:
            self._put_aside()
            devices = {**self._devices, **devices}
        self._devices = devices
        if not is_whole:
            self._write()

    def _put_aside(self) -> None:
        aside = self._path.with_name(self._path.name + ".broken")
        log.warning(
            "registry-broken",
            file=str(self._path),
            moved_to=str(aside),
            hint="Devices that are not known any more are welcomed as new ones; compare the two files.",
        )
        try:
            self._path.replace(aside)
        except OSError as error:
            log.warning("registry-unreadable", file=str(self._path), why=str(error))

    def _write(self) -> None:
        devices = [_describe(device) for _, device in sorted(self._devices.items())]
        text = json.dumps({"version": _FORMAT, "devices": devices}, indent=1, ensure_ascii=False)
        try:
            write_private(self._path, text.encode())
        except OSError as error:
            log.warning("registry-unwritten", file=str(self._path), why=str(error))
            return
        self._signature = _sign(self._path)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file in one step, readable by the owner alone; a crash leaves the old content or the new.

    Raises:
        OSError: The folder can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _sign(path: Path) -> _Signature | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _parse(text: str) -> tuple[dict[str, KnownDevice], bool]:
    """Return the devices that can be read, and whether these are all."""
    try:
        root = json.loads(text)
        entries = root["devices"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return {}, False
    if not isinstance(entries, list):
        return {}, False
    devices = [_read_device(entry) for entry in entries]
    return {device.id: device for device in devices if device}, all(devices)


def _read_device(entry: object) -> KnownDevice | None:
    if not isinstance(entry, dict):
        return None
    try:
        return KnownDevice(
            id=_text(entry, "id"),
            client_id=None if entry["client_id"] is None else _text(entry, "client_id"),
            person=_text(entry, "person"),
            accepted=entry["accepted"] is True,
            first_seen=_time(entry, "first_seen"),
            last_seen=_time(entry, "last_seen"),
            serial=_text(entry, "serial"),
            board=_text(entry, "board"),
            token_generation=int(entry["token_generation"]),
            issued=entry["issued"] is True,
            forgotten=entry["forgotten"] is True,
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry[key]
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _time(entry: Mapping[str, object], key: str) -> datetime:
    value = datetime.fromisoformat(_text(entry, key))
    if value.tzinfo is None:
        raise ValueError(key)
    return value


def _describe(device: KnownDevice) -> dict[str, object]:
    return {
        "id": device.id,
        "client_id": device.client_id,
        "person": device.person,
        "accepted": device.accepted,
        "first_seen": device.first_seen.isoformat(),
        "last_seen": device.last_seen.isoformat(),
        "serial": device.serial,
        "board": device.board,
        "token_generation": device.token_generation,
        "issued": device.issued,
        "forgotten": device.forgotten,
    }
