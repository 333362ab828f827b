"""The devices that this server knows, in one small JSON file that survives crashes and clumsy hands."""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
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
    """Exact to some minutes."""
    serial: str = ""
    board: str = ""
    """Name and version of the firmware, as the OTA request gave it."""
    token_generation: int = 0
    """Part of every token: raising it makes all earlier ones void."""
    issued: bool = False
    """Whether OTA handed out a token: from then on the Client-Id alone opens nothing."""
    established: bool = False
    """Whether it was let in to talk, or accepted by somebody: no other has a memory to lose."""
    given: int = 0
    """How often its owner was given to somebody by whoever runs the server: who sat there before sits there no longer."""
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

    @property
    def is_nameless(self) -> bool:
        """Whether this entry stands for everybody who claims the Device-Id without a Client-Id."""
        return self.is_guest and not self.client_id


@dataclass(slots=True)
class Roll:
    """What `Registry.edit` lets change."""

    devices: dict[str, KnownDevice]
    """By id; tombstones included."""
    floor: int = 0
    """Generation of whoever has no entry. It stands for all entries that were struck out: their tokens stay void, and
    nobody gets their persons."""

    def generation_of(self, device_id: str) -> int:
        """Return the generation with which a device begins, or begins again."""
        stone = self.devices.get(device_id)
        return stone.token_generation if stone else self.floor

    def guests_of(self, device_id: str) -> list[KnownDevice]:
        """Return the guests of a Device-Id, without tombstones."""
        return find_guests(self.devices, device_id)

    def strike(self, device: KnownDevice) -> None:
        """Take an entry out to save room; the guests of an owner go with it, or the next owner would inherit them."""
        for one in (device, *([] if device.is_guest else self.guests_of(device.id))):
            del self.devices[one.id]
            # The id of a guest says who it is; that of an owner may be claimed by somebody else next time.
            is_inheritable = one.established and not (one.forgotten or one.is_guest)
            self.floor = max(self.floor, one.token_generation + is_inheritable)


def find_guests(known: Mapping[str, KnownDevice], device_id: str) -> list[KnownDevice]:
    """Return the guests of a Device-Id, without tombstones."""
    return [
        device
        for device in known.values()
        if device.is_guest and device.device == device_id and not device.forgotten
    ]


class Registry:
    """Reads and writes the file. Safe to use from several threads, and beside another process on the same file.

    A change of `last_seen` or `board` alone is written by the next `save`, together with others, and is lost if another
    process writes before; every other change is on the disk when `edit` returns.

    A file that can't be parsed is moved aside as ``….broken`` and the devices known so far (none, at the start) stay; a
    file that can't be written is logged, and what changed is kept in memory until the next `save`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._devices: dict[str, KnownDevice] = {}
        self._floor = 0
        self._is_unsaved = False
        self._signature: _Signature | None = None
        with self._lock:
            self._refresh()

    def snapshot(self) -> Mapping[str, KnownDevice]:
        """Return all devices, tombstones included, by their ids. What changes later does not show in it."""
        with self._lock:
            self._refresh()
            return MappingProxyType(self._devices)

    def devices(self) -> list[KnownDevice]:
        """Return all devices, tombstones included, in the order of their ids."""
        return sorted(self.snapshot().values(), key=lambda device: device.id)

    @contextmanager
    def edit(self) -> Iterator[Roll]:
        """Look at the devices and change them; leaving the block without an error keeps what changed.

        One block at a time; do nothing slow in it.
        """
        with self._lock:
            self._refresh()
            draft = Roll(dict(self._devices), self._floor)
            yield draft
            if draft == Roll(self._devices, self._floor):
                return
            is_urgent = draft.floor != self._floor or _is_urgent(self._devices, draft.devices)
            self._devices, self._floor = draft.devices, draft.floor
            self._is_unsaved = True
            if is_urgent:
                self._write()

    def save(self) -> None:
        """Write what has not been written yet, if anything."""
        with self._lock:
            self._refresh()
            if self._is_unsaved:
                self._write()

    def _refresh(self) -> None:
        signature = sign_file(self._path)
        if signature == self._signature:
            return
        self._signature = signature
        self._is_unsaved = False
        if signature is None:
            self._devices, self._floor = {}, 0
            return
        try:
            text = self._path.read_text(encoding="utf-8")
        except OSError as error:
            log.warning("registry-unreadable", file=str(self._path), why=str(error))
            return
        except UnicodeDecodeError:
            text = ""
        roll, is_whole = _parse(text)
        if not is_whole:
            self._put_aside()
            roll.devices = {**self._devices, **roll.devices}
        self._devices = roll.devices
        self._floor = max(self._floor, roll.floor)
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
        lines = ",\n".join(
            json.dumps(_describe(device), ensure_ascii=False)
            for _, device in sorted(self._devices.items())
        )
        text = f'{{"version": {_FORMAT}, "floor": {self._floor}, "devices": [\n{lines}\n]}}\n'
        try:
            write_private(self._path, text.encode())
        except OSError as error:
            log.warning("registry-unwritten", file=str(self._path), why=str(error))
            return
        self._signature = sign_file(self._path)
        self._is_unsaved = False


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


def sign_file(path: Path) -> _Signature | None:
    """Return what is another one once a file has been written again; None if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _is_urgent(old: Mapping[str, KnownDevice], new: Mapping[str, KnownDevice]) -> bool:
    """Whether more changed than when a device was last seen and what firmware it runs."""
    return old.keys() != new.keys() or any(
        device is not new[name]
        and replace(device, last_seen=new[name].last_seen, board=new[name].board) != new[name]
        for name, device in old.items()
    )


def _parse(text: str) -> tuple[Roll, bool]:
    """Return what can be read, and whether that is all."""
    try:
        root = json.loads(text)
        entries = root["devices"]
        floor = int(root.get("floor", 0))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, OverflowError):
        return Roll({}), False
    if not isinstance(entries, list):
        return Roll({}), False
    devices = [_read_device(entry) for entry in entries]
    return Roll({device.id: device for device in devices if device}, floor), all(devices)


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
            established=entry.get("established", True) is True,  # older files do not say
            given=int(entry.get("given", 0)),
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
        "established": device.established,
        "given": device.given,
        "forgotten": device.forgotten,
    }
