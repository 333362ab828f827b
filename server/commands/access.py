"""`omoide access keys`: who may use the API, and with whose memory.

Works on the file in the data folder, beside a server that may be running: it notices a change at the next request.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from server.api_keys import ApiKeys, NamedKey, digest_of, read_grant
from server.clock import SystemClock
from server.commands.report import Report, Tell
from server.commands.table import tell_table
from server.config import Config

NOTHING: Mapping[str, object] = {"keys": [], "error": None}
_HEADINGS = ("KEY", "SCOPE", "PERSONS", "MADE", "WHERE")


def list_keys(config: Config, data: Path, tell: Tell) -> Report:
    """Tell which keys there are, without what opens the door."""
    keys = [_describe(key) for key in _open(config, data).list()]
    if keys:
        tell_table([_HEADINGS, *(_row(key) for key in keys)], tell)
    else:
        tell("There is no key. The file api-token in the data folder opens everything.")
    return Report({**NOTHING, "keys": keys})


def new_key(
    name: str, scope: str, persons: Sequence[str], config: Config, data: Path, tell: Tell
) -> Report:
    """Make a key and tell it, once.

    Raises:
        AccessError: The name is taken or can't be one, or nobody is named.
    """
    grant = read_grant(scope, persons)
    now = SystemClock(config.server.timezone).now()
    key = _open(config, data).make(name, grant, now)
    tell(f"{key}")
    tell("This is the only time that it is shown. Send it as: Authorization: Bearer <key>")
    made = {"name": name, "scope": scope, "persons": sorted(grant.persons)}
    return Report({**NOTHING, "key": key, "sha256": digest_of(key), "keys": [made]})


def revoke_key(name: str, config: Config, data: Path, tell: Tell) -> Report:
    """Make a key void.

    Raises:
        AccessError: There is no such key, or it stands in the configuration.
    """
    name = _open(config, data).revoke(name)
    tell(f"{name} opens nothing any more.")
    return Report({**NOTHING, "revoked": name})


def _open(config: Config, data: Path) -> ApiKeys:
    return ApiKeys(config.access.keys, data)


def _describe(key: NamedKey) -> dict[str, object]:
    return {
        "name": key.name,
        "scope": key.grant.scope.name.lower(),
        "persons": sorted(key.grant.persons),
        "made_at": key.made_at.isoformat() if key.made_at else None,
        "configured": key.made_at is None,
    }


def _row(key: Mapping[str, object]) -> tuple[str, ...]:
    persons = key["persons"]
    assert isinstance(persons, list)
    where = "config.yaml" if key["configured"] else "data folder"
    return (
        str(key["name"]),
        str(key["scope"]),
        ", ".join(persons),
        str(key["made_at"] or "")[:10],
        where,
    )
