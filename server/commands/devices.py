"""`omoide devices`: the robots that a server knows, who may come in, and who is forgotten.

Works on the registry in the data folder, beside a server that may be running: it notices a change when a robot
connects the next time.
"""

from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from server.access import Access
from server.clock import SystemClock
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.config import Config
from server.registry import KnownDevice

NOTHING: Mapping[str, object] = {"devices": [], "error": None}
_HEADINGS = ("DEVICE", "STATE", "PERSON", "LAST SEEN", "BOARD")


def list_devices(config: Config, data: Path, tell: Tell) -> Report:
    """Tell who is known."""
    access = _open(config, data)
    known = access.devices()
    devices = [_describe(access, device) for device in known]
    zone = ZoneInfo(config.server.timezone)
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for device, seen in zip(devices, known, strict=True):
        state = "waiting" if not device["accepted"] else "guest" if device["guest"] else "known"
        last_seen = f"{seen.last_seen.astimezone(zone):%Y-%m-%d %H:%M}"
        row = (device["id"], state, device["person"], last_seen, device["board"])
        rows.append(tuple(map(str, row)))
    if devices:
        tell_table(rows, tell)
    else:
        tell("No robot has come yet.")
    return Report({**NOTHING, "devices": devices})


def accept_device(device_id: str, person: str, config: Config, data: Path, tell: Tell) -> Report:
    """Let a waiting device in, or take a guest for the real one.

    Raises:
        AccessError: There is no such device, or the name of the person can't be used.
    """
    access = _open(config, data)
    device = _describe(access, access.accept(device_id, person))
    tell(f"{device['id']} is accepted and speaks with the memory of {device['person']}.")
    return Report({**NOTHING, "devices": [device]})


def revoke_device(device_id: str, config: Config, data: Path, tell: Tell) -> Report:
    """Make the tokens of a device void; it stays known, with its person.

    Raises:
        AccessError: There is no such device.
    """
    access = _open(config, data)
    device = _describe(access, access.revoke(device_id))
    tell(f"{device['id']} gets a new token when it is restarted; until then it is not let in.")
    return Report({**NOTHING, "devices": [device]})


def forget_device(device_id: str, config: Config, data: Path, tell: Tell) -> Report:
    """Make the tokens of a device void.

    Raises:
        AccessError: There is no such device.
    """
    forgotten = _open(config, data).forget(device_id)
    for one in forgotten:
        tell(f"{one} is forgotten. A robot of that name is a new one from now on.")
    return Report({**NOTHING, "forgotten": forgotten})


def _open(config: Config, data: Path) -> Access:
    return Access(config, data, SystemClock(config.server.timezone))


def _describe(access: Access, device: KnownDevice) -> dict[str, object]:
    admission = access.admission_of(device)
    return {
        "id": device.id,
        "person": admission.person,
        "guest": admission.is_guest,
        "accepted": device.accepted,
        "has_token": device.issued,
        "board": device.board,
        "first_seen": device.first_seen.isoformat(),
        "last_seen": device.last_seen.isoformat(),
    }
