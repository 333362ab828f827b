"""The configuration as it may be shown: whatever opens something is ``***``."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, SecretStr

from server.config_values import SecretPath

HIDDEN: Final = "***"
_SECRET_NAME: Final = re.compile(r"key|token|secret|passw|credential|authori[sz]ation|cookie", re.I)


def show(section: BaseModel) -> dict[str, Any]:
    """Return a section as plain data, with every secret replaced.

    Secret is what is typed so; the user, password, query and fragment of an address; and, in options that are passed on to
    a service as they are, whatever is named like a secret. An empty secret stays empty: nothing is set. Of an address marked
    with `SecretPath` the path is secret, too.
    """
    shown = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        is_secret = any(isinstance(mark, SecretPath) for mark in field.metadata)
        shown[name] = host_alone(value) if is_secret else _shown(value)
    return shown


def host_alone(url: str) -> str:
    """Return an address as it may be shown if its path opens something: scheme and host."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}" + (f"/{HIDDEN}" if parts.path.strip("/") else "")


def _shown(value: object) -> Any:
    if isinstance(value, SecretStr):
        return HIDDEN if value.get_secret_value() else ""
    if isinstance(value, BaseModel):
        return show(value)
    if isinstance(value, Mapping):
        return {str(name): _shown_option(str(name), each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(each) for each in value]
    if isinstance(value, str) and "://" in value:
        return _without_secrets(value)
    return value


def _shown_option(name: str, value: object) -> Any:
    is_plain = not isinstance(value, BaseModel | Mapping)
    return HIDDEN if is_plain and value and _SECRET_NAME.search(name) else _shown(value)


def _without_secrets(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    place = parts.netloc.rpartition("@")[2]
    is_bare = place == parts.netloc and not (parts.query or parts.fragment)
    if is_bare:
        return url
    userless = place if place == parts.netloc else f"{HIDDEN}@{place}"
    query = HIDDEN if parts.query else ""
    return urlunsplit((parts.scheme, userless, parts.path, query, ""))
