"""The environment variables that set configuration keys, and which of them set a given key."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from server.config_faults import suggest
from server.config_file import Location
from server.errors import ConfigError

RESERVED_VARIABLES = ("COMMAND", "CONFIG", "DATA", "MEMORY_KEY")
"""Variables with our prefix that say how the program was called, name files, or hold the key of the store."""
_LEVELS = "__"
_OF_CONTAINERS = re.compile(r"SERVICE_(?:HOST|PORT\w*)|PORT(?:_\d+_(?:TCP|UDP)\w*)?")
"""What Kubernetes and linked containers set for a service that is called omoide."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable."""

    name: str
    location: Location
    """The key that it sets: a section, a key of one, or an entry of a map."""
    content: Any
    """Its value, read from JSON if it holds more than one."""


@dataclass(frozen=True, slots=True)
class Variables:
    """All variables that set something."""

    found: tuple[Variable, ...] = ()

    def place_of(self, location: Location) -> str | None:
        """Return the variable that sets a key, and where inside it; None if none does."""
        for variable in sorted(self.found, key=lambda one: len(one.location), reverse=True):
            depth = len(variable.location)
            inside = location[depth:]
            if location[:depth] == variable.location and _holds(variable.content, inside):
                return ", ".join([f"environment variable {variable.name}", *map(str, inside)])
        below = [one for one in self.found if one.location[: len(location)] == location]
        return f"environment variable {below[0].name}" if below else None


def read_variables(
    environment: Mapping[str, str], prefix: str, model: type[BaseModel]
) -> Variables:
    """Collect the variables with our prefix.

    Raises:
        ConfigError: One names no section, or holds no JSON where a list or a map belongs; the message names it.
    """
    names = [name for name in environment if name.upper().startswith(prefix)]
    found = [_read(name, environment[name], prefix, model) for name in names]
    return Variables(tuple(variable for variable in found if variable is not None))


def _read(name: str, value: str, prefix: str, model: type[BaseModel]) -> Variable | None:
    path = name.upper().removeprefix(prefix)
    if path in RESERVED_VARIABLES or _OF_CONTAINERS.fullmatch(path) or not value:
        return None
    location = tuple(path.lower().split(_LEVELS))
    if location[0] not in model.model_fields:
        sections = [section.upper() for section in model.model_fields]
        raise ConfigError(
            f"environment variable {name}: there is no section {location[0]!r}."
            + suggest(location[0].upper(), sections)
        )
    kind, example = _kind_of(model, location)
    if not _holds_many(kind):
        return Variable(name, location, value)
    try:
        return Variable(name, location, json.loads(value))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"environment variable {name}: write the value as JSON, such as {name}='{example}'."
        ) from error


def _kind_of(model: type[BaseModel], location: Location) -> tuple[Any, str]:
    """Return the type of a key, and what a value of it looks like in JSON; None if there is no such key."""
    kind: Any = model
    default: Any = None
    for part in location:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields.get(str(part))
            kind, default = (field.annotation, field.default) if field else (None, None)
        else:
            kind, default = (get_args(kind) or (None,))[-1], None
    if isinstance(default, tuple) and default:
        return kind, json.dumps(default)
    return kind, '["...", "..."]' if get_origin(kind) is tuple else '{"...": "..."}'


def _holds_many(kind: Any) -> bool:
    if get_origin(kind) in (tuple, dict):
        return True
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _holds(content: Any, inside: Location) -> bool:
    for part in inside:
        try:
            content = content[part]
        except (TypeError, KeyError, IndexError):
            return False
    return True
