"""Who may come in: which robot is known, which token belongs to it, and whose memory it speaks with."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import anyio.to_thread

from server.admission import Admission, Admissions, seated, within
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
    unknown_device,
)
from server.config import Config
from server.errors import AccessError
from server.grants import EVERYTHING, Grant, Right, Scope
from server.keys import Keys
from server.newcomers import Quota, make_room
from server.patience import Patience
from server.ports import Clock
from server.presence import Presence
from server.rates import Rates
from server.registry import GUEST_MARK, KnownDevice, Registry, Roll, find_guests
from server.seats import Seats
from server.short_ids import whole_id

_SAVE_SECONDS = 5.0
_GUESTS = 8
"""Of one Device-Id. Whoever was not seen longest makes room."""
_SEEN_AGAIN = timedelta(minutes=10)


class Access:
    """Decides by the configuration and by what is kept in the data folder: ``devices.json``, ``secret``, ``api-token``.

    Its methods may be called from any thread and block for one small file at most. `presence`, `requests` and `patience`
    belong to the event loop.

    Attributes:
        presence: Which devices are connected.
        requests: How often each household may ask.
        seats: Who said that it is them who speaks with a device.
        patience: How often each may come with a token that is wrong.

    Raises:
        ConfigError: The folder can't be used.
    """

    def __init__(self, config: Config, data: Path, clock: Clock) -> None:
        self.callers = Callers(config)
        self.presence = Presence()
        self.requests = Rates(config.limits.http_requests_per_minute)
        self.patience = Patience(config.limits.wrong_tokens_per_minute)
        self.seats = Seats(clock, config.access.switch_minutes)
        self._config = config
        self._clock = clock
        self._admissions = Admissions(config)
        self._keys = Keys(config.access, data)
        self._registry = Registry(data / "devices.json")
        self._quota = Quota(config.limits.new_devices_per_hour)

    async def keep_saved(self) -> None:
        """Write down now and then what was not worth a write of its own; until cancelled, and then once more."""
        try:
            while True:
                await anyio.sleep(_SAVE_SECONDS)
                await anyio.to_thread.run_sync(self._registry.save)
        finally:
            self._registry.save()

    def visit(self, claim: Claim, caller: Caller) -> str:
        """Note that a robot asked OTA for its server; return the token it shall come with.

        The first visitor owns the Device-Id. A visitor with another Client-Id or serial number, or with no Client-Id, gets
        a token of its own, which makes it a guest until it is accepted.

        Raises:
            AccessError: `device-id-missing`, `device-id-invalid`, `too-many-new-devices` or `registry-full`.
        """
        claim = tidy(claim)
        check_device_id(claim.device_id)
        with self._registry.edit() as roll:
            device = self._find_visitor(roll, claim, caller)
            device = replace(
                device,
                client_id=(claim.client_id or None)
                if device.client_id is None
                else device.client_id,
                serial=device.serial or claim.serial,
                board=claim.board or device.board,
                issued=True,
            )
            self._enter(roll, device, caller, is_trusted=caller.is_local)
        return self._keys.token_of(device)

    def admit(self, claim: Claim, caller: Caller) -> Admission:
        """Decide whether a robot may talk, and with whose memory.

        Raises:
            AccessError: One of `claims.HTTP_STATUS`; the message says what to do.
        """
        claim = tidy(claim)
        grant = self._grant(claim, caller)
        is_trusted = grant is not None
        if not claim.device_id and is_trusted:
            claim = replace(claim, device_id=name_local(claim.client_id))
        check_device_id(claim.device_id)
        person = claim.person if is_trusted else ""
        check_person(person)
        with self._registry.edit() as roll:
            device = self._recognise(roll, claim, is_trusted=is_trusted)
            may_talk = is_trusted or device.accepted or self._config.access.mode == "open"
            entered = replace(device, established=device.established or may_talk)
            self._enter(roll, entered, caller, is_trusted=is_trusted)
            owner = roll.devices.get(device.device, device)
            if grant is not None:
                person = self._admissions.choose(device, owner, person, grant, claim.client_id)
        if not may_talk:
            raise AccessError(
                "device-waiting",
                f"{device.id} has to be accepted first, on the computer of the server: omoide devices accept {device.id}",
            )
        admission = self._admissions.of(device, owner, person)
        if grant is not None:
            admission = within(admission, grant)
        if device.is_nameless and not person:
            return seated(admission, "")
        speaks = (
            None
            if person or admission.is_guest
            else self.seats.person_of(admission.device, owner.given)
        )
        if speaks is not None and speaks in ("", *admission.household):
            admission = seated(admission, speaks)
        return replace(admission, is_known=True) if is_trusted else admission

    def proves_itself(self, claim: Claim) -> bool:
        """Whether a valid token came along: with one, a web page from elsewhere may speak for that device, but not more."""
        claim = tidy(claim)
        if self._keys.grant_of(claim.token) is not None:
            return True
        return self._find_by_token(self._registry.snapshot(), claim) is not None

    def check_api(self, caller: Caller, token: str) -> Grant:
        """Return how far a caller may go: programs on this machine, and holders of the API token, everywhere.

        Raises:
            AccessError: `token-missing`, `token-wrong`, or as `Callers.check_browser` says.
        """
        if (grant := self._keys.grant_of(token)) is not None:
            return grant
        self.callers.check_browser(caller)
        if caller.is_local and not token:
            return EVERYTHING
        raise _refuse(token, "Send the API token (file api-token in the data folder)")

    def devices(self) -> list[KnownDevice]:
        """Return who is known, by id; a guest comes after the owner of its Device-Id."""
        return _in_order(self._registry.snapshot())

    def snapshot(self) -> list[tuple[KnownDevice, Admission]]:
        """Return who is known, as in `devices`, each with what `admission_of` says of it: one look at the file for all."""
        known = self._registry.snapshot()
        return [
            (device, self._admissions.of(device, known.get(device.device, device)))
            for device in _in_order(known)
        ]

    def admission_of(self, device: KnownDevice) -> Admission:
        """Return as whom a known device comes in when it names nobody."""
        owner = self._registry.snapshot().get(device.device, device)
        return self._admissions.of(device, owner)

    def right_of(self, entry: str, token: str) -> Right | None:
        """Return what an entry and a token are good for at the moment; None if the entry is gone."""
        device = self._registry.snapshot().get(entry)
        if device is None:
            return None
        own = self.admission_of(device)
        grant = self._keys.grant_of(token)
        owner = self._registry.snapshot().get(device.device, device)
        return Right(device.token_generation, own.person, own.is_guest, owner.given, grant)

    def accept(self, device_id: str, person: str = "") -> KnownDevice:
        """Take a waiting device or a guest for the real one. An accepted guest speaks with the memory of the owner.

        A guest without a Client-Id may talk from then on, and stays a guest: it can't be told from others.

        Args:
            device_id: As in `devices`.
            person: Whose memory the Device-Id shall speak with from now on, unless the configuration says otherwise;
                empty to leave that as it is.

        Raises:
            AccessError: `device-unknown` or `person-invalid`.
        """
        check_person(person)
        with self._registry.edit() as roll:
            known = roll.devices
            device = replace(_get(known, device_id), accepted=True, established=True)
            known[device.id] = device
            owner = _find(known, device.device)
            if person and owner is not None:
                known[owner.id] = replace(owner, person=person, given=owner.given + 1)
            return known[device.id]

    def revoke(self, device_id: str) -> KnownDevice:
        """Make the tokens of a device void, and leave it what it is: it gets a new one when it asks OTA again.

        Raises:
            AccessError: `device-unknown`.
        """
        with self._registry.edit() as roll:
            device = _get(roll.devices, device_id)
            roll.devices[device.id] = replace(device, token_generation=device.token_generation + 1)
            return roll.devices[device.id]

    def forget(self, device_id: str) -> list[str]:
        """Forget a device and make its tokens void; forgetting the owner forgets its guests too.

        Should it come again, it is a new device with a new person: what its person told stays out of its reach.

        Returns:
            The ids that are forgotten.

        Raises:
            AccessError: `device-unknown`.
        """
        with self._registry.edit() as roll:
            device = _get(roll.devices, device_id)
            gone = [device, *([] if device.is_guest else roll.guests_of(device.id))]
            for one in gone:
                roll.devices[one.id] = replace(
                    one,
                    client_id=None,
                    person="",
                    serial="",
                    board="",
                    accepted=False,
                    issued=False,
                    established=False,
                    forgotten=True,
                    token_generation=one.token_generation + 1,
                )
        return [one.id for one in gone]

    def _grant(self, claim: Claim, caller: Caller) -> Grant | None:
        """Return what a robot, or a program that speaks for one, may do beyond what any robot may; None if nothing.

        Raises:
            AccessError: `scope-missing`: what is said would be stored.
        """
        grant = self._keys.grant_of(claim.token) if claim.token else None
        if grant is None:
            return EVERYTHING if caller.is_local else None
        grant.check(Scope.WRITE)
        return grant

    def _find_visitor(self, roll: Roll, claim: Claim, caller: Caller) -> KnownDevice:
        owner = _find(roll.devices, claim.device_id)
        if owner is None:
            return self._welcome(roll, claim, is_trusted=caller.is_local)
        if owner.client_id is None:
            # So far only programs here used the id. A robot here may bind it; a stranger might be after its memory.
            return owner if caller.is_local else self._receive_guest(roll, claim)
        serials = {owner.serial, claim.serial} - {""}
        if _is_client(claim, owner) and len(serials) < 2:
            return owner
        return self._receive_guest(roll, claim)

    def _recognise(self, roll: Roll, claim: Claim, *, is_trusted: bool) -> KnownDevice:
        owner = _find(roll.devices, claim.device_id)
        if owner is None:
            return self._welcome(roll, claim, is_trusted=is_trusted)
        proven = self._find_by_token(roll.devices, claim)
        if proven is not None:
            return proven
        is_api = self._keys.grant_of(claim.token) is not None
        if is_api or (is_trusted and not (owner.issued and claim.token)):
            return owner
        if owner.issued:
            raise _refuse(
                claim.token,
                "This device must come with the token that OTA gave it: restart it, so that it asks again. If it can't, "
                f"this makes it a new device: omoide devices forget {owner.id}",
            )
        return owner if _is_client(claim, owner) else self._receive_guest(roll, claim)

    def _find_by_token(self, known: Mapping[str, KnownDevice], claim: Claim) -> KnownDevice | None:
        """Return the device whose token was sent. Old clients name no Client-Id; who names one must name the right one."""
        owner = _find(known, claim.device_id)
        if owner is None or not claim.token:
            return None
        for device in (owner, *find_guests(known, owner.id)):
            fits = not claim.client_id or is_equal(claim.client_id, device.client_id or "")
            if device.issued and fits and is_equal(claim.token, self._keys.token_of(device)):
                return device
        return None

    def _welcome(self, roll: Roll, claim: Claim, *, is_trusted: bool) -> KnownDevice:
        # Without a Client-Id it could not be told from the next one that names none.
        if not (claim.client_id or is_trusted):
            return self._receive_guest(roll, claim)
        generation = roll.generation_of(claim.device_id)
        now = self._clock.now()
        return KnownDevice(
            id=claim.device_id,
            client_id=claim.client_id or None,
            person=name_person(claim.device_id, generation),
            accepted=self._config.access.mode == "open",
            first_seen=now,
            last_seen=now,
            token_generation=generation,
        )

    def _receive_guest(self, roll: Roll, claim: Claim) -> KnownDevice:
        mark = hash_text(f"{claim.client_id}|{claim.serial}", 8)
        guest_id = f"{claim.device_id}{GUEST_MARK}{mark}"
        guest = _find(roll.devices, guest_id)
        if guest is not None:
            return guest
        waiting = [guest for guest in roll.guests_of(claim.device_id) if not guest.accepted]
        if len(waiting) >= _GUESTS:
            roll.strike(min(waiting, key=_last_seen))
        generation = roll.generation_of(guest_id)
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

    def _enter(self, roll: Roll, device: KnownDevice, caller: Caller, *, is_trusted: bool) -> None:
        now = self._clock.now()
        if device.id not in roll.devices:
            if not is_trusted:
                self._quota.take(caller.household, now)
            make_room(roll, kept={*self._admissions.sections, *self.presence.devices()})
        is_stale = now - device.last_seen > _SEEN_AGAIN
        roll.devices[device.id] = replace(device, last_seen=now) if is_stale else device


def take_seat(access: Access, device_id: str, person: str) -> None:
    """Note who says that it is them who speaks with a device now; an empty name stands for a guest."""
    owner = next((one for one in access.devices() if one.id == device_id), None)
    access.seats.take(device_id, person, owner.given if owner is not None else 0)


def _refuse(token: str, help_text: str) -> AccessError:
    if token:
        return AccessError("token-wrong", f"The token is not valid. {help_text}.")
    return AccessError("token-missing", f"{help_text}.")


def _is_client(claim: Claim, owner: KnownDevice) -> bool:
    """Whether a claim names the Client-Id of the owner. No Client-Id at all is none that could be named."""
    return bool(claim.client_id) and is_equal(claim.client_id, owner.client_id or "")


def _find(known: Mapping[str, KnownDevice], device_id: str) -> KnownDevice | None:
    device = known.get(device_id)
    return None if device is None or device.forgotten else device


def _in_order(known: Mapping[str, KnownDevice]) -> list[KnownDevice]:
    return [known[name] for name in sorted(known) if not known[name].forgotten]


def _get(known: Mapping[str, KnownDevice], device_id: str) -> KnownDevice:
    there = (name for name, device in known.items() if not device.forgotten)
    meant = whole_id(tidy_device_id(device_id), there)
    device = _find(known, meant) if meant is not None else None
    if device is None:
        raise unknown_device(device_id)
    return device


def _last_seen(device: KnownDevice) -> datetime:
    return device.last_seen
