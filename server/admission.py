"""As whom a robot comes in: whose memory it speaks with, who else may use it, and how it is spoken to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from secrets import token_hex

from server.claims import is_equal, tidy_device_id
from server.config import Config, DeviceSection, PersonSection
from server.grants import Grant
from server.registry import KnownDevice


@dataclass(frozen=True, slots=True)
class Manner:
    """How somebody is heard and spoken to on a robot."""

    language: str | None
    voice: str


@dataclass(frozen=True, slots=True)
class Admission:
    """As whom a robot comes in."""

    entry: str
    """Id of the entry in the registry that it came in by."""
    device: str
    """Identity for history and replacement. A guest has one of its own; an accepted guest has that of the owner."""
    person: str
    is_guest: bool
    """Whether nothing of it may be kept."""
    is_nameless: bool
    """Whether it is a guest without a Client-Id, with a new person every time."""
    is_known: bool
    """Whether it may be trusted to be no intruder: accepted by somebody, here before, or come with the right to be here."""
    language: str | None
    voice: str
    profile: str
    household: Mapping[str, "Manner"] = field(default_factory=dict)
    """Who may say that it is them who speaks now, and how they are spoken to: the robot's own person first; nobody on a
    guest's robot."""


class Admissions:
    """What follows for a device from the configuration and from its entry in the registry."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.sections = {tidy_device_id(name): part for name, part in config.devices.items()}
        self._households = [
            (frozenset(map(tidy_device_id, home.devices)), home.persons)
            for home in config.households.values()
        ]

    def of(self, device: KnownDevice, owner: KnownDevice, person: str = "") -> Admission:
        """Return as whom a device comes in.

        Args:
            device: Its entry.
            owner: The entry that owns its Device-Id; perhaps the same.
            person: Whose memory it shall speak with; empty for the one that is configured, or its own.
        """
        section = self.sections.get(device.device, DeviceSection())
        is_guest = device.is_guest and (device.is_nameless or not device.accepted)
        own = device.person if is_guest else section.person or owner.person
        person = person or own
        manner = self._manner(section, person)
        return Admission(
            entry=device.id,
            device=device.id if is_guest else device.device,
            person=person,
            is_guest=is_guest,
            is_nameless=device.is_nameless,
            is_known=device.accepted and device.established and not device.is_nameless,
            language=manner.language,
            voice=manner.voice,
            profile=section.profile or _guess_profile(device.board or owner.board),
            household={} if is_guest else self._household_of(device.device, own, section),
        )

    def choose(
        self, device: KnownDevice, owner: KnownDevice, person: str, grant: Grant, client_id: str
    ) -> str:
        """Return whose memory a caller with a key gets: only that of persons whom the key names, and no robot of others.

        Args:
            device: The entry that the caller came in by.
            owner: The entry that owns its Device-Id; perhaps the same.
            person: Who was named; empty if nobody was.
            grant: What the key allows.
            client_id: Of the caller. What is bound to another one is a robot, or a program, of somebody else.

        Raises:
            AccessError: `person-forbidden`.
        """
        if grant.is_for_everybody:
            return person
        if owner.issued or not is_equal(client_id, owner.client_id or ""):
            grant.check_person(self.of(owner, owner).person)
        return grant.choose(person, self.of(device, owner).person)

    def _household_of(self, device: str, own: str, section: DeviceSection) -> Mapping[str, Manner]:
        persons = [one for devices, home in self._households if device in devices for one in home]
        return {person: self._manner(section, person) for person in (own, *persons)}

    def _manner(self, section: DeviceSection, person: str) -> Manner:
        about = self._config.persons.get(person, PersonSection())
        language = section.language if section.language != "auto" else about.language
        return Manner(None if language == "auto" else language, section.voice or about.voice)


def seated(admission: Admission, person: str) -> Admission:
    """Return the admission for whoever says that it is them who speaks now; an empty name makes them a guest."""
    if not person:
        return replace(admission, person=f"guest-{token_hex(6)}", is_guest=True)
    manner = admission.household.get(person, Manner(admission.language, admission.voice))
    return replace(
        admission, person=person, is_guest=False, language=manner.language, voice=manner.voice
    )


def within(admission: Admission, grant: Grant) -> Admission:
    """Return the admission for a caller with a key: nobody whom the key does not name can be said to speak now."""
    if grant.is_for_everybody:
        return admission
    own = Manner(admission.language, admission.voice)
    home = {who: how for who, how in admission.household.items() if grant.allows(who)}
    return replace(admission, household={admission.person: own, **home})


def _guess_profile(board: str) -> str:
    return "stackchan" if "stackchan" in board.lower().replace("-", "") else "xiaozhi"
