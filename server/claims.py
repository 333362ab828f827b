"""What a robot says about itself at the door, and the names that follow from it."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass

from server.errors import AccessError

HTTP_STATUS: Mapping[str, int] = {
    "device-id-missing": 400,
    "device-id-invalid": 400,
    "person-invalid": 400,
    "token-missing": 401,
    "token-wrong": 401,
    "device-waiting": 403,
    "scope-missing": 403,
    "person-forbidden": 403,
    "host-foreign": 403,
    "origin-foreign": 403,
    "device-unknown": 404,
    "content-type-wrong": 415,
    "too-many-requests": 429,
    "too-many-failures": 429,
    "too-many-new-devices": 429,
    "registry-full": 503,
    "too-many-connections": 503,
}
"""Status of the answer for each code of an `AccessError`."""

_DEVICE_ID = re.compile(r"[a-z0-9][a-z0-9:._@-]{0,63}")
_MAC = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}")
_BEARER = re.compile(r"(?i:bearer)(\s+(?P<token>.*))?")
_CLAIM_CHARACTERS = 128
_PERSON_CHARACTERS = 64


@dataclass(frozen=True, slots=True)
class Claim:
    """Who a robot says it is."""

    device_id: str
    client_id: str = ""
    token: str = ""
    person: str = ""
    """Whose memory it wants; only programs on this machine and holders of a key of the API may choose."""
    serial: str = ""
    board: str = ""


def tidy(claim: Claim) -> Claim:
    """Return the claim without blanks around, unprintable characters and excess length; the Device-Id in one spelling."""
    return Claim(
        device_id=tidy_device_id(claim.device_id),
        client_id=keep_printable(claim.client_id),
        token=claim.token.strip(),
        person=claim.person.strip(),
        serial=keep_printable(claim.serial),
        board=keep_printable(claim.board),
    )


def tidy_device_id(device_id: str) -> str:
    """Return the one spelling of a Device-Id: lower case, and colons in a MAC address."""
    text = device_id.strip().lower()
    return text.replace("-", ":") if _MAC.fullmatch(text) else text


def check_device_id(device_id: str) -> None:
    """Refuse what is no Device-Id.

    Raises:
        AccessError: `device-id-missing` or `device-id-invalid`.
    """
    if not device_id:
        raise AccessError(
            "device-id-missing",
            "Say who you are: header Device-Id, or device-id in the query string.",
        )
    if not _DEVICE_ID.fullmatch(device_id):
        raise AccessError(
            "device-id-invalid",
            "A Device-Id has 1 to 64 characters: letters without accents, digits, and : . _ @ -",
        )


def check_person(person: str) -> None:
    """Refuse what can't be the name of a person.

    Raises:
        AccessError: `person-invalid`.
    """
    if not person.isprintable() or len(person) > _PERSON_CHARACTERS:
        raise AccessError(
            "person-invalid",
            f"The name of a person has at most {_PERSON_CHARACTERS} printable characters.",
        )


def unknown_device(device_id: str) -> AccessError:
    """Return the error for a device that is not known."""
    return AccessError(
        "device-unknown", f"No device is called {device_id!r}; see them with: omoide devices list"
    )


def name_person(device_id: str, generation: int) -> str:
    """Return the person of a new device. No two devices share one: that would be sharing a memory.

    Args:
        device_id: As `tidy_device_id` returns it.
        generation: How often the device has been forgotten; each time it starts with a new person.
    """
    plain = device_id.replace(":", "-") if _MAC.fullmatch(device_id) else device_id
    slug = re.sub("[^a-z0-9-]", "-", plain)
    name = f"person-{slug}" if slug == plain else f"person-{slug}.{hash_text(device_id, 8)}"
    return _nth(name, generation)


def name_guest(guest_id: str, generation: int) -> str:
    """Return the person of a guest."""
    return _nth(f"guest-{hash_text(guest_id, 12)}", generation)


def name_local(client_id: str) -> str:
    """Return the Device-Id of a program on this machine that names none."""
    return f"local-{hash_text(client_id, 8)}" if client_id else "local"


def hash_text(text: str, digits: int) -> str:
    """Return the first hexadecimal digits of a hash."""
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def is_equal(one: str, other: str) -> bool:
    """Compare two secrets without telling by the time it takes how much of them agrees."""
    return hmac.compare_digest(one.encode(), other.encode())


def parse_bearer(header: str) -> str:
    """Return the token of an `Authorization` header: with or without `Bearer`, in any case, with stray blanks."""
    header = header.strip()
    if match := _BEARER.fullmatch(header):
        return (match["token"] or "").strip()
    return header if len(header.split()) == 1 else ""


def keep_printable(text: str) -> str:
    """Return the text without blanks around, unprintable characters and excess length."""
    return "".join(filter(str.isprintable, text.strip()))[:_CLAIM_CHARACTERS]


def _nth(name: str, generation: int) -> str:
    return f"{name}.{generation + 1}" if generation else name
