"""Who may come in: which robot is known, which token belongs to it, and whose memory it speaks with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from server.callers import Caller, Callers
from server.claims import (
    Claim,
    check_device_id,
    check_person,
    hash_text,
    is_equal,
    name_guest,
    name_local,
    name_person,
    tidy,
    tidy_device_id,
)
from server.config import Config, DeviceSection, PersonSection
from server.errors import AccessError
from server.keys import Keys
from server.ports import Clock
from server.presence import Presence
from server.registry import GUEST_MARK, KnownDevice, Registry

_Known: TypeAlias = dict[str, KnownDevice]

_DEVICES = 10_000
_GUESTS = 8
"""Of one Device-Id. Whoever was not seen longest makes room."""
_SEEN_AGAIN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Admission:
    """As whom a robot comes in."""

    device: str
    """Identity for history and replacement. A guest has one of its own."""
    person: str
    is_guest: bool
    language: str | None
    voice: str
    profile: str


class Access:
    """Decides by the configuration and by what is kept in the data folder: ``devices.json``, ``secret``, ``api-token``.

    Its methods may be called from any thread and block for one small file at most. `presence` belongs to the event loop.

    Raises:
        ConfigError: A proxy in the configuration is not valid, or the folder can't be used.
    """

    def __init__(self, config: Config, data: Path, clock: Clock) -> None:
        self.callers = Callers(config)
        self.presence = Presence()
        self._config = config
        self._clock = clock
        self._sections = {tidy_device_id(name): part for name, part in config.devices.items()}
        self._keys = Keys(config.access, data)
        self._registry = Registry(data / "devices.json")

    def visit(self, claim: Claim, caller: Caller) -> str:
        """Note that a robot asked OTA for its server; return the token it shall come with.

        The first visitor owns the Device-Id. A visitor with another Client-Id or serial number gets a token of its own, which
        makes it a guest until it is accepted.

        Raises:
            AccessError: `device-id-missing`, `device-id-invalid` or `registry-full`.
        """
        claim = tidy(claim)
        check_device_id(claim.device_id)
        with self._registry.edit() as known:
            device = self._find_visitor(known, claim, caller)
            device = replace(
                device,
                client_id=claim.client_id if device.client_id is None else device.client_id,
                serial=device.serial or claim.serial,
                board=claim.board or device.board,
                issued=True,
            )
            known[device.id] = self._touch(device)
        return self._keys.token_of(device)

    def admit(self, claim: Claim, caller: Caller) -> Admission:
        """Decide whether a robot may talk, and with whose memory.

        Raises:
            AccessError: One of `claims.HTTP_STATUS`; the message says what to do.
        """
        claim = tidy(claim)
        is_trusted = caller.is_local or self._keys.is_api_token(claim.token)
        if not claim.device_id and is_trusted:
            claim = replace(claim, device_id=name_local(claim.client_id))
        check_device_id(claim.device_id)
        person = claim.person if is_trusted else ""
        check_person(person)
        with self._registry.edit() as known:
            device = self._touch(self._recognise(known, claim, caller, is_trusted=is_trusted))
            known[device.id] = device
            owner = known.get(device.device, device)
        if self._config.access.mode == "approve" and not (device.accepted or is_trusted):
            raise AccessError(
                "device-waiting",
                f"{device.id} has to be accepted first: POST /api/devices/{device.id}/accept.",
            )
        return self._describe(device, owner, person)

    def proves_itself(self, claim: Claim) -> bool:
        """Whether a token came along that is valid: no web page could have sent it by accident."""
        claim = tidy(claim)
        if self._keys.is_api_token(claim.token):
            return True
        with self._registry.edit() as known:
            return self._find_by_token(known, claim) is not None

    def check_api(self, caller: Caller, token: str) -> None:
        """Let programs on this machine and holders of the API token pass.

        Raises:
            AccessError: `token-missing` or `token-wrong`.
        """
        if self._keys.is_api_token(token) or (caller.is_local and not token):
            return
        raise _refuse(token, "Send the API token (file api-token in the data folder)")

    def devices(self) -> list[KnownDevice]:
        """Return who is known, by id; a guest comes after the owner of its Device-Id."""
        return [device for device in self._registry.devices() if not device.forgotten]

    def admission_of(self, device: KnownDevice) -> Admission:
        """Return as whom a known device comes in when it names nobody."""
        with self._registry.edit() as known:
            owner = known.get(device.device, device)
        return self._describe(device, owner, "")

    def accept(self, device_id: str, person: str = "") -> KnownDevice:
        """Take a waiting device or a guest for the real one. An accepted guest speaks with the memory of the owner.

        Args:
            device_id: As in `devices`.
            person: Whose memory the Device-Id shall speak with from now on, unless the configuration says otherwise;
                empty to leave that as it is.

        Raises:
            AccessError: `device-unknown` or `person-invalid`.
        """
        check_person(person)
        with self._registry.edit() as known:
            device = replace(_get(known, device_id), accepted=True)
            known[device.id] = device
            owner = _find_owner(known, device.device)
            if person and owner is not None:
                known[owner.id] = replace(owner, person=person)
            return known[device.id]

    def forget(self, device_id: str) -> list[str]:
        """Forget a device and make its tokens void; forgetting the owner forgets its guests too.

        Should it come again, it is a new device with a new person: what its person told stays out of its reach.

        Returns:
            The ids that are forgotten.

        Raises:
            AccessError: `device-unknown`.
        """
        with self._registry.edit() as known:
            device = _get(known, device_id)
            gone = [device, *([] if device.is_guest else _find_guests(known, device.id))]
            for one in gone:
                known[one.id] = replace(
                    one,
                    client_id=None,
                    person="",
                    serial="",
                    board="",
                    accepted=False,
                    issued=False,
                    forgotten=True,
                    token_generation=one.token_generation + 1,
                )
        return [one.id for one in gone]

    def _find_visitor(self, known: _Known, claim: Claim, caller: Caller) -> KnownDevice:
        owner = _find_owner(known, claim.device_id)
        if owner is None:
            return self._welcome(known, claim, caller)
        if owner.client_id is None:
            # So far only programs here used the id. A robot here may bind it; a stranger might be after its memory.
            return owner if caller.is_local else self._receive_guest(known, claim)
        serials = {owner.serial, claim.serial} - {""}
        if is_equal(claim.client_id, owner.client_id) and len(serials) < 2:
            return owner
        return self._receive_guest(known, claim)

    def _recognise(
        self, known: _Known, claim: Claim, caller: Caller, *, is_trusted: bool
    ) -> KnownDevice:
        owner = _find_owner(known, claim.device_id)
        if owner is None:
            return self._welcome(known, claim, caller)
        proven = self._find_by_token(known, claim)
        if proven is not None:
            return proven
        is_api = self._keys.is_api_token(claim.token)
        if is_api or (is_trusted and not (owner.issued and claim.token)):
            return owner
        if owner.issued:
            raise _refuse(
                claim.token, "This device must come with the token that OTA gave it: restart it"
            )
        if owner.client_id is not None and is_equal(claim.client_id, owner.client_id):
            return owner
        return self._receive_guest(known, claim)

    def _find_by_token(self, known: _Known, claim: Claim) -> KnownDevice | None:
        """Return the device whose token was sent. Old clients name no Client-Id; who names one must name the right one."""
        owner = _find_owner(known, claim.device_id)
        if owner is None or not claim.token:
            return None
        for device in (owner, *_find_guests(known, owner.id)):
            fits = not claim.client_id or is_equal(claim.client_id, device.client_id or "")
            if device.issued and fits and is_equal(claim.token, self._keys.token_of(device)):
                return device
        return None

    def _welcome(self, known: _Known, claim: Claim, caller: Caller) -> KnownDevice:
        stone = known.get(claim.device_id)
        if stone is None and len(known) >= _DEVICES:
            raise AccessError(
                "registry-full",
                f"This server knows {_DEVICES} devices already; edit devices.json in the data folder.",
            )
        generation = stone.token_generation if stone else 0
        now = self._clock.now()
        return KnownDevice(
            id=claim.device_id,
            client_id=None if caller.is_local and not claim.client_id else claim.client_id,
            person=name_person(claim.device_id, generation),
            accepted=self._config.access.mode == "open",
            first_seen=now,
            last_seen=now,
            token_generation=generation,
        )

    def _receive_guest(self, known: _Known, claim: Claim) -> KnownDevice:
        mark = hash_text(f"{claim.client_id}|{claim.serial}", 8)
        guest_id = f"{claim.device_id}{GUEST_MARK}{mark}"
        stone = known.get(guest_id)
        if stone is not None and not stone.forgotten:
            return stone
        waiting = [guest for guest in _find_guests(known, claim.device_id) if not guest.accepted]
        if len(waiting) >= _GUESTS:
            del known[min(waiting, key=_last_seen).id]
        generation = stone.token_generation if stone else 0
        now = self._clock.now()
        return KnownDevice(
            id=guest_id,
            client_id=claim.client_id,
            person=name_guest(guest_id, generation),
            accepted=False,
            first_seen=now,
            last_seen=now,
            serial=claim.serial,
            token_generation=generation,
        )

    def _touch(self, device: KnownDevice) -> KnownDevice:
        now = self._clock.now()
        return replace(device, last_seen=now) if now - device.last_seen > _SEEN_AGAIN else device

    def _describe(self, device: KnownDevice, owner: KnownDevice, person: str) -> Admission:
        section = self._sections.get(device.device, DeviceSection())
        is_guest = device.is_guest and not device.accepted
        if not person:
            person = device.person if is_guest else section.person or owner.person
        about = self._config.persons.get(person, PersonSection())
        language = section.language if section.language != "auto" else about.language
        return Admission(
            device=device.id if is_guest else device.device,
            person=person,
            is_guest=is_guest,
            language=None if language == "auto" else language,
            voice=section.voice or about.voice,
            profile=section.profile or _guess_profile(device.board or owner.board),
        )


def _refuse(token: str, help_text: str) -> AccessError:
    if token:
        return AccessError("token-wrong", f"The token is not valid. {help_text}.")
    return AccessError("token-missing", f"{help_text}.")


def _find_owner(known: Mapping[str, KnownDevice], device_id: str) -> KnownDevice | None:
    device = known.get(device_id)
    return None if device is None or device.forgotten else device


def _find_guests(known: Mapping[str, KnownDevice], device_id: str) -> list[KnownDevice]:
    return [
        device
        for device in known.values()
        if device.is_guest and device.device == device_id and not device.forgotten
    ]


def _get(known: Mapping[str, KnownDevice], device_id: str) -> KnownDevice:
    device = _find_owner(known, tidy_device_id(device_id))
    if device is None:
        raise AccessError(
            "device-unknown", f"No device is called {device_id!r}; see GET /api/devices."
        )
    return device


def _last_seen(device: KnownDevice) -> datetime:
    return device.last_seen


def _guess_profile(board: str) -> str:
    return "stackchan" if "stackchan" in board.lower().replace("-", "") else "xiaozhi"
